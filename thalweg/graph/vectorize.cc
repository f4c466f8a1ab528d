#include "thalweg/graph/vectorize.h"

#include "thalweg/core/error.h"
#include "thalweg/core/warning.h"
#include "thalweg/graph/over_rows.h"
#include "thalweg/graph/rows.h"
#include "thalweg/graph/vectorize_rules.h"
#include "thalweg/ops/broadcasting.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/shaping.h"

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
    if (FunctionAttr called = called_by(n)) return run(called->graph(), in);
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

  const Tensor count_;
};

std::vector<Tensor> run_at_once(const BranchTracer::Branches& f, std::span<const Tensor> elems, const Tensor& count) {
  const FunctionBody& body = *f.bodies[0];
  if (thread_state.recorder)
    for (const Tensor& handle : body.trainable_variables()) thread_state.recorder->access(handle);
  std::vector<Rows> arguments;
  for (const Tensor& t : elems) arguments.push_back({t, true});
  for (const Tensor& t : f.captures) arguments.push_back({t, false});
  std::vector<Tensor> results;
  for (Rows& r : Vectorizer(count).run(body.graph(), arguments)) {
    if (!r.batched) r.tensor = broadcast_to(r.tensor, concat({reshape(count, Tensor({1})), shape(r.tensor)}, 0));
    results.push_back(std::move(r.tensor));
  }
  return results;
}

std::vector<Tensor> run_row_by_row(const BranchTracer::Branches& f, std::span<const Tensor> elems) {
  auto row_by_row = [&](std::span<const Tensor> rows) {
    std::vector<TensorRef> in(rows.begin(), rows.end());
    in.insert(in.end(), f.captures.begin(), f.captures.end());
    return Traced{inline_call(*f.bodies[0], in), nullptr};
  };
  return over_rows(row_by_row, {elems.begin(), elems.end()}, {});
}

}  // namespace

std::vector<Tensor> vectorized_map(const TraceBody& fn, std::span<const Tensor> elems,
                                   const VectorizedMapOptions& options) {
  const int64_t known = count_rows(elems);
  const BranchTracer::Branches f = trace_rows(fn, elems);
  const Tensor count = known >= 0 ? Tensor(static_cast<int32_t>(known)) : shape(elems[0])(0);
  try {
    return run_at_once(f, elems, count);
  } catch (const NoRule& missing) {
    if (!options.fallback_to_while_loop)
      throw ValueError("No pfor vectorization defined for " + missing.op + ": set fallback_to_while_loop");
    if (options.warn)
      warn("Using a while_loop for converting " + missing.op + ", which has no rule for many rows at once");
  }
  return run_row_by_row(f, elems);
}

}  // namespace thalweg::graph
