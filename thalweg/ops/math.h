// Arithmetic with broadcasting, and the operators of Tensor.
#pragma once
#include <vector>

#include "thalweg/core/tensor.h"

namespace thalweg {

/// x + y. Bare numbers take the dtype of the tensor they meet.
THALWEG_API Tensor add(const TensorLike& x, const TensorLike& y);
/// x - y.
THALWEG_API Tensor subtract(const TensorLike& x, const TensorLike& y);
/// x * y.
THALWEG_API Tensor multiply(const TensorLike& x, const TensorLike& y);
/// True division: integers become float64 (8 and 16 bit ones float32) first, as in Python.
THALWEG_API Tensor divide(const TensorLike& x, const TensorLike& y);
/// -x.
THALWEG_API Tensor negative(const Tensor& x);
/// x to the power of y.
THALWEG_API Tensor pow(const TensorLike& x, const TensorLike& y);
/// The larger of x and y; NaN where either is.
THALWEG_API Tensor maximum(const TensorLike& x, const TensorLike& y);
/// The smaller of x and y; NaN where either is.
THALWEG_API Tensor minimum(const TensorLike& x, const TensorLike& y);
/// The sum of tensors of one shape.
THALWEG_API Tensor add_n(const std::vector<Tensor>& inputs);
/// t, held between two limits.
THALWEG_API Tensor clip_by_value(const Tensor& t, const TensorLike& clip_value_min, const TensorLike& clip_value_max);

namespace detail {
// What the operators call: a temporary operand may lend its memory to the result.
THALWEG_API Tensor add(const TensorLike& x, const TensorLike& y, unsigned temporaries);
THALWEG_API Tensor subtract(const TensorLike& x, const TensorLike& y, unsigned temporaries);
THALWEG_API Tensor multiply(const TensorLike& x, const TensorLike& y, unsigned temporaries);
THALWEG_API Tensor negative(const Tensor& x, unsigned temporaries);
/// `divide`, and C++'s own rule where an integer tensor meets a real literal (`pixels / 255.0f`): both become real.
THALWEG_API Tensor divide(const TensorLike& x, const TensorLike& y);
/// Which operands are temporaries, as forwarding references deduce it.
template <class X, class Y>
inline constexpr unsigned temporaries = unsigned{std::same_as<X, Tensor>} | unsigned{std::same_as<Y, Tensor>} << 1;
}  // namespace detail

template <class X, class Y>
  requires Operands<std::remove_cvref_t<X>, std::remove_cvref_t<Y>>
Tensor operator+(X&& x, Y&& y) {
  return detail::add(x, y, detail::temporaries<X, Y>);
}
template <class X, class Y>
  requires Operands<std::remove_cvref_t<X>, std::remove_cvref_t<Y>>
Tensor operator-(X&& x, Y&& y) {
  return detail::subtract(x, y, detail::temporaries<X, Y>);
}
template <class X, class Y>
  requires Operands<std::remove_cvref_t<X>, std::remove_cvref_t<Y>>
Tensor operator*(X&& x, Y&& y) {
  return detail::multiply(x, y, detail::temporaries<X, Y>);
}
template <class X, class Y>
  requires Operands<X, Y>
Tensor operator/(const X& x, const Y& y) {
  return detail::divide(x, y);
}
inline Tensor operator-(const Tensor& x) { return negative(x); }
inline Tensor operator-(Tensor&& x) { return detail::negative(x, 1); }

/// x = x + y: the name stands for another tensor then; who holds the old one keeps it. Of variables see Variable.
inline Tensor& operator+=(Tensor& x, const TensorLike& y) { return x = detail::add(std::move(x), y, 1); }
inline Tensor& operator-=(Tensor& x, const TensorLike& y) { return x = detail::subtract(std::move(x), y, 1); }
inline Tensor& operator*=(Tensor& x, const TensorLike& y) { return x = detail::multiply(std::move(x), y, 1); }
inline Tensor& operator/=(Tensor& x, const TensorLike& y) { return x = detail::divide(x, y); }

namespace math {
using thalweg::add, thalweg::add_n, thalweg::divide, thalweg::maximum, thalweg::minimum, thalweg::multiply,
    thalweg::negative, thalweg::pow, thalweg::subtract;
/// (x - y)^2; of complex numbers the conjugate product.
THALWEG_API Tensor squared_difference(const TensorLike& x, const TensorLike& y);
/// x * y, and 0 where y is 0 even if x is infinite or NaN.
THALWEG_API Tensor multiply_no_nan(const TensorLike& x, const TensorLike& y);
/// The sum of tensors of one shape.
THALWEG_API Tensor accumulate_n(const std::vector<Tensor>& inputs);
}  // namespace math

namespace linalg {
/// The cross product of vectors of three elements in the last axis.
THALWEG_API Tensor cross(const TensorLike& a, const TensorLike& b);
}  // namespace linalg

}  // namespace thalweg
