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
  Nest last = unseen(zero_outputs);
  std::vector<std::vector<Tensor>> outputs(zero_outputs.size());
  for (size_t t = 0; t < steps.size(); ++t) {
    auto [output, next] = step(steps[t], states);
    if (mask.defined()) {
      std::vector<Tensor> before = last.flatten();
      size_t i = 0;
      output = output.map([&](const Tensor& now) {
        const Tensor& kept = before.at(i++);
        return where(widen(masks[t], now.rank()), now,
                     settings.zero_output_for_mask || t == 0 ? zeros_like(now) : kept);
      });
      for (i = 0; i < next.size(); ++i) next[i] = where(widen(masks[t], next[i].rank()), next[i], states[i]);
    }
    last = output;
    states = std::move(next);
    if (!settings.return_sequences) continue;
    size_t i = 0;
    output.for_each([&](const Tensor& now) { outputs.at(i++).push_back(now); });
  }
  Nest all;
  if (settings.return_sequences) {
    size_t i = 0;
    all = last.map([&](const Tensor& one) {
      const std::vector<Tensor>& of_one = outputs[i++];
      return of_one.empty() ? expand_dims(one, 0)(slice(0, 0)) : stack(of_one);
    });
  }
  return {all, last, states};
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
      for (size_t i = 0; i < outputs.size(); ++i)
        outputs[i] = where(widen(counts, outputs[i].rank()), outputs[i],
                           settings.zero_output_for_mask ? zeros_like(outputs[i]) : now[last_at + i]);
      for (size_t i = 0; i < next.size(); ++i) next[i] = where(widen(counts, next[i].rank()), next[i], before[i]);
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

SequenceResult run_steps(const Step& step, const Nest& x, const std::vector<Tensor>& states, const Tensor& mask,
                         const std::vector<Tensor>& zero_outputs, const SequenceSettings& settings) {
  const Step checked = [&](const Nest& now, const std::vector<Tensor>& before) {
    auto result = step(now, before);
    if (result.first.num_tensors() != zero_outputs.size())
      throw ValueError("a step gave " + result.first.str() + " as its output, but `output_size` of the cell says " +
                       std::to_string(zero_outputs.size()) + " tensors");
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

namespace {

/// ValueError unless the sequences, time first, have batches and one length.
void check_sequences(const std::vector<Tensor>& sequences) {
  if (sequences.empty()) throw ValueError("a recurrent layer was called without a sequence");
  for (const Tensor& sequence : sequences) {
    if (sequence.rank() < 3) throw ValueError("Shape " + sequence.shape().str() + " must have rank at least 3");
    const int64_t length = sequence.shape()[0], wanted = sequences[0].shape()[0];
    if (length >= 0 && wanted >= 0 && length != wanted)
      throw ValueError("the sequences of a recurrent layer have different lengths: " + std::to_string(wanted) +
                       " and " + std::to_string(length) + " steps; pad the shorter one");
  }
}

}  // namespace

Nest run_layer(const RNNCell& cell, const SequenceSettings& settings, KeptStates& kept, const Nest& inputs,
               const CallArgs& args, const WholeSequence& whole) {
  const bool is_list = inputs.kind() == Nest::Kind::list;
  const Nest& given = is_list ? inputs[0] : inputs;
  const std::vector<Shape> sizes = cell.state_size();
  std::vector<Tensor> states = args.initial_state.flatten();
  CallArgs of_cell{.training = args.training, .constants = args.constants};
  if (is_list && inputs.size() > 1) {
    std::vector<Tensor> more;
    for (size_t i = 1; i < inputs.size(); ++i)
      for (const Tensor& t : inputs[i].flatten()) more.push_back(t);
    const auto split = more.begin() + static_cast<std::ptrdiff_t>(std::min(more.size(), sizes.size()));
    if (states.empty()) states.assign(more.begin(), split);
    if (split != more.end()) of_cell.constants = Nest::of(std::vector<Tensor>(split, more.end()));
  }
  const Nest x = settings.time_major ? given : given.map(swap_time);
  const std::vector<Tensor> sequences = x.flatten();
  check_sequences(sequences);
  const Tensor& first = sequences[0];
  Tensor mask;
  if (!args.mask.is_none()) mask = args.mask.is_tensor() ? args.mask.tensor() : args.mask[0].as<Tensor>();
  if (mask.defined() && !settings.time_major) mask = swap_time(mask);

  Tensor batch = first.shape()[1] < 0 ? shape(first)(1) : Tensor(first.shape()[1]);
  const bool is_given = !states.empty();
  std::vector<Tensor> zero_states;
  if (!is_given) zero_states = cell.get()->get_initial_state(given.flatten()[0], batch, cell.compute_dtype());
  if (is_given) {
    bool fits = states.size() == sizes.size();
    for (size_t i = 0; fits && i < states.size(); ++i) {
      Shape shape = states[i].shape();
      if (shape.rank() > 0) shape.erase(0);
      fits = shape.is_compatible_with(sizes[i]);
    }
    if (!fits) refuse_states(states, sizes);
    for (Tensor& state : states)
      if (is_floating(state.dtype()) && state.dtype() != first.dtype()) state = cast(state, first.dtype());
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
      if (known.rank() > 0 && first.shape()[1] >= 0) known[0] = first.shape()[1];
      state = ensure_shape(state, known);
    }

  const Step step = [&](const Nest& now, const std::vector<Tensor>& before) {
    return cell.step(now, Nest::of(before), of_cell);
  };
  std::optional<SequenceResult> result;
  if (whole)
    result =
        whole(settings.go_backwards ? reverse(first, Tensor(std::vector<int32_t>{0})) : first, states, mask.defined());
  if (!result) {
    std::vector<Tensor> zero_outputs;
    for (const Shape& output : cell.get()->output_size()) {
      const size_t i = zero_outputs.size();
      zero_outputs.push_back(i < states.size() && output == sizes[i]
                                 ? zeros_like(states[i])
                                 : keras::detail::zeros_of_batch(batch, output, cell.compute_dtype()));
    }
    Dropped scope;
    if (thread_state.tracer && args.training && drops(cell)) {
      // What is dropped must be drawn before the loop begins; the step itself is dropped too.
      step(x.map([&](const Tensor& sequence) {
        Shape row = sequence.shape();
        row.erase(0);
        row.erase(0);
        return row.is_fully_defined() ? keras::detail::zeros_of_batch(batch, row, sequence.dtype())
                                      : zeros_like(sequence(0));
      }),
           states);
    }
    result = run_steps(step, x, states, mask, zero_outputs, settings);
  }
  if (settings.stateful) kept.assign(result->states);
  Nest output = !settings.return_sequences ? result->last_output
                : settings.time_major      ? result->outputs
                                           : result->outputs.map(swap_time);
  if (!settings.return_state) return output;
  std::vector<Nest> all = {output};
  for (const Tensor& state : result->states) all.emplace_back(state);
  return Nest::list(std::move(all));
}

void build_cell(const RNNCell& cell, const Nest& inputs, bool time_major, bool has_scope) {
  const Nest step = (inputs.kind() == Nest::Kind::list ? inputs[0] : inputs).map([&](const Tensor& x) {
    Shape shape = x.shape();
    if (shape.rank() < 3) {
      if (!time_major && shape.rank() == 2) std::swap(shape[0], shape[1]);
      throw ValueError("Shape " + shape.str() + " must have rank at least 3");
    }
    shape.erase(time_major ? 0 : 1);
    return keras::detail::stand_in(x.dtype(), shape);
  });
  keras::detail::CallContext context(*cell.get(), {}, has_scope);
  keras::detail::build_if_needed(*cell.get(), step);
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
