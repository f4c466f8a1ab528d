// Functions over the rows of tensors: map_fn, foldl, foldr, scan. Inside a traced function they become loops.
//   Tensor squares = map_fn([](const Tensor& row) { return reduce_sum(square(row)); }, x);
//   Tensor total = foldl([](const Tensor& sum, const Tensor& row) { return sum + row; }, x);
#pragma once
#include "thalweg/graph/control_flow.h"
#include "thalweg/ops/options.h"

namespace thalweg {

namespace graph {

/// Goes over the rows of tensors, from the last to the first where `backwards` says so. `body` gets the state and one
/// row of each tensor, and gives the next state, then what is to be collected. Returns the last state, then what was
/// collected, each stacked in the order of the rows.
THALWEG_API std::vector<Tensor> over_rows(const TraceBody& body, const std::vector<Tensor>& tensors,
                                          const std::vector<Tensor>& state, bool backwards = false,
                                          int64_t parallel_iterations = 10);
/// The first row of each tensor, or the last, and the tensors without it.
struct FirstRow {
  std::vector<Tensor> row, rest;
};
THALWEG_API FirstRow split_first_row(const std::vector<Tensor>& tensors, bool backwards);
/// Rows with one more before them, or after them.
THALWEG_API std::vector<Tensor> with_first_row(const std::vector<Tensor>& row, const std::vector<Tensor>& rows,
                                               bool backwards);

/// A fold as `over_rows` wants it; a scan collects every state.
template <class F, class E, class I> TraceBody fold_body(const F& fn, const E& elems, const I& initial, bool collect) {
  return [&, collect](std::span<const Tensor> leaves) {
    const size_t count = leaves_of(initial).size();
    structure::of_tensors<I> next =
        fn(with_leaves(initial, leaves.first(count)), with_leaves(elems, leaves.subspan(count)));
    Traced traced{leaves_of(next), nullptr};
    for (size_t i = 0; collect && i < count; ++i) traced.tensors.push_back(traced.tensors[i]);
    return traced;
  };
}
template <class F, class E, class I>
structure::of_tensors<I> fold(const F& fn, const E& elems, const I& initial, bool backwards) {
  return with_leaves(initial,
                     over_rows(fold_body(fn, elems, initial, false), leaves_of(elems), leaves_of(initial), backwards));
}
template <class F, class E> structure::of_tensors<E> fold(const F& fn, const E& elems, bool backwards) {
  FirstRow first = split_first_row(leaves_of(elems), backwards);
  return with_leaves(elems, over_rows(fold_body(fn, elems, elems, false), first.rest, first.row, backwards));
}

}  // namespace graph

struct MapOptions {
  int64_t parallel_iterations = 10;  // taken, as TensorFlow's files have it: rows are visited one after the other
};

/// What `fn` gives for each row of the tensors, stacked: a structure of what it returns.
template <class F, structure::Structured E> auto map_fn(const F& fn, const E& elems, const MapOptions& options = {}) {
  using R = std::invoke_result_t<F, structure::of_tensors<E>>;
  std::optional<R> result;
  std::vector<Tensor> found = graph::over_rows(
      [&](std::span<const Tensor> leaves) {
        result.emplace(fn(graph::with_leaves(elems, leaves)));
        return graph::Traced{graph::leaves_of(*result), nullptr};
      },
      graph::leaves_of(elems), {}, false, options.parallel_iterations);
  return graph::with_leaves(*result, found);  // NOLINT: set when a row was traced or run
}

/// fn(...fn(fn(initializer, first row), second row)..., last row).
template <class F, structure::Structured E, structure::Structured I>
structure::of_tensors<I> foldl(const F& fn, const E& elems, const I& initializer) {
  return graph::fold(fn, elems, initializer, false);
}
/// The same, beginning with the first row.
template <class F, structure::Structured E> structure::of_tensors<E> foldl(const F& fn, const E& elems) {
  return graph::fold(fn, elems, false);
}
/// As foldl, from the last row to the first.
template <class F, structure::Structured E, structure::Structured I>
structure::of_tensors<I> foldr(const F& fn, const E& elems, const I& initializer) {
  return graph::fold(fn, elems, initializer, true);
}
/// The same, beginning with the last row.
template <class F, structure::Structured E> structure::of_tensors<E> foldr(const F& fn, const E& elems) {
  return graph::fold(fn, elems, true);
}

struct RowScanOptions {
  Flag reverse = false;  // from the last row to the first
};

/// All the values that a fold goes through, stacked.
template <class F, structure::Structured E, structure::Structured I>
structure::of_tensors<I> scan(const F& fn, const E& elems, const I& initializer, const RowScanOptions& options = {}) {
  std::vector<Tensor> initial = graph::leaves_of(initializer);
  std::vector<Tensor> found = graph::over_rows(graph::fold_body(fn, elems, initializer, true), graph::leaves_of(elems),
                                               initial, options.reverse);
  return graph::with_leaves(initializer, std::span(found).subspan(initial.size()));
}
/// The same, beginning with the first row, which is the first result.
template <class F, structure::Structured E>
structure::of_tensors<E> scan(const F& fn, const E& elems, const RowScanOptions& options = {}) {
  graph::FirstRow first = graph::split_first_row(graph::leaves_of(elems), options.reverse);
  std::vector<Tensor> found =
      graph::over_rows(graph::fold_body(fn, elems, elems, true), first.rest, first.row, options.reverse);
  found.erase(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(first.row.size()));
  return graph::with_leaves(elems, graph::with_first_row(first.row, found, options.reverse));
}

}  // namespace thalweg
