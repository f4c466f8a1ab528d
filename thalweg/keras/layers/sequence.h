// What recurrent layers have in common: a call with a cell, states and masks.
#pragma once
#include "thalweg/keras/layers/recurrent.h"
#include "thalweg/keras/layers/steps.h"

namespace thalweg::keras::layers {

/// The settings among the options of a layer.
template <class Options> SequenceSettings settings_of(const Options& o) {
  return {o.return_sequences, o.return_state, o.go_backwards,        o.stateful,
          o.unroll,           o.time_major,   o.zero_output_for_mask};
}

/// The states of a stateful layer between calls. They are no weights.
class KeptStates {
 public:
  KeptStates() {}  // NOLINT: no aggregate, so no configuration
  bool defined() const { return !variables_.empty(); }
  /// Begins with these zeros, whose shapes must be known.
  void make(const std::vector<Tensor>& zeros);
  const std::vector<Variable>& variables() const { return variables_; }
  std::vector<Tensor> values() const;
  void assign(const std::vector<Tensor>& states) const;
  void reset() const;

 private:
  std::vector<Variable> variables_;
};

/// Another way to compute whole sequences, or no result where it does not apply; the steps are in the order of time.
using WholeSequence =
    std::function<std::optional<SequenceResult>(const Tensor& x, const std::vector<Tensor>& states, bool has_mask)>;
/// A call of a recurrent layer: inputs are a sequence, or a list of it, the states to begin with and constants. Cells
/// that take several inputs get a tuple or a dict of sequences in place of one.
Nest run_layer(const RNNCell& cell, const SequenceSettings& settings, KeptStates& kept, const Nest& inputs,
               const CallArgs& args, const WholeSequence& whole = {});
/// Makes the weights of a cell for one step of these inputs.
void build_cell(const RNNCell& cell, const Nest& inputs, bool time_major, bool has_scope = true);
/// The masks of the outputs of a recurrent layer.
Nest sequence_mask(const Nest& mask, const SequenceSettings& settings, size_t num_states);
/// The first two dimensions, batch and time, in the other order.
Tensor swap_time(const Tensor& x);
/// As Keras writes it: only where it is set.
void complete_sequence_config(Value& config);
/// ValueError unless a layer has a positive number of units.
void check_units(int64_t units);

/// What a cell drops: factors for `like`, the same for all steps of a sequence, `count` of them where gates differ.
std::vector<Tensor> dropout_factors(const void* cell, int kind, const Tensor& like, double rate, int count);
/// Whether an activation is the one with this name.
bool is_named(const keras::Activation& activation, const char* name);
Tensor activate(const keras::Activation& activation, const Tensor& x);

/// The first values of the bias of an LSTM whose forget gate begins with ones.
struct ForgetBias {
  Initializer others = {};
  Tensor call(const Shape& shape, DType dtype);
};

/// The options of a cell from those of its layer.
template <class CellOptions, class Options> CellOptions cell_options(const Options& o, const char* name) {
  CellOptions made;
  made.activation = o.activation;
  made.use_bias = o.use_bias;
  made.kernel_initializer = o.kernel_initializer;
  made.recurrent_initializer = o.recurrent_initializer;
  made.bias_initializer = o.bias_initializer;
  made.kernel_regularizer = o.kernel_regularizer;
  made.recurrent_regularizer = o.recurrent_regularizer;
  made.bias_regularizer = o.bias_regularizer;
  made.kernel_constraint = o.kernel_constraint;
  made.recurrent_constraint = o.recurrent_constraint;
  made.bias_constraint = o.bias_constraint;
  made.dropout = o.dropout;
  made.recurrent_dropout = o.recurrent_dropout;
  if constexpr (requires { made.recurrent_activation; }) made.recurrent_activation = o.recurrent_activation;
  if constexpr (requires { made.unit_forget_bias; }) made.unit_forget_bias = o.unit_forget_bias;
  if constexpr (requires { made.implementation; }) made.implementation = o.implementation;
  if constexpr (requires { made.reset_after; }) made.reset_after = o.reset_after;
  made.name = name;
  made.dtype = o.dtype;
  made.trainable = o.trainable;
  return made;
}

}  // namespace thalweg::keras::layers

template <> inline constexpr bool thalweg::holds_no_variables<thalweg::keras::layers::KeptStates> = true;
