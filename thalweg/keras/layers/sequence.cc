#include "thalweg/keras/layers/sequence.h"

#include <algorithm>
#include <map>

#include "thalweg/core/error.h"
#include "thalweg/graph/control_flow.h"
#include "thalweg/graph/init_scope.h"
#include "thalweg/keras/call_context.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/dropout.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/ordering.h"
#include "thalweg/ops/selection.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/splitting.h"
#include "thalweg/ops/tensor_array.h"
#include "thalweg/ops/transposing.h"

namespace thalweg::keras::layers {
namespace {

/// While one lives, cells drop the same values at each step.
class Dropped {
 public:
  Dropped() : outer_(innermost) { innermost = this; }
  ~Dropped() { innermost = outer_; }
  Dropped(const Dropped&) = delete;
  Dropped& operator=(const Dropped&) = delete;

  static thread_local Dropped* innermost;
  std::map<std::pair<const void*, int>, std::vector<Tensor>> factors;

 private:
  Dropped* outer_;
};
thread_local Dropped* Dropped::innermost = nullptr;

bool drops(const Layer& cell) {
  for (const char* name : {"dropout", "recurrent_dropout"})
    if (auto* rate = cell.get()->member<double>(name); rate && *rate > 0) return true;
  for (const Layer& inner : cell.layers())
    if (drops(inner)) return true;
  return false;
}

/// [batch] as a condition for tensors of `rank` dimensions.
Tensor widen(Tensor mask, int rank) {
  while (mask.rank() < rank) mask = expand_dims(mask, -1);
  return mask;
}

SequenceResult run_unrolled(const Step& step, const Tensor& x, std::vector<Tensor> states, const Tensor& mask,
                            const Tensor& zero_output, const SequenceSettings& settings) {
  std::vector<Tensor> steps = unstack(x), masks = mask.defined() ? unstack(mask) : std::vector<Tensor>();
  if (settings.go_backwards) {
    std::reverse(steps.begin(), steps.end());
    std::reverse(masks.begin(), masks.end());
  }
  Tensor last = zero_output;
  std::vector<Tensor> outputs;
  for (size_t t = 0; t < steps.size(); ++t) {
    auto [output, next] = step(steps[t], states);
    if (mask.defined()) {
      Tensor other = settings.zero_output_for_mask || t == 0 ? zeros_like(output) : last;
      output = where(widen(masks[t], output.rank()), output, other);
      for (size_t i = 0; i < next.size(); ++i) next[i] = where(widen(masks[t], next[i].rank()), next[i], states[i]);
    }
    last = output;
    states = std::move(next);
    if (settings.return_sequences) outputs.push_back(output);
  }
  Tensor all;
  if (settings.return_sequences) all = outputs.empty() ? expand_dims(zero_output, 0)(slice(0, 0)) : stack(outputs);
  return {all, last, states};
}

/// A shape that a value of a loop keeps: its batch is only known if that of the sequence is.
Shape invariant(const Tensor& value, const Tensor& x) {
  Shape shape = value.shape();
  if (shape.rank() > 0 && x.shape().rank() > 1 && x.shape()[1] < 0) shape[0] = unknown;
  return shape;
}

SequenceResult run_loop(const Step& step, const Tensor& x, const std::vector<Tensor>& states, const Tensor& mask,
                        const Tensor& zero_output, const SequenceSettings& settings) {
  Tensor length = shape(x)(0);
  const bool keeps_last = !settings.return_sequences || (mask.defined() && !settings.zero_output_for_mask);
  auto rows = [&](const Tensor& all) {
    Shape row = all.shape();
    row.erase(0);
    return TensorArray(all.dtype(), length, {.element_shape = row}).unstack(all);
  };
  const Tensor ordered = settings.go_backwards ? reverse(x, Tensor(std::vector<int32_t>{0})) : x;
  TensorArray steps = rows(ordered);
  std::optional<TensorArray> masks;
  if (mask.defined()) masks = rows(settings.go_backwards ? reverse(mask, Tensor(std::vector<int32_t>{0})) : mask);
  const TensorArrayOptions of_outputs{.element_shape = invariant(zero_output, x)};
  std::vector<Tensor> values = {Tensor(0)};
  if (settings.return_sequences) values.push_back(TensorArray(zero_output.dtype(), length, of_outputs).flow());
  const size_t last_at = values.size();
  if (keeps_last) values.push_back(zero_output);
  const size_t states_at = values.size();
  values.insert(values.end(), states.begin(), states.end());
  std::vector<Shape> invariants;
  for (size_t i = 0; i < values.size(); ++i)
    invariants.push_back(i < last_at ? values[i].shape() : invariant(values[i], x));

  auto body = [&](std::span<const Tensor> now) {
    const Tensor& t = now[0];
    const std::vector<Tensor> before(now.begin() + static_cast<std::ptrdiff_t>(states_at), now.end());
    TensorArray inputs = steps;
    auto [output, next] = step(inputs.read(t), before);
    if (masks) {
      TensorArray of_masks = *masks;
      Tensor counts = of_masks.read(t);
      output = where(widen(counts, output.rank()), output,
                     settings.zero_output_for_mask ? zeros_like(output) : now[last_at]);
      for (size_t i = 0; i < next.size(); ++i) next[i] = where(widen(counts, next[i].rank()), next[i], before[i]);
    }
    std::vector<Tensor> after = {t + 1};
    if (settings.return_sequences)
      after.push_back(TensorArray::from_flow(zero_output.dtype(), now[1], of_outputs).write(t, output).flow());
    if (keeps_last) after.push_back(output);
    after.insert(after.end(), next.begin(), next.end());
    return graph::Traced{after, nullptr};
  };
  std::vector<Tensor> after =
      graph::while_loop([&](std::span<const Tensor> now) { return graph::Traced{{now[0] < length}, nullptr}; }, body,
                        values, invariants, x.shape()[0]);
  SequenceResult result;
  if (settings.return_sequences) {
    result.outputs = TensorArray::from_flow(zero_output.dtype(), after[1], of_outputs).stack();
    Shape whole = invariant(zero_output, x);
    whole.insert(0, x.shape()[0]);
    if (!(result.outputs.shape() == whole)) result.outputs = ensure_shape(result.outputs, whole);
  }
  if (keeps_last) result.last_output = after[last_at];
  result.states.assign(after.begin() + static_cast<std::ptrdiff_t>(states_at), after.end());
  return result;
}

void refuse_states(const std::vector<Tensor>& given, const std::vector<Shape>& sizes) {
  std::string got, wanted;
  for (const Tensor& t : given) got += (got.empty() ? "" : ", ") + t.shape().str();
  for (const Shape& s : sizes) wanted += (wanted.empty() ? "" : ", ") + s.str();
  throw ValueError(
      "An `initial_state` was passed that is not compatible with `cell.state_size`. Received states of shapes [" + got +
      "]; however `cell.state_size` is [" + wanted + "]");
}

}  // namespace

Tensor swap_time(const Tensor& x) {
  std::vector<int64_t> order(static_cast<size_t>(x.rank()));
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  std::swap(order[0], order[1]);
  return transpose(x, {.perm = Axis(order)});
}

void KeptStates::make(const std::vector<Tensor>& states) {
  for (const Tensor& state : states)
    if (!state.shape().is_fully_defined())
      throw ValueError(
          "If a RNN is stateful, it needs to know its batch size. Specify the batch size of your input tensors: give "
          "the first layer of a Sequential model a `batch_input_shape`, or `keras::Input` a `batch_size`.");
  InitScope outside;
  for (const Tensor& state : states) {
    Shape any_batch = state.shape();
    if (any_batch.rank() > 0) any_batch[0] = unknown;
    variables_.emplace_back(zeros(state.shape(), {.dtype = state.dtype()}),
                            VariableOptions{.trainable = false, .name = "state", .shape = any_batch});
  }
}
std::vector<Tensor> KeptStates::values() const {
  std::vector<Tensor> all;
  for (const Variable& variable : variables_) all.push_back(variable.value());
  return all;
}
void KeptStates::assign(const std::vector<Tensor>& states) const {
  for (size_t i = 0; i < variables_.size(); ++i) variables_[i].assign(states.at(i));
}
void KeptStates::reset() const {
  for (const Variable& variable : variables_) variable.assign(zeros_like(variable.value()));
}

std::vector<Tensor> dropout_factors(const void* cell, int kind, const Tensor& like, double rate, int count) {
  std::vector<Tensor> made;
  std::vector<Tensor>& kept = Dropped::innermost ? Dropped::innermost->factors[{cell, kind}] : made;
  if (kept.empty())
    for (int i = 0; i < count; ++i) kept.push_back(nn::dropout(ones_like(like), static_cast<float>(rate)));
  return kept;
}
bool is_named(const keras::Activation& activation, const char* name) {
  return activation.defined() && activation.class_name() == name;
}
Tensor activate(const keras::Activation& activation, const Tensor& x) {
  return activation.defined() ? activation(x) : x;
}
Tensor ForgetBias::call(const Shape& shape, DType dtype) {
  const int64_t units = shape[0] / 4;
  return concat({others({units}, dtype), ones({units}, {.dtype = dtype}), others({units * 2}, dtype)}, 0);
}
void check_units(int64_t units) {
  if (units <= 0)
    throw ValueError("Received an invalid value for argument `units`, expected a positive integer, got " +
                     std::to_string(units) + ".");
}
void complete_sequence_config(Value& config) {
  if (!config["zero_output_for_mask"].boolean()) config.erase("zero_output_for_mask");
}

SequenceResult run_steps(const Step& step, const Tensor& x, const std::vector<Tensor>& states, const Tensor& mask,
                         const Tensor& zero_output, const SequenceSettings& settings) {
  if (thread_state.tracer && !settings.unroll) return run_loop(step, x, states, mask, zero_output, settings);
  if (x.shape()[0] < 0)
    throw ValueError(
        "Cannot unroll a RNN if the time dimension is undefined: give the input a number of steps, or "
        "leave out `unroll`. Shape received, with the time first: " +
        x.shape().str());
  return run_unrolled(step, x, states, mask, zero_output, settings);
}

Nest run_layer(const RNNCell& cell, const SequenceSettings& settings, KeptStates& kept, const Nest& inputs,
               const CallArgs& args, const WholeSequence& whole) {
  const Tensor& given = inputs.is_tensor() ? inputs.tensor() : inputs[0].tensor();
  const std::vector<Shape> sizes = cell.state_size();
  std::vector<Tensor> states = args.initial_state.flatten();
  CallArgs of_cell{.training = args.training, .constants = args.constants};
  if (inputs.is_sequence() && inputs.size() > 1) {
    std::vector<Tensor> more;
    for (size_t i = 1; i < inputs.size(); ++i)
      for (const Tensor& t : inputs[i].flatten()) more.push_back(t);
    const auto split = more.begin() + static_cast<std::ptrdiff_t>(std::min(more.size(), sizes.size()));
    if (states.empty()) states.assign(more.begin(), split);
    if (split != more.end()) of_cell.constants = Nest::of(std::vector<Tensor>(split, more.end()));
  }
  Tensor x = settings.time_major ? given : swap_time(given);
  if (x.rank() < 3) throw ValueError("Shape " + x.shape().str() + " must have rank at least 3");
  Tensor mask;
  if (!args.mask.is_none()) mask = args.mask.is_tensor() ? args.mask.tensor() : args.mask[0].as<Tensor>();
  if (mask.defined() && !settings.time_major) mask = swap_time(mask);

  Tensor batch = x.shape()[1] < 0 ? shape(x)(1) : Tensor(x.shape()[1]);
  const bool is_given = !states.empty();
  std::vector<Tensor> zero_states;
  if (!is_given) zero_states = cell.get()->get_initial_state(given, batch, cell.compute_dtype());
  if (is_given) {
    bool fits = states.size() == sizes.size();
    for (size_t i = 0; fits && i < states.size(); ++i) {
      Shape shape = states[i].shape();
      if (shape.rank() > 0) shape.erase(0);
      fits = shape.is_compatible_with(sizes[i]);
    }
    if (!fits) refuse_states(states, sizes);
    for (Tensor& state : states)
      if (is_floating(state.dtype()) && state.dtype() != given.dtype()) state = cast(state, given.dtype());
  } else if (settings.stateful) {
    if (!kept.defined()) kept.make(zero_states);
    states = kept.values();
  } else {
    states = zero_states;
  }
  // A traced function may know the batch of its inputs, and has no state of another one.
  if (thread_state.tracer && (is_given || settings.stateful))
    for (Tensor& state : states) {
      Shape known = state.shape();
      if (known.rank() > 0 && x.shape()[1] >= 0) known[0] = x.shape()[1];
      state = ensure_shape(state, known);
    }

  auto step = [&](const Tensor& now, const std::vector<Tensor>& before) {
    return cell(now, Nest::of(before), of_cell);
  };
  std::optional<SequenceResult> result;
  if (whole)
    result = whole(settings.go_backwards ? reverse(x, Tensor(std::vector<int32_t>{0})) : x, states, mask.defined());
  if (!result) {
    const Shape output = cell.output_size();
    Tensor zero_output = !states.empty() && output == sizes[0]
                             ? zeros_like(states[0])
                             : keras::detail::zeros_of_batch(batch, output, cell.compute_dtype());
    Dropped scope;
    if (thread_state.tracer && args.training && drops(cell)) {
      // What is dropped must be drawn before the loop begins; the step itself is dropped too.
      Shape row = x.shape();
      row.erase(0);
      row.erase(0);
      step(row.is_fully_defined() ? keras::detail::zeros_of_batch(batch, row, x.dtype()) : zeros_like(x(0)), states);
    }
    result = run_steps(step, x, states, mask, zero_output, settings);
  }
  if (settings.stateful) kept.assign(result->states);
  Tensor output = !settings.return_sequences ? result->last_output
                  : settings.time_major      ? result->outputs
                                             : swap_time(result->outputs);
  if (!settings.return_state) return output;
  std::vector<Nest> all = {output};
  for (const Tensor& state : result->states) all.emplace_back(state);
  return Nest::list(std::move(all));
}

void build_cell(const RNNCell& cell, const Nest& inputs, bool time_major, bool has_scope) {
  const Tensor& x = inputs.is_tensor() ? inputs.tensor() : inputs[0].tensor();
  if (x.rank() < 3) {
    Shape shape = x.shape();
    if (!time_major && shape.rank() == 2) std::swap(shape[0], shape[1]);
    throw ValueError("Shape " + shape.str() + " must have rank at least 3");
  }
  Shape step = x.shape();
  step.erase(time_major ? 0 : 1);
  keras::detail::CallContext context(*cell.get(), {}, has_scope);
  keras::detail::build_if_needed(*cell.get(), Nest(keras::detail::stand_in(x.dtype(), step)));
}

Nest sequence_mask(const Nest& mask, const SequenceSettings& settings, size_t num_states) {
  Nest first = mask.is_sequence() ? mask[0] : mask;
  if (!settings.return_sequences) first = Nest();
  if (!settings.return_state) return first;
  std::vector<Nest> all = {first};
  all.resize(1 + num_states);
  return Nest::list(std::move(all));
}

}  // namespace thalweg::keras::layers
