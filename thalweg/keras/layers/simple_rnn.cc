#include "thalweg/keras/layers/sequence.h"
#include "thalweg/ops/losses.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/matmul.h"

namespace thalweg::keras::layers {
namespace {

struct SimpleRNNCellLayer {
  int64_t units = 1;
  SimpleRNNCellOptions options = {};
  Variable kernel = {}, recurrent_kernel = {}, bias = {};

  void check() const { check_units(units); }
  int64_t state_size() const { return units; }
  int64_t output_size() const { return units; }
  void build(const Shape& input) {
    kernel = add_weight({input[-1], units}, {.initializer = options.kernel_initializer,
                                             .regularizer = options.kernel_regularizer,
                                             .constraint = options.kernel_constraint});
    recurrent_kernel = add_weight({units, units}, {.initializer = options.recurrent_initializer,
                                                   .regularizer = options.recurrent_regularizer,
                                                   .constraint = options.recurrent_constraint});
    if (options.use_bias)
      bias = add_weight({units}, {.initializer = options.bias_initializer,
                                  .regularizer = options.bias_regularizer,
                                  .constraint = options.bias_constraint});
  }
  Nest call(const Tensor& inputs, const Nest& states, const CallArgs& args) {
    Tensor x = inputs, before = states.flatten().at(0);
    if (args.training && options.dropout > 0) x = x * dropout_factors(this, 0, x, options.dropout, 1)[0];
    if (args.training && options.recurrent_dropout > 0)
      before = before * dropout_factors(this, 1, before, options.recurrent_dropout, 1)[0];
    Tensor h = matmul(x, kernel);
    if (bias.defined()) h = nn::bias_add(h, bias);
    Tensor output = activate(options.activation, h + matmul(before, recurrent_kernel));
    return Nest::tuple({output, Nest::list({output})});
  }
};

struct SimpleRNNLayer {
  int64_t units = 1;
  SimpleRNNOptions options = {};
  Layer cell = SimpleRNNCell(units, cell_options<SimpleRNNCellOptions>(options, "simple_rnn_cell"));
  KeptStates states = {};

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

RNNCell SimpleRNNCell(int64_t units, const SimpleRNNCellOptions& options) { return SimpleRNNCellLayer{units, options}; }
Layer SimpleRNN(int64_t units, const SimpleRNNOptions& options) { return SimpleRNNLayer{units, options}; }

}  // namespace thalweg::keras::layers
