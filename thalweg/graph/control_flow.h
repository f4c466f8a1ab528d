// Conditionals and loops. Inside a traced function they become ops, elsewhere they run at once:
//   Tensor y = cond(x > 0.0f, [&] { return x * 2.0f; }, [&] { return x - 1.0f; });
//   auto [i, sum] = while_loop([&](const Tensor& i, const Tensor&) { return i < n; },
//                              [](const Tensor& i, const Tensor& sum) { return std::tuple(i + 1, sum + i); }, {0, 0});
#pragma once
#include "thalweg/autodiff/structure.h"
#include "thalweg/graph/traced.h"

namespace thalweg {

namespace graph {

/// The results of one of two functions without arguments. With a value that is known, only that one is called.
THALWEG_API std::vector<Tensor> cond(const Tensor& predicate, const TraceBody& then, const TraceBody& otherwise);
/// The results of the function with this number; of the last one when there is none.
THALWEG_API std::vector<Tensor> switch_case(const Tensor& index, const std::vector<TraceBody>& branches);
/// Replaces the values by what the body makes of them as long as the condition holds. `invariants` are shapes that
/// values keep, where they may change from turn to turn; empty: the shapes they come with. -1 iterations: no limit.
THALWEG_API std::vector<Tensor> while_loop(const TraceBody& condition, const TraceBody& body,
                                           const std::vector<Tensor>& values, const std::vector<Shape>& invariants = {},
                                           int64_t maximum_iterations = -1, int64_t parallel_iterations = 10);

template <class T> std::vector<Tensor> leaves_of(const T& structure) {
  std::vector<Tensor> leaves;
  structure::for_each(structure, [&](const auto& leaf) { leaves.push_back(leaf); });
  return leaves;
}
/// A branch that keeps the structure of what it returned.
template <class F, class R> TraceBody branch(const F& f, std::optional<R>& result) {
  return [&](std::span<const Tensor>) {
    if constexpr (std::is_void_v<std::invoke_result_t<F>>) {
      f();
      return Traced{};
    } else {
      result.emplace(f());
      return Traced{leaves_of(*result), nullptr};
    }
  };
}
template <class T> structure::of_tensors<T> with_leaves(const T& like, std::span<const Tensor> leaves) {
  auto next = [i = size_t{0}, leaves]() mutable { return leaves[i++]; };
  return structure::rebuild(like, next);
}
struct Nothing {};
template <class R> using Kept = std::conditional_t<std::is_void_v<R>, Nothing, R>;

}  // namespace graph

/// The result of `true_fn()` if the predicate holds, else that of `false_fn()`; both return the same structure.
template <class F, class G> auto cond(const Tensor& predicate, const F& true_fn, const G& false_fn) {
  using R = std::invoke_result_t<F>;
  static_assert(std::same_as<R, std::invoke_result_t<G>>, "both branches of cond must return the same type");
  std::optional<graph::Kept<R>> result;
  std::vector<Tensor> found = graph::cond(predicate, graph::branch(true_fn, result), graph::branch(false_fn, result));
  if constexpr (!std::is_void_v<R>) return graph::with_leaves(*result, found);  // NOLINT: a branch has set it
}

/// The result of the function with this number, of the last one when there is none.
template <class F, class... G> auto switch_case(const Tensor& index, const F& first, const G&... others) {
  using R = std::invoke_result_t<F>;
  static_assert((std::same_as<R, std::invoke_result_t<G>> && ...), "all branches must return the same type");
  std::optional<graph::Kept<R>> result;
  std::vector<Tensor> found =
      graph::switch_case(index, {graph::branch(first, result), graph::branch(others, result)...});
  if constexpr (!std::is_void_v<R>) return graph::with_leaves(*result, found);  // NOLINT: a branch has set it
}

struct WhileOptions {
  std::vector<Shape> shape_invariants = {};  // one per tensor, where shapes change from turn to turn
  int64_t parallel_iterations = 10;          // taken, as TensorFlow's files have it: turns run one after the other
  int64_t maximum_iterations = -1;
};

/// Replaces the values by `body(values...)` as long as `condition(values...)` holds; a tuple of values is spread over
/// the parameters.
template <class C, class B, structure::Structured... V>
std::tuple<structure::of_tensors<V>...> while_loop(const C& condition, const B& body, const std::tuple<V...>& values,
                                                   const WhileOptions& options = {}) {
  using Values = std::tuple<structure::of_tensors<V>...>;
  auto structured = [&](std::span<const Tensor> leaves) { return graph::with_leaves(values, leaves); };
  std::vector<Tensor> found = graph::while_loop(
      [&](std::span<const Tensor> leaves) {
        return graph::Traced{{std::apply(condition, structured(leaves))}, nullptr};
      },
      [&](std::span<const Tensor> leaves) {
        Values next = std::apply(body, structured(leaves));
        return graph::Traced{graph::leaves_of(next), nullptr};
      },
      graph::leaves_of(values), options.shape_invariants, options.maximum_iterations, options.parallel_iterations);
  return graph::with_leaves(values, found);
}
/// The same for one value.
template <class C, class B>
Tensor while_loop(const C& condition, const B& body, const Tensor& value, const WhileOptions& options = {}) {
  auto once = [&](const Tensor& x) { return std::tuple<Tensor>(body(x)); };
  return std::get<0>(while_loop(condition, once, std::tuple<Tensor>(value), options));
}

}  // namespace thalweg
