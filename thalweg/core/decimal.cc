#include "thalweg/core/decimal.h"

#include <charconv>
#include <cmath>

namespace thalweg {
namespace {
using uint128 = unsigned __int128;

// Takes apart what std::to_chars wrote in scientific form: -d.ddde+xx.
Decimal parse_scientific(const char* begin, const char* end) {
  Decimal d;
  const char* p = begin;
  if (*p == '-') {
    d.negative = true;
    ++p;
  }
  for (; p != end && *p != 'e'; ++p)
    if (*p != '.') d.digits[d.count++] = *p;
  bool negative_exponent = p[1] == '-';
  std::from_chars(p + 2, end, d.exponent);
  if (negative_exponent) d.exponent = -d.exponent;
  return d;
}

template <class T> Decimal shortest_of(T value) {
  char text[64];
  auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr;
  return parse_scientific(text, end);
}

// The standard library knows no half precision. Every half, and every midpoint between two, is a multiple of 2^-25, so
// of 10^-25 times 5^25: 128 bits hold them exactly, and digits are cut until the next one is not needed.
Decimal shortest_half(double value) {
  Decimal d;
  d.negative = std::signbit(value);
  if (value == 0) {
    d.digits[d.count++] = '0';
    return d;
  }
  auto steps = static_cast<uint64_t>(std::abs(value) * 0x1p25);
  int exponent;
  std::frexp(value, &exponent);
  int ulp_bits = exponent < -13 ? 1 : exponent + 14;  // the distance to the next half is 2^ulp_bits / 2^25
  uint64_t upper = uint64_t{1} << (ulp_bits - 1), lower = upper;
  bool is_even = (steps >> ulp_bits & 1) == 0;
  bool is_power_of_two = (steps & (steps - 1)) == 0;
  if (is_power_of_two && exponent > -13) lower /= 2;  // numbers below a power of two lie closer

  constexpr uint128 five_to_25 = 298023223876953125;
  uint128 rest = five_to_25 * steps, low_margin = five_to_25 * lower, high_margin = five_to_25 * upper;
  uint128 unit = 1;
  d.exponent = -25;
  while (rest / unit >= 10) {
    unit *= 10;
    ++d.exponent;
  }
  for (;; unit /= 10) {
    auto digit = static_cast<int>(rest / unit);
    rest %= unit;
    bool low = is_even ? rest <= low_margin : rest < low_margin;
    bool high = is_even ? rest + high_margin >= unit : rest + high_margin > unit;
    if (low || high) {
      bool up = low && high ? 2 * rest > unit || (2 * rest == unit && digit % 2 == 1) : high;
      d.digits[d.count++] = static_cast<char>('0' + digit);
      if (!up) return d;
      int last = d.count - 1;
      while (last >= 0 && d.digits[last] == '9') --last;
      if (last < 0) {  // 9.99 became 10
        d.digits[0] = '1';
        d.count = 1;
        ++d.exponent;
      } else {
        ++d.digits[last];
        d.count = last + 1;
      }
      return d;
    }
    d.digits[d.count++] = static_cast<char>('0' + digit);
  }
}
}  // namespace

Decimal shortest_decimal(DType type, double value) {
  if (type == float64) return shortest_of(value);
  if (type == float32) return shortest_of(static_cast<float>(value));
  return shortest_half(value);
}

Decimal rounded_decimal(double value, int count) {
  char text[64];
  auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific, count - 1).ptr;
  return parse_scientific(text, end);
}
}  // namespace thalweg
