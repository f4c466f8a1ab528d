#include "thalweg/graph/loop_gradient.h"

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

/// What was saved, turn by turn.
struct SavedLists {
  std::vector<Tensor> lists;
  std::vector<Spec> specs;  // of their elements
};

class LoopBackward final : public BackwardFunction {
 public:
  LoopBackward(FunctionAttr body, Tensor turns, SavedLists saved)
      : body_(std::move(body)), turns_(std::move(turns)), saved_(std::move(saved)) {}

  // The values of the loop back: turns left, gradients, lists, and what variables have got so far.
  std::vector<Tensor> run(std::span<const Tensor> output_grads, uint64_t) override {
    const Gradient& g = body_->gradient();
    const size_t gradients = g.differentiable.size(), lists = saved_.lists.size(), variables = g.variables.size();
    std::vector<Tensor> values = {turns_};
    std::vector<Shape> shapes = {Shape{}};
    for (size_t i : g.differentiable) {
      values.push_back(to_array(output_grads[i]));
      shapes.push_back(body_->argument(i).shape);
    }
    for (const Tensor& list : saved_.lists) {
      values.push_back(list);
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
        auto [rest, element] = tensor_list_pop_back(v[1 + gradients + i], element_shape_tensor(saved_.specs[i].shape),
                                                    saved_.specs[i].dtype);
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
    std::vector<Tensor> grads(body_->num_arguments());
    for (size_t i = 0; i < gradients; ++i) grads[g.differentiable[i]] = found[1 + i];
    for (size_t i = 0; i < variables; ++i) grads.push_back(found[1 + gradients + lists + i]);
    return grads;
  }

 private:
  FunctionAttr body_;
  Tensor turns_;
  SavedLists saved_;
};

}  // namespace

std::vector<Tensor> loop_with_gradient(const FunctionAttr& condition, const FunctionAttr& body,
                                       std::span<const TensorRef> inputs) {
  Recorder* recorder = thread_state.recorder;
  const Gradient& g = body->gradient();
  const size_t count = body->num_arguments();
  std::vector<Tensor> sources;
  for (const TensorRef& t : inputs) sources.push_back(t.tensor());
  std::vector<Tensor> values = {Tensor(int32_t{0})};
  values.insert(values.end(), sources.begin(), sources.end());
  for (const Tensor& handle : g.variables) {
    recorder->access(handle);
    sources.push_back(handle);
  }
  std::vector<Tensor> results;
  SavedLists saved;
  Tensor turns;
  {
    StopRecording stop;
    std::vector<Shape> shapes = {Shape{}};
    for (size_t i = 0; i < count; ++i) shapes.push_back(body->argument(i).shape);
    for (size_t i = 0; i < g.num_saved(); ++i) {
      saved.specs.push_back(g.forward->result(count + i));
      values.push_back(empty_tensor_list(element_shape_tensor(saved.specs[i].shape), saved.specs[i].dtype));
      shapes.emplace_back();
    }
    auto own = [&](std::span<const Tensor> v) { return refs(v.subspan(1, count)); };
    auto goes_on = [&](std::span<const Tensor> v) { return Traced{inline_call(*condition, own(v)), nullptr}; };
    auto turn = [&](std::span<const Tensor> v) {
      Traced next;
      next.tensors.push_back(v[0] + 1);
      std::vector<Tensor> all = inline_call(*g.forward, own(v));
      next.tensors.insert(next.tensors.end(), all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
      for (size_t i = 0; i < saved.specs.size(); ++i)
        next.tensors.push_back(tensor_list_push_back(v[1 + count + i], all[count + i]));
      return next;
    };
    std::vector<Tensor> found = while_loop(goes_on, turn, values, shapes);
    turns = found[0];
    results.assign(found.begin() + 1, found.begin() + 1 + static_cast<std::ptrdiff_t>(count));
    saved.lists.assign(found.begin() + 1 + static_cast<std::ptrdiff_t>(count), found.end());
  }
  recorder->record(sources, results, std::make_unique<LoopBackward>(body, turns, std::move(saved)));
  return results;
}

}  // namespace thalweg::graph
