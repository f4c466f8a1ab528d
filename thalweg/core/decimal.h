// Numbers as decimal digits: the shortest that read back as the same number, or a given count, rounded exactly.
#pragma once
#include "thalweg/core/dtype.h"
#include "thalweg/core/export.h"

namespace thalweg {

/// The digits of a finite number, which is d0.d1d2... x 10^exponent; zero is one digit 0.
struct Decimal {
  static constexpr int max_digits = 24;

  bool negative = false;
  int exponent = 0;
  int count = 0;
  char digits[max_digits] = {};

  /// Digits after the point when written without an exponent; negative where zeros must follow the digits.
  int fraction() const { return count - 1 - exponent; }
  /// Drops zeros at the end, keeping one digit.
  void trim() {
    while (count > 1 && digits[count - 1] == '0') --count;
  }
};

/// The fewest digits that name `value` among the numbers of `type` (float16, float32 or float64), the nearest of them.
/// `value` is finite and a number of that type.
THALWEG_API Decimal shortest_decimal(DType type, double value);

/// The first `count` digits (at most `Decimal::max_digits`) of the exact value, rounded to nearest, ties to even.
THALWEG_API Decimal rounded_decimal(double value, int count);

}  // namespace thalweg
