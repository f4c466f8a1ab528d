#include "thalweg/keras/layers/conv_lstm.h"

#include "thalweg/core/error.h"
#include "thalweg/keras/layers/sequence.h"
#include "thalweg/keras/layers/windows.h"
#include "thalweg/ops/conv.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/losses.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/splitting.h"

namespace thalweg::keras::layers {
namespace {

Sizes spread(const Sizes& sizes, int rank, const char* name) {
  const std::vector<int64_t>& all = sizes.axes();
  std::vector<int64_t> full = all.size() == 1 ? std::vector<int64_t>(static_cast<size_t>(rank), all[0]) : all;
  bool fits = static_cast<int>(full.size()) == rank;
  for (int64_t size : full) fits = fits && size > 0;
  if (!fits)
    throw ValueError(std::string("The `") + name + "` argument must be a tuple of " + std::to_string(rank) +
                     " integers. Received: " + keras::to_value(sizes).json());
  return full;
}

/// One number for all dimensions becomes one for each.
void complete(int rank, Sizes& kernel_size, ConvLSTMOptions& options) {
  if (options.padding != "valid" && options.padding != "same")
    throw ValueError(
        "The `padding` argument must be a list/tuple or one of \"valid\", \"same\" (or \"causal\", only for "
        "`Conv1D). Received: " +
        options.padding);
  if (options.data_format.empty()) options.data_format = "channels_last";
  if (options.data_format != "channels_last" && options.data_format != "channels_first")
    throw ValueError("The `data_format` argument must be one of \"channels_first\", \"channels_last\". Received: " +
                     options.data_format);
  kernel_size = spread(kernel_size, rank, "kernel_size");
  options.strides = spread(options.strides, rank, "strides");
  options.dilation_rate = spread(options.dilation_rate, rank, "dilation_rate");
}

SequenceSettings settings(const ConvLSTMOptions& o) {
  return {.return_sequences = o.return_sequences,
          .return_state = o.return_state,
          .go_backwards = o.go_backwards,
          .stateful = o.stateful,
          .unroll = o.unroll};
}
struct ConvLSTMCellLayer {
  int64_t rank = 1, filters = 1;
  Sizes kernel_size = 1;
  ConvLSTMOptions options = {};
  Variable kernel = {}, recurrent_kernel = {}, bias = {};

  void check() {
    complete(static_cast<int>(rank), kernel_size, options);
    if (filters <= 0)
      throw ValueError("Invalid value for argument `filters`. Expected a strictly positive value. Received filters=" +
                       std::to_string(filters) + ".");
  }
  bool is_first() const { return options.data_format == "channels_first"; }
  /// Images of any size with so many channels.
  std::vector<Shape> state_size() const {
    Shape size = Shape::of_rank(static_cast<int>(rank) + 1);
    size[is_first() ? 0 : -1] = filters;
    return {size, size};
  }
  Shape kernel_shape(int64_t channels, int64_t outputs) const {
    Shape shape(kernel_size.axes());
    shape.push_back(channels);
    shape.push_back(outputs);
    return shape;
  }
  void build(const Shape& input) {
    const int64_t channels = input[is_first() ? 1 : -1];
    if (channels < 0)
      throw ValueError(
          "The channel dimension of the inputs (last axis) should be defined. Found None. Full input "
          "shape received: input_shape=" +
          input.str());
    kernel = add_weight(kernel_shape(channels, filters * 4), {.initializer = options.kernel_initializer,
                                                              .regularizer = options.kernel_regularizer,
                                                              .constraint = options.kernel_constraint});
    recurrent_kernel = add_weight(kernel_shape(filters, filters * 4), {.initializer = options.recurrent_initializer,
                                                                       .regularizer = options.recurrent_regularizer,
                                                                       .constraint = options.recurrent_constraint});
    Initializer first = options.bias_initializer;
    if (options.unit_forget_bias) first = ForgetBias{options.bias_initializer};
    if (options.use_bias)
      bias = add_weight(
          {filters * 4},
          {.initializer = first, .regularizer = options.bias_regularizer, .constraint = options.bias_constraint});
  }
  std::string format() const {
    const std::string space = rank == 1 ? "W" : rank == 2 ? "HW" : "DHW";
    return is_first() ? "NC" + space : "N" + space + "C";
  }
  Tensor convolve_input(const Tensor& x, const Tensor& weights) const {
    windows::check_windows(x.shape(), kernel_size, options.padding, options.data_format, options.dilation_rate);
    return nn::convolution(x, weights,
                           {.strides = options.strides,
                            .padding = options.padding == "same" ? "SAME" : "VALID",
                            .data_format = format(),
                            .dilations = options.dilation_rate});
  }
  /// Zeros of the size that the first convolution gives, for which one is made.
  std::vector<Tensor> get_initial_state(const Tensor& inputs, const Tensor&, DType) const {
    const int64_t channels = inputs.shape()[is_first() ? 2 : -1];
    Tensor first = zeros_like(inputs(all, 0));
    Tensor state = convolve_input(first, zeros(kernel_shape(channels, filters), {.dtype = inputs.dtype()}));
    return {state, state};
  }
  Nest call(const Tensor& x, const Nest& states, const CallArgs& args) {
    std::vector<Tensor> before = states.flatten();
    const Tensor &h = before.at(0), &c = before.at(1);
    std::vector<Tensor> gates = sums(x, h, args);
    auto open = [&](const Tensor& sum) { return activate(options.recurrent_activation, sum); };
    Tensor cell = open(gates[1]) * c + open(gates[0]) * activate(options.activation, gates[2]);
    Tensor output = open(gates[3]) * activate(options.activation, cell);
    return Nest::tuple({output, Nest::list({output, cell})});
  }
  /// What goes into the gates: input, forget, new cell, output.
  std::vector<Tensor> sums(const Tensor& x, const Tensor& h, const CallArgs& args) const {
    std::vector<Tensor> of_x, of_h;
    if (args.training && options.dropout > 0) of_x = dropout_factors(this, 0, x, options.dropout, 4);
    if (args.training && options.recurrent_dropout > 0)
      of_h = dropout_factors(this, 1, h, options.recurrent_dropout, 4);
    auto convolve_state = [&](const Tensor& state, const Tensor& weights) {
      return nn::convolution(state, weights, {.padding = "SAME", .data_format = format()});
    };
    const std::string of_bias = is_first() ? "NCHW" : "NHWC";
    const int channels = is_first() ? 1 : -1;
    if (of_x.empty() && of_h.empty()) {
      Tensor sum = convolve_input(x, kernel);
      if (bias.defined()) sum = nn::bias_add(sum, bias, {.data_format = of_bias});
      return split(sum + convolve_state(h, recurrent_kernel), 4, {.axis = channels});
    }
    std::vector<Tensor> kernels = split(kernel, 4, {.axis = -1}), recurrent = split(recurrent_kernel, 4, {.axis = -1});
    std::vector<Tensor> biases = bias.defined() ? split(bias, 4) : std::vector<Tensor>(), gates;
    for (size_t i = 0; i < 4; ++i) {
      Tensor sum = convolve_input(of_x.empty() ? x : x * of_x[i], kernels[i]);
      if (bias.defined()) sum = nn::bias_add(sum, biases[i], {.data_format = of_bias});
      gates.push_back(sum + convolve_state(of_h.empty() ? h : h * of_h[i], recurrent[i]));
    }
    return gates;
  }
};

Layer make_cell(int64_t rank, int64_t filters, const Sizes& kernel_size, const ConvLSTMOptions& options) {
  ConvLSTMOptions of_cell = options;
  of_cell.name = "conv_lstm_cell";
  of_cell.activity_regularizer = {};
  of_cell.input_shape = Shape::unknown_rank();
  return ConvLSTMCellLayer{rank, filters, kernel_size, of_cell};
}

struct ConvLSTM1DLayer {
  int64_t filters = 1;
  Sizes kernel_size = 1;
  ConvLSTMOptions options = {};
  Layer cell = make_cell(1, filters, kernel_size, options);
  KeptStates states = {};

  void check() { complete(1, kernel_size, options); }
  void build(const Nest& inputs) { build_cell(cell, inputs, false, false); }
  InputSpec input_spec() const { return {.ndim = 4, .has_more = true}; }
  Nest call(const Nest& inputs, const CallArgs& args) {
    return run_layer(cell, settings(options), states, inputs, args);
  }
  Nest compute_mask(const Nest&, const Nest& mask) { return sequence_mask(mask, settings(options), 2); }
  void reset_states() { states.reset(); }
};
struct ConvLSTM2DLayer {
  int64_t filters = 1;
  Sizes kernel_size = 1;
  ConvLSTMOptions options = {};
  Layer cell = make_cell(2, filters, kernel_size, options);
  KeptStates states = {};

  void check() { complete(2, kernel_size, options); }
  void build(const Nest& inputs) { build_cell(cell, inputs, false, false); }
  InputSpec input_spec() const { return {.ndim = 5, .has_more = true}; }
  Nest call(const Nest& inputs, const CallArgs& args) {
    return run_layer(cell, settings(options), states, inputs, args);
  }
  Nest compute_mask(const Nest&, const Nest& mask) { return sequence_mask(mask, settings(options), 2); }
  void reset_states() { states.reset(); }
};
struct ConvLSTM3DLayer {
  int64_t filters = 1;
  Sizes kernel_size = 1;
  ConvLSTMOptions options = {};
  Layer cell = make_cell(3, filters, kernel_size, options);
  KeptStates states = {};

  void check() { complete(3, kernel_size, options); }
  void build(const Nest& inputs) { build_cell(cell, inputs, false, false); }
  InputSpec input_spec() const { return {.ndim = 6, .has_more = true}; }
  Nest call(const Nest& inputs, const CallArgs& args) {
    return run_layer(cell, settings(options), states, inputs, args);
  }
  Nest compute_mask(const Nest&, const Nest& mask) { return sequence_mask(mask, settings(options), 2); }
  void reset_states() { states.reset(); }
};

}  // namespace

Layer ConvLSTM1D(int64_t filters, const Sizes& kernel_size, const ConvLSTMOptions& options) {
  return ConvLSTM1DLayer{filters, kernel_size, options};
}
Layer ConvLSTM2D(int64_t filters, const Sizes& kernel_size, const ConvLSTMOptions& options) {
  return ConvLSTM2DLayer{filters, kernel_size, options};
}
Layer ConvLSTM3D(int64_t filters, const Sizes& kernel_size, const ConvLSTMOptions& options) {
  return ConvLSTM3DLayer{filters, kernel_size, options};
}

}  // namespace thalweg::keras::layers
