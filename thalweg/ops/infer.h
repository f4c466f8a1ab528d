// Shape rules that several families share.
#pragma once
#include "thalweg/ops/op.h"

namespace thalweg::infer {

/// Output 0 has the shape of input I.
template <int I> void like_input(InferCall& c) { c.output(0, c.shape(I)); }
/// Every output is a scalar.
void scalar(InferCall& c);
/// What all inputs broadcast to; fails when they do not.
Shape broadcast_shape(InferCall& c);
/// Output 0 is what all inputs broadcast to.
void broadcast(InferCall& c);
/// All inputs have one shape, and so has output 0.
void same_shape(InferCall& c);

}  // namespace thalweg::infer

// Rules for what a vector of integers holds.
namespace thalweg::dims {

/// That nothing is known of the integers in a tensor of this shape but how many there are.
Shape unknown(const Shape& of_vector);
/// What input 0 holds.
inline Shape like_first(const DimsCall& c) { return c.dims(0); }
/// What the inputs from `first` on up to `end` hold, one after the other.
Shape joined(const DimsCall& c, int first, int end);

}  // namespace thalweg::dims
