// Single numbers, and the numbers of one array, as NumPy writes them.
#pragma once
#include <charconv>
#include <span>
#include <string>
#include <vector>

#include "thalweg/core/dtype.h"

namespace thalweg {

template <class T> const T& element_at(const void* data, int64_t i) { return static_cast<const T*>(data)[i]; }

/// Element `i` of a float16, bfloat16, float32 or float64 array.
double real_at(DType type, const void* data, int64_t i);

/// Element `i` of an integer array, in digits.
std::string integer_at(DType type, const void* data, int64_t i);

/// What printf's `%.*g` writes for a finite or infinite value.
template <class T> std::string general_text(T value, int digits) {
  char text[48];
  return {text, std::to_chars(text, text + sizeof text, value, std::chars_format::general, digits).ptr};
}

/// A bfloat16 value. It is not NumPy's own type: ml_dtypes writes it as a C++ stream would, six digits and no padding.
std::string bfloat16_text(double value);

/// A scalar of float16, float32 or float64: `0.1`, `1e-05`.
std::string real_scalar(DType type, double value);

/// A scalar of the complex type whose parts are `type`: `2j`, `(1+2j)`.
std::string complex_scalar(DType type, double real, double imaginary);

/// The numbers of one array in a common layout: all with or all without an exponent, points aligned, at most eight
/// digits after the point. `type` is float16, float32 or float64.
std::vector<std::string> real_words(DType type, std::span<const double> values);

/// The same for complex numbers; both parts are aligned, each for itself.
std::vector<std::string> complex_words(DType type, std::span<const double> real, std::span<const double> imaginary);

}  // namespace thalweg
