#include "thalweg/keras/layers/sequence.h"
#include "thalweg/ops/losses.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/matmul.h"
#include "thalweg/ops/splitting.h"

namespace thalweg::keras::layers {
namespace {

struct GRUCellLayer {
  int64_t units = 1;
  GRUCellOptions options = {};
  Variable kernel = {}, recurrent_kernel = {}, bias = {};

  void check() {
    check_units(units);
    if (options.recurrent_dropout != 0) options.implementation = 1;  // gates drop different values
  }
  int64_t state_size() const { return units; }
  int64_t output_size() const { return units; }
  void build(const Shape& input) {
    kernel = add_weight({input[-1], units * 3}, {.initializer = options.kernel_initializer,
                                                 .regularizer = options.kernel_regularizer,
                                                 .constraint = options.kernel_constraint});
    recurrent_kernel = add_weight({units, units * 3}, {.initializer = options.recurrent_initializer,
                                                       .regularizer = options.recurrent_regularizer,
                                                       .constraint = options.recurrent_constraint});
    // With reset_after the states have a bias of their own.
    if (options.use_bias)
      bias = add_weight(options.reset_after ? Shape{2, units * 3} : Shape{units * 3},
                        {.initializer = options.bias_initializer,
                         .regularizer = options.bias_regularizer,
                         .constraint = options.bias_constraint});
  }
  Nest call(const Tensor& x, const Nest& states, const CallArgs& args) {
    const Tensor h = states.flatten().at(0);
    Tensor output = options.implementation == 1 ? by_gate(x, h, args) : at_once(x, h, args);
    return Nest::tuple({output, Nest::list({output})});
  }
  /// The biases of inputs and of states.
  std::pair<Tensor, Tensor> biases() const {
    if (!bias.defined()) return {};
    if (!options.reset_after) return {bias, Tensor()};
    std::vector<Tensor> both = unstack(bias);
    return {both[0], both[1]};
  }
  /// From what inputs and states put into the gates (update, reset, new) to the new state.
  template <class F>
  Tensor mix(const std::vector<Tensor>& of_x, const std::vector<Tensor>& of_h, const Tensor& h, const F& reset) const {
    Tensor z = activate(options.recurrent_activation, of_x[0] + of_h[0]);
    Tensor r = activate(options.recurrent_activation, of_x[1] + of_h[1]);
    Tensor candidate = activate(options.activation, of_x[2] + reset(r));
    return z * h + (1.0f - z) * candidate;
  }
  Tensor at_once(const Tensor& inputs, const Tensor& h, const CallArgs& args) const {
    auto [of_inputs, of_states] = biases();
    Tensor x = inputs;
    if (args.training && options.dropout > 0) x = x * dropout_factors(this, 0, x, options.dropout, 1)[0];
    Tensor sums = matmul(x, kernel);
    if (of_inputs.defined()) sums = nn::bias_add(sums, of_inputs);
    std::vector<Tensor> of_x = split(sums, 3, {.axis = 1});
    if (options.reset_after) {
      Tensor inner = matmul(h, recurrent_kernel);
      if (of_states.defined()) inner = nn::bias_add(inner, of_states);
      std::vector<Tensor> of_h = split(inner, 3, {.axis = 1});
      return mix(of_x, of_h, h, [&](const Tensor& r) { return r * of_h[2]; });
    }
    std::vector<Tensor> parts = split(recurrent_kernel, Tensor(std::vector<int64_t>{units * 2, units}), {.axis = 1});
    std::vector<Tensor> of_h = split(matmul(h, parts[0]), 2, {.axis = 1});
    return mix(of_x, of_h, h, [&](const Tensor& r) { return matmul(r * h, parts[1]); });
  }
  Tensor by_gate(const Tensor& x, const Tensor& h, const CallArgs& args) const {
    auto [of_inputs, of_states] = biases();
    std::vector<Tensor> kernels = split(kernel, 3, {.axis = 1}), recurrent = split(recurrent_kernel, 3, {.axis = 1});
    std::vector<Tensor> input_biases, state_biases, x_factors, h_factors, of_x, of_h, dropped;
    if (of_inputs.defined()) input_biases = split(of_inputs, 3);
    if (of_states.defined()) state_biases = split(of_states, 3);
    if (args.training && options.dropout > 0) x_factors = dropout_factors(this, 0, x, options.dropout, 3);
    if (args.training && options.recurrent_dropout > 0)
      h_factors = dropout_factors(this, 1, h, options.recurrent_dropout, 3);
    auto of_state = [&](size_t i, const Tensor& state) {
      Tensor sum = matmul(state, recurrent[i]);
      return state_biases.empty() ? sum : nn::bias_add(sum, state_biases[i]);
    };
    for (size_t i = 0; i < 3; ++i) {
      Tensor sum = matmul(x_factors.empty() ? x : x * x_factors[i], kernels[i]);
      of_x.push_back(input_biases.empty() ? sum : nn::bias_add(sum, input_biases[i]));
      dropped.push_back(h_factors.empty() ? h : h * h_factors[i]);
      if (i < 2) of_h.push_back(of_state(i, dropped[i]));
    }
    return mix(of_x, of_h, h, [&](const Tensor& r) {
      return options.reset_after ? r * of_state(2, dropped[2]) : matmul(r * dropped[2], recurrent[2]);
    });
  }
};

struct GRULayer {
  int64_t units = 1;
  GRUOptions options = {};
  Layer cell = GRUCell(units, cell_options<GRUCellOptions>(options, "gru_cell"));
  KeptStates states = {};

  void check() {
    if (options.recurrent_dropout != 0) options.implementation = 1;
  }
  void build(const Nest& inputs) { build_cell(cell, inputs, options.time_major); }
  InputSpec input_spec() const { return {.ndim = 3, .has_more = true}; }
  Nest call(const Nest& inputs, const CallArgs& args) {
    return run_layer(cell, settings_of(options), states, inputs, args);
  }
  Nest compute_mask(const Nest&, const Nest& mask) { return sequence_mask(mask, settings_of(options), 1); }
  void reset_states() { states.reset(); }
  void complete_config(Value& config) const { complete_sequence_config(config); }
};

}  // namespace

RNNCell GRUCell(int64_t units, const GRUCellOptions& options) { return GRUCellLayer{units, options}; }
Layer GRU(int64_t units, const GRUOptions& options) { return GRULayer{units, options}; }

}  // namespace thalweg::keras::layers
