// The functions that are compositions of pools over two or three dimensions.
#include "thalweg/ops/pool.h"

#include "thalweg/core/error.h"
#include "thalweg/ops/blocks.h"
#include "thalweg/ops/conv_geometry.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/transposing.h"

namespace thalweg {
namespace {

// A line is an image of height 1.
template <Tensor (*Pool)(const Tensor&, const nn::Pool2DOptions&)>
Tensor pool_line(const Tensor& input, const nn::Pool1DOptions& o) {
  bool first = o.data_format == "NCW" || o.data_format == "NCHW";
  if (!first && o.data_format != "NWC" && o.data_format != "NHWC")
    throw ValueError("data_format must be \"NWC\" or \"NCW\", got \"" + o.data_format + '"');
  int64_t axis = first ? 2 : 1;
  auto wide = [&](const Sizes& sizes, const char* name) {
    std::vector<int64_t> all = all_dimensions(sizes, 1, first ? "NCW" : "NWC", name);
    all.insert(all.begin() + axis, 1);
    return Sizes(all);
  };
  Tensor pooled = Pool(expand_dims(input, axis), {wide(o.ksize, "ksize"), wide(o.strides, "strides"),
                                                  widen_padding(o.padding, first), first ? "NCHW" : "NHWC"});
  return squeeze(pooled, {.axis = axis});
}

int spatial_of(const Tensor& input, const char* function) {
  int spatial = input.rank() - 2;
  if (spatial < 1 || spatial > 3)
    throw ValueError(std::string(function) +
                     ": the input must have 1 to 3 dimensions of space, one of batch and one of channels, got shape " +
                     input.shape().brackets());
  return spatial;
}
std::string layout_or_default(const std::string& data_format, int spatial) {
  return data_format.empty() ? layout_name(spatial, false) : data_format;
}

// Windows with gaps: every residue of the positions modulo the dilation is pooled as a batch of its own.
Tensor pool_with_gaps(const Tensor& input, const std::vector<int64_t>& window, const std::vector<int64_t>& dilations,
                      bool is_max, bool same) {
  std::vector<int64_t> paddings, crops;
  for (size_t i = 0; i < window.size(); ++i) {
    int64_t length = input.shape()[static_cast<int>(i) + 1], reach = same ? (window[i] - 1) * dilations[i] : 0;
    if (length < 0) throw ValueError("pool: with dilations the dimensions of space must be known");
    int64_t before = reach / 2, after = reach - before, more = (length + reach) % dilations[i];
    more = more ? dilations[i] - more : 0;
    paddings.insert(paddings.end(), {before, after + more});
    crops.insert(crops.end(), {0, more});
  }
  Shape pairs{static_cast<int64_t>(window.size()), 2};
  nn::AnyPoolOptions options{.ksize = window, .strides = 1};
  Tensor parts = space_to_batch_nd(input, dilations, Tensor(paddings, pairs));
  return batch_to_space(is_max ? nn::max_pool(parts, options) : nn::avg_pool(parts, options), dilations,
                        Tensor(crops, pairs));
}

}  // namespace

namespace nn {

Tensor max_pool1d(const Tensor& input, const Pool1DOptions& options) { return pool_line<max_pool2d>(input, options); }
Tensor avg_pool1d(const Tensor& input, const Pool1DOptions& options) { return pool_line<avg_pool2d>(input, options); }

Tensor max_pool(const Tensor& input, const AnyPoolOptions& o) {
  int spatial = spatial_of(input, "max_pool");
  std::string layout = layout_or_default(o.data_format, spatial);
  if (spatial == 1) return max_pool1d(input, {o.ksize, o.strides, o.padding, layout});
  if (spatial == 2) return max_pool2d(input, {o.ksize, o.strides, o.padding, layout});
  return max_pool3d(input, {o.ksize, o.strides, o.padding, layout});
}

Tensor avg_pool(const Tensor& input, const AnyPoolOptions& o) {
  int spatial = spatial_of(input, "avg_pool");
  std::string layout = layout_or_default(o.data_format, spatial);
  if (spatial == 1) return avg_pool1d(input, {o.ksize, o.strides, o.padding, layout});
  if (spatial == 2) return avg_pool2d(input, {o.ksize, o.strides, o.padding, layout});
  return avg_pool3d(input, {o.ksize, o.strides, o.padding, layout});
}

Tensor pool(const Tensor& input, const std::vector<int64_t>& window_shape, const std::string& pooling_type,
            const PoolOptions& o) {
  if (pooling_type != "MAX" && pooling_type != "AVG")
    throw ValueError("pool: pooling_type must be \"MAX\" or \"AVG\", got \"" + pooling_type + '"');
  int spatial = spatial_of(input, "pool");
  if (window_shape.size() != static_cast<size_t>(spatial))
    throw ValueError("pool: window_shape must have " + std::to_string(spatial) +
                     " numbers, one for each dimension of space");
  bool first = is_channels_first(o.data_format), is_max = pooling_type == "MAX";
  auto spatial_part = [&](const Sizes& sizes, const char* name) {
    std::vector<int64_t> all = all_dimensions(sizes, spatial, "", name);
    for (int64_t v : all)
      if (v < 1 || v > INT32_MAX) throw ValueError(std::string("pool: ") + name + " must be at least 1");
    return std::vector<int64_t>(all.begin() + 1, all.end() - 1);
  };
  std::vector<int64_t> dilations = spatial_part(o.dilations, "dilations"), strides = spatial_part(o.strides, "strides");
  for (size_t i = 0; i < strides.size(); ++i)
    if (strides[i] > window_shape[i])
      throw ValueError("pool: strides must not be larger than window_shape, got " + std::to_string(strides[i]) +
                       " for a window of " + std::to_string(window_shape[i]));
  std::vector<int64_t> ones(static_cast<size_t>(spatial), 1);
  if (dilations != ones) {
    if (strides != ones) throw ValueError("pool: strides and dilations cannot both be larger than 1");
    if (o.padding.name() != "SAME" && o.padding.name() != "VALID")
      throw ValueError("pool: padding must be \"SAME\" or \"VALID\" with dilations");
    for (int64_t w : window_shape)
      if (w < 1 || w > INT32_MAX) throw ValueError("pool: window_shape must be at least 1");
    std::vector<int64_t> to_last = {0}, back = {0, spatial + 1};
    for (int i = 0; i < spatial; ++i) to_last.push_back(i + 2), back.push_back(i + 1);
    to_last.push_back(1);
    Tensor x = first ? transpose(input, {.perm = to_last}) : input;
    Tensor pooled = pool_with_gaps(x, window_shape, dilations, is_max, o.padding.name() == "SAME");
    return first ? transpose(pooled, {.perm = back}) : pooled;
  }
  AnyPoolOptions options{window_shape, strides, o.padding, o.data_format};
  return is_max ? max_pool(input, options) : avg_pool(input, options);
}

}  // namespace nn

namespace {
const FunctionDef* const pool_functions[] = {
    &define_function<Tensor(const Tensor&, const nn::AnyPoolOptions&), nn::max_pool>({"nn.max_pool"}, {"input"}),
    &define_function<Tensor(const Tensor&, const nn::Pool1DOptions&), nn::max_pool1d>({"nn.max_pool1d"}, {"input"}),
    &define_function<Tensor(const Tensor&, const nn::AnyPoolOptions&), nn::avg_pool>({"nn.avg_pool"}, {"input"}),
    &define_function<Tensor(const Tensor&, const nn::Pool1DOptions&), nn::avg_pool1d>({"nn.avg_pool1d"}, {"input"}),
    &define_function<nn::pool>({"nn.pool"}, {"input", "window_shape", "pooling_type"}),
};
}  // namespace

}  // namespace thalweg
