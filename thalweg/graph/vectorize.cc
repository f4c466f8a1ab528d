#include "thalweg/graph/vectorize.h"

#include "thalweg/core/error.h"
#include "thalweg/core/warning.h"
#include "thalweg/graph/vectorize_rules.h"
#include "thalweg/ops/broadcasting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/gather.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/tensor_list.h"

namespace thalweg::graph {
namespace {

/// An op that has no rule: what it is called, and why the whole function runs row by row.
struct NoRule {
  std::string op;
};

class Vectorizer {
 public:
  explicit Vectorizer(Tensor count) : count_(std::move(count)) {}

  std::vector<Rows> run(const Graph& graph, const std::vector<Rows>& arguments) {
    std::vector<std::vector<Rows>> values(graph.nodes().size());
    for (size_t i = 0; i < arguments.size(); ++i) values[static_cast<size_t>(graph.arguments[i]->id)] = {arguments[i]};
    const std::vector<uint8_t> needed = needed_nodes(graph, graph.results);
    for (const Node& n : graph.nodes()) {
      std::vector<Rows>& place = values[static_cast<size_t>(n.id)];
      if (!needed[static_cast<size_t>(n.id)] || !place.empty()) continue;
      std::vector<Rows> in;
      for (const Value& v : n.inputs)
        in.push_back(values[static_cast<size_t>(v.node->id)][static_cast<size_t>(v.index)]);
      place = n.is_constant() ? std::vector<Rows>{{n.constant, false}} : run(n, std::move(in));
    }
    std::vector<Rows> results;
    for (const Value& v : graph.results)
      results.push_back(values[static_cast<size_t>(v.node->id)][static_cast<size_t>(v.index)]);
    return results;
  }

 private:
  std::vector<Rows> run(const Node& n, std::vector<Rows> in) {
    if (FunctionAttr called = function_of(n)) return run(called->graph(), in);
    if (n.has_effect()) throw NoRule{n.op->name};
    RowsCall call(n, std::move(in), count_);
    bool any = false;
    for (const Rows& r : call.inputs) any |= r.batched;
    if (!any) {
      call.batched = false;
      call.apply(call.tensors());
    } else {
      RowsRule rule = find_rows_rule(*n.op);
      if (!rule || !rule(call)) throw NoRule{n.op->name};
    }
    std::vector<Rows> out;
    for (Tensor& t : call.outputs) out.push_back({std::move(t), call.batched});
    return out;
  }

  static FunctionAttr function_of(const Node& n) {
    if (!is_call(*n.op)) return nullptr;
    return std::get<FunctionAttr>(n.op->attrs->get(n.attrs.get(), n.op->attrs->find("f")));
  }

  const Tensor count_;
};

/// The function of one row, and the tensors of functions around it that it uses.
struct RowFunction {
  FunctionAttr body;
  std::vector<Tensor> captures;
};

RowFunction trace_row(const TraceBody& fn, std::span<const Tensor> elems) {
  GraphTracer tracer(current_tracer());
  tracer.may_create_variables = false;
  {
    Tracing tracing(&tracer);
    std::vector<Tensor> rows;
    for (const Tensor& t : elems) {
      Shape row = Shape::unknown_rank();
      if (t.shape().has_rank()) row = Shape(std::vector<int64_t>(t.shape().dims().begin() + 1, t.shape().dims().end()));
      rows.push_back(tracer.argument(t.dtype(), row, "row"));
    }
    for (const Tensor& t : fn(rows).tensors) tracer.graph().results.push_back(tracer.value_of(t));
  }
  Graph& graph = tracer.graph();
  graph.arguments.insert(graph.arguments.end(), tracer.capture_nodes().begin(), tracer.capture_nodes().end());
  return {std::make_shared<FunctionBody>("row", std::move(graph)), tracer.captures()};
}

std::vector<Tensor> run_at_once(const RowFunction& f, std::span<const Tensor> elems, const Tensor& count) {
  if (thread_state.recorder)
    for (const Tensor& handle : f.body->trainable_variables()) thread_state.recorder->access(handle);
  std::vector<Rows> arguments;
  for (const Tensor& t : elems) arguments.push_back({t, true});
  for (const Tensor& t : f.captures) arguments.push_back({t, false});
  std::vector<Tensor> results;
  for (Rows& r : Vectorizer(count).run(f.body->graph(), arguments)) {
    if (!r.batched) r.tensor = broadcast_to(r.tensor, concat({reshape(count, Tensor({1})), shape(r.tensor)}, 0));
    results.push_back(std::move(r.tensor));
  }
  return results;
}

std::vector<Tensor> run_row_by_row(const RowFunction& f, std::span<const Tensor> elems, const Tensor& count,
                                   int64_t known) {
  std::vector<Tensor> values = {Tensor(0)};
  std::vector<Shape> shapes = {Shape{}};
  std::vector<Tensor> element_shapes;
  for (size_t k = 0; k < f.body->num_results(); ++k) {
    const Spec& spec = f.body->result(k);
    element_shapes.push_back(element_shape_tensor(spec.shape));
    values.push_back(tensor_list_reserve(element_shapes[k], count, spec.dtype));
    shapes.emplace_back();
  }
  auto goes_on = [&](std::span<const Tensor> v) { return Traced{{less(v[0], count)}, nullptr}; };
  auto turn = [&](std::span<const Tensor> v) {
    std::vector<Tensor> in;
    for (const Tensor& t : elems) in.push_back(gather(t, v[0], {.axis = 0}));
    in.insert(in.end(), f.captures.begin(), f.captures.end());
    std::vector<Tensor> results = inline_call(*f.body, std::vector<TensorRef>(in.begin(), in.end()));
    Traced next{{add(v[0], Tensor(1))}, nullptr};
    for (size_t k = 0; k < results.size(); ++k)
      next.tensors.push_back(tensor_list_set_item(v[k + 1], v[0], results[k]));
    return next;
  };
  std::vector<Tensor> found = while_loop(goes_on, turn, values, shapes);
  std::vector<Tensor> results;
  for (size_t k = 0; k < f.body->num_results(); ++k)
    results.push_back(tensor_list_stack(found[k + 1], element_shapes[k], f.body->result(k).dtype, known));
  return results;
}

}  // namespace

std::vector<Tensor> vectorized_map(const TraceBody& fn, std::span<const Tensor> elems,
                                   const VectorizedMapOptions& options) {
  if (elems.empty()) throw ValueError("vectorized_map needs at least one tensor");
  int64_t known = -1;
  for (const Tensor& t : elems) {
    if (!t.shape().has_rank()) continue;
    if (t.rank() == 0) throw ValueError("Elements must be tensors with at least one dimension, got a scalar.");
    if (known >= 0 && t.shape()[0] >= 0 && t.shape()[0] != known)
      throw ValueError("all tensors must have as many rows, got " + std::to_string(known) + " and " +
                       std::to_string(t.shape()[0]));
    known = std::max(known, t.shape()[0]);
  }
  const RowFunction f = trace_row(fn, elems);
  const Tensor count = known >= 0 ? Tensor(static_cast<int32_t>(known)) : gather(shape(elems[0]), Tensor(0));
  try {
    return run_at_once(f, elems, count);
  } catch (const NoRule& missing) {
    if (!options.fallback_to_while_loop)
      throw ValueError("No pfor vectorization defined for " + missing.op + ": set fallback_to_while_loop");
    if (options.warn)
      warn("Using a while_loop for converting " + missing.op + ", which has no rule for many rows at once");
  }
  return run_row_by_row(f, elems, count, known);
}

}  // namespace thalweg::graph
