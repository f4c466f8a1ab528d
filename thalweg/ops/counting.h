// How often values occur.
#pragma once
#include <optional>

#include "thalweg/ops/options.h"

namespace thalweg {

struct HistogramFixedWidthOptions {
  Tensor nbins = {};  // 100 where left out
  DType dtype = DType::int32;
};
/// How many values fall in each of `nbins` bins of equal width over value_range; values outside count in the end bins.
THALWEG_API Tensor histogram_fixed_width(const TensorLike& values, const TensorLike& value_range,
                                         const HistogramFixedWidthOptions& options = {});
/// The bin of each value, from 0 to nbins - 1.
THALWEG_API Tensor histogram_fixed_width_bins(const TensorLike& values, const TensorLike& value_range,
                                              const HistogramFixedWidthOptions& options = {});

// The same with an option by position (docs/decisions/0013).
template <As<Tensor> A = Tensor>
Tensor histogram_fixed_width(const TensorLike& values, const TensorLike& value_range, const A& nbins,
                             HistogramFixedWidthOptions options = {}) {
  return histogram_fixed_width(values, value_range, with(options, options.nbins, nbins));
}
template <As<Tensor> A = Tensor>
Tensor histogram_fixed_width_bins(const TensorLike& values, const TensorLike& value_range, const A& nbins,
                                  HistogramFixedWidthOptions options = {}) {
  return histogram_fixed_width_bins(values, value_range, with(options, options.nbins, nbins));
}

namespace math {

struct BincountOptions {
  Tensor weights = {};  // 1 each where left out
  Tensor minlength = {};
  Tensor maxlength = {};
  DType dtype = DType::int32;        // without weights
  std::optional<int64_t> axis = {};  // all values together; -1 counts each row by itself
  Flag binary_output = false;        // 1 where a value occurs at all
};
/// How often each of 0, 1, ... occurs among non-negative integers.
THALWEG_API Tensor bincount(const TensorLike& arr, const BincountOptions& options = {});

struct ConfusionMatrixOptions {
  Tensor num_classes = {};  // one more than the largest class where left out
  Tensor weights = {};
  DType dtype = DType::int32;
};
/// [labels, predictions]: how often a label was predicted as each class.
THALWEG_API Tensor confusion_matrix(const TensorLike& labels, const TensorLike& predictions,
                                    const ConfusionMatrixOptions& options = {});

// The same with an option by position (docs/decisions/0013).
template <As<Tensor> A = Tensor>
Tensor bincount(const TensorLike& arr, const A& weights, BincountOptions options = {}) {
  return bincount(arr, with(options, options.weights, weights));
}
template <As<Tensor> A = Tensor>
Tensor confusion_matrix(const TensorLike& labels, const TensorLike& predictions, const A& num_classes,
                        ConfusionMatrixOptions options = {}) {
  return confusion_matrix(labels, predictions, with(options, options.num_classes, num_classes));
}

}  // namespace math

}  // namespace thalweg
