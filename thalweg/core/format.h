// Tensors as text: the words of `print(tensor)`, `repr(tensor)` and `tf.print`, as TensorFlow and NumPy write them.
#pragma once
#include <string>

#include "thalweg/core/dtype.h"
#include "thalweg/core/export.h"
#include "thalweg/core/shape.h"

namespace thalweg {

/// NumPy's two ways to show an array: `[1. 2.]` and `array([1., 2.], dtype=float32)`.
enum class FormatStyle { str, repr };

/// The values of an array as NumPy's `str` (or `repr`) shows them. Past 1000 elements only the first and last three of
/// each dimension are read. Handles, whose text only their owner knows, are `<unprintable>`.
THALWEG_API std::string format_values(DType dtype, const Shape& shape, const void* data, FormatStyle style);

/// One element as NumPy shows a scalar: `0.1`, `1e-05`, `(1+2j)`, `True`, `b'abc'`.
THALWEG_API std::string scalar_str(DType dtype, const void* element);

/// The whole of TensorFlow's `str(tensor)`: `tf.Tensor([1. 2.], shape=(2,), dtype=float32)`.
THALWEG_API std::string tensor_str(DType dtype, const Shape& shape, const void* data);

/// The whole of TensorFlow's `repr(tensor)`: `<tf.Tensor: shape=(), dtype=float32, numpy=3.0>`.
THALWEG_API std::string tensor_repr(DType dtype, const Shape& shape, const void* data);

/// A tensor as `tf.print` and `tf.strings.format` show it: `[1 2 3 ... 8 9 10]`, with the first and last `summarize`
/// elements of each dimension, all of them when negative.
THALWEG_API std::string format_summary(DType dtype, const Shape& shape, const void* data, int64_t summarize = 3);

}  // namespace thalweg
