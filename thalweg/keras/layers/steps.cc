#include "thalweg/keras/layers/steps.h"

#include <algorithm>
#include <span>

#include "thalweg/core/error.h"
#include "thalweg/core/thread_state.h"
#include "thalweg/graph/control_flow.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/ordering.h"
#include "thalweg/ops/selection.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/splitting.h"
#include "thalweg/ops/tensor_array.h"

namespace thalweg::keras::layers {
namespace {

/// Each value as it is for the examples that count, and as it was for the others; `counts` is [batch].
void keep_masked(const Tensor& counts, std::vector<Tensor>& now, std::span<const Tensor> before) {
  for (size_t i = 0; i < now.size(); ++i) {
    Tensor condition = counts;
    while (condition.rank() < now[i].rank()) condition = expand_dims(condition, -1);
    now[i] = where(condition, now[i], before[i]);
  }
}

std::vector<Tensor> zeros_of(const std::vector<Tensor>& like) {
  std::vector<Tensor> made;
  for (const Tensor& t : like) made.push_back(zeros_like(t));
  return made;
}

/// Each tensor of a structure in parts along the time, and the parts of one step as that structure.
class Steps {
 public:
  Steps(const Nest& x, bool backwards) : x_(x) {
    x.for_each([&](const Tensor& t) {
      parts_.push_back(unstack(t));
      if (backwards) std::reverse(parts_.back().begin(), parts_.back().end());
    });
  }
  size_t size() const { return parts_[0].size(); }
  Nest operator[](size_t time) const {
    std::vector<Tensor> now;
    for (const auto& parts : parts_) now.push_back(parts[time]);
    return x_.pack(now);
  }

 private:
  const Nest& x_;
  std::vector<std::vector<Tensor>> parts_;
};

/// Where there was no step to see the structure of the outputs: one tensor, or a tuple.
Nest unseen(const std::vector<Tensor>& outputs) {
  return outputs.size() == 1 ? Nest(outputs[0]) : Nest::tuple(std::vector<Nest>(outputs.begin(), outputs.end()));
}

SequenceResult run_unrolled(const Step& step, const Nest& x, std::vector<Tensor> states, const Tensor& mask,
                            const std::vector<Tensor>& zero_outputs, const SequenceSettings& settings) {
  const Steps steps(x, settings.go_backwards);
  std::vector<Tensor> masks = mask.defined() ? unstack(mask) : std::vector<Tensor>();
  if (settings.go_backwards) std::reverse(masks.begin(), masks.end());
  Nest structure = unseen(zero_outputs);
  std::vector<Tensor> last = zero_outputs;
  std::vector<std::vector<Tensor>> all(zero_outputs.size());
  for (size_t t = 0; t < steps.size(); ++t) {
    auto [made, next] = step(steps[t], states);
    structure = made;
    std::vector<Tensor> outputs = made.flatten();
    if (mask.defined()) {
      keep_masked(masks[t], outputs, t == 0 || settings.zero_output_for_mask ? zeros_of(outputs) : last);
      keep_masked(masks[t], next, states);
    }
    last = std::move(outputs);
    states = std::move(next);
    if (settings.return_sequences)
      for (size_t i = 0; i < last.size(); ++i) all[i].push_back(last[i]);
  }
  SequenceResult result{.outputs = {}, .last_output = structure.pack(last), .states = states};
  if (settings.return_sequences) {
    size_t i = 0;
    result.outputs = result.last_output.map([&](const Tensor& one) {
      const std::vector<Tensor>& of_one = all[i++];
      return of_one.empty() ? expand_dims(one, 0)(slice(0, 0)) : stack(of_one);
    });
  }
  return result;
}

/// A shape that a value of a loop keeps: its batch is only known if that of the sequence is.
Shape invariant(const Tensor& value, const Tensor& x) {
  Shape shape = value.shape();
  if (shape.rank() > 0 && x.shape().rank() > 1 && x.shape()[1] < 0) shape[0] = unknown;
  return shape;
}

SequenceResult run_loop(const Step& step, const Nest& x, const std::vector<Tensor>& states, const Tensor& mask,
                        const std::vector<Tensor>& zero_outputs, const SequenceSettings& settings) {
  const std::vector<Tensor> sequences = x.flatten();
  const Tensor& first = sequences[0];
  Tensor length = shape(first)(0);
  const bool keeps_last = !settings.return_sequences || (mask.defined() && !settings.zero_output_for_mask);
  auto rows = [&](const Tensor& all) {
    Shape row = all.shape();
    row.erase(0);
    const Tensor ordered = settings.go_backwards ? reverse(all, Tensor(std::vector<int32_t>{0})) : all;
    return TensorArray(all.dtype(), length, {.element_shape = row}).unstack(ordered);
  };
  std::vector<TensorArray> steps;
  for (const Tensor& sequence : sequences) steps.push_back(rows(sequence));
  std::optional<TensorArray> masks;
  if (mask.defined()) masks = rows(mask);
  auto array_options = [&](size_t i) { return TensorArrayOptions{.element_shape = invariant(zero_outputs[i], first)}; };
  // The values of the loop: the time, the arrays of outputs, the last outputs, the states.
  std::vector<Tensor> values = {Tensor(0)};
  if (settings.return_sequences)
    for (size_t i = 0; i < zero_outputs.size(); ++i)
      values.push_back(TensorArray(zero_outputs[i].dtype(), length, array_options(i)).flow());
  const size_t last_at = values.size();
  if (keeps_last) values.insert(values.end(), zero_outputs.begin(), zero_outputs.end());
  const size_t states_at = values.size();
  values.insert(values.end(), states.begin(), states.end());
  std::vector<Shape> invariants;
  for (size_t i = 0; i < values.size(); ++i)
    invariants.push_back(i < last_at ? values[i].shape() : invariant(values[i], first));
  auto array = [&](size_t i, const Tensor& flow) {
    return TensorArray::from_flow(zero_outputs[i].dtype(), flow, array_options(i));
  };

  Nest structure;
  auto body = [&](std::span<const Tensor> now) {
    const Tensor& t = now[0];
    const std::vector<Tensor> before(now.begin() + static_cast<std::ptrdiff_t>(states_at), now.end());
    std::vector<Tensor> at_t;
    for (TensorArray of_one : steps) at_t.push_back(of_one.read(t));
    auto [made, next] = step(x.pack(at_t), before);
    structure = made;
    std::vector<Tensor> outputs = made.flatten();
    if (masks) {
      TensorArray of_masks = *masks;
      Tensor counts = of_masks.read(t);
      if (settings.zero_output_for_mask) keep_masked(counts, outputs, zeros_of(outputs));
      else keep_masked(counts, outputs, now.subspan(last_at));
      keep_masked(counts, next, before);
    }
    std::vector<Tensor> after = {t + 1};
    if (settings.return_sequences)
      for (size_t i = 0; i < outputs.size(); ++i) after.push_back(array(i, now[1 + i]).write(t, outputs[i]).flow());
    if (keeps_last) after.insert(after.end(), outputs.begin(), outputs.end());
    after.insert(after.end(), next.begin(), next.end());
    return graph::Traced{after, nullptr};
  };
  std::vector<Tensor> after =
      graph::while_loop([&](std::span<const Tensor> now) { return graph::Traced{{now[0] < length}, nullptr}; }, body,
                        values, invariants, first.shape()[0]);
  SequenceResult result;
  if (settings.return_sequences) {
    size_t i = 0;
    result.outputs = structure.map([&](const Tensor&) {
      Tensor all = array(i, after[1 + i]).stack();
      Shape whole = invariant(zero_outputs[i], first);
      whole.insert(0, first.shape()[0]);
      ++i;
      return all.shape() == whole ? all : ensure_shape(all, whole);
    });
  }
  if (keeps_last) result.last_output = structure.pack(std::span(after).subspan(last_at, zero_outputs.size()));
  result.states.assign(after.begin() + static_cast<std::ptrdiff_t>(states_at), after.end());
  return result;
}

}  // namespace

SequenceResult run_steps(const Step& step, const Nest& x, const std::vector<Tensor>& states, const Tensor& mask,
                         const std::vector<Tensor>& zero_outputs, const SequenceSettings& settings) {
  const Step checked = [&](const Nest& now, const std::vector<Tensor>& before) {
    auto result = step(now, before);
    if (result.first.num_tensors() != zero_outputs.size())
      throw ValueError("a step gave " + result.first.str() + " as its output, but `output_size` of the cell says " +
                       std::to_string(zero_outputs.size()) + " tensors");
    size_t i = 0;
    result.first.for_each([&](const Tensor& output) {
      const Shape& stated = zero_outputs[i++].shape();
      if (output.shape().has_rank() && stated.has_rank() && output.rank() != stated.rank())
        throw ValueError("a step gave an output of shape " + output.shape().str() +
                         ", but with the batch `output_size` of the cell says " + stated.str());
    });
    return result;
  };
  if (thread_state.tracer && !settings.unroll) return run_loop(checked, x, states, mask, zero_outputs, settings);
  x.for_each([](const Tensor& sequence) {
    if (sequence.shape()[0] < 0)
      throw ValueError(
          "Cannot unroll a RNN if the time dimension is undefined: give the input a number of steps, or "
          "leave out `unroll`. Shape received, with the time first: " +
          sequence.shape().str());
  });
  return run_unrolled(checked, x, states, mask, zero_outputs, settings);
}

}  // namespace thalweg::keras::layers
