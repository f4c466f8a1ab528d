// The rows of tests/keras_cases with what Keras gives for them, as tools/make_keras_goldens wrote them.
#pragma once
#include <string>
#include <vector>

#include "thalweg/core/tensor.h"
#include "thalweg/graph/nest.h"
#include "thalweg/keras/value.h"

namespace thalweg::testing {

/// One family: its cases as the README of tests/keras_cases describes them, and the tensors they point to.
class KerasCases {
 public:
  explicit KerasCases(const std::string& family);

  const keras::Value::List& cases() const { return manifest_["cases"].list(); }
  /// `{dtype, shape, offset, bytes}` as a tensor; None from null.
  Tensor tensor(const keras::Value& value) const;
  /// A tensor, a list of them, tensors by name, or null.
  Nest nest(const keras::Value& value) const;
  /// "Dense row 3", for messages.
  static std::string describe(const keras::Value& one);

 private:
  keras::Value manifest_;
  Tensor data_;
};

/// Empty, or what differs: dtype, shape, or the worst element. The tolerance is relative, below 1 absolute; where it is
/// negative, that of the dtype counts.
std::string difference(const Tensor& got, const Tensor& expected, double tolerance = -1);
/// What the gradient of a floating output starts with; tools/make_keras_goldens has the same numbers.
Tensor gradient_weights(const Tensor& output);
/// Sum of outputs times these weights.
Tensor weighted_sum(const std::vector<Tensor>& outputs);

}  // namespace thalweg::testing
