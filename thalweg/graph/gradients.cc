#include "thalweg/graph/gradients.h"

#include <map>
#include <set>

#include "thalweg/core/error.h"
#include "thalweg/core/variable_resource.h"
#include "thalweg/graph/tracer.h"
#include "thalweg/ops/creation.h"

namespace thalweg {
namespace graph {
namespace {

/// Tells a new tape what the nodes between sources and targets computed, as if it had been open then.
class Replay {
 public:
  Replay(GraphTracer& tracer, const std::vector<Tensor>& stops) : tracer_(tracer) {
    for (const Tensor& t : stops)
      if (t.defined() && t.is_symbolic()) stops_.insert(tracer_.value_of(t));
  }

  void add_source(const Tensor& source) {
    if (source.dtype() == DType::resource) handles_.insert(source.get());
    else if (source.is_symbolic()) sources_.insert(tracer_.value_of(source));
  }

  void run(const std::vector<Value>& targets) {
    Graph& graph = tracer_.graph();
    std::vector<uint8_t> needed = needed_nodes(graph, targets, false);
    const auto end = graph.nodes().size();  // calls are made again, at the end
    std::vector<uint8_t> depends(end);
    for (size_t i = 0; i < end; ++i) {
      Node& n = graph.nodes()[i];
      for (const Value& v : n.inputs) depends[i] |= leads_on(v, depends);
      if (depends[i] && needed[i] && !n.is_constant()) record(n);
    }
  }

  /// The tensor that the tape knows a value by.
  Tensor tensor_of(Value v) {
    auto [place, is_new] = tensors_.try_emplace(v);
    if (is_new) place->second = tracer_.tensor_of(v);
    return place->second;
  }

 private:
  bool leads_on(Value v, const std::vector<uint8_t>& depends) const {
    if (stops_.contains(v)) return false;
    if (v.node->is_constant()) return handles_.contains(v.node->constant.get());
    return sources_.contains(v) || depends[static_cast<size_t>(v.node->id)];
  }

  void record(Node& n) {
    std::vector<Tensor> in, out;
    for (const Value& v : n.inputs) in.push_back(stops_.contains(v) ? tracer_.tensor_of(v) : tensor_of(v));
    std::vector<TensorRef> refs(in.begin(), in.end());
    const auto count = static_cast<int>(n.results.size());
    if (n.op->follow) {
      out = apply_list(*n.op, refs, n.attrs, count);
    } else {
      for (int i = 0; i < count; ++i) out.push_back(tracer_.tensor_of({&n, i}));
      std::vector<TensorImpl*> raw;
      for (const Tensor& t : out) raw.push_back(t.get());
      thread_state.recorder->record(*n.op, refs, n.attrs, raw);
    }
    for (int i = 0; i < count; ++i) tensors_.insert_or_assign({&n, i}, out[static_cast<size_t>(i)]);
  }

  GraphTracer& tracer_;
  std::set<Value> sources_, stops_;
  std::set<const TensorImpl*> handles_;
  std::map<Value, Tensor> tensors_;
};

}  // namespace
}  // namespace graph

std::vector<Tensor> gradients(const std::vector<Tensor>& ys, const std::vector<Tensor>& xs,
                              const GradientsOptions& options) {
  graph::GraphTracer* tracer = graph::current_tracer();
  if (!tracer)
    throw RuntimeError("tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape instead.");
  autodiff::SeparateTapes separate;
  autodiff::Tape tape({.persistent = false, .watch_accessed_variables = false});
  graph::Replay replay(*tracer, options.stop_gradients);
  std::vector<Tensor> sources, targets;
  std::vector<graph::Value> ends;
  for (const Tensor& x : xs) replay.add_source(x);
  tape.start();
  for (const Tensor& x : xs) {
    const bool follows = x.is_symbolic() && x.dtype() != DType::resource;
    sources.push_back(follows ? replay.tensor_of(tracer->value_of(x)) : x);
    tape.watch(sources.back());
  }
  for (const Tensor& y : ys)
    if (y.is_symbolic()) ends.push_back(tracer->value_of(y));
  replay.run(ends);
  for (const Tensor& y : ys) targets.push_back(y.is_symbolic() ? replay.tensor_of(tracer->value_of(y)) : y);
  tape.stop();
  // A source that was computed from another one is known by what the tape saw of it last.
  for (size_t i = 0; i < xs.size(); ++i)
    if (xs[i].is_symbolic() && xs[i].dtype() != DType::resource) sources[i] = replay.tensor_of(tracer->value_of(xs[i]));
  return tape.gradient(targets, sources, options.grad_ys, options.unconnected_gradients);
}

}  // namespace thalweg
