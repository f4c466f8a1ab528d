// Derivatives of functions: `auto second = grad(grad(f));`
#pragma once
#include "thalweg/autodiff/custom_gradient.h"

namespace thalweg {

namespace autodiff {
/// The value of f and the gradients of its arguments: one structure, or a tuple of them for several arguments.
template <class F, class... A> auto differentiate(const F& f, const A&... arguments) {
  GradientTape tape;
  auto watched = std::tuple(as_source(arguments)...);
  tape.watch(watched);
  auto value = std::apply(f, watched);
  if constexpr (sizeof...(A) == 1) return std::pair(value, tape.gradient(value, std::get<0>(watched)));
  else return std::pair(value, tape.gradient(value, watched));
}
}  // namespace autodiff

/// The derivative of a function of tensors: called with the same arguments, it gives their gradients (a tuple where
/// there are several). A function of functions: `grad(grad(f))` is the second derivative.
template <class F> auto grad(F f) {
  return [f = std::move(f)](const auto&... arguments) { return autodiff::differentiate(f, arguments...).second; };
}
/// The same, with the value before the gradients.
template <class F> auto value_and_grad(F f) {
  return [f = std::move(f)](const auto&... arguments) { return autodiff::differentiate(f, arguments...); };
}
/// The gradients of all arguments as a list; TensorFlow's eager `gradients_function`.
template <class F> auto gradients_function(F f) {
  return [f = std::move(f)](const auto&... arguments) {
    return autodiff::flatten(autodiff::differentiate(f, arguments...).second);
  };
}
/// The value and the gradients of all arguments; TensorFlow's eager `value_and_gradients_function`.
template <class F> auto value_and_gradients_function(F f) {
  return [f = std::move(f)](const auto&... arguments) {
    auto [value, gradients] = autodiff::differentiate(f, arguments...);
    return std::pair(value, autodiff::flatten(gradients));
  };
}

/// The derivatives of a function of tensors, every element of the result by every element of its argument (a tuple of
/// them where there are several): called with the same arguments.
template <class F> auto jacobian(F f) {
  return [f = std::move(f)](const auto&... arguments) {
    GradientTape tape({.persistent = true});
    auto watched = std::tuple(autodiff::as_source(arguments)...);
    tape.watch(watched);
    Tensor value = std::apply(f, watched);
    if constexpr (sizeof...(arguments) == 1) return tape.jacobian(value, std::get<0>(watched));
    else return tape.jacobian(value, watched);
  };
}
/// The second derivatives of a function of one tensor that gives a scalar: the jacobian of its gradient.
template <class F> auto hessian(F f) { return jacobian(grad(std::move(f))); }

/// Forward mode: how results change when the primals move along the tangents.
///   ForwardAccumulator accumulator(x, direction);
///   Tensor y = f(x);
///   Tensor dy = accumulator.jvp(y);
class THALWEG_API ForwardAccumulator {
 public:
  template <structure::Structured P, structure::Structured T>
  [[nodiscard]] ForwardAccumulator(const P& primals, const T& tangents)
      : ForwardAccumulator(autodiff::sources_of(primals), autodiff::flatten(tangents), 0) {}

  /// The product of the Jacobian of a result with the tangents; None (or zeros) where it does not depend on the
  /// primals.
  [[nodiscard]] Tensor jvp(const Tensor& result, UnconnectedGradients unconnected = UnconnectedGradients::none);

 private:
  ForwardAccumulator(std::vector<Tensor> primals, std::vector<Tensor> tangents, int);

  autodiff::Tape tape_;
  std::vector<Tensor> primals_, tangents_;
};

/// The value of f at the primals, and how it changes along the tangents.
template <class F, structure::Structured P>
std::pair<Tensor, Tensor> jvp(const F& f, const P& primals, const P& tangents) {
  ForwardAccumulator accumulator(primals, tangents);
  Tensor value = f(primals);
  return {value, accumulator.jvp(value)};
}

}  // namespace thalweg
