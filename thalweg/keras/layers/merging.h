// Layers that make one tensor of several: called on lists, `layers::Add()({a, b})`, or as functions,
// `layers::add({a, b})`.
#pragma once
#include "thalweg/keras/layers/core.h"

namespace thalweg::keras::layers {

/// The sum of the inputs, which broadcast after the batch.
THALWEG_API Layer Add(const PlainOptions& options = {});
THALWEG_API Tensor add(const Nest& inputs, const PlainOptions& options = {});
/// The first input minus the second.
THALWEG_API Layer Subtract(const PlainOptions& options = {});
THALWEG_API Tensor subtract(const Nest& inputs, const PlainOptions& options = {});
/// The product of the inputs.
THALWEG_API Layer Multiply(const PlainOptions& options = {});
THALWEG_API Tensor multiply(const Nest& inputs, const PlainOptions& options = {});
/// The mean of the inputs.
THALWEG_API Layer Average(const PlainOptions& options = {});
THALWEG_API Tensor average(const Nest& inputs, const PlainOptions& options = {});
/// The largest of the inputs, element by element.
THALWEG_API Layer Maximum(const PlainOptions& options = {});
THALWEG_API Tensor maximum(const Nest& inputs, const PlainOptions& options = {});
/// The smallest of the inputs, element by element.
THALWEG_API Layer Minimum(const PlainOptions& options = {});
THALWEG_API Tensor minimum(const Nest& inputs, const PlainOptions& options = {});

struct ConcatenateOptions {
  int64_t axis = -1;
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// The inputs one after the other along an axis.
THALWEG_API Layer Concatenate(const ConcatenateOptions& options = {});
THALWEG_API Tensor concatenate(const Nest& inputs, const ConcatenateOptions& options = {});

/// Along which axes two tensors meet: one for both, or one for each.
struct DotAxes {
  DotAxes(int64_t axis = -1) : axes(axis) {}  // NOLINT
  DotAxes(int64_t first, int64_t second) : axes{first, second} {}
  Axis axes;
};
THALWEG_API Value to_value(const DotAxes& axes);
THALWEG_API void from_value(DotAxes& axes, const Value& value);
struct DotOptions {
  Flag normalize = false;  // to length 1 first: cosines
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// The products of two tensors, summed along an axis of each: `Dot(1)`, `Dot({2, 1})`.
THALWEG_API Layer Dot(const DotAxes& axes, const DotOptions& options = {});
THALWEG_API Tensor dot(const Nest& inputs, const DotAxes& axes, const DotOptions& options = {});

// The same with an option by position (docs/decisions/0013).
template <As<int64_t> A = int64_t> Layer Concatenate(const A& axis, ConcatenateOptions options = {}) {
  return Concatenate(with(options, options.axis, axis));
}
template <As<int64_t> A = int64_t>
Tensor concatenate(const Nest& inputs, const A& axis, ConcatenateOptions options = {}) {
  return concatenate(inputs, with(options, options.axis, axis));
}

}  // namespace thalweg::keras::layers

template <> inline constexpr bool thalweg::holds_no_variables<thalweg::keras::layers::DotAxes> = true;
