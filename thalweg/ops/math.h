// Arithmetic with broadcasting, and the operators of Tensor.
#pragma once
#include "thalweg/core/tensor.h"

namespace thalweg {

/// x + y. Bare numbers take the dtype of the tensor they meet.
THALWEG_API Tensor add(const TensorLike& x, const TensorLike& y);
/// x - y.
THALWEG_API Tensor subtract(const TensorLike& x, const TensorLike& y);
/// x * y.
THALWEG_API Tensor multiply(const TensorLike& x, const TensorLike& y);
/// True division: integers become float64 (int8, int16 and their unsigned twins float32) first, as in Python.
THALWEG_API Tensor divide(const TensorLike& x, const TensorLike& y);
/// x / y rounded toward minus infinity, Python's `//`.
THALWEG_API Tensor floordiv(const TensorLike& x, const TensorLike& y);
/// The remainder with the sign of y, Python's `%`.
THALWEG_API Tensor floormod(const TensorLike& x, const TensorLike& y);
/// x to the power of y.
THALWEG_API Tensor pow(const TensorLike& x, const TensorLike& y);
/// -x.
THALWEG_API Tensor negative(const Tensor& x);

inline Tensor operator+(const TensorLike& x, const TensorLike& y) { return add(x, y); }
inline Tensor operator-(const TensorLike& x, const TensorLike& y) { return subtract(x, y); }
inline Tensor operator*(const TensorLike& x, const TensorLike& y) { return multiply(x, y); }
inline Tensor operator/(const TensorLike& x, const TensorLike& y) { return divide(x, y); }
inline Tensor operator%(const TensorLike& x, const TensorLike& y) { return floormod(x, y); }
inline Tensor operator-(const Tensor& x) { return negative(x); }

}  // namespace thalweg
