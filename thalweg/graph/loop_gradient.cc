#include "thalweg/graph/loop_gradient.h"

#include "thalweg/graph/branches.h"
#include "thalweg/graph/control_flow.h"
#include "thalweg/graph/gradient.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/indexed_slices.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/tensor_list.h"
#include "thalweg/ops/variable_ops.h"

namespace thalweg::graph {
namespace {

std::vector<TensorRef> refs(std::span<const Tensor> tensors) { return {tensors.begin(), tensors.end()}; }

std::vector<Spec> argument_specs(const FunctionBody& body) {
  std::vector<Spec> specs;
  for (size_t i = 0; i < body.num_arguments(); ++i) specs.push_back(body.argument(i));
  return specs;
}

/// A loop whose turns also put what the way back of the turns below needs on lists.
struct Level {
  FunctionAttr condition, body;
  std::vector<Spec> saved = {};  // what the lists that this level adds hold

  size_t num_values() const { return body->num_arguments(); }
};

/// The values are those of the loop below, then lists; the first level that saves has the number of turns before all.
Level save_turns(const Level& below, bool counts) {
  const Gradient& g = below.body->gradient();
  const size_t inner = below.num_values(), first = counts ? 1 : 0;
  Level made;
  for (size_t i = 0; i < g.num_saved(); ++i) made.saved.push_back(g.forward->result(inner + i));
  std::vector<Spec> specs = argument_specs(*below.body);
  if (counts) specs.insert(specs.begin(), {DType::int32, Shape{}});
  specs.resize(specs.size() + made.saved.size(), {DType::variant, Shape{}});
  made.condition = make_body(below.condition->name() + "_forward", specs, [&](std::span<const Tensor> v) {
    return inline_call(*below.condition, refs(v.subspan(first, inner)));
  });
  made.body = make_body(below.body->name() + "_forward", specs, [&](std::span<const Tensor> v) {
    std::vector<Tensor> all = inline_call(*g.forward, refs(v.subspan(first, inner)));
    for (size_t i = 0; i < made.saved.size(); ++i)
      all[inner + i] = tensor_list_push_back(v[first + inner + i], all[inner + i]);
    if (counts) all.insert(all.begin(), v[0] + 1);
    return all;
  });
  return made;
}

/// The way back: through the loop itself, or through one of the levels that save. `outputs` are those of the last one.
class LoopBackward final : public BackwardFunction {
 public:
  LoopBackward(std::vector<Level> levels, std::vector<Tensor> sources, std::vector<Tensor> outputs)
      : levels_(std::move(levels)), sources_(std::move(sources)), outputs_(std::move(outputs)) {}

  bool takes_none() const override { return true; }

  // The values of the loop back: turns left, gradients, lists, and what variables have got so far.
  std::vector<Tensor> run(std::span<const Tensor> output_grads, uint64_t) override {
    std::vector<size_t> sizes = {levels_[0].num_values() + 1};
    for (size_t k = 1; k < levels_.size(); ++k) sizes.push_back(levels_[k].num_values());
    const size_t level = level_of(output_grads, sizes);
    const size_t turns = level == 0 ? 1 : 0;  // the loop itself does not count them: its values stand after that number
    const FunctionBody& body = *levels_[level].body;
    const Gradient& g = body.gradient();
    const std::vector<Spec>& saved = levels_[level + 1].saved;
    const size_t gradients = g.differentiable.size(), lists = saved.size(), variables = g.variables.size();
    std::vector<Tensor> values = {outputs_[0]};
    std::vector<Shape> shapes = {Shape{}};
    for (size_t i : g.differentiable) {
      const Tensor& grad = output_grads[turns + i];
      values.push_back(grad.defined() ? to_array(grad) : zeros_like(outputs_[turns + i]));
      shapes.push_back(body.argument(i).shape);
    }
    for (size_t i = 0; i < lists; ++i) {
      values.push_back(outputs_[sizes[level] + i]);
      shapes.emplace_back();
    }
    for (const Tensor& handle : g.variables) {
      values.push_back(zeros_like(read_variable(handle)));
      shapes.push_back(values.back().shape());
    }
    auto goes_on = [](std::span<const Tensor> v) { return Traced{{greater(v[0], Tensor(int32_t{0}))}, nullptr}; };
    auto turn = [&](std::span<const Tensor> v) {
      Traced next;
      next.tensors.push_back(v[0] - 1);
      std::vector<Tensor> in(v.begin() + 1, v.begin() + 1 + static_cast<std::ptrdiff_t>(gradients));
      std::vector<Tensor> shorter;
      for (size_t i = 0; i < lists; ++i) {
        auto [rest, element] =
            tensor_list_pop_back(v[1 + gradients + i], element_shape_tensor(saved[i].shape), saved[i].dtype);
        shorter.push_back(rest);
        in.push_back(element);
      }
      std::vector<Tensor> results = inline_call(*g.backward, refs(in));
      for (size_t i = 0; i < gradients; ++i) {
        Tensor grad = take_result(g.arguments[g.differentiable[i]], results);
        next.tensors.push_back(grad.defined() ? to_array(grad) : zeros_like(v[1 + i]));
      }
      next.tensors.insert(next.tensors.end(), shorter.begin(), shorter.end());
      for (size_t i = 0; i < variables; ++i) {
        const Tensor& so_far = v[1 + gradients + lists + i];
        Tensor grad = take_result(g.variable_results[i], results);
        next.tensors.push_back(grad.defined() ? so_far + to_array(grad) : so_far);
      }
      return next;
    };
    std::vector<Tensor> found = while_loop(goes_on, turn, values, shapes);
    std::vector<Tensor> grads(sources_.size());
    const size_t inputs = levels_[0].num_values();
    for (size_t i = 0; i < gradients; ++i) {
      size_t input = g.differentiable[i] + turns - 1;  // what counts and saves begins with constants
      if (input < inputs) grads[input] = found[1 + i];
    }
    for (size_t i = 0; i < variables; ++i)
      for (size_t s = inputs; s < sources_.size(); ++s)
        if (sources_[s].get() == g.variables[i].get()) grads[s] = found[1 + gradients + lists + i];
    return grads;
  }

 private:
  std::vector<Level> levels_;
  std::vector<Tensor> sources_;  // inputs and handles of variables
  std::vector<Tensor> outputs_;
};

}  // namespace

std::vector<Tensor> loop_with_gradient(const FunctionAttr& condition, const FunctionAttr& body,
                                       std::span<const TensorRef> inputs) {
  Recorder* recorder = thread_state.recorder;
  const int orders = recorder->orders();
  std::vector<Tensor> sources;
  for (const TensorRef& t : inputs) sources.push_back(t.tensor());
  std::vector<Tensor> values = {Tensor(int32_t{0})};
  values.insert(values.end(), sources.begin(), sources.end());
  std::vector<Level> levels = {{condition, body}};
  std::vector<Tensor> outputs;
  {
    StopRecording stop;
    for (int order = 0; order < orders; ++order) {
      add_variables(levels.back().body->gradient(), sources);
      levels.push_back(save_turns(levels.back(), levels.size() == 1));
      for (const Spec& s : levels.back().saved)
        values.push_back(empty_tensor_list(element_shape_tensor(s.shape), s.dtype));
    }
    outputs = apply_loop(levels.back().condition, levels.back().body, values);
  }
  for (size_t i = inputs.size(); i < sources.size(); ++i) recorder->access(sources[i]);
  std::vector<Tensor> results(outputs.begin() + 1, outputs.begin() + 1 + static_cast<std::ptrdiff_t>(inputs.size()));
  recorder->record(sources, outputs, std::make_unique<LoopBackward>(std::move(levels), sources, outputs));
  return results;
}

}  // namespace thalweg::graph
