// Recurrent layers and their cells.
//
// A cell is a layer that computes one step: `auto [output, states] = cell(x, states)`. Any struct is one that has
//   state_size (an int64_t, a Shape, or a list of them), output_size, and
//   std::pair<Tensor, std::vector<Tensor>> call(const Tensor& x, const std::vector<Tensor>& states)
// and `layers::RNN(MyCell{...})` runs it over sequences. States are flat lists everywhere. x and the output may be
// tuples, dicts or structs of tensors; output_size then lists the shapes, and the layer takes a tuple or dict of
// sequences.
#pragma once
#include "thalweg/keras/layer.h"

namespace thalweg::keras::layers {

struct InitialStateOptions {
  Tensor inputs = {};  // whose batch and dtype count where those are left out
  std::optional<int64_t> batch_size = {};
  DType dtype = DType::invalid;
};
/// A cell of recurrent layers, whatever stands behind it.
class THALWEG_API RNNCell : public Layer {
 public:
  RNNCell() = default;
  RNNCell(const Layer& cell) : Layer(cell) {}  // NOLINT
  template <class T, class S = std::remove_cvref_t<T>>
    requires(!std::derived_from<S, Layer> && LayerInterface::implemented_by<S>)
  RNNCell(T&& cell, const LayerOptions& options = {}) : Layer(std::forward<T>(cell), options) {}  // NOLINT

  /// One step: the output, and the states for the next one.
  std::pair<Tensor, std::vector<Tensor>> operator()(const Tensor& x, const Nest& states,
                                                    const CallArgs& args = {}) const;
  /// The same for cells of any structure of inputs and outputs.
  std::pair<Nest, std::vector<Tensor>> step(const Nest& x, const Nest& states, const CallArgs& args = {}) const;
  /// The shapes of the states, without the batch.
  std::vector<Shape> state_size() const { return p_->state_size(); }
  /// The shape of the output, without the batch; of the first one, where there are several.
  Shape output_size() const { return p_->output_size().at(0); }
  /// The states to begin with: `cell.get_initial_state({.batch_size = 32})`.
  std::vector<Tensor> get_initial_state(const InitialStateOptions& options) const;
  /// The same, by its older name.
  std::vector<Tensor> zero_state(int64_t batch_size, DType dtype = DType::float32) const {
    return get_initial_state({.batch_size = batch_size, .dtype = dtype});
  }
};

struct SimpleRNNCellOptions {
  keras::Activation activation = "tanh";
  Flag use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer recurrent_initializer = "orthogonal";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {};
  Constraint kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0.0, recurrent_dropout = 0.0;  // of inputs and of states, in training
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// activation(x * kernel + h * recurrent_kernel + bias), which is both output and state.
THALWEG_API RNNCell SimpleRNNCell(int64_t units, const SimpleRNNCellOptions& options = {});

struct LSTMCellOptions {
  keras::Activation activation = "tanh";
  keras::Activation recurrent_activation = "sigmoid";
  Flag use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer recurrent_initializer = "orthogonal";
  Initializer bias_initializer = "zeros";
  Flag unit_forget_bias = true;  // the forget gate begins open
  Regularizer kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {};
  Constraint kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0.0, recurrent_dropout = 0.0;  // of inputs and of states, in training
  int64_t implementation = 2;                     // 1: gate by gate
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// A step of long short-term memory; its states are the output and the cell.
THALWEG_API RNNCell LSTMCell(int64_t units, const LSTMCellOptions& options = {});

struct GRUCellOptions {
  keras::Activation activation = "tanh";
  keras::Activation recurrent_activation = "sigmoid";
  Flag use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer recurrent_initializer = "orthogonal";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {};
  Constraint kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0.0, recurrent_dropout = 0.0;  // of inputs and of states, in training
  int64_t implementation = 2;                     // 1: gate by gate
  Flag reset_after = true;                        // the reset gate comes after the matrix product
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// A step of a gated recurrent unit; its state is the output.
THALWEG_API RNNCell GRUCell(int64_t units, const GRUCellOptions& options = {});

struct StackedRNNCellsOptions {
  Flag reverse_state_order = false;  // accepted: states are a flat list in the order of the cells
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// Cells on top of each other as one cell.
THALWEG_API RNNCell StackedRNNCells(const std::vector<RNNCell>& cells, const StackedRNNCellsOptions& options = {});

/// What an RNN runs: a cell, or a list of them, which are stacked.
class THALWEG_API CellOrCells {
 public:
  template <class T>
    requires(std::convertible_to<T, RNNCell> && !std::same_as<std::remove_cvref_t<T>, CellOrCells>)
  CellOrCells(T&& cell) : cell_(std::forward<T>(cell)) {}                                 // NOLINT
  CellOrCells(std::initializer_list<RNNCell> cells) : cell_(StackedRNNCells({cells})) {}  // NOLINT
  CellOrCells(const std::vector<RNNCell>& cells) : cell_(StackedRNNCells(cells)) {}       // NOLINT
  const RNNCell& cell() const { return cell_; }

 private:
  RNNCell cell_;
};
struct RNNOptions {
  Flag return_sequences = false;      // the output of every step, not of the last alone
  Flag return_state = false;          // the last states too
  Flag go_backwards = false;          // from the last step to the first
  Flag stateful = false;              // the states go on with the next batch, until reset_states
  Flag unroll = false;                // one step after the other in traced functions, instead of a loop
  Flag time_major = false;            // inputs and outputs are [time, batch, ...]
  Flag zero_output_for_mask = false;  // the output of masked steps is 0, not that of the step before
  Regularizer activity_regularizer = {};
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// Runs a cell over sequences [batch, time, ...]: `RNN(LSTMCell(8))`, `RNN({GRUCell(8), LSTMCell(4)})`. Calls may give
/// the states to begin with, `{.initial_state = {h, c}}`, and constants that the cell sees at each step.
THALWEG_API Layer RNN(const CellOrCells& cell, const RNNOptions& options = {});

struct SimpleRNNOptions {
  keras::Activation activation = "tanh";
  Flag use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer recurrent_initializer = "orthogonal";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  Constraint kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0.0, recurrent_dropout = 0.0;  // of inputs and of states, in training
  Flag return_sequences = false;                  // the output of every step, not of the last alone
  Flag return_state = false;                      // the last states too
  Flag go_backwards = false;                      // from the last step to the first
  Flag stateful = false;                          // the states go on with the next batch, until reset_states
  Flag unroll = false;                            // one step after the other in traced functions, instead of a loop
  Flag time_major = false;                        // inputs and outputs are [time, batch, ...]
  Flag zero_output_for_mask = false;              // the output of masked steps is 0, not that of the step before
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// A fully connected recurrent layer.
THALWEG_API Layer SimpleRNN(int64_t units, const SimpleRNNOptions& options = {});

struct LSTMOptions {
  keras::Activation activation = "tanh";
  keras::Activation recurrent_activation = "sigmoid";
  Flag use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer recurrent_initializer = "orthogonal";
  Initializer bias_initializer = "zeros";
  Flag unit_forget_bias = true;  // the forget gate begins open
  Regularizer kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  Constraint kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0.0, recurrent_dropout = 0.0;  // of inputs and of states, in training
  Flag return_sequences = false;                  // the output of every step, not of the last alone
  Flag return_state = false;                      // the last states too
  Flag go_backwards = false;                      // from the last step to the first
  Flag stateful = false;                          // the states go on with the next batch, until reset_states
  Flag time_major = false;                        // inputs and outputs are [time, batch, ...]
  Flag unroll = false;                            // one step after the other in traced functions, instead of a loop
  int64_t implementation = 2;                     // 1: gate by gate
  Flag zero_output_for_mask = false;              // the output of masked steps is 0, not that of the step before
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// Long short-term memory. With the activations it comes with, and neither masks nor dropout, whole sequences are one
/// op (which has no second derivatives; `unroll` does without it).
THALWEG_API Layer LSTM(int64_t units, const LSTMOptions& options = {});

struct GRUOptions {
  keras::Activation activation = "tanh";
  keras::Activation recurrent_activation = "sigmoid";
  Flag use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer recurrent_initializer = "orthogonal";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  Constraint kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0.0, recurrent_dropout = 0.0;  // of inputs and of states, in training
  Flag return_sequences = false;                  // the output of every step, not of the last alone
  Flag return_state = false;                      // the last states too
  Flag go_backwards = false;                      // from the last step to the first
  Flag stateful = false;                          // the states go on with the next batch, until reset_states
  Flag unroll = false;                            // one step after the other in traced functions, instead of a loop
  Flag time_major = false;                        // inputs and outputs are [time, batch, ...]
  Flag reset_after = true;                        // the reset gate comes after the matrix product
  int64_t implementation = 2;                     // 1: gate by gate
  Flag zero_output_for_mask = false;              // the output of masked steps is 0, not that of the step before
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// The gated recurrent unit.
THALWEG_API Layer GRU(int64_t units, const GRUOptions& options = {});

// The same with an option by position (docs/decisions/0013).
template <As<keras::Activation> A = keras::Activation>
RNNCell SimpleRNNCell(int64_t units, const A& activation, SimpleRNNCellOptions options = {}) {
  return SimpleRNNCell(units, with(options, options.activation, activation));
}
template <As<keras::Activation> A = keras::Activation>
RNNCell LSTMCell(int64_t units, const A& activation, LSTMCellOptions options = {}) {
  return LSTMCell(units, with(options, options.activation, activation));
}
template <As<keras::Activation> A = keras::Activation>
RNNCell GRUCell(int64_t units, const A& activation, GRUCellOptions options = {}) {
  return GRUCell(units, with(options, options.activation, activation));
}
template <As<keras::Activation> A = keras::Activation>
Layer SimpleRNN(int64_t units, const A& activation, SimpleRNNOptions options = {}) {
  return SimpleRNN(units, with(options, options.activation, activation));
}
template <As<keras::Activation> A = keras::Activation>
Layer LSTM(int64_t units, const A& activation, LSTMOptions options = {}) {
  return LSTM(units, with(options, options.activation, activation));
}
template <As<keras::Activation> A = keras::Activation>
Layer GRU(int64_t units, const A& activation, GRUOptions options = {}) {
  return GRU(units, with(options, options.activation, activation));
}

}  // namespace thalweg::keras::layers
