// One number or several where an option may be either.
#pragma once
#include "thalweg/keras/config.h"

namespace thalweg::keras {

/// Nothing, one number or several.
class THALWEG_API Numbers {
 public:
  Numbers() = default;
  Numbers(double value) : values_({value}), single_(true) {}           // NOLINT
  Numbers(std::initializer_list<double> values) : values_(values) {}   // NOLINT
  Numbers(std::vector<double> values) : values_(std::move(values)) {}  // NOLINT
  bool given() const { return !values_.empty(); }
  bool is_single() const { return single_; }
  const std::vector<double>& values() const { return values_; }
  /// A scalar, or a vector of several; None where there is nothing.
  Tensor tensor() const;

 private:
  std::vector<double> values_;
  bool single_ = false;
};
THALWEG_API Value to_value(const Numbers& numbers);
THALWEG_API void from_value(Numbers& numbers, const Value& value);

}  // namespace thalweg::keras
