#include "thalweg/graph/gradient.h"

#include "thalweg/core/error.h"
#include "thalweg/core/indexed_slices.h"
#include "thalweg/graph/extraction.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/variable_ops.h"

namespace thalweg::graph {
namespace {

bool can_have_gradient(DType dtype) { return differentiable_types.has(dtype) || dtype == DType::variant; }

Gradient::Result add_result(GraphTracer& tracer, const Tensor& gradient, std::vector<Value>& results) {
  Gradient::Result place;
  if (!gradient.defined()) return place;
  place.first = static_cast<int>(results.size());
  if (!is_indexed_slices(gradient)) {
    results.push_back(tracer.value_of(gradient));
    return place;
  }
  const IndexedSlices& s = indexed_slices(gradient);
  place.slices = true;
  place.has_shape = s.dense_shape.defined();
  results.push_back(tracer.value_of(s.values));
  results.push_back(tracer.value_of(s.indices));
  if (place.has_shape) results.push_back(tracer.value_of(s.dense_shape));
  return place;
}

/// What a tape keeps of a call.
class CallBackward final : public BackwardFunction {
 public:
  CallBackward(FunctionAttr body, std::vector<Tensor> saved) : body_(std::move(body)), saved_(std::move(saved)) {}

  std::vector<Tensor> run(std::span<const Tensor> output_grads, uint64_t) override {
    const Gradient& g = body_->gradient();
    std::vector<TensorRef> in;
    for (size_t i : g.differentiable) in.emplace_back(output_grads[i]);
    in.insert(in.end(), saved_.begin(), saved_.end());
    std::vector<Tensor> results = call(g.backward, in);
    std::vector<Tensor> grads;
    for (const Gradient::Result& place : g.arguments) grads.push_back(take_result(place, results));
    for (const Gradient::Result& place : g.variable_results) grads.push_back(take_result(place, results));
    return grads;
  }

 private:
  FunctionAttr body_;
  std::vector<Tensor> saved_;
};

}  // namespace

Tensor take_result(const Gradient::Result& place, const std::vector<Tensor>& results) {
  if (place.first < 0) return {};
  size_t i = static_cast<size_t>(place.first);
  if (!place.slices) return results[i];
  return IndexedSlices{results[i], results[i + 1], place.has_shape ? results[i + 2] : Tensor()};
}

size_t level_of(std::span<const Tensor> output_grads, std::span<const size_t> sizes) {
  size_t used = output_grads.size();
  while (used > 0 && !output_grads[used - 1].defined()) --used;
  size_t level = 0;
  while (sizes[level] < used) ++level;
  if (level + 1 == sizes.size())
    throw RuntimeError(
        "a gradient through a conditional or a loop of a traced function is differentiated more often than tapes were "
        "open when it was called: open one tape for each order of derivative around it");
  return level;
}

void add_variables(const Gradient& gradient, std::vector<Tensor>& sources) {
  for (const Tensor& handle : gradient.variables) {
    bool known = false;
    for (const Tensor& s : sources) known |= s.get() == handle.get();
    if (!known) sources.push_back(handle);
  }
}

std::unique_ptr<const Gradient> make_gradient(const FunctionBody& body) {
  auto made = std::make_unique<Gradient>();
  GraphTracer tracer(nullptr);
  tracer.graph().jit_compile = body.graph().jit_compile;
  Tracing tracing(&tracer);
  std::vector<Tensor> arguments;
  for (size_t i = 0; i < body.num_arguments(); ++i)
    arguments.push_back(
        tracer.argument(body.argument(i).dtype, body.argument(i).shape, body.graph().arguments[i]->name));
  autodiff::Tape tape({});
  tape.start();
  std::vector<Tensor> sources;
  for (const Tensor& a : arguments)
    if (can_have_gradient(a.dtype())) {
      tape.watch(a);
      sources.push_back(a);
    }
  std::vector<Tensor> results = inline_call(body, std::vector<TensorRef>(arguments.begin(), arguments.end()));
  made->variables = tape.watched_variables();
  sources.insert(sources.end(), made->variables.begin(), made->variables.end());

  Graph& graph = tracer.graph();
  std::vector<Node*> forward_arguments = graph.arguments;
  for (const Tensor& r : results) graph.results.push_back(tracer.value_of(r));
  const int boundary = static_cast<int>(graph.nodes().size());
  graph.arguments.clear();
  std::vector<Tensor> targets, output_grads;
  for (size_t i = 0; i < results.size(); ++i)
    if (can_have_gradient(results[i].dtype())) {
      made->differentiable.push_back(i);
      targets.push_back(results[i]);
      output_grads.push_back(tracer.argument(results[i].dtype(), results[i].shape(), "gradient"));
    }
  std::vector<Tensor> gradients = tape.gradient(targets, sources, output_grads, UnconnectedGradients::none);

  std::vector<Value> backward_results;
  size_t next = 0;
  for (const Tensor& a : arguments)
    made->arguments.push_back(can_have_gradient(a.dtype()) ? add_result(tracer, gradients[next++], backward_results)
                                                           : Gradient::Result());
  for (size_t i = 0; i < made->variables.size(); ++i)
    made->variable_results.push_back(add_result(tracer, gradients[next++], backward_results));

  Extracted backward =
      extract(graph, boundary, static_cast<int>(graph.nodes().size()), graph.arguments, backward_results);
  graph.truncate(boundary);
  graph.arguments = forward_arguments;
  graph.results.insert(graph.results.end(), backward.read.begin(), backward.read.end());
  made->forward = std::make_shared<FunctionBody>(body.name() + "_forward", std::move(graph));
  made->backward = std::make_shared<FunctionBody>(body.name() + "_backward", std::move(backward.part));
  return made;
}

std::vector<Tensor> call_with_gradient(const FunctionAttr& body, std::span<const TensorRef> arguments) {
  Recorder* recorder = thread_state.recorder;
  const Gradient& g = body->gradient();
  std::vector<Tensor> sources;
  for (const TensorRef& a : arguments) sources.push_back(a.tensor());
  for (const Tensor& handle : g.variables) {
    recorder->access(handle);
    sources.push_back(handle);
  }
  std::vector<Tensor> results, saved;
  {
    StopRecording stop;
    results = call(g.forward, arguments);
    saved.assign(results.begin() + static_cast<std::ptrdiff_t>(body->num_results()), results.end());
    results.resize(body->num_results());
    for (Tensor& r : results) r = identity(r);  // fresh blocks: a result may be an argument, or given twice
  }
  recorder->record(sources, results, std::make_unique<CallBackward>(body, std::move(saved)));
  return results;
}

}  // namespace thalweg::graph
