#include "thalweg/core/format.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "thalweg/core/number_text.h"

namespace thalweg {
namespace {
// NumPy's default print options.
constexpr int line_width = 75, threshold = 1000, edge_items = 3;

constexpr std::string_view gap = "...";
constexpr const char* unprintable = "<unprintable>";

// Python's repr of a bytes object.
std::string bytes_repr(const std::string& bytes) {
  constexpr char hex[] = "0123456789abcdef";
  bool has_single = bytes.find('\'') != std::string::npos, has_double = bytes.find('"') != std::string::npos;
  char quote = has_single && !has_double ? '"' : '\'';
  std::string text = {'b', quote};
  text.reserve(bytes.size() + 3);
  for (char c : bytes) {
    auto code = static_cast<unsigned char>(c);
    if (c == quote || c == '\\') (text += '\\') += c;
    else if (c == '\t') text += "\\t";
    else if (c == '\n') text += "\\n";
    else if (c == '\r') text += "\\r";
    else if (code < 0x20 || code >= 0x7f) ((text += "\\x") += hex[code >> 4]) += hex[code & 15];
    else text += c;
  }
  return text += quote;
}

bool is_cut(int64_t size, bool summarised) { return summarised && size > 2 * edge_items; }

// The positions of the elements that will be shown, in order.
void collect_shown(const Shape& shape, bool summarised, int axis, int64_t offset, std::vector<int64_t>& shown) {
  if (axis == shape.rank()) {
    shown.push_back(offset);
    return;
  }
  int64_t stride = shape.count(axis + 1, shape.rank());
  for (int64_t i = 0; i < shape[axis]; ++i) {
    if (i == edge_items && is_cut(shape[axis], summarised)) i = shape[axis] - edge_items;
    collect_shown(shape, summarised, axis + 1, offset + i * stride, shown);
  }
}

// The texts of the elements at `shown`, padded as NumPy pads them in an array.
std::vector<std::string> array_words(DType dtype, const void* data, std::span<const int64_t> shown) {
  if (is_complex(dtype)) {
    DType part = real_of(dtype);
    std::vector<double> real, imaginary;
    for (int64_t i : shown) {
      real.push_back(real_at(part, data, 2 * i));
      imaginary.push_back(real_at(part, data, 2 * i + 1));
    }
    return complex_words(part, real, imaginary);
  }
  if (is_floating(dtype) && dtype != bfloat16) {
    std::vector<double> values;
    for (int64_t i : shown) values.push_back(real_at(dtype, data, i));
    return real_words(dtype, values);
  }
  std::vector<std::string> words;
  words.reserve(shown.size());
  for (int64_t i : shown) {
    if (dtype == bfloat16) words.push_back(bfloat16_text(real_at(dtype, data, i)));
    else if (dtype == bool_) words.emplace_back(element_at<bool>(data, i) ? " True" : "False");
    else if (dtype == string) words.push_back(bytes_repr(element_at<std::string>(data, i)));
    else words.push_back(integer_at(dtype, data, i));
  }
  if (is_integer(dtype)) {
    size_t width = 0;
    for (const std::string& word : words) width = std::max(width, word.size());
    for (std::string& word : words) word.insert(0, width - word.size(), ' ');
  }
  return words;
}

// Brackets, line breaks and indentation around the words of an array.
class ArrayLayout {
 public:
  ArrayLayout(const Shape& shape, bool summarised, FormatStyle style, std::vector<std::string> words)
      : shape_(shape), summarised_(summarised), words_(std::move(words)), next_(words_.data()) {
    if (style == FormatStyle::repr) {
      separator_ = ", ";
      indent_ = 7;              // array([
      width_ = line_width - 1;  // the bracket or comma behind the array
    }
  }

  std::string text() {
    write(0);
    return std::move(text_);
  }

 private:
  void write(int axis) {
    text_ += '[';
    if (axis == shape_.rank() - 1) write_row(axis);
    else write_blocks(axis);
    text_ += ']';
  }

  void write_row(int axis) {
    size_t indent = indent_ + static_cast<size_t>(axis);
    size_t width = width_ - static_cast<size_t>(axis) - 1;
    size_t column = indent;
    for_each_shown(axis, [&](bool is_first, bool is_gap) {
      if (!is_first) {
        text_ += separator_;
        column += separator_.size();
      }
      std::string_view word = is_gap ? gap : *next_++;
      if (column + word.size() > width && column > indent) {
        text_.erase(text_.find_last_not_of(' ') + 1);
        (text_ += '\n').append(indent, ' ');
        column = indent;
      }
      text_ += word;
      column += word.size();
    });
  }

  void write_blocks(int axis) {
    for_each_shown(axis, [&](bool is_first, bool is_gap) {
      if (!is_first) {
        if (separator_[0] == ',') text_ += ',';
        text_.append(static_cast<size_t>(shape_.rank() - axis - 1), '\n');
        text_.append(indent_ + static_cast<size_t>(axis), ' ');
      }
      if (is_gap) text_ += gap;
      else write(axis + 1);
    });
  }

  // Calls f(is_first, is_gap) for what is shown along an axis.
  template <class F> void for_each_shown(int axis, F f) {
    for (int64_t i = 0; i < shape_[axis]; ++i) {
      if (i == edge_items && is_cut(shape_[axis], summarised_)) {
        f(false, true);
        i = shape_[axis] - edge_items;
      }
      f(i == 0, false);
    }
  }

  const Shape& shape_;
  bool summarised_;
  std::vector<std::string> words_;
  const std::string* next_;
  std::string_view separator_ = " ";
  size_t indent_ = 1, width_ = line_width;
  std::string text_;
};

std::string array_text(DType dtype, const Shape& shape, const void* data, FormatStyle style) {
  bool summarised = shape.count() > threshold;
  std::vector<int64_t> shown;
  collect_shown(shape, summarised, 0, 0, shown);
  return ArrayLayout(shape, summarised, style, array_words(dtype, data, shown)).text();
}

// NumPy's `array(...)`, which names the dtype unless the values tell it.
std::string array_repr(DType dtype, const Shape& shape, const void* data) {
  bool is_empty = shape.count() == 0;
  std::string text = "array(";
  if (!is_empty) text += array_text(dtype, shape, data, FormatStyle::repr);
  else text += shape.rank() == 1 ? "[]" : "[], shape=" + shape.str();
  if (!is_empty && types(int64, float64, complex128, bool_).has(dtype)) return text + ')';

  std::string suffix = "dtype=";
  (suffix += dtype == string ? "object" : name_of(dtype)) += ')';
  text += ',';
  size_t last_line = text.size() - (text.rfind('\n') + 1);
  return text + (last_line + suffix.size() + 1 > line_width ? "\n      " : " ") + suffix;
}

// The value as `str` and `repr` of a tensor show it: what takes several lines starts on its own.
std::string value_text(DType dtype, const Shape& shape, const void* data, FormatStyle style) {
  std::string text = format_values(dtype, shape, data, style);
  if (text.find('\n') != std::string::npos) text.insert(0, 1, '\n');
  return text;
}
}  // namespace

std::string scalar_str(DType dtype, const void* element) {
  if (is_complex(dtype)) {
    DType part = real_of(dtype);
    return complex_scalar(part, real_at(part, element, 0), real_at(part, element, 1));
  }
  if (dtype == bfloat16) return bfloat16_text(real_at(dtype, element, 0));
  if (is_floating(dtype)) return real_scalar(dtype, real_at(dtype, element, 0));
  if (is_integer(dtype)) return integer_at(dtype, element, 0);
  if (dtype == bool_) return element_at<bool>(element, 0) ? "True" : "False";
  return dtype == string ? bytes_repr(element_at<std::string>(element, 0)) : unprintable;
}

std::string format_values(DType dtype, const Shape& shape, const void* data, FormatStyle style) {
  if (dtype == resource || dtype == variant) return unprintable;
  if (shape.rank() == 0) return scalar_str(dtype, data);
  if (style == FormatStyle::repr) return array_repr(dtype, shape, data);
  return shape.count() == 0 ? "[]" : array_text(dtype, shape, data, style);
}

std::string tensor_str(DType dtype, const Shape& shape, const void* data) {
  std::string text = "tf.Tensor(" + value_text(dtype, shape, data, FormatStyle::str) + ", shape=" + shape.str();
  return ((text += ", dtype=") += name_of(dtype)) += ')';
}

std::string tensor_repr(DType dtype, const Shape& shape, const void* data) {
  std::string text = "<tf.Tensor: shape=" + shape.str() + ", dtype=";
  (text += name_of(dtype)) += dtype == resource || dtype == variant ? ", value=" : ", numpy=";
  return (text += value_text(dtype, shape, data, FormatStyle::repr)) += '>';
}
}  // namespace thalweg
