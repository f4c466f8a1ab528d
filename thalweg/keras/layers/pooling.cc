#include "thalweg/keras/layers/pooling.h"

#include "thalweg/core/error.h"
#include "thalweg/keras/layers/windows.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/pool.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::keras::layers {
namespace {

template <int N, bool is_max> struct PoolingLayer {
  PoolingOptions options = {};

  static constexpr const char* maxima = N == 1 ? "MaxPooling1D" : N == 2 ? "MaxPooling2D" : "MaxPooling3D";
  static constexpr const char* means = N == 1 ? "AveragePooling1D" : N == 2 ? "AveragePooling2D" : "AveragePooling3D";
  static constexpr const char* class_name = is_max ? maxima : means;

  void check() {
    if (!options.strides.given()) options.strides = options.pool_size;
    options.pool_size = windows::normalized(options.pool_size, N, "pool_size");
    options.strides = windows::normalized(options.strides, N, "strides", true);
    options.padding = windows::normalized_padding(options.padding);
    options.data_format = windows::normalized_data_format(options.data_format);
  }
  InputSpec input_spec() const { return {.ndim = N + 2}; }
  Tensor call(const Tensor& x) {
    windows::check_windows(x.shape(), options.pool_size, options.padding, options.data_format);
    const nn::AnyPoolOptions pool = {.ksize = options.pool_size,
                                     .strides = options.strides,
                                     .padding = windows::window_padding(options.padding),
                                     .data_format = windows::layout(N, options.data_format)};
    return is_max ? nn::max_pool(x, pool) : nn::avg_pool(x, pool);
  }
  Shape compute_output_shape(const Shape& input) {
    return windows::with_space(input, N, options.data_format, [&](int i, int64_t size) {
      const auto at = static_cast<size_t>(i);
      return windows::output_length(size, options.pool_size.axes()[at], options.padding, options.strides.axes()[at]);
    });
  }
};

template <int N, bool is_max> struct GlobalPoolingLayer {
  GlobalPoolingOptions options = {};

  static constexpr const char* maxima = N == 1   ? "GlobalMaxPooling1D"
                                        : N == 2 ? "GlobalMaxPooling2D"
                                                 : "GlobalMaxPooling3D";
  static constexpr const char* means = N == 1   ? "GlobalAveragePooling1D"
                                       : N == 2 ? "GlobalAveragePooling2D"
                                                : "GlobalAveragePooling3D";
  static constexpr const char* class_name = is_max ? maxima : means;

  void check() { options.data_format = windows::normalized_data_format(options.data_format); }
  InputSpec input_spec() const { return {.ndim = N + 2}; }
  Tensor call(const Tensor& x, const CallArgs& args) {
    const ReduceOptions over = {.axis = space(), .keepdims = options.keepdims};
    if constexpr (is_max) return reduce_max(x, over);
    else {
      if (N == 1 && args.mask.is_tensor()) {
        const bool first = windows::is_channels_first(options.data_format);
        Tensor mask = expand_dims(cast(args.mask.tensor(), x.dtype()), first ? 1 : 2);
        return reduce_sum(x * mask, over) / reduce_sum(mask, over);
      }
      return reduce_mean(x, over);
    }
  }
  static constexpr bool supports_masking = N == 1 && !is_max;
  Nest compute_mask(const Nest&, const Nest&) { return {}; }
  Shape compute_output_shape(const Shape& input) {
    const int channels = windows::is_channels_first(options.data_format) ? 1 : N + 1;
    if (!options.keepdims) return {input[0], input[channels]};
    Shape output(std::vector<int64_t>(N + 2, 1));
    output[0] = input[0];
    output[channels] = input[channels];
    return output;
  }

  std::vector<int64_t> space() const {
    std::vector<int64_t> axes;
    for (int i = 0; i < N; ++i) axes.push_back(i + (windows::is_channels_first(options.data_format) ? 2 : 1));
    return axes;
  }
};

const bool pooling_aliases[] = {
    register_alias("layer", "MaxPool1D", "MaxPooling1D"),
    register_alias("layer", "MaxPool2D", "MaxPooling2D"),
    register_alias("layer", "MaxPool3D", "MaxPooling3D"),
    register_alias("layer", "AvgPool1D", "AveragePooling1D"),
    register_alias("layer", "AvgPool2D", "AveragePooling2D"),
    register_alias("layer", "AvgPool3D", "AveragePooling3D"),
    register_alias("layer", "GlobalMaxPool1D", "GlobalMaxPooling1D"),
    register_alias("layer", "GlobalMaxPool2D", "GlobalMaxPooling2D"),
    register_alias("layer", "GlobalMaxPool3D", "GlobalMaxPooling3D"),
    register_alias("layer", "GlobalAvgPool1D", "GlobalAveragePooling1D"),
    register_alias("layer", "GlobalAvgPool2D", "GlobalAveragePooling2D"),
    register_alias("layer", "GlobalAvgPool3D", "GlobalAveragePooling3D"),
};

}  // namespace

Layer MaxPooling1D(const PoolingOptions& options) { return PoolingLayer<1, true>{options}; }
Layer MaxPooling2D(const PoolingOptions& options) { return PoolingLayer<2, true>{options}; }
Layer MaxPooling3D(const PoolingOptions& options) { return PoolingLayer<3, true>{options}; }
Layer AveragePooling1D(const PoolingOptions& options) { return PoolingLayer<1, false>{options}; }
Layer AveragePooling2D(const PoolingOptions& options) { return PoolingLayer<2, false>{options}; }
Layer AveragePooling3D(const PoolingOptions& options) { return PoolingLayer<3, false>{options}; }
Layer GlobalMaxPooling1D(const GlobalPoolingOptions& options) { return GlobalPoolingLayer<1, true>{options}; }
Layer GlobalMaxPooling2D(const GlobalPoolingOptions& options) { return GlobalPoolingLayer<2, true>{options}; }
Layer GlobalMaxPooling3D(const GlobalPoolingOptions& options) { return GlobalPoolingLayer<3, true>{options}; }
Layer GlobalAveragePooling1D(const GlobalPoolingOptions& options) { return GlobalPoolingLayer<1, false>{options}; }
Layer GlobalAveragePooling2D(const GlobalPoolingOptions& options) { return GlobalPoolingLayer<2, false>{options}; }
Layer GlobalAveragePooling3D(const GlobalPoolingOptions& options) { return GlobalPoolingLayer<3, false>{options}; }

}  // namespace thalweg::keras::layers
