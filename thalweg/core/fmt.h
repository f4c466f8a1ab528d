// Tensors, shapes and dtypes in fmt's format strings. Apart from tensor.h, because not every program uses fmt.
#pragma once
#include <fmt/format.h>

#include "thalweg/core/dtype.h"
#include "thalweg/core/shape.h"
#include "thalweg/core/tensor.h"

/// `{}` is the text that print shows, `{:r}` the one a Python session shows (`Tensor::repr`); width and alignment as
/// for strings: `{:>40}`, `{:>40r}`.
template <> struct fmt::formatter<thalweg::Tensor> : fmt::formatter<fmt::string_view> {
  constexpr auto parse(fmt::format_parse_context& context) {
    // A string's format may not end in 'r', so it is taken off here.
    auto end = context.begin();
    while (end != context.end() && *end != '}') ++end;
    repr_ = end != context.begin() && *(end - 1) == 'r';
    auto text_end = repr_ ? end - 1 : end;
    fmt::format_parse_context text({context.begin(), static_cast<size_t>(text_end - context.begin())});
    if (text.begin() != text.end() && fmt::formatter<fmt::string_view>::parse(text) != text_end)
      throw fmt::format_error("a tensor's format is that of a string, with r at the end for its repr");
    return end;
  }
  template <class Context> auto format(const thalweg::Tensor& tensor, Context& context) const {
    std::string text = !tensor.defined() ? "None" : repr_ ? tensor.repr() : tensor.str();
    return fmt::formatter<fmt::string_view>::format(text, context);
  }

 private:
  bool repr_ = false;
};

/// TensorFlow's text: `(2, None)`.
template <> struct fmt::formatter<thalweg::Shape> : fmt::formatter<fmt::string_view> {
  template <class Context> auto format(const thalweg::Shape& shape, Context& context) const {
    return fmt::formatter<fmt::string_view>::format(shape.str(), context);
  }
};

/// TensorFlow's name: `float32`.
template <> struct fmt::formatter<thalweg::DType> : fmt::formatter<fmt::string_view> {
  template <class Context> auto format(thalweg::DType dtype, Context& context) const {
    std::string_view name = thalweg::name_of(dtype);
    return fmt::formatter<fmt::string_view>::format({name.data(), name.size()}, context);
  }
};
