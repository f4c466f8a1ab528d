// Padding and cropping.
#include "thalweg/core/error.h"
#include "thalweg/core/index.h"
#include "thalweg/keras/layers/reshaping.h"
#include "thalweg/keras/layers/windows.h"
#include "thalweg/ops/padding.h"

namespace thalweg::keras::layers {

Margins::Margins(std::initializer_list<int64_t> sizes) {
  for (int64_t size : sizes) entries_.emplace_back(size);
}
Margins::Margins(std::initializer_list<std::initializer_list<int64_t>> entries) {
  for (const auto& entry : entries) entries_.emplace_back(entry);
}

Margins Margins::normalized(int n, const char* argument) const {
  const std::string name = argument;
  Margins made;
  if (n == 1) {
    std::vector<int64_t> flat;
    for (const Sizes& entry : entries_) flat.insert(flat.end(), entry.axes().begin(), entry.axes().end());
    const Sizes given = single_ ? entries_[0] : Sizes(flat);
    const Sizes both = windows::normalized(given, 2, argument, true);
    for (int64_t size : both.axes()) made.entries_.emplace_back(size);
    return made;
  }
  if (!single_ && entries_.size() != static_cast<size_t>(n))
    throw ValueError("`" + name + "` should have " + (n == 2 ? "two" : std::to_string(n)) +
                     " elements. Received: " + to_value(*this).json() + ".");
  const char* const ordinals[] = {"1st", "2nd", "3rd"};
  for (int i = 0; i < n; ++i) {
    const std::string entry = std::string(ordinals[i]) + " entry of " + name;
    made.entries_.push_back(
        windows::normalized(single_ ? entries_[0] : entries_[static_cast<size_t>(i)], 2, entry.c_str(), true));
  }
  return made;
}

int64_t Margins::at(int i, size_t end) const {
  const Sizes& entry = entries_[static_cast<size_t>(i)];
  return entry.is_single() ? entries_[end].axes()[0] : entry.axes()[end];
}

std::string Margins::str() const {
  std::string all;
  for (const Sizes& entry : entries_)
    all += (all.empty() ? "" : ", ") + (entry.is_single() ? std::to_string(entry.axes()[0]) : windows::text(entry));
  return "(" + all + ")";
}

Value to_value(const Margins& margins) {
  if (margins.single_) return keras::to_value(margins.entries_[0]);
  Value::List entries;
  for (const Sizes& entry : margins.entries_) entries.push_back(keras::to_value(entry));
  return entries;
}
void from_value(Margins& margins, const Value& value) {
  Margins made;
  made.single_ = !value.is_list();
  if (made.single_) keras::from_value(made.entries_.emplace_back(), value);
  else
    for (const Value& entry : value.list()) keras::from_value(made.entries_.emplace_back(), entry);
  margins = made;
}

namespace {

template <int N> struct ZeroPaddingLayer {
  std::conditional_t<N == 1, ZeroPadding1DOptions, ZeroPaddingOptions> options = {};

  static constexpr const char* class_name = N == 1 ? "ZeroPadding1D" : N == 2 ? "ZeroPadding2D" : "ZeroPadding3D";

  void check() {
    options.padding = options.padding.normalized(N, "padding");
    if constexpr (N > 1) options.data_format = windows::normalized_data_format(options.data_format);
  }
  InputSpec input_spec() const { return {.ndim = N + 2}; }
  Tensor call(const Tensor& x) {
    const int first = windows::is_channels_first(data_format()) ? 2 : 1;
    std::vector<int64_t> paddings(2 * (N + 2), 0);
    for (int i = 0; i < N; ++i) {
      const auto at = 2 * static_cast<size_t>(first + i);
      paddings[at] = options.padding.before(i);
      paddings[at + 1] = options.padding.after(i);
    }
    return pad(x, Tensor(paddings, Shape{N + 2, 2}));
  }
  Shape compute_output_shape(const Shape& input) {
    return windows::with_space(input, N, data_format(), [&](int i, int64_t size) {
      return size < 0 ? unknown : size + options.padding.before(i) + options.padding.after(i);
    });
  }

  std::string data_format() const {
    if constexpr (N == 1) return "channels_last";
    else return options.data_format;
  }
};

template <int N> struct CroppingLayer {
  std::conditional_t<N == 1, Cropping1DOptions, std::conditional_t<N == 2, Cropping2DOptions, Cropping3DOptions>>
      options = {};

  static constexpr const char* class_name = N == 1 ? "Cropping1D" : N == 2 ? "Cropping2D" : "Cropping3D";

  void check() {
    options.cropping = options.cropping.normalized(N, "cropping");
    if constexpr (N > 1) options.data_format = windows::normalized_data_format(options.data_format);
  }
  InputSpec input_spec() const { return {.ndim = N + 2}; }
  Tensor call(const Tensor& x) {
    const int first = windows::is_channels_first(data_format()) ? 2 : 1;
    std::vector<Index> part(static_cast<size_t>(first), Index(all));
    for (int i = 0; i < N; ++i) {
      const int64_t size = x.shape()[first + i], before = options.cropping.before(i), after = options.cropping.after(i);
      if (N < 3 && size >= 0 && before + after >= size)  // volumes may become empty, as in Keras
        throw ValueError(std::string(N == 1 ? "cropping parameter of Cropping layer" : "Argument `cropping`") +
                         " must be greater than the input shape. Received: inputs.shape=" + x.shape().str() +
                         ", and cropping=" + options.cropping.str());
      part.emplace_back(after > 0 ? slice(before, -after) : slice_from(before));
    }
    return x.index(part);
  }
  Shape compute_output_shape(const Shape& input) {
    return windows::with_space(input, N, data_format(), [&](int i, int64_t size) {
      return size < 0 ? unknown : size - options.cropping.before(i) - options.cropping.after(i);
    });
  }

  std::string data_format() const {
    if constexpr (N == 1) return "channels_last";
    else return options.data_format;
  }
};

}  // namespace

Layer ZeroPadding1D(const ZeroPadding1DOptions& options) { return ZeroPaddingLayer<1>{options}; }
Layer ZeroPadding2D(const ZeroPaddingOptions& options) { return ZeroPaddingLayer<2>{options}; }
Layer ZeroPadding3D(const ZeroPaddingOptions& options) { return ZeroPaddingLayer<3>{options}; }
Layer Cropping1D(const Cropping1DOptions& options) { return CroppingLayer<1>{options}; }
Layer Cropping2D(const Cropping2DOptions& options) { return CroppingLayer<2>{options}; }
Layer Cropping3D(const Cropping3DOptions& options) { return CroppingLayer<3>{options}; }

}  // namespace thalweg::keras::layers
