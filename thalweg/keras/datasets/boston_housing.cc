#include "thalweg/core/error.h"
#include "thalweg/graph/init_scope.h"
#include "thalweg/io/npy.h"
#include "thalweg/keras/datasets.h"
#include "thalweg/keras/datasets/places.h"
#include "thalweg/keras/datasets/shuffle.h"
#include "thalweg/ops/gather.h"

namespace thalweg::keras::datasets::boston_housing {

Dataset load_data(const LoadDataOptions& options) {
  InitScope at_once;
  num_train(0, options.test_split);  // a bad fraction is refused before the file is read
  if (options.test_split == 1) throw ValueError("test_split must be below 1");
  NumpyShuffle shuffle(options.seed);
  std::string path = local_file(options.path);
  io::NpzFile arrays = io::load_npz(path);
  Tensor x = arrays["x"], y = arrays["y"];
  if (x.rank() < 1 || y.rank() < 1 || x.shape()[0] != y.shape()[0])
    throw errors::DataLossError(path + " holds x of shape " + x.shape().str() + " and y of shape " + y.shape().str() +
                                "; both need the same first dimension");
  std::vector<int64_t> order = shuffle.order(y.shape()[0]);
  auto rows = [&](int64_t begin, int64_t end) -> Samples {
    Tensor chosen(std::vector<int64_t>(order.begin() + begin, order.begin() + end));
    return {gather(x, chosen), gather(y, chosen)};
  };
  auto count = static_cast<int64_t>(order.size()), split = num_train(count, options.test_split);
  return {rows(0, split), rows(split, count)};
}

}  // namespace thalweg::keras::datasets::boston_housing
