// Functions of y_true and y_pred, as losses and metrics take them.
#pragma once
#include <type_traits>

#include "thalweg/core/tensor.h"

namespace thalweg::keras::detail {

/// Calls a function of two tensors: a lambda, a pointer, or one of Keras's functions with options, by their defaults.
template <class F>
  requires(std::is_invocable_r_v<Tensor, F&, const Tensor&, const Tensor&>)
Tensor call_pair(F& function, const Tensor& y_true, const Tensor& y_pred) {
  return function(y_true, y_pred);
}
template <class Options>
Tensor call_pair(Tensor (*function)(const Tensor&, const Tensor&, const Options&), const Tensor& y_true,
                 const Tensor& y_pred) {
  return function(y_true, y_pred, Options{});
}

template <class F>
concept PairFunction = !std::convertible_to<F, const char*> &&
                       requires(F& function, const Tensor& x) { detail::call_pair(function, x, x); };
/// Structs whose `call` is such a function.
template <class T>
concept HasPairCall = requires(T& t, const Tensor& x) {
  { t.call(x, x) } -> std::convertible_to<Tensor>;
};

}  // namespace thalweg::keras::detail
