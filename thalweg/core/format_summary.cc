#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "thalweg/core/format.h"
#include "thalweg/core/number_text.h"

namespace thalweg {
namespace {
// The fewest of two standard digit counts that read back as the same number.
template <class T> std::string summary_real(T value) {
  constexpr int few = std::numeric_limits<T>::digits10, enough = std::numeric_limits<T>::max_digits10;
  if (std::isnan(value)) return std::signbit(value) ? "-nan" : "nan";
  // TensorFlow runs its kernels with denormals read as zero: a float loses them when it is widened for printing, a
  // double when it is compared with what was read back.
  bool is_denormal = std::fpclassify(value) == FP_SUBNORMAL;
  if (is_denormal && sizeof(T) == sizeof(float)) value = std::copysign(T{0}, value);
  std::string text = general_text(value, few);
  T read{};
  std::from_chars(text.data(), text.data() + text.size(), read);
  return read == value || is_denormal ? text : general_text(value, enough);
}

// A quoted string with C escapes; bytes past ASCII stay, so UTF-8 stays readable.
std::string summary_string(const std::string& bytes) {
  std::string text = "\"";
  for (char c : bytes) {
    auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\'' || c == '\\') (text += '\\') += c;
    else if (c == '\t') text += "\\t";
    else if (c == '\n') text += "\\n";
    else if (c == '\r') text += "\\r";
    else if (code < 0x20 || code == 0x7f)
      for (char octal : {'\\', static_cast<char>('0' + (code >> 6)), static_cast<char>('0' + (code >> 3 & 7)),
                         static_cast<char>('0' + (code & 7))})
        text += octal;
    else text += c;
  }
  return text += '"';
}

std::string summary_element(DType dtype, const void* data, int64_t i) {
  if (dtype == float64) return summary_real(element_at<double>(data, i));
  if (is_floating(dtype)) return summary_real(static_cast<float>(real_at(dtype, data, i)));
  if (dtype == bool_) return element_at<bool>(data, i) ? "1" : "0";
  return dtype == string ? summary_string(element_at<std::string>(data, i)) : integer_at(dtype, data, i);
}

void summarise(DType dtype, const Shape& shape, const void* data, int64_t edges, int axis, int64_t offset,
               std::string& text) {
  int rank = shape.rank();
  if (axis == rank) {
    text += summary_element(dtype, data, offset);
    return;
  }
  auto put_separator = [&] {
    if (axis == rank - 1) text += ' ';
    else text.append(static_cast<size_t>(rank - axis - 1), '\n').append(static_cast<size_t>(axis) + 1, ' ');
  };
  int64_t size = shape[axis], stride = shape.count(axis + 1, rank);
  bool has_gap = size - edges > edges;
  text += '[';
  for (int64_t i = 0; i < size; ++i) {
    if (i == edges && has_gap) {
      put_separator();
      text += "...";
      i = size - edges;
      if (i == size) break;
    }
    if (i > 0) put_separator();
    summarise(dtype, shape, data, edges, axis + 1, offset + i * stride, text);
  }
  text += ']';
}

// Types without a text of their own are a flat row of question marks.
std::string summarise_unknown(const Shape& shape, int64_t edges) {
  std::string text;
  for (int64_t i = 0; i < edges; ++i) text += i ? " ?" : "?";
  if (edges < shape.count()) text += "...";
  return shape.rank() == 0 ? text : '[' + text + ']';
}
}  // namespace

std::string format_summary(DType dtype, const Shape& shape, const void* data, int64_t summarize) {
  int64_t count = shape.count();
  int64_t edges = summarize < 0 ? count : std::min(summarize, count);
  if (is_complex(dtype) || dtype == resource || dtype == variant) return summarise_unknown(shape, edges);
  if (dtype == bool_ && edges == 0) return {};
  if (shape.rank() == 0 && edges == 0) return "...";
  std::string text;
  summarise(dtype, shape, data, edges, 0, 0, text);
  return text;
}
}  // namespace thalweg
