#include "thalweg/keras/layers/sequence.h"

#include <algorithm>
#include <map>

#include "thalweg/core/error.h"
#include "thalweg/graph/init_scope.h"
#include "thalweg/keras/call_context.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/dropout.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/ordering.h"
#include "thalweg/ops/shaping.h"
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
    if (auto* rate = cell.object().member<double>(name); rate && *rate > 0) return true;
  for (const Layer& inner : cell.layers())
    if (drops(inner)) return true;
  return false;
}

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
          "the first layer of a Sequential model a `batch_input_shape`, or `Input` a `batch_size`.");
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

Nest run_layer(const RNNCell& cell, const SequenceSettings& settings, KeptStates& kept, const Nest& inputs,
               const CallArgs& args, const WholeSequence& whole) {
  const bool is_list = inputs.kind() == Nest::Kind::list;
  const Nest& given = is_list ? inputs[0] : inputs;
  const std::vector<Shape> sizes = cell.state_size();
  if (sizes.empty()) throw ValueError("cell '" + cell.name() + "' has no sizes of states, though it is built");
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
  if (!is_given) zero_states = cell.object().get_initial_state(given.flatten()[0], batch, cell.compute_dtype());
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
    for (const Shape& output : cell.object().output_size()) {
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
