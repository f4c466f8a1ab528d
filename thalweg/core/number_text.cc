#include "thalweg/core/number_text.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "thalweg/core/decimal.h"

namespace thalweg {
namespace {
constexpr int precision = 8;  // NumPy's default print option

template <class T> std::string integer_text(T value) {
  char text[24];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

std::string_view sign_text(bool negative, bool always) { return negative ? "-" : always ? "+" : ""; }

std::string integer_part(const Decimal& d) {
  if (d.exponent < 0) return "0";
  std::string text(d.digits, static_cast<size_t>(std::min(d.count, d.exponent + 1)));
  text.resize(static_cast<size_t>(d.exponent) + 1, '0');
  return text;
}

std::string fraction_part(const Decimal& d) {
  if (d.fraction() <= 0) return {};
  std::string text(static_cast<size_t>(std::max(0, -d.exponent - 1)), '0');
  int first = std::max(0, d.exponent + 1);
  return text.append(d.digits + first, static_cast<size_t>(d.count - first));
}

int exponent_width(const Decimal& d) { return std::abs(d.exponent) < 100 ? 2 : 3; }

std::string exponent_part(const Decimal& d, int width) {
  std::string digits = std::to_string(std::abs(d.exponent));
  std::string text = d.exponent < 0 ? "e-" : "e+";
  return text.append(static_cast<size_t>(std::max(0, width - static_cast<int>(digits.size()))), '0') + digits;
}

// How a NumPy scalar shows a number; inside a complex number 1.0 is `1`.
std::string part_text(DType type, double value, bool always_sign, bool in_complex) {
  if (std::isnan(value)) return always_sign ? "+nan" : "nan";
  std::string text(sign_text(std::signbit(value), always_sign));
  if (std::isinf(value)) return text + "inf";
  Decimal d = shortest_decimal(type, value);
  double magnitude = std::abs(value);
  if (magnitude == 0 || (magnitude >= 1e-4 && magnitude < 1e16)) {
    d.trim();
    text += integer_part(d);
    std::string fraction = fraction_part(d);
    if (!fraction.empty()) return text + '.' + fraction;
    return in_complex ? text : text + ".0";
  }
  text += d.digits[0];
  if (d.count > 1) (text += '.').append(d.digits + 1, static_cast<size_t>(d.count - 1));
  return text + exponent_part(d, 2);
}

// NumPy divides in the array's own precision when it decides whether numbers lie too far apart.
bool is_wide_range(DType type, double largest, double smallest) {
  if (type == float64) return largest / smallest > 1000;
  float ratio = static_cast<float>(largest) / static_cast<float>(smallest);
  return (type == float32 ? ratio : static_cast<float>(Half(ratio))) > 1000;
}

// The numbers of one array with a common layout: all with or all without an exponent, points aligned.
std::vector<std::string> common_layout(DType type, std::span<const double> values, bool always_sign) {
  double largest = 0, smallest = std::numeric_limits<double>::infinity();
  bool has_negative_infinity = false;
  size_t num_finite = 0;
  for (double v : values) {
    if (!std::isfinite(v)) {
      has_negative_infinity |= std::isinf(v) && v < 0;
      continue;
    }
    ++num_finite;
    if (v == 0) continue;
    largest = std::max(largest, std::abs(v));
    smallest = std::min(smallest, std::abs(v));
  }
  bool scientific = largest > 0 && (largest >= 1e8 || smallest < 1e-4 || is_wide_range(type, largest, smallest));

  // What the widest number needs before and after its point.
  int left = 0, right = 0, exponent_size = 0;
  std::vector<Decimal> decimals(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) continue;
    Decimal& d = decimals[i] = shortest_decimal(type, values[i]);
    int most = scientific ? precision + 1 : d.exponent + 1 + precision;
    Decimal shown = d.count > most ? rounded_decimal(values[i], most) : d;
    shown.trim();
    int sign = shown.negative || always_sign;
    left = std::max(left, sign + (scientific ? 1 : std::max(1, shown.exponent + 1)));
    right = std::max(right, scientific ? shown.count - 1 : shown.fraction());
    exponent_size = std::max(exponent_size, exponent_width(shown));
    if (!scientific) d = shown;
  }
  int tail = scientific ? right + exponent_size + 2 : right;
  if (num_finite < values.size()) {
    int infinity_length = 3 + (always_sign || has_negative_infinity);
    left = std::max(left, infinity_length - (tail + 1));
  }

  std::vector<std::string> words(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    double v = values[i];
    std::string& word = words[i];
    if (!std::isfinite(v)) {
      bool is_nan = std::isnan(v);
      word += sign_text(!is_nan && v < 0, always_sign);
      word += is_nan ? "nan" : "inf";
      word.insert(0, static_cast<size_t>(std::max(0, left + tail + 1 - static_cast<int>(word.size()))), ' ');
      continue;
    }
    // With an exponent every number has the same count of digits, more than it needs if others need them; without one,
    // digits before the point are exact: the half 23328 is not 23330, though that would name it.
    Decimal d = decimals[i];
    if (scientific && d.count != right + 1) d = rounded_decimal(v, right + 1);
    if (!scientific && d.fraction() < 0) {
      d = rounded_decimal(v, d.exponent + 1);
      d.trim();
    }
    word += sign_text(d.negative, always_sign);
    word += scientific ? std::string(1, d.digits[0]) : integer_part(d);
    word.insert(0, static_cast<size_t>(left) - word.size(), ' ');
    word += '.';
    if (scientific) {
      word.append(d.digits + 1, static_cast<size_t>(right));
      word += exponent_part(d, exponent_size);
    } else {
      word += fraction_part(d);
      word.resize(static_cast<size_t>(left) + 1 + static_cast<size_t>(right), ' ');
    }
  }
  return words;
}
}  // namespace

double real_at(DType type, const void* data, int64_t i) {
  switch (type) {
    case DType::float16:
      return static_cast<float>(element_at<Half>(data, i));
    case DType::bfloat16:
      return static_cast<float>(element_at<BFloat16>(data, i));
    case DType::float32:
      return element_at<float>(data, i);
    default:
      return element_at<double>(data, i);
  }
}

std::string integer_at(DType type, const void* data, int64_t i) {
  switch (type) {
    case DType::int8:
      return integer_text<int>(element_at<int8_t>(data, i));
    case DType::int16:
      return integer_text<int>(element_at<int16_t>(data, i));
    case DType::int32:
      return integer_text(element_at<int32_t>(data, i));
    case DType::int64:
      return integer_text(element_at<int64_t>(data, i));
    case DType::uint8:
      return integer_text<int>(element_at<uint8_t>(data, i));
    case DType::uint16:
      return integer_text<int>(element_at<uint16_t>(data, i));
    case DType::uint32:
      return integer_text(element_at<uint32_t>(data, i));
    default:
      return integer_text(element_at<uint64_t>(data, i));
  }
}

std::string bfloat16_text(double value) { return std::isnan(value) ? "nan" : general_text(value, 6); }

std::string real_scalar(DType type, double value) { return part_text(type, value, false, false); }

std::string complex_scalar(DType type, double real, double imaginary) {
  if (real == 0 && !std::signbit(real)) return part_text(type, imaginary, false, true) + 'j';
  return '(' + part_text(type, real, false, true) + part_text(type, imaginary, true, true) + "j)";
}

std::vector<std::string> real_words(DType type, std::span<const double> values) {
  return common_layout(type, values, false);
}

std::vector<std::string> complex_words(DType type, std::span<const double> real, std::span<const double> imaginary) {
  std::vector<std::string> words = common_layout(type, real, false), tails = common_layout(type, imaginary, true);
  for (size_t i = 0; i < words.size(); ++i) {
    tails[i].insert(tails[i].find_last_not_of(' ') + 1, 1, 'j');
    words[i] += tails[i];
  }
  return words;
}
}  // namespace thalweg
