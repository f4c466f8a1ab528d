// Small integer inputs (shapes, axes, paddings), read without allocating.
#pragma once
#include <string>

#include "thalweg/ops/op.h"

namespace thalweg {

/// The values of one integer input, as int64.
struct Integers {
  static constexpr int capacity = 2 * Shape::max_rank;
  int count = 0;
  int64_t at[capacity];

  Integers() {}  // NOLINT: at[] is meaningful up to count only
  int64_t operator[](int i) const { return at[i]; }
  const int64_t* begin() const { return at; }
  const int64_t* end() const { return at + count; }
};

/// Whether the values could be read: it has at most `Integers::capacity`.
bool read_integers(const TensorImpl& tensor, Integers& values);

/// The values of input i of a call, in infer or in a kernel; fails when there are more than any shape needs.
template <class Call> Integers integers(const Call& c, const TensorRef& input) {
  Integers values;
  if (!read_integers(*input.p, values)) [[unlikely]]
    c.fail("a list of " + std::to_string(input.p->shape.count()) + " integers is too long: a tensor has at most " +
           std::to_string(Shape::max_rank) + " dimensions");
  return values;
}
template <class Call> Integers integers(const Call& c, int i) { return integers(c, c.argument(i)[0]); }

/// The one value of an integer input; fails unless it has exactly one.
template <class Call> int64_t integer(const Call& c, int i) {
  const TensorRef& input = c.argument(i)[0];
  if (input.p->shape.count() != 1) [[unlikely]]
    c.fail(c.op.args[static_cast<size_t>(i)].name + " must be a scalar, got shape " + input.p->shape.brackets());
  return integers(c, input)[0];
}

/// An axis in [-rank, rank) counted from the front; fails with a message that names the argument otherwise.
template <class Call> int checked_axis(const Call& c, int64_t axis, int rank, const char* name = "axis") {
  if (axis < -rank || axis >= rank) [[unlikely]]
    c.fail(std::string(name) + ' ' + std::to_string(axis) + " is out of range: it must lie in [" +
           std::to_string(-rank) + ", " + std::to_string(rank) + ")");
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

/// Integers given as a literal, a list or a tensor, as an int32 or int64 tensor; an empty list counts as int32.
Tensor index_tensor(const TensorLike& values);
/// The numbers of a list as an int32 tensor, or int64 where one does not fit.
Tensor index_list(std::span<const int64_t> values);
/// A scalar int32.
inline Tensor index_scalar(int64_t value) { return Tensor(static_cast<int32_t>(value)); }

}  // namespace thalweg
