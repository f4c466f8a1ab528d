#include "thalweg/keras/layers/sequence.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/losses.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/matmul.h"
#include "thalweg/ops/recurrent.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/splitting.h"

namespace thalweg::keras::layers {
namespace {

struct LSTMCellLayer {
  int64_t units = 1;
  LSTMCellOptions options = {};
  Variable kernel = {}, recurrent_kernel = {}, bias = {};

  void check() {
    check_units(units);
    if (options.recurrent_dropout != 0) options.implementation = 1;  // gates drop different values
  }
  std::vector<int64_t> state_size() const { return {units, units}; }
  int64_t output_size() const { return units; }
  void build(const Shape& input) {
    kernel = add_weight({input[-1], units * 4}, {.initializer = options.kernel_initializer,
                                                 .regularizer = options.kernel_regularizer,
                                                 .constraint = options.kernel_constraint});
    recurrent_kernel = add_weight({units, units * 4}, {.initializer = options.recurrent_initializer,
                                                       .regularizer = options.recurrent_regularizer,
                                                       .constraint = options.recurrent_constraint});
    Initializer first = options.bias_initializer;
    if (options.unit_forget_bias) first = ForgetBias{options.bias_initializer};
    if (options.use_bias)
      bias = add_weight(
          {units * 4},
          {.initializer = first, .regularizer = options.bias_regularizer, .constraint = options.bias_constraint});
  }
  Nest call(const Tensor& inputs, const Nest& states, const CallArgs& args) {
    std::vector<Tensor> before = states.flatten();
    const Tensor &h = before.at(0), &c = before.at(1);
    std::vector<Tensor> gates = options.implementation == 1 ? sums_by_gate(inputs, h, args) : sums(inputs, h, args);
    auto open = [&](const Tensor& sum) { return activate(options.recurrent_activation, sum); };
    Tensor cell = open(gates[1]) * c + open(gates[0]) * activate(options.activation, gates[2]);
    Tensor output = open(gates[3]) * activate(options.activation, cell);
    return Nest::tuple({output, Nest::list({output, cell})});
  }
  /// What goes into the gates: input, forget, new cell, output.
  std::vector<Tensor> sums(const Tensor& inputs, const Tensor& h, const CallArgs& args) const {
    Tensor x = inputs;
    if (args.training && options.dropout > 0) x = x * dropout_factors(this, 0, x, options.dropout, 1)[0];
    Tensor z = matmul(x, kernel) + matmul(h, recurrent_kernel);
    if (bias.defined()) z = nn::bias_add(z, bias);
    return split(z, 4, {.axis = 1});
  }
  std::vector<Tensor> sums_by_gate(const Tensor& x, const Tensor& h, const CallArgs& args) const {
    std::vector<Tensor> kernels = split(kernel, 4, {.axis = 1}), recurrent = split(recurrent_kernel, 4, {.axis = 1});
    std::vector<Tensor> biases = bias.defined() ? split(bias, 4) : std::vector<Tensor>();
    std::vector<Tensor> of_x, of_h, gates;
    if (args.training && options.dropout > 0) of_x = dropout_factors(this, 0, x, options.dropout, 4);
    if (args.training && options.recurrent_dropout > 0)
      of_h = dropout_factors(this, 1, h, options.recurrent_dropout, 4);
    for (size_t i = 0; i < 4; ++i) {
      Tensor sum = matmul(of_x.empty() ? x : x * of_x[i], kernels[i]);
      if (bias.defined()) sum = nn::bias_add(sum, biases[i]);
      gates.push_back(sum + matmul(of_h.empty() ? h : h * of_h[i], recurrent[i]));
    }
    return gates;
  }
};

struct LSTMLayer {
  int64_t units = 1;
  LSTMOptions options = {};
  Layer cell = LSTMCell(units, cell_options<LSTMCellOptions>(options, "lstm_cell"));
  KeptStates states = {};

  void check() {
    if (options.recurrent_dropout != 0) options.implementation = 1;
  }
  void build(const Nest& inputs) { build_cell(cell, inputs, options.time_major); }
  InputSpec input_spec() const { return {.ndim = 3, .has_more = true}; }
  Nest call(const Nest& inputs, const CallArgs& args) {
    const bool drops = args.training && (options.dropout > 0 || options.recurrent_dropout > 0);
    const bool is_plain = is_named(options.activation, "tanh") && is_named(options.recurrent_activation, "sigmoid");
    WholeSequence whole;
    if (is_plain && !drops && !options.unroll)
      whole = [&](const Tensor& x, const std::vector<Tensor>& before, bool has_mask) {
        return fused(x, before, has_mask);
      };
    return run_layer(cell, settings_of(options), states, inputs, args, whole);
  }
  std::optional<SequenceResult> fused(const Tensor& x, const std::vector<Tensor>& before, bool has_mask) const {
    const bool is_known = x.dtype() == DType::float32 || x.dtype() == DType::float16;
    if (has_mask || !is_known || x.shape()[0] == 0) return std::nullopt;
    const auto& weights = *cell.as<LSTMCellLayer>();
    Tensor w = concat({weights.kernel, weights.recurrent_kernel}, 0);
    Tensor b = weights.bias.defined() ? weights.bias.value() : zeros({units * 4}, {.dtype = x.dtype()});
    nn::BlockLstm steps = nn::block_lstm(x, before[1], before[0], w, b);
    // A sequence of unknown length may have no steps at all.
    auto last = [&](const Tensor& all, const Tensor& first) {
      return x.shape()[0] > 0 ? all(-1) : concat({expand_dims(first, 0), all}, 0)(-1);
    };
    SequenceResult result;
    if (options.return_sequences) result.outputs = steps.h;
    const bool wants_states = options.return_state || options.stateful;
    if (!options.return_sequences || wants_states) result.last_output = last(steps.h, before[0]);
    if (wants_states) result.states = {result.last_output.tensor(), last(steps.cs, before[1])};
    return result;
  }
  Nest compute_mask(const Nest&, const Nest& mask) { return sequence_mask(mask, settings_of(options), 2); }
  void reset_states() { states.reset(); }
  void complete_config(Value& config) const { complete_sequence_config(config); }
};

}  // namespace

RNNCell LSTMCell(int64_t units, const LSTMCellOptions& options) { return LSTMCellLayer{units, options}; }
Layer LSTM(int64_t units, const LSTMOptions& options) { return LSTMLayer{units, options}; }

}  // namespace thalweg::keras::layers
