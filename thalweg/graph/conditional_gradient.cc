#include "thalweg/graph/conditional_gradient.h"

#include "thalweg/graph/branches.h"
#include "thalweg/graph/control_flow.h"
#include "thalweg/graph/gradient.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/indexed_slices.h"
#include "thalweg/ops/tensor_list.h"
#include "thalweg/ops/variable_ops.h"

namespace thalweg::graph {
namespace {

// What stands for a value that only another branch has; a list rather than a bare handle, so that files can hold it.
Tensor nothing_of(DType dtype) {
  return dtype == DType::variant ? empty_tensor_list(-1, DType::float32)
                                 : zeros(std::vector<int64_t>{}, {.dtype = dtype});
}

/// Every branch returns the results, then what it saved, with a scalar for each thing that another one saves.
FunctionAttr forward_of(const std::vector<FunctionAttr>& bodies, size_t branch) {
  const FunctionBody& own = *bodies[branch];
  std::vector<Spec> arguments;
  for (size_t i = 0; i < own.num_arguments(); ++i) arguments.push_back(own.argument(i));
  return make_body(own.name() + "_forward", arguments, [&](std::span<const Tensor> in) {
    std::vector<Tensor> all = inline_call(*own.gradient().forward, std::vector<TensorRef>(in.begin(), in.end()));
    std::vector<Tensor> results(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(own.num_results()));
    for (size_t k = 0; k < bodies.size(); ++k) {
      const Gradient& g = bodies[k]->gradient();
      for (size_t i = 0; i < g.num_saved(); ++i) {
        size_t at = bodies[k]->num_results() + i;
        results.push_back(k == branch ? all[at] : nothing_of(g.forward->result(at).dtype));
      }
    }
    return results;
  });
}

/// The way back. `levels` are the branches themselves, then branches that also return what the way back through those
/// before them reads; the last ones were called, and `outputs` are all that they returned.
class BranchBackward final : public BackwardFunction {
 public:
  BranchBackward(Tensor choice, std::vector<std::vector<FunctionAttr>> levels, std::vector<Tensor> sources,
                 std::vector<Tensor> outputs, bool is_if)
      : choice_(std::move(choice)),
        levels_(std::move(levels)),
        sources_(std::move(sources)),
        outputs_(std::move(outputs)),
        is_if_(is_if) {}

  bool takes_none() const override { return true; }

  std::vector<Tensor> run(std::span<const Tensor> output_grads, uint64_t) override {
    std::vector<size_t> sizes;
    for (const auto& bodies : levels_) sizes.push_back(bodies[0]->num_results());
    const size_t level = level_of(output_grads, sizes);
    const std::vector<FunctionAttr>& bodies = levels_[level];
    std::vector<Tensor> grads_in(output_grads.begin(),
                                 output_grads.begin() + static_cast<std::ptrdiff_t>(sizes[level]));
    for (size_t i : bodies[0]->gradient().differentiable)
      if (!grads_in[i].defined()) grads_in[i] = zeros_like(outputs_[i]);
    // A source gets a gradient if any branch has one for it; the others give zeros.
    std::vector<uint8_t> wanted(sources_.size());
    for (const FunctionAttr& f : bodies)
      for (size_t i = 0; i < sources_.size(); ++i) wanted[i] |= place_of(f->gradient(), i).first >= 0;
    std::vector<TraceBody> all;
    size_t first_saved = sizes[level];
    for (const FunctionAttr& f : bodies) {
      all.emplace_back([&, first_saved](std::span<const Tensor>) { return branch(*f, grads_in, first_saved, wanted); });
      first_saved += f->gradient().num_saved();
    }
    std::vector<Tensor> found = is_if_ ? cond(choice_, all[0], all[1]) : switch_case(choice_, all);
    std::vector<Tensor> grads = {Tensor()};  // of the choice
    size_t next = 0;
    for (uint8_t w : wanted) grads.push_back(w ? found[next++] : Tensor());
    return grads;
  }

 private:
  Traced branch(const FunctionBody& body, const std::vector<Tensor>& grads_in, size_t first_saved,
                const std::vector<uint8_t>& wanted) const {
    const Gradient& g = body.gradient();
    std::vector<TensorRef> in;
    for (size_t i : g.differentiable) in.emplace_back(grads_in[i]);
    for (size_t i = 0; i < g.num_saved(); ++i) in.emplace_back(outputs_[first_saved + i]);
    std::vector<Tensor> results = call(g.backward, in);
    Traced traced;
    for (size_t i = 0; i < sources_.size(); ++i) {
      if (!wanted[i]) continue;
      Tensor grad = take_result(place_of(g, i), results);
      traced.tensors.push_back(grad.defined() ? to_array(grad) : zeros_of(sources_[i]));
    }
    return traced;
  }
  static Tensor zeros_of(const Tensor& source) {
    return zeros_like(source.dtype() == DType::resource ? read_variable(source) : source);
  }
  // Inputs come first, then variables, which branches may share.
  Gradient::Result place_of(const Gradient& g, size_t source) const {
    if (source < g.arguments.size()) return g.arguments[source];
    for (size_t i = 0; i < g.variables.size(); ++i)
      if (g.variables[i].get() == sources_[source].get()) return g.variable_results[i];
    return {};
  }

  Tensor choice_;
  std::vector<std::vector<FunctionAttr>> levels_;
  std::vector<Tensor> sources_;  // inputs and handles of variables
  std::vector<Tensor> outputs_;
  bool is_if_;
};

}  // namespace

std::vector<Tensor> branch_with_gradient(const Tensor& choice, const std::vector<FunctionAttr>& bodies,
                                         std::span<const TensorRef> inputs, bool is_if) {
  Recorder* recorder = thread_state.recorder;
  const int orders = recorder->orders();
  std::vector<Tensor> in;
  for (const TensorRef& t : inputs) in.push_back(t.tensor());
  std::vector<std::vector<FunctionAttr>> levels = {bodies};
  std::vector<Tensor> sources = in;
  std::vector<Tensor> outputs;
  {
    StopRecording stop;
    for (int order = 0; order < orders; ++order) {
      for (const FunctionAttr& f : levels.back()) add_variables(f->gradient(), sources);
      std::vector<FunctionAttr> forward;
      for (size_t k = 0; k < bodies.size(); ++k) forward.push_back(forward_of(levels.back(), k));
      levels.push_back(std::move(forward));
    }
    outputs = apply_branches(choice, levels.back(), in, is_if);
  }
  for (size_t i = in.size(); i < sources.size(); ++i) recorder->access(sources[i]);
  std::vector<Tensor> recorded = {choice};
  recorded.insert(recorded.end(), sources.begin(), sources.end());
  recorder->record(recorded, outputs,
                   std::make_unique<BranchBackward>(choice, std::move(levels), std::move(sources), outputs, is_if));
  outputs.resize(bodies[0]->num_results());
  return outputs;
}

}  // namespace thalweg::graph
