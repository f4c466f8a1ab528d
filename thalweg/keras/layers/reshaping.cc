#include "thalweg/keras/layers/reshaping.h"

#include <algorithm>

#include "thalweg/core/error.h"
#include "thalweg/keras/layers/windows.h"
#include "thalweg/ops/broadcasting.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/transposing.h"

namespace thalweg::keras::layers {
namespace {

struct FlattenLayer {
  FlattenOptions options = {};

  void check() { options.data_format = windows::normalized_data_format(options.data_format); }
  InputSpec input_spec() const { return {.min_ndim = 1}; }
  Tensor call(const Tensor& given) {
    Tensor x = given;
    if (windows::is_channels_first(options.data_format) && x.rank() > 2) {
      std::vector<int64_t> last = {0};
      for (int i = 2; i < x.rank(); ++i) last.push_back(i);
      last.push_back(1);
      x = transpose(x, {.perm = last});
    }
    if (x.rank() < 2) return expand_dims(x, -1);
    const int64_t features = count_features(x.shape());
    if (features >= 0) {
      // Without examples -1 could be any number.
      const int64_t batch = x.shape()[0] >= 0 ? x.shape()[0] : -1;
      return reshape(x, Tensor(std::vector<int64_t>{batch, features}));
    }
    return reshape(x, stack({shape(x)(0), Tensor(-1)}));
  }
  Shape compute_output_shape(const Shape& input) {
    return {input.rank() == 0 ? 1 : input[0], input.rank() < 2 ? 1 : count_features(input)};
  }

  static int64_t count_features(const Shape& shape) {
    int64_t features = 1;
    for (int i = 1; i < shape.rank(); ++i) features = shape[i] < 0 || features < 0 ? unknown : features * shape[i];
    return features;
  }
};

struct ReshapeLayer {
  std::vector<int64_t> target_shape = {};
  ReshapeOptions options = {};

  Tensor call(const Tensor& x) {
    std::vector<int64_t> dims = target_shape;
    dims.insert(dims.begin(), x.shape()[0]);
    if (x.shape()[0] >= 0) return reshape(x, Tensor(dims));
    // The one dimension that is not known: the batch's, where the shape of an example is.
    const Shape output = compute_output_shape(x.shape());
    int64_t features = 1;
    for (int i = 1; i < output.rank(); ++i) features = output[i] < 0 || features < 0 ? unknown : features * output[i];
    if (features > 0) return reshape(x, Tensor(std::vector<int64_t>(output.begin(), output.end())));
    Tensor batch = shape(x, {.out_type = DType::int64})(0);
    Tensor y = reshape(x, concat({expand_dims(batch, 0), Tensor(target_shape)}, 0));
    return y.shape() == output ? y : ensure_shape(y, output);
  }
  Shape compute_output_shape(const Shape& input) {
    int64_t original = 1, known = 1;
    for (int i = 1; i < input.rank(); ++i) original = input[i] < 0 || original < 0 ? unknown : original * input[i];
    for (int64_t dim : target_shape) known *= dim < 0 ? 1 : dim;
    const bool is_open = std::any_of(target_shape.begin(), target_shape.end(), [](int64_t dim) { return dim < 0; });
    if (original >= 0 && (is_open ? known == 0 || original % known != 0 : known != original))
      throw ValueError("total size of new array must be unchanged, input_shape = " +
                       keras::to_value(std::vector<int64_t>(input.begin() + 1, input.end())).json() +
                       ", output_shape = " + keras::to_value(target_shape).json());
    Shape output{input[0]};
    for (int64_t dim : target_shape)
      output.push_back(dim >= 0                                              ? dim
                       : original >= 0 && known > 0 && original % known == 0 ? original / known
                                                                             : unknown);
    return output;
  }
};

struct PermuteLayer {
  std::vector<int64_t> dims = {};
  PermuteOptions options = {};

  void check() {
    std::vector<int64_t> sorted = dims;
    std::sort(sorted.begin(), sorted.end());
    for (size_t i = 0; i < sorted.size(); ++i)
      if (sorted[i] != static_cast<int64_t>(i) + 1)
        throw ValueError(
            "Invalid permutation argument `dims` for Permute Layer. The set of indices in `dims` must be consecutive "
            "and start from 1. Received dims=" +
            keras::to_value(dims).json());
  }
  InputSpec input_spec() const { return {.ndim = static_cast<int>(dims.size()) + 1}; }
  Tensor call(const Tensor& x) {
    std::vector<int64_t> perm = dims;
    perm.insert(perm.begin(), 0);
    return transpose(x, {.perm = perm});
  }
  Shape compute_output_shape(const Shape& input) {
    Shape output{input[0]};
    for (int64_t dim : dims) output.push_back(input[static_cast<int>(dim)]);
    return output;
  }
};

struct RepeatVectorLayer {
  int64_t n = 1;
  RepeatVectorOptions options = {};

  InputSpec input_spec() const { return {.ndim = 2}; }
  Tensor call(const Tensor& x) { return tile(expand_dims(x, 1), Tensor(std::vector<int64_t>{1, n, 1})); }
  Shape compute_output_shape(const Shape& input) { return {input[0], n, input[1]}; }
};

}  // namespace

Layer Flatten(const FlattenOptions& options) { return FlattenLayer{options}; }
Layer Reshape(const std::vector<int64_t>& target_shape, const ReshapeOptions& options) {
  return ReshapeLayer{target_shape, options};
}
Layer Permute(const std::vector<int64_t>& dims, const PermuteOptions& options) { return PermuteLayer{dims, options}; }
Layer RepeatVector(int64_t n, const RepeatVectorOptions& options) { return RepeatVectorLayer{n, options}; }

}  // namespace thalweg::keras::layers
