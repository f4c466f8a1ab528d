#include "thalweg/graph/conditional_gradient.h"

#include "thalweg/graph/branches.h"
#include "thalweg/graph/control_flow.h"
#include "thalweg/graph/gradient.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/indexed_slices.h"
#include "thalweg/ops/variable_ops.h"

namespace thalweg::graph {
namespace {

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
        results.push_back(k == branch ? all[at]
                                      : zeros(std::vector<int64_t>{}, {.dtype = g.forward->result(at).dtype}));
      }
    }
    return results;
  });
}

class BranchBackward final : public BackwardFunction {
 public:
  BranchBackward(Tensor choice, std::vector<FunctionAttr> bodies, std::vector<Tensor> sources,
                 std::vector<std::vector<Tensor>> saved, bool is_if)
      : choice_(std::move(choice)),
        bodies_(std::move(bodies)),
        sources_(std::move(sources)),
        saved_(std::move(saved)),
        is_if_(is_if) {}

  std::vector<Tensor> run(std::span<const Tensor> output_grads, uint64_t) override {
    // A source gets a gradient if any branch has one for it; the others give zeros.
    std::vector<uint8_t> wanted(sources_.size());
    for (const FunctionAttr& f : bodies_)
      for (size_t i = 0; i < sources_.size(); ++i) wanted[i] |= place_of(f->gradient(), i).first >= 0;
    auto branch = [&](size_t k) {
      return [this, k, output_grads, &wanted](std::span<const Tensor>) {
        const Gradient& g = bodies_[k]->gradient();
        std::vector<TensorRef> in;
        for (size_t i : g.differentiable) in.emplace_back(output_grads[i]);
        in.insert(in.end(), saved_[k].begin(), saved_[k].end());
        std::vector<Tensor> results = call(g.backward, in);
        Traced traced;
        for (size_t i = 0; i < sources_.size(); ++i) {
          if (!wanted[i]) continue;
          Tensor grad = take_result(place_of(g, i), results);
          traced.tensors.push_back(grad.defined() ? to_array(grad) : zeros_of(sources_[i]));
        }
        return traced;
      };
    };
    std::vector<TraceBody> all;
    for (size_t k = 0; k < bodies_.size(); ++k) all.emplace_back(branch(k));
    std::vector<Tensor> found = is_if_ ? cond(choice_, all[0], all[1]) : switch_case(choice_, all);
    std::vector<Tensor> grads = {Tensor()};  // of the choice
    size_t next = 0;
    for (uint8_t w : wanted) grads.push_back(w ? found[next++] : Tensor());
    return grads;
  }

 private:
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
  std::vector<FunctionAttr> bodies_;
  std::vector<Tensor> sources_;  // inputs and handles of variables
  std::vector<std::vector<Tensor>> saved_;
  bool is_if_;
};

}  // namespace

std::vector<Tensor> branch_with_gradient(const Tensor& choice, const std::vector<FunctionAttr>& bodies,
                                         std::span<const TensorRef> inputs, bool is_if) {
  Recorder* recorder = thread_state.recorder;
  std::vector<Tensor> sources;
  for (const TensorRef& t : inputs) sources.push_back(t.tensor());
  std::vector<Tensor> in = sources;
  for (const FunctionAttr& f : bodies)
    for (const Tensor& handle : f->gradient().variables) {
      recorder->access(handle);
      bool known = false;
      for (const Tensor& s : sources) known |= s.get() == handle.get();
      if (!known) sources.push_back(handle);
    }
  std::vector<Tensor> results;
  std::vector<std::vector<Tensor>> saved;
  {
    StopRecording stop;
    std::vector<FunctionAttr> forward;
    for (size_t k = 0; k < bodies.size(); ++k) forward.push_back(forward_of(bodies, k));
    results = apply_branches(choice, forward, in, is_if);
    size_t next = bodies[0]->num_results();
    for (const FunctionAttr& f : bodies) {
      std::vector<Tensor>& own = saved.emplace_back();
      for (size_t i = 0; i < f->gradient().num_saved(); ++i) own.push_back(results[next++]);
    }
    results.resize(bodies[0]->num_results());
  }
  std::vector<Tensor> recorded = {choice};
  recorded.insert(recorded.end(), sources.begin(), sources.end());
  recorder->record(recorded, results,
                   std::make_unique<BranchBackward>(choice, bodies, sources, std::move(saved), is_if));
  return results;
}

}  // namespace thalweg::graph
