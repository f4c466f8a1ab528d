// A number or a tensor among the options of a function, as TensorLike is one among its arguments.
#pragma once
#include "thalweg/ops/options.h"

namespace thalweg {

/// A bare number that takes its dtype later, a tensor, or nothing (Python's None).
class THALWEG_API Parameter {
 public:
  Parameter() = default;
  template <Number T> Parameter(T value) : tensor_(hold(TensorLike(value))) {}   // NOLINT
  Parameter(std::initializer_list<Literal> list) : tensor_(list, Weak::bare) {}  // NOLINT
  Parameter(const Tensor& tensor) : tensor_(tensor) {}                           // NOLINT

  bool given() const { return tensor_.defined(); }
  /// The value as it came: a bare number is still weak.
  const Tensor& tensor() const { return tensor_; }
  /// The value in this dtype. A bare number is converted; a tensor of another dtype is a ValueError that names `what`.
  Tensor as(DType dtype, const char* what) const;
  /// Whether it is a bare number equal to this one.
  bool is_number(double number) const;

 private:
  static Tensor hold(const TensorLike& value) { return value.tensor(); }

  Tensor tensor_;
};

/// Options may have parameters as members; generic code sees a tensor that may be None.
template <> const MemberType& member_type<Parameter>();

}  // namespace thalweg
