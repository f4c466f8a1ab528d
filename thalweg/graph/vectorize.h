// A function of one row applied to all rows of tensors at once:
//   Tensor norms = vectorized_map([](const Tensor& row) { return norm(row); }, matrix);
#pragma once
#include "thalweg/graph/control_flow.h"

namespace thalweg {

struct VectorizedMapOptions {
  bool fallback_to_while_loop = true;  // where an op has no rule, row by row; else that is a ValueError
  bool warn = true;                    // say so
};

namespace graph {

/// What `fn`, which takes one row of each tensor, gives for all rows. It is traced once; then each of its ops is
/// applied to all rows together. Effects, random numbers and control flow by values make it a loop instead.
THALWEG_API std::vector<Tensor> vectorized_map(const TraceBody& fn, std::span<const Tensor> elems,
                                               const VectorizedMapOptions& options = {});

}  // namespace graph

/// What `fn` gives for each row of a tensor, or of the tensors of a structure, stacked.
template <class F, class E>
  requires(!structure::Structured<F>)
auto vectorized_map(const F& fn, const E& elems, const VectorizedMapOptions& options = {}) {
  using Rows = structure::of_tensors<E>;
  using R = std::invoke_result_t<const F&, const Rows&>;
  std::optional<R> result;
  std::vector<Tensor> found = graph::vectorized_map(
      [&](std::span<const Tensor> rows) {
        result.emplace(fn(graph::with_leaves(elems, rows)));
        return graph::Traced{graph::leaves_of(*result), nullptr};
      },
      graph::leaves_of(elems), options);
  return graph::with_leaves(*result, found);  // NOLINT: set when a row was traced or run
}

}  // namespace thalweg
