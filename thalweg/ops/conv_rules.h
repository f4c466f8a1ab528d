// The shape rules and kernels of all convolutions and their two gradients; records name the attributes.
#pragma once
#include "thalweg/core/index.h"
#include "thalweg/kernels/conv.h"
#include "thalweg/ops/conv_geometry.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/shaping.h"

namespace thalweg {

/// How filters see the channels of the input.
enum class Channels {
  grouped,    // [space..., in / groups, out]: a filter may see a part of the channels
  whole,      // [space..., in, out]
  depthwise,  // [space..., in, multiplier]: each channel makes its own outputs
};

struct ConvRule {
  int spatial = 2;
  Channels channels = Channels::grouped;
  WindowAttrs window = {};
};

/// input, filter -> output.
void infer_conv(InferCall& c, const ConvRule& rule);
void run_conv(const KernelCall& c, const ConvRule& rule, const kernels::Epilogue* epilogue = nullptr,
              kernels::KeptFilter* kept = nullptr);
/// input, filter_sizes, out_backprop -> the gradient of the filter.
void infer_conv_filter_grad(InferCall& c, const ConvRule& rule);
void run_conv_filter_grad(const KernelCall& c, const ConvRule& rule);
/// input_sizes, filter, out_backprop -> the gradient of the input.
void infer_conv_input_grad(InferCall& c, const ConvRule& rule);
void run_conv_input_grad(const KernelCall& c, const ConvRule& rule);

/// Calls a convolution that takes `rank` dimensions with an input that may have more: those in front are one batch.
template <class Call> Tensor with_one_batch(const Tensor& input, int rank, const Call& call) {
  if (input.rank() <= rank) return call(input);
  Tensor dims = shape(input);
  int64_t inner = 1 - rank;
  Tensor result = call(reshape(input, concat({Tensor(std::vector<int32_t>{-1}), dims(slice_from(inner))}, 0)));
  return reshape(result, concat({dims(slice(0, inner)), shape(result)(slice_from(1))}, 0));
}

}  // namespace thalweg
