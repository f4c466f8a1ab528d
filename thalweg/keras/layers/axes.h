// What layers say about the axes they work along.
#pragma once
#include "thalweg/core/error.h"
#include "thalweg/keras/layer.h"

namespace thalweg::keras::layers {

/// The axes counted from the front, in the order given; ValueError in Keras's words where there is no such axis, or one
/// stands there twice.
inline std::vector<int64_t> resolve_axes(const Axis& axis, const Shape& input) {
  const int64_t rank = input.rank();
  std::vector<int64_t> axes;
  for (int64_t a : axis.axes()) axes.push_back(a < 0 ? a + rank : a);
  auto text = [&] { return Shape(std::vector<int64_t>(axes.begin(), axes.end())).str(); };
  for (int64_t a : axes)
    if (a < 0 || a >= rank)
      throw ValueError("Invalid value for `axis` argument. Expected 0 <= axis < inputs.rank (with inputs.rank=" +
                       std::to_string(rank) + "). Received: axis=" + text());
  for (size_t i = 0; i < axes.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (axes[i] == axes[j]) throw ValueError("Duplicate axis: " + text());
  return axes;
}

/// The sizes of these axes, 1 for the others: what weights along them are reshaped to.
inline std::vector<int64_t> broadcast_dims(const Shape& input, const std::vector<int64_t>& axes) {
  std::vector<int64_t> dims(static_cast<size_t>(input.rank()), 1);
  for (int64_t a : axes) dims[static_cast<size_t>(a)] = input[static_cast<int>(a)];
  return dims;
}

/// How a weight is kept and read.
struct KeptAs {
  DType dtype = DType::invalid;  // the layer's, where left out
  Flag autocast = true;
};
/// A weight for scaling (gamma) or moving (beta), where the options want it.
template <class Options> Variable add_gamma(const Shape& shape, const Options& options, const KeptAs& kept = {}) {
  if (!options.scale) return {};
  return add_weight(shape, {.name = "gamma",
                            .dtype = kept.dtype,
                            .initializer = options.gamma_initializer,
                            .regularizer = options.gamma_regularizer,
                            .constraint = options.gamma_constraint,
                            .autocast = kept.autocast});
}
template <class Options> Variable add_beta(const Shape& shape, const Options& options, const KeptAs& kept = {}) {
  if (!options.center) return {};
  return add_weight(shape, {.name = "beta",
                            .dtype = kept.dtype,
                            .initializer = options.beta_initializer,
                            .regularizer = options.beta_regularizer,
                            .constraint = options.beta_constraint,
                            .autocast = kept.autocast});
}

}  // namespace thalweg::keras::layers
