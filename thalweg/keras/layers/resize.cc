// Every interpolation is linear in the pixels of a line, so that a matrix [new, old] does it; its gradient is that of a
// product of matrices. The weights are those of TensorFlow's kernels with centres of pixels at half numbers.
#include "thalweg/keras/layers/resize.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <numbers>
#include <vector>

#include "thalweg/core/error.h"
#include "thalweg/core/index.h"
#include "thalweg/graph/host_function.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/einsum.h"
#include "thalweg/ops/gather.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::keras::layers {
namespace {

const char* const interpolations[] = {"bilinear", "nearest",  "bicubic",  "area",
                                      "lanczos3", "lanczos5", "gaussian", "mitchellcubic"};

/// The weights of the old pixels for one new one.
class Line {
 public:
  Line(float* row, int64_t size) : row_(row), size_(size) {}
  void add(int64_t at, double weight) { row_[std::clamp<int64_t>(at, 0, size_ - 1)] += static_cast<float>(weight); }
  /// Makes their sum 1.
  void normalize() {
    double sum = 0;
    for (int64_t i = 0; i < size_; ++i) sum += row_[i];
    if (std::abs(sum) < 1000 * FLT_MIN) return;
    for (int64_t i = 0; i < size_; ++i) row_[i] = static_cast<float>(row_[i] / sum);
  }

 private:
  float* row_;
  int64_t size_;
};

void interpolate_linearly(Line line, int64_t i, double scale) {
  const double at = (static_cast<double>(i) + 0.5) * scale - 0.5, low = std::floor(at);
  line.add(static_cast<int64_t>(low), 1 - (at - low));
  line.add(static_cast<int64_t>(low) + 1, at - low);
}

// Keys's cubic, from a table with 1024 steps; what lies outside of the image does not count.
void interpolate_cubically(Line line, int64_t i, int64_t size, double scale) {
  const float at = (static_cast<float>(i) + 0.5f) * static_cast<float>(scale) - 0.5f;
  const auto low = static_cast<int64_t>(std::floor(at));
  const double step = static_cast<double>(std::lrint((at - std::floor(at)) * 1024)) / 1024, a = -0.5;
  auto near = [&](double x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  auto far = [&](double x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
  const double weights[] = {far(step + 1), near(step), near(1 - step), far(2 - step)};
  for (int64_t j = 0; j < 4; ++j)
    if (low - 1 + j >= 0 && low - 1 + j < size) line.add(low - 1 + j, weights[j]);
  line.normalize();
}

// How much of each old pixel lies in the new one.
void average(Line line, int64_t i, int64_t size, double scale) {
  const double begin = static_cast<double>(i) * scale, end = begin + scale;
  for (auto at = static_cast<int64_t>(std::floor(begin)); static_cast<double>(at) < end && at < size; ++at) {
    const double first = static_cast<double>(at);
    line.add(at, (std::min(end, first + 1) - std::max(begin, first)) / scale);
  }
}

struct Kernel {
  double radius;
  double (*weight)(double distance, double radius);
};
Kernel kernel_of(const std::string& interpolation) {
  using std::numbers::pi;
  auto lanczos = [](double x, double radius) {
    if (x > radius) return 0.0;
    return x < 1e-3 ? 1.0 : radius * std::sin(pi * x) * std::sin(pi * x / radius) / (pi * pi * x * x);
  };
  if (interpolation == "lanczos3") return {3, lanczos};
  if (interpolation == "lanczos5") return {5, lanczos};
  if (interpolation == "gaussian")
    return {1.5, [](double x, double radius) {
              const double deviation = radius / 3;
              return x >= radius ? 0.0 : std::exp(-x * x / (2 * deviation * deviation));
            }};
  return {2, [](double x, double) {
            if (x >= 2) return 0.0;
            if (x >= 1) return (((-7.0 / 18) * x + 2) * x - 10.0 / 3) * x + 16.0 / 9;
            return ((7.0 / 6) * x - 2) * x * x + 8.0 / 9;
          }};
}
void interpolate_by(const Kernel& kernel, Line line, int64_t i, int64_t size, double scale) {
  const double at = (static_cast<double>(i) + 0.5) * scale;
  const int64_t first = std::max<int64_t>(0, static_cast<int64_t>(std::ceil(at - kernel.radius - 0.5)));
  const int64_t last = std::min<int64_t>(size - 1, static_cast<int64_t>(std::floor(at + kernel.radius - 0.5)));
  for (int64_t j = first; j <= last; ++j)
    line.add(j, kernel.weight(std::abs(static_cast<double>(j) + 0.5 - at), kernel.radius));
  line.normalize();
}

Tensor weights_of(const std::string& interpolation, int64_t from, int64_t to) {
  std::vector<float> weights(static_cast<size_t>(from * to), 0.0f);
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  for (int64_t i = 0; i < to; ++i) {
    Line line(weights.data() + i * from, from);
    if (interpolation == "bilinear") interpolate_linearly(line, i, scale);
    else if (interpolation == "bicubic") interpolate_cubically(line, i, from, scale);
    else if (interpolation == "area") average(line, i, from, scale);
    else interpolate_by(kernel_of(interpolation), line, i, from, scale);
  }
  return Tensor(weights, Shape{to, from});
}

Tensor nearest_places(int64_t from, int64_t to) {
  std::vector<int64_t> places;
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  for (int64_t i = 0; i < to; ++i)
    places.push_back(std::min(from - 1, static_cast<int64_t>(std::floor((static_cast<double>(i) + 0.5) * scale))));
  return Tensor(places);
}

/// One direction of an image: what it is long, and what it shall be.
struct Direction {
  int64_t from;
  int64_t to;  // unknown where it is a multiple
  int64_t factor = 1;

  Direction with(int64_t length) const { return {length, to < 0 ? length * factor : to, factor}; }
};
/// A tensor that depends on the length of a direction: now, or where that is unknown, when the values are there.
template <class F>
Tensor of_length(const Tensor& images, int axis, const Direction& along, DType dtype, const F& make) {
  if (along.from >= 0) return make(along.with(along.from));
  auto later = [along, make](const Tensor& length) { return make(along.with(length.item<int32_t>())); };
  return host_function(later, {shape(images)(axis)}, dtype);
}
/// What depends on height and width at once runs when the values are there; tapes go through it.
template <class F> Tensor once_known(const Tensor& images, int64_t height, int64_t width, F make) {
  Shape known = images.shape();
  known[-3] = height;
  known[-2] = width;
  return ensure_shape(host_function(std::move(make), {images}, images.dtype()), known);
}
Tensor resize_along(const Tensor& images, int axis, const Direction& along, const std::string& interpolation) {
  // These smooth an image even where its size stays.
  const bool smooths = interpolation == "gaussian" || interpolation == "mitchellcubic";
  if (!smooths && along.from >= 0 && along.from == along.with(along.from).to) return images;
  if (interpolation == "nearest") {
    Tensor places =
        of_length(images, axis, along, DType::int64, [](const Direction& d) { return nearest_places(d.from, d.to); });
    return gather(images, ensure_shape(places, {along.to}), {.axis = axis});
  }
  Tensor weights = of_length(images, axis, along, DType::float32,
                             [interpolation](const Direction& d) { return weights_of(interpolation, d.from, d.to); });
  weights = ensure_shape(weights, {along.from < 0 ? along.to : along.with(along.from).to, along.from});
  return einsum(axis == -3 ? "ih,...hwc->...iwc" : "jw,...hwc->...hjc", {weights, images});
}
Tensor resize_both(const Tensor& images, const Direction& rows, const Direction& columns,
                   const std::string& interpolation) {
  if (rows.from == 0 || columns.from == 0) {
    if (images.is_symbolic())  // refused when it runs, as by TensorFlow's kernels
      return once_known(cast(images, DType::float32), rows.to, columns.to,
                        [=](const Tensor& x) { return resize_both(x, rows, columns, interpolation); });
    throw errors::InvalidArgumentError("input image must be of non-zero size");
  }
  Tensor x = interpolation == "nearest" ? images : cast(images, DType::float32);
  return resize_along(resize_along(x, -3, rows, interpolation), -2, columns, interpolation);
}

Tensor crop_images(const Tensor& images, int64_t top, int64_t left, int64_t height, int64_t width) {
  return images(ellipsis, slice(top, top + height), slice(left, left + width), all);
}

}  // namespace

std::string normalized_interpolation(const std::string& interpolation) {
  std::string name = interpolation, known;
  for (char& c : name)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  for (const char* one : interpolations) {
    if (name == one) return name;
    known += (known.empty() ? "'" : ", '") + std::string(one) + "'";
  }
  throw errors::UnimplementedError("Value not recognized for `interpolation`: " + interpolation +
                                   ". Supported values are: dict_keys([" + known + "])");
}

Tensor resize_images(const Tensor& images, int64_t height, int64_t width, const std::string& interpolation) {
  return resize_both(images, {images.shape()[-3], height}, {images.shape()[-2], width}, interpolation);
}

Tensor scale_images(const Tensor& images, int64_t rows, int64_t columns, const std::string& interpolation) {
  return resize_both(images, {images.shape()[-3], unknown, rows}, {images.shape()[-2], unknown, columns},
                     interpolation);
}

Tensor smart_resize(const Tensor& images, int64_t height, int64_t width, const std::string& interpolation) {
  const int64_t rows = images.shape()[-3], columns = images.shape()[-2];
  if (rows < 0 || columns < 0)
    return once_known(images, height, width,
                      [=](const Tensor& x) { return smart_resize(x, height, width, interpolation); });
  const int64_t kept_rows = std::min(rows, columns * height / width);
  const int64_t kept_columns = std::min(columns, rows * width / height);
  Tensor part = crop_images(images, (rows - kept_rows) / 2, (columns - kept_columns) / 2, kept_rows, kept_columns);
  return resize_images(part, height, width, interpolation);
}

Tensor center_crop(const Tensor& images, int64_t height, int64_t width) {
  const int64_t rows = images.shape()[-3], columns = images.shape()[-2];
  if (rows < 0 || columns < 0)
    return once_known(images, height, width, [=](const Tensor& x) { return center_crop(x, height, width); });
  if (rows >= height && columns >= width)
    return crop_images(images, (rows - height) / 2, (columns - width) / 2, height, width);
  return cast(smart_resize(images, height, width, "bilinear"), images.dtype());
}

}  // namespace thalweg::keras::layers
