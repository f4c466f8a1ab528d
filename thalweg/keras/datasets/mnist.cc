#include <filesystem>
#include <future>

#include "thalweg/core/error.h"
#include "thalweg/io/npy.h"
#include "thalweg/keras/datasets.h"
#include "thalweg/keras/datasets/places.h"

namespace thalweg::keras::datasets::mnist {

Dataset load_data(const std::string& path) {
  std::string shipped = path == "mnist.npz" ? shipped_file(path) : "";
  if (path == "mnist.npz" && shipped.empty() && !std::filesystem::exists(local_place(path)))
    throw NotFoundError(
        "mnist.npz, which comes with Thalweg in share/thalweg, is not there: set THALWEG_DATA to the "
        "folder it is in, or put it at " +
        local_place(path));
  std::string file = shipped.empty() ? local_file(path) : shipped;
  auto load_part = [&](const std::string& part) -> Samples {
    io::NpzFile arrays = io::load_npz(file);
    return {arrays["x_" + part], arrays["y_" + part]};
  };
  // Decompression is most of the work, and each array is a stream of its own.
  auto test = std::async(std::launch::async, load_part, "test");
  Samples train = load_part("train");
  return {train, test.get()};
}

}  // namespace thalweg::keras::datasets::mnist
