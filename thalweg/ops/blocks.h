// Blocks of space moved into channels or the batch and back.
#pragma once
#include <string>

#include "thalweg/ops/options.h"

namespace thalweg {

/// Space [batch, spatial..., rest...], padded with zeros, divided into blocks: every position within a block becomes a
/// batch of its own.
THALWEG_API Tensor space_to_batch_nd(const TensorLike& input, const TensorLike& block_shape,
                                     const TensorLike& paddings);
/// The same under its shorter name.
THALWEG_API Tensor space_to_batch(const TensorLike& input, const TensorLike& block_shape, const TensorLike& paddings);
/// The inverse: batches put together to blocks of space, whose borders are cut off.
THALWEG_API Tensor batch_to_space(const TensorLike& input, const TensorLike& block_shape, const TensorLike& crops);

namespace nn {

struct DepthSpaceOptions {
  std::string data_format = "NHWC";  // or "NCHW"
};
/// Every block of block_size x block_size pixels becomes one pixel with as many times the channels.
THALWEG_API Tensor space_to_depth(const TensorLike& input, int64_t block_size, const DepthSpaceOptions& options = {});
/// The inverse: the channels of a pixel become a block of pixels.
THALWEG_API Tensor depth_to_space(const TensorLike& input, int64_t block_size, const DepthSpaceOptions& options = {});

using thalweg::space_to_batch;

}  // namespace nn

}  // namespace thalweg
