#include "thalweg/core/error.h"
#include "thalweg/io/idx.h"
#include "thalweg/keras/datasets.h"
#include "thalweg/keras/datasets/places.h"

namespace thalweg::keras::datasets::fashion_mnist {
namespace {

Samples load_part(const std::string& part) {
  std::string images = local_file("fashion-mnist/" + part + "-images-idx3-ubyte.gz");
  Samples samples{io::load_idx(images), io::load_idx(local_file("fashion-mnist/" + part + "-labels-idx1-ubyte.gz"))};
  const auto& [x, y] = samples;
  if (y.rank() != 1 || x.shape() != Shape{y.size(), 28, 28} || x.dtype() != DType::uint8 || y.dtype() != DType::uint8)
    throw errors::DataLossError(images + " holds " + std::string(name_of(x.dtype())) + " of shape " + x.shape().str() +
                                ", its labels have shape " + y.shape().str() +
                                "; uint8 of [samples, 28, 28] and [samples] were expected");
  return samples;
}

}  // namespace

Dataset load_data() {
  // The files in the order of Keras, so that the first that is missing is the same.
  for (const char* name : {"train-labels-idx1-ubyte.gz", "train-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz",
                           "t10k-images-idx3-ubyte.gz"})
    local_file(std::string("fashion-mnist/") + name);
  return {load_part("train"), load_part("t10k")};
}

}  // namespace thalweg::keras::datasets::fashion_mnist
