// Sums, differences and products of elements: integers wrap around, as TensorFlow's do.
#pragma once
#include <cstdint>
#include <type_traits>

namespace thalweg::kernels::scalar {
namespace detail {
/// What integers of a type are computed in: unsigned, since signed ones must not overflow, and no narrower than int,
/// which narrow ones would become otherwise.
template <class T> using Wrapping = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
}  // namespace detail

/// x + y.
template <class T> [[gnu::always_inline]] inline T add(const T& x, const T& y) {
  using U = detail::Wrapping<T>;
  if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<U>(x) + static_cast<U>(y));
  else return x + y;
}
/// x - y.
template <class T> [[gnu::always_inline]] inline T subtract(const T& x, const T& y) {
  using U = detail::Wrapping<T>;
  if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<U>(x) - static_cast<U>(y));
  else return x - y;
}
/// x * y.
template <class T> [[gnu::always_inline]] inline T multiply(const T& x, const T& y) {
  using U = detail::Wrapping<T>;
  if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<U>(x) * static_cast<U>(y));
  else return x * y;
}
/// -x.
template <class T> [[gnu::always_inline]] inline T negative(const T& x) {
  if constexpr (std::is_integral_v<T>) return subtract(T{0}, x);
  else return -x;
}
}  // namespace thalweg::kernels::scalar
