// Gradients that users write, and functions of functions.
#pragma once
#include <functional>

#include "thalweg/autodiff/gradient_tape.h"

namespace thalweg {

namespace autodiff {
using Tensors = std::vector<Tensor>;
/// The way back: gradients of the results to gradients of the arguments, then to those of variables.
using GradientFunction = std::function<Tensors(const Tensors& output_grads)>;

/// Results in whose place a tape sees one call with this gradient. `sources` are the arguments, or handles of
/// variables.
THALWEG_API Tensors with_gradient(const Tensors& sources, const Tensors& results, GradientFunction gradient);

/// Numbers and literals become tensors of their own; a tensor stays the one the user has.
template <class T> auto as_source(const T& argument) {
  if constexpr (structure::Structured<T>) return argument;
  else return Tensor(argument);
}
/// What tapes know leaves by: tensors themselves, variables by their handles.
template <class T> Tensors sources_of(const T& t) {
  Tensors all;
  structure::for_each(t, [&]<class L>(const L& leaf) {
    if constexpr (std::same_as<L, Variable>) all.push_back(leaf.handle());
    else all.push_back(leaf);
  });
  return all;
}
/// Calls f while no tape of this thread records; tells which variables it read.
template <class F> auto unrecorded(const F& f, std::vector<Variable>& read) {
  StopRecording stop;
  GradientTape tape;
  auto value = f();
  read = tape.watched_variables();
  return value;
}
template <class T> Tensors flatten(const T& t) {
  Tensors all;
  structure::for_each(t, [&](const auto& leaf) { all.push_back(leaf); });
  return all;
}
template <class T> structure::of_tensors<T> fill(const T& like, const Tensors& values) {
  auto next = [i = size_t{0}, &values]() mutable { return values[i++]; };
  return structure::rebuild(like, next);
}
/// Calls a gradient function with one tensor per result.
template <class G, size_t... I> auto call_with(const G& g, const Tensors& grads, std::index_sequence<I...>) {
  return g(grads[I]...);
}
template <class R> consteval size_t count_results() {
  if constexpr (structure::is_tuple<R>) return std::tuple_size_v<R>;
  else return 1;
}
}  // namespace autodiff

/// A function with a gradient of its own. `f` returns its value and the gradient: a function of the value's gradient
/// that returns the gradients of the arguments.
///   auto clip = custom_gradient([](const Tensor& x) {
///     return std::pair(x, [](const Tensor& dy) { return clip_by_norm(dy, 0.5); });
///   });
template <class F> auto custom_gradient(F f) {
  return [f = std::move(f)](const auto&... given) {
    auto arguments = std::tuple(autodiff::as_source(given)...);
    auto [value, gradient] = std::apply(f, arguments);
    using Value = std::remove_cvref_t<decltype(value)>;
    static_assert(structure::Structured<Value>,
                  "the value of a custom gradient is a tensor, or a structure of tensors");
    autodiff::Tensors sources = autodiff::sources_of(arguments);
    auto back = [g = gradient](const autodiff::Tensors& grads) {
      if constexpr (std::is_invocable_v<decltype(g), const autodiff::Tensors&>) {
        return autodiff::flatten(g(grads));
      } else {
        constexpr size_t results = autodiff::count_results<Value>();
        return autodiff::flatten(autodiff::call_with(g, grads, std::make_index_sequence<results>{}));
      }
    };
    return autodiff::fill(value, autodiff::with_gradient(sources, autodiff::flatten(value), back));
  };
}

/// The same function, computed again on the way back instead of keeping what lies between.
template <class F> auto recompute_grad(F f) {
  return [f = std::move(f)](const auto&... given) {
    auto copies = std::tuple(autodiff::as_source(given)...);
    std::vector<Variable> read;
    auto value = autodiff::unrecorded([&] { return std::apply(f, copies); }, read);
    autodiff::Tensors sources = autodiff::sources_of(copies);
    for (const Variable& v : read) sources.push_back(v.handle());
    auto back = [f, copies, read](const autodiff::Tensors& grads) {
      GradientTape tape;
      tape.watch(copies);
      auto results = std::apply(f, copies);
      return autodiff::flatten(tape.gradient(results, std::tuple(copies, read), {.output_gradients = grads}));
    };
    return autodiff::fill(value, autodiff::with_gradient(sources, autodiff::flatten(value), back));
  };
}

}  // namespace thalweg
