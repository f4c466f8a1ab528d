// Larger sequences, images and volumes, and images of a given size.
#include "thalweg/core/error.h"
#include "thalweg/keras/call_context.h"
#include "thalweg/keras/layers/reshaping.h"
#include "thalweg/keras/layers/resize.h"
#include "thalweg/keras/layers/windows.h"
#include "thalweg/ops/broadcasting.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/masking.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/transposing.h"

namespace thalweg::keras::layers {
namespace {

/// Each slice along these axes, which follow each other, so many times.
Tensor repeat_space(const Tensor& x, int first, const std::vector<int64_t>& times) {
  const int last = first + static_cast<int>(times.size());
  std::vector<int64_t> apart, multiples, together;
  int open = 0;
  for (int i = 0; i < x.rank(); ++i) {
    const int64_t size = x.shape()[i];
    open += size <= 0;
    apart.push_back(size);
    multiples.push_back(1);
    if (i >= first && i < last) {
      apart.push_back(1);
      multiples.push_back(times[static_cast<size_t>(i - first)]);
    }
    together.push_back(size < 0                 ? unknown
                       : i >= first && i < last ? size * times[static_cast<size_t>(i - first)]
                                                : size);
  }
  if (open <= 1 && x.shape().num_elements() != 0)
    return reshape(tile(reshape(x, Tensor(apart)), Tensor(multiples)), Tensor(together));
  Tensor y = x;
  for (int i = first; i < last; ++i) y = repeat(y, times[static_cast<size_t>(i - first)], {.axis = i});
  return ensure_shape(y, Shape(together));
}

struct UpSampling1DLayer {
  UpSampling1DOptions options = {};

  InputSpec input_spec() const { return {.ndim = 3}; }
  Tensor call(const Tensor& x) { return repeat_space(x, 1, {options.size}); }
  Shape compute_output_shape(const Shape& input) {
    return {input[0], input[1] < 0 ? unknown : input[1] * options.size, input[2]};
  }
};

/// Of two or three dimensions; only the first can be interpolated.
template <int N> struct UpSamplingLayer {
  std::conditional_t<N == 2, UpSampling2DOptions, UpSampling3DOptions> options = {};

  static constexpr const char* class_name = N == 2 ? "UpSampling2D" : "UpSampling3D";

  void check() {
    options.size = windows::normalized(options.size, N, "size");
    options.data_format = windows::normalized_data_format(options.data_format);
    if constexpr (N == 2) options.interpolation = normalized_interpolation(options.interpolation);
  }
  InputSpec input_spec() const { return {.ndim = N + 2}; }
  Tensor call(const Tensor& x) {
    const bool is_first = windows::is_channels_first(options.data_format);
    if constexpr (N == 2) {
      if (options.interpolation != "nearest") {
        Tensor images = is_first ? transpose(x, {.perm = {0, 2, 3, 1}}) : x;
        Tensor y = scale_images(images, options.size.axes()[0], options.size.axes()[1], options.interpolation);
        return is_first ? transpose(y, {.perm = {0, 3, 1, 2}}) : y;
      }
    }
    const int first = is_first ? 2 : 1;
    if constexpr (N == 2) return repeat_space(x, first, options.size.axes());
    // One after the other: all at once is more dimensions than a tensor has.
    Tensor y = x;
    for (int i = 0; i < N; ++i) y = repeat_space(y, first + i, {options.size.axes()[static_cast<size_t>(i)]});
    return y;
  }
  Shape compute_output_shape(const Shape& input) {
    return windows::with_space(input, N, options.data_format, [&](int i, int64_t size) {
      return size < 0 ? unknown : size * options.size.axes()[static_cast<size_t>(i)];
    });
  }
};

/// [height, width, channels], with batches before them.
void check_images(const Tensor& x) {
  if (x.shape().has_rank() && x.rank() < 3)
    throw errors::InvalidArgumentError("images have height, width and channels, got shape " + x.shape().str());
}
Shape with_size(Shape shape, int64_t height, int64_t width) {
  shape[-3] = height;
  shape[-2] = width;
  return shape;
}

struct ResizingLayer {
  int64_t height = 0, width = 0;
  ResizingOptions options = {};

  void check() { normalized_interpolation(options.interpolation); }
  Tensor call(const Tensor& x) {
    check_images(x);
    const DType dtype = detail::own_dtype();
    const std::string interpolation = normalized_interpolation(options.interpolation);
    Tensor images = cast(x, interpolation == "nearest" ? dtype : DType::float32);
    Tensor y = options.crop_to_aspect_ratio ? smart_resize(images, height, width, interpolation)
                                            : resize_images(images, height, width, interpolation);
    return cast(y, dtype);
  }
  Shape compute_output_shape(const Shape& input) { return with_size(input, height, width); }
};

struct CenterCropLayer {
  int64_t height = 0, width = 0;
  CenterCropOptions options = {};

  Tensor call(const Tensor& given) {
    check_images(given);
    return center_crop(cast(given, detail::own_dtype()), height, width);
  }
  Shape compute_output_shape(const Shape& input) { return with_size(input, height, width); }
};

}  // namespace

Layer UpSampling1D(const UpSampling1DOptions& options) { return UpSampling1DLayer{options}; }
Layer UpSampling2D(const UpSampling2DOptions& options) { return UpSamplingLayer<2>{options}; }
Layer UpSampling3D(const UpSampling3DOptions& options) { return UpSamplingLayer<3>{options}; }
Layer Resizing(int64_t height, int64_t width, const ResizingOptions& options) {
  return ResizingLayer{height, width, options};
}
Layer CenterCrop(int64_t height, int64_t width, const CenterCropOptions& options) {
  return CenterCropLayer{height, width, options};
}

}  // namespace thalweg::keras::layers
