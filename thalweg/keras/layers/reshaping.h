// Layers that move or repeat what is in a tensor, pad or crop it.
#pragma once
#include "thalweg/keras/layer.h"
#include "thalweg/ops/window_options.h"

namespace thalweg::keras::layers {

struct FlattenOptions {
  std::string data_format = {};  // left out: channels_last
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// All dimensions but that of the batch in one.
THALWEG_API Layer Flatten(const FlattenOptions& options = {});

struct ReshapeOptions {
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// Each example in another shape; one of its dimensions may be -1.
THALWEG_API Layer Reshape(const std::vector<int64_t>& target_shape, const ReshapeOptions& options = {});

struct PermuteOptions {
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// The dimensions of each example in another order, counted from 1: `Permute({2, 1})`.
THALWEG_API Layer Permute(const std::vector<int64_t>& dims, const PermuteOptions& options = {});

struct RepeatVectorOptions {
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// Each example n times, one after the other: [batch, features] becomes [batch, n, features].
THALWEG_API Layer RepeatVector(int64_t n, const RepeatVectorOptions& options = {});

/// How much before and after each dimension of space: one number for all, one for each (`{1, 2}`), or two for each
/// (`{{1, 2}, {0, 1}}`). For sequences two numbers are before and after.
class THALWEG_API Margins {
 public:
  Margins() = default;
  Margins(int64_t size) : entries_{Sizes(size)}, single_(true) {}          // NOLINT
  Margins(int size) : Margins(int64_t{size}) {}                            // NOLINT
  Margins(std::initializer_list<int64_t> sizes);                           // NOLINT
  Margins(std::initializer_list<std::initializer_list<int64_t>> entries);  // NOLINT

  /// All of them written out, for n dimensions; ValueError in Keras's words where they do not fit.
  Margins normalized(int n, const char* argument) const;
  int64_t before(int i) const { return at(i, 0); }
  int64_t after(int i) const { return at(i, 1); }
  /// `((1, 2), (0, 1))`
  std::string str() const;

  friend THALWEG_API Value to_value(const Margins& margins);
  friend THALWEG_API void from_value(Margins& margins, const Value& value);

 private:
  int64_t at(int i, size_t end) const;

  std::vector<Sizes> entries_;
  bool single_ = false;
};

struct ZeroPadding1DOptions {
  Margins padding = 1;
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// Zeros before and after a sequence.
THALWEG_API Layer ZeroPadding1D(const ZeroPadding1DOptions& options = {});

struct ZeroPaddingOptions {
  Margins padding = 1;
  std::string data_format = {};  // left out: channels_last
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// Zeros around images.
THALWEG_API Layer ZeroPadding2D(const ZeroPaddingOptions& options = {});
/// Zeros around volumes.
THALWEG_API Layer ZeroPadding3D(const ZeroPaddingOptions& options = {});

struct Cropping1DOptions {
  Margins cropping = 1;
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// A sequence without its first and last steps.
THALWEG_API Layer Cropping1D(const Cropping1DOptions& options = {});

struct Cropping2DOptions {
  Margins cropping = 0;
  std::string data_format = {};
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// Images without their edges.
THALWEG_API Layer Cropping2D(const Cropping2DOptions& options = {});

struct Cropping3DOptions {
  Margins cropping = 1;
  std::string data_format = {};
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// Volumes without their edges.
THALWEG_API Layer Cropping3D(const Cropping3DOptions& options = {});

struct UpSampling1DOptions {
  int64_t size = 2;
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// Each step of a sequence several times.
THALWEG_API Layer UpSampling1D(const UpSampling1DOptions& options = {});

struct UpSampling2DOptions {
  Sizes size = 2;
  std::string data_format = {};
  std::string interpolation = "nearest";  // or as in Resizing
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// Larger images: rows and columns several times, or interpolated.
THALWEG_API Layer UpSampling2D(const UpSampling2DOptions& options = {});

struct UpSampling3DOptions {
  Sizes size = 2;
  std::string data_format = {};
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// Larger volumes: each of their slices several times.
THALWEG_API Layer UpSampling3D(const UpSampling3DOptions& options = {});

struct ResizingOptions {
  // or "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic"
  std::string interpolation = "bilinear";
  Flag crop_to_aspect_ratio = false;  // whether images are cropped before, so that nothing is distorted
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// Images of another size.
THALWEG_API Layer Resizing(int64_t height, int64_t width, const ResizingOptions& options = {});

struct CenterCropOptions {
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// The middle of images; smaller ones are made larger first.
THALWEG_API Layer CenterCrop(int64_t height, int64_t width, const CenterCropOptions& options = {});

// The same with an option by position (docs/decisions/0013).
template <As<Margins> A = Margins> Layer ZeroPadding1D(const A& padding, ZeroPadding1DOptions options = {}) {
  return ZeroPadding1D(with(options, options.padding, padding));
}
template <As<Margins> A = Margins> Layer ZeroPadding2D(const A& padding, ZeroPaddingOptions options = {}) {
  return ZeroPadding2D(with(options, options.padding, padding));
}
template <As<Margins> A = Margins> Layer ZeroPadding3D(const A& padding, ZeroPaddingOptions options = {}) {
  return ZeroPadding3D(with(options, options.padding, padding));
}
template <As<Margins> A = Margins> Layer Cropping1D(const A& cropping, Cropping1DOptions options = {}) {
  return Cropping1D(with(options, options.cropping, cropping));
}
template <As<Margins> A = Margins> Layer Cropping2D(const A& cropping, Cropping2DOptions options = {}) {
  return Cropping2D(with(options, options.cropping, cropping));
}
template <As<Margins> A = Margins> Layer Cropping3D(const A& cropping, Cropping3DOptions options = {}) {
  return Cropping3D(with(options, options.cropping, cropping));
}
template <As<int64_t> A = int64_t> Layer UpSampling1D(const A& size, UpSampling1DOptions options = {}) {
  return UpSampling1D(with(options, options.size, size));
}
template <As<Sizes> A = Sizes> Layer UpSampling2D(const A& size, UpSampling2DOptions options = {}) {
  return UpSampling2D(with(options, options.size, size));
}
template <As<Sizes> A = Sizes> Layer UpSampling3D(const A& size, UpSampling3DOptions options = {}) {
  return UpSampling3D(with(options, options.size, size));
}
template <As<std::string> A = std::string>
Layer Resizing(int64_t height, int64_t width, const A& interpolation, ResizingOptions options = {}) {
  return Resizing(height, width, with(options, options.interpolation, interpolation));
}

}  // namespace thalweg::keras::layers
