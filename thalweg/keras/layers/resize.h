// Images of another size, by interpolation along rows and columns.
#pragma once
#include <string>

#include "thalweg/core/tensor.h"

namespace thalweg::keras::layers {

/// The name in small letters; UnimplementedError in Keras's words for one that is no interpolation.
std::string normalized_interpolation(const std::string& interpolation);
/// [..., height, width, channels] with other height and width.
Tensor resize_images(const Tensor& images, int64_t height, int64_t width, const std::string& interpolation);
/// The same, so many times as high and wide.
Tensor scale_images(const Tensor& images, int64_t rows, int64_t columns, const std::string& interpolation);
/// The same without distortion: what does not fit the new shape is cut off first, on both sides.
Tensor smart_resize(const Tensor& images, int64_t height, int64_t width, const std::string& interpolation);
/// The middle of the images, or where they are smaller all that fits, resized.
Tensor center_crop(const Tensor& images, int64_t height, int64_t width);

}  // namespace thalweg::keras::layers
