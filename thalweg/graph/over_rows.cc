#include "thalweg/graph/over_rows.h"

#include <algorithm>

#include "thalweg/core/error.h"
#include "thalweg/graph/rows.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/splitting.h"
#include "thalweg/ops/tensor_list.h"

namespace thalweg::graph {

Shape row_shape(const Tensor& t) {
  const Shape& whole = t.shape();
  if (!whole.has_rank()) return Shape::unknown_rank();
  if (whole.rank() == 0) throw ValueError("the elements must be tensors with at least one dimension, got a scalar");
  return Shape(whole.dims().subspan(1));
}

int64_t count_rows(std::span<const Tensor> tensors) {
  if (tensors.empty()) throw ValueError("elems must be a tensor or a structure of tensors; it is empty");
  int64_t count = -1;
  for (const Tensor& t : tensors) {
    row_shape(t);
    if (!t.shape().has_rank() || t.shape()[0] < 0) continue;
    if (count >= 0 && t.shape()[0] != count)
      throw ValueError("all elems must have as many rows as the first: " + std::to_string(count) +
                       ", got one of shape " + t.shape().str());
    count = t.shape()[0];
  }
  return count;
}

BranchTracer::Branches trace_rows(const TraceBody& body, std::span<const Tensor> tensors,
                                  std::span<const Tensor> state) {
  std::vector<Spec> specs;
  for (const Tensor& t : state) specs.push_back({t.dtype(), t.shape()});
  for (const Tensor& t : tensors) specs.push_back({t.dtype(), row_shape(t)});
  BranchTracer tracer;
  tracer.add(body, specs);
  if (tracer.num_results(0) < state.size())
    throw ValueError("a function over rows must return its state: " + std::to_string(state.size()) + " tensors, got " +
                     std::to_string(tracer.num_results(0)));
  return tracer.finish("over_rows");
}

namespace {

std::vector<Tensor> run_at_once(const TraceBody& body, const std::vector<Tensor>& tensors,
                                const std::vector<Tensor>& state, bool backwards, int64_t count) {
  std::vector<std::vector<Tensor>> rows;
  for (const Tensor& t : tensors) rows.push_back(unstack(t));
  std::vector<Tensor> now = state;
  std::vector<std::vector<Tensor>> collected;
  for (int64_t k = 0; k < count; ++k) {
    std::vector<Tensor> in = now;
    for (const std::vector<Tensor>& r : rows) in.push_back(r[static_cast<size_t>(backwards ? count - 1 - k : k)]);
    std::vector<Tensor> out = body(in).tensors;
    if (out.size() < state.size()) throw ValueError("a function over rows must return its state");
    now.assign(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(state.size()));
    collected.resize(out.size() - state.size());
    for (size_t i = 0; i < collected.size(); ++i) collected[i].push_back(out[state.size() + i]);
  }
  for (std::vector<Tensor>& c : collected) {
    if (backwards) std::ranges::reverse(c);
    now.push_back(stack(c));
  }
  return now;
}

std::vector<Tensor> trace_loop(const TraceBody& body, const std::vector<Tensor>& tensors,
                               const std::vector<Tensor>& state, bool backwards, int64_t known_count,
                               int64_t parallel_iterations) {
  BranchTracer::Branches traced = trace_rows(body, tensors, state);
  const FunctionBody& function = *traced.bodies[0];
  const size_t num_state = state.size(), num_collected = function.num_results() - num_state;
  Tensor count = known_count >= 0 ? Tensor(static_cast<int32_t>(known_count)) : shape(tensors[0])(0);
  std::vector<Tensor> rows;
  for (const Tensor& t : tensors) rows.push_back(tensor_list_from_tensor(t, element_shape_tensor(row_shape(t))));

  std::vector<Tensor> values = {backwards ? count - 1 : Tensor(int32_t{0})};
  values.insert(values.end(), state.begin(), state.end());
  std::vector<Spec> collected;
  for (size_t i = 0; i < num_collected; ++i) {
    collected.push_back(function.result(num_state + i));
    values.push_back(tensor_list_reserve(element_shape_tensor(collected[i].shape), count, collected[i].dtype));
  }
  auto goes_on = [&](std::span<const Tensor> v) {
    return Traced{{backwards ? greater_equal(v[0], Tensor(int32_t{0})) : less(v[0], count)}, nullptr};
  };
  auto turn = [&](std::span<const Tensor> v) {
    std::vector<Tensor> in(v.begin() + 1, v.begin() + 1 + static_cast<std::ptrdiff_t>(num_state));
    for (size_t i = 0; i < rows.size(); ++i)
      in.push_back(
          tensor_list_get_item(rows[i], v[0], element_shape_tensor(row_shape(tensors[i])), tensors[i].dtype()));
    in.insert(in.end(), traced.captures.begin(), traced.captures.end());
    std::vector<Tensor> out = inline_call(function, std::vector<TensorRef>(in.begin(), in.end()));
    for (size_t i = num_state; i < out.size(); ++i) out[i] = tensor_list_set_item(v[1 + i], v[0], out[i]);
    out.insert(out.begin(), backwards ? v[0] - 1 : v[0] + 1);
    return Traced{out, nullptr};
  };
  std::vector<Tensor> found = while_loop(goes_on, turn, values, {}, -1, parallel_iterations);
  std::vector<Tensor> results(found.begin() + 1, found.begin() + 1 + static_cast<std::ptrdiff_t>(num_state));
  for (size_t i = 0; i < num_collected; ++i)
    results.push_back(tensor_list_stack(found[1 + num_state + i], element_shape_tensor(collected[i].shape),
                                        collected[i].dtype, known_count));
  return results;
}

// No row says what would be collected: tracing does.
std::vector<Tensor> nothing(const TraceBody& body, const std::vector<Tensor>& tensors,
                            const std::vector<Tensor>& state) {
  BranchTracer::Branches traced = trace_rows(body, tensors, state);
  std::vector<Tensor> results = state;
  for (size_t i = state.size(); i < traced.bodies[0]->num_results(); ++i) {
    const Spec& spec = traced.bodies[0]->result(i);
    std::vector<int64_t> dims = {0};
    if (spec.shape.has_rank())
      for (int64_t d : spec.shape.dims()) dims.push_back(std::max<int64_t>(d, 0));
    results.push_back(zeros(dims, {.dtype = spec.dtype}));
  }
  return results;
}

}  // namespace

std::vector<Tensor> over_rows(const TraceBody& body, const std::vector<Tensor>& tensors,
                              const std::vector<Tensor>& state, bool backwards, int64_t parallel_iterations) {
  const int64_t count = count_rows(tensors);
  if (thread_state.tracer) return trace_loop(body, tensors, state, backwards, count, parallel_iterations);
  return count == 0 ? nothing(body, tensors, state) : run_at_once(body, tensors, state, backwards, count);
}

FirstRow split_first_row(const std::vector<Tensor>& tensors, bool backwards) {
  if (count_rows(tensors) == 0) throw ValueError("without an initializer, elems must have at least one row");
  FirstRow made;
  for (const Tensor& t : tensors) {
    made.row.push_back(backwards ? t(-1) : t(0));
    made.rest.push_back(backwards ? t(slice(0, -1)) : t(slice_from(1)));
  }
  return made;
}

std::vector<Tensor> with_first_row(const std::vector<Tensor>& row, const std::vector<Tensor>& rows, bool backwards) {
  std::vector<Tensor> made;
  for (size_t i = 0; i < row.size(); ++i) {
    Tensor first = expand_dims(row[i], 0);
    made.push_back(concat(backwards ? std::vector{rows[i], first} : std::vector{first, rows[i]}, 0));
  }
  return made;
}

}  // namespace thalweg::graph
