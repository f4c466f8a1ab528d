// What the families of random ops share: their shape argument, their bounds and their algorithms.
#pragma once
#include <string>

#include "thalweg/core/philox_state.h"
#include "thalweg/ops/op.h"
#include "thalweg/ops/parameter.h"

namespace thalweg::random {

inline constexpr const char* not_differentiable =
    "random numbers do not depend on the inputs in a way that has a derivative";
inline constexpr Traits pure{.not_differentiable = not_differentiable};
inline constexpr Traits stateful{.stateful = true, .not_differentiable = not_differentiable};
inline constexpr TypeSet drawn_int_types = types(int32, int64, uint32, uint64);

/// How a fill draws its elements: `kernels::fill_uniform` and its like.
using Fill = void (*)(DType dtype, const PhiloxState& state, void* out, int64_t n);

/// Output 0 has the shape that input `I` says.
template <int I> void infer_shape_value(InferCall& c) { c.output(0, c.shape_value(I)); }

/// Input i has no dimensions.
void require_scalar(const InferCall& c, int i);
/// Input i is a seed: two numbers.
void require_seed(const InferCall& c, int i);

/// Fails unless *minval < *maxval, which are inputs of an integer type.
void check_bounds(const KernelCall& c, int minval, int maxval);

/// Fails unless the algorithm that input i names is Philox, or the choice is left to the device.
void check_algorithm(const KernelCall& c, int i);

/// Inputs 1 to 3 are a key, a counter and an algorithm.
void check_key_counter(const InferCall& c);
/// The stream that key, counter and algorithm name, inputs 1 to 3.
PhiloxState key_stream(const KernelCall& c);

/// The number of an algorithm: "philox", "threefry", "auto_select"; ValueError for others.
int64_t algorithm_number(const std::string& name);

/// A shape given as a list or a tensor, as ops take it.
Tensor shape_tensor(const TensorLike& shape);

/// x * scale + offset in x's dtype; nothing is computed where that cannot change x.
Tensor scale_and_shift(const Tensor& x, const Parameter& scale, const Parameter& offset, const char* scale_name,
                       const char* offset_name);
/// The gradient of alpha, not yet summed over the samples, from the gradient of gamma distributed samples.
Tensor grad_of_gamma(const Tensor& alpha, const Tensor& sample, const Tensor& grad);
/// Numbers in [0, 1) as numbers in [minval, maxval).
Tensor stretch(const Tensor& x, const Parameter& minval, const Parameter& maxval);

}  // namespace thalweg::random
