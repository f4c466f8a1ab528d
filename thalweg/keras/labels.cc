// Labels and values in the forms that losses take.
#include <algorithm>
#include <limits>

#include "thalweg/core/error.h"
#include "thalweg/graph/init_scope.h"
#include "thalweg/keras/utils.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/norms.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/selection.h"

namespace thalweg::keras::utils {
namespace {

/// Labels as integers, their shape without a last dimension of one, and how many classes there are.
struct Labels {
  Tensor values;
  std::vector<int64_t> shape;
  int64_t num_classes;
};

Labels read_labels(const Tensor& y, int64_t num_classes, const char* function) {
  Labels labels{cast(y, DType::int64), {}, num_classes};
  for (int i = 0; i < y.rank(); ++i) labels.shape.push_back(y.shape()[i]);
  if (labels.shape.size() > 1 && labels.shape.back() == 1) labels.shape.pop_back();
  auto values = labels.values.span<int64_t>();
  if (num_classes < 0)
    throw ValueError(std::string(function) + ": num_classes must not be negative; received " +
                     std::to_string(num_classes));
  if (num_classes == 0) {
    if (values.empty())
      throw ValueError(std::string(function) + ": without labels the number of classes is not known; set num_classes");
    int64_t largest = *std::max_element(values.begin(), values.end());
    if (largest < 0 || largest == std::numeric_limits<int64_t>::max())
      throw ValueError(std::string(function) + ": the largest label is " + std::to_string(largest) +
                       ", so the number of classes is not known; set num_classes");
    labels.num_classes = largest + 1;
  }
  return labels;
}

}  // namespace

Tensor to_categorical(const Tensor& y, int64_t num_classes, DType dtype) {
  InitScope at_once;
  Labels labels = read_labels(y, num_classes, "to_categorical");
  int64_t classes = labels.num_classes;
  labels.shape.push_back(classes);
  auto values = labels.values.span<int64_t>();
  for (int64_t label : values)
    if (label < -classes || label >= classes)
      throw InvalidArgumentError("to_categorical: label " + std::to_string(label) + " is out of range for " +
                                 std::to_string(classes) + " classes");
  Tensor ones = zeros(Tensor(labels.shape), {.dtype = DType::bool_});
  // Labels below zero count from the last class, as indices of NumPy do.
  auto* out = ones.mutable_data<bool>();
  for (size_t i = 0; i < values.size(); ++i)
    out[static_cast<int64_t>(i) * classes + (values[i] < 0 ? values[i] + classes : values[i])] = true;
  return cast(ones, dtype);
}

Tensor to_ordinal(const Tensor& y, int64_t num_classes, DType dtype) {
  InitScope at_once;
  Labels labels = read_labels(y, num_classes, "to_ordinal");
  int64_t width = labels.num_classes - 1;
  labels.shape.push_back(width);
  auto values = labels.values.span<int64_t>();
  Tensor ones = zeros(Tensor(labels.shape), {.dtype = DType::bool_});
  auto* out = ones.mutable_data<bool>();
  for (size_t i = 0; i < values.size(); ++i)
    std::fill_n(out + static_cast<int64_t>(i) * width, std::clamp<int64_t>(values[i], 0, width), true);
  return cast(ones, dtype);
}

Tensor normalize(const Tensor& x, int64_t axis, double order) {
  Tensor values = is_floating(x.dtype()) || is_complex(x.dtype()) ? x : cast(x, DType::float64);
  Tensor size = norm(values, {.ord = order, .axis = axis, .keepdims = true});
  return values / where(size == 0, ones_like(size), size);
}

}  // namespace thalweg::keras::utils
