#include "thalweg/core/error.h"
#include "thalweg/keras/call_context.h"
#include "thalweg/keras/layers/sequence.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::keras::layers {

std::pair<Tensor, std::vector<Tensor>> RNNCell::operator()(const Tensor& x, const Nest& states,
                                                           const CallArgs& args) const {
  auto [output, next] = step(x, states, args);
  return {output.tensor(), std::move(next)};
}
std::pair<Nest, std::vector<Tensor>> RNNCell::step(const Nest& x, const Nest& states, const CallArgs& args) const {
  const bool is_bare = p_->takes_bare_state();
  Nest result = invoke(Nest::tuple({x, is_bare && states.is_sequence() ? states[0] : states}), args);
  if (result.size() != 2)
    throw ValueError("the call of a cell returns its output and its states; layer '" + name() + "' returned " +
                     result.str());
  return {result[0], result[1].flatten()};
}

std::vector<Tensor> RNNCell::get_initial_state(const InitialStateOptions& options) const {
  Tensor batch;
  if (options.batch_size) batch = Tensor(static_cast<int32_t>(*options.batch_size));
  else if (options.inputs.defined()) batch = shape(options.inputs)(0);
  else throw ValueError("get_initial_state needs a batch_size, or inputs that have one");
  DType state_dtype = options.dtype;
  if (state_dtype == DType::invalid) state_dtype = options.inputs.defined() ? options.inputs.dtype() : compute_dtype();
  return p_->get_initial_state(options.inputs, batch, state_dtype);
}

namespace {

struct StackedRNNCellsLayer {
  std::vector<Layer> cells = {};
  StackedRNNCellsOptions options = {};

  void check() const {
    if (cells.empty()) throw ValueError("StackedRNNCells: there are no cells");
    for (const Layer& cell : cells)
      if (!cell.object().is_cell())
        throw ValueError("All cells must have a `state_size` attribute. Received cell without a `state_size`: " +
                         cell.name());
  }
  std::vector<Shape> state_size() const {
    std::vector<Shape> sizes;
    for (const Layer& cell : cells)
      for (const Shape& size : cell.object().state_size()) sizes.push_back(size);
    return sizes;
  }
  std::vector<Shape> output_size() const {
    return cells.empty() ? std::vector<Shape>() : cells.back().object().output_size();
  }
  std::vector<Tensor> get_initial_state(const Tensor& inputs, const Tensor& batch_size, DType state_dtype) const {
    std::vector<Tensor> states;
    for (const Layer& cell : cells)
      for (const Tensor& state : cell.object().get_initial_state(inputs, batch_size, state_dtype))
        states.push_back(state);
    return states;
  }
  void build(const Nest& inputs) {
    const Shape batch{inputs.flatten().at(0).shape()[0]};
    Nest step = inputs;
    for (const Layer& cell : cells) {
      auto of_cell = [&](const Shape& shape) { return keras::detail::stand_in(cell.compute_dtype(), shape); };
      keras::detail::CallContext context(*cell.get(), {});
      keras::detail::build_if_needed(*cell.get(), step.map([&](const Tensor& t) { return of_cell(t.shape()); }));
      std::vector<Nest> outputs;
      for (const Shape& size : cell.object().output_size()) outputs.emplace_back(of_cell(batch.concatenate(size)));
      step = outputs.size() == 1 ? outputs[0] : Nest::tuple(std::move(outputs));
    }
  }
  Nest call(const Nest& x, const Nest& states, const CallArgs& args) {
    std::vector<Tensor> before = states.flatten(), after;
    auto next = before.begin();
    Nest output = x;
    for (const Layer& cell : cells) {
      const auto count = static_cast<std::ptrdiff_t>(cell.object().state_size().size());
      if (before.end() - next < count) throw ValueError("StackedRNNCells: there are fewer states than the cells take");
      auto [made, of_cell] = RNNCell(cell).step(output, Nest::of(std::vector<Tensor>(next, next + count)),
                                                {.training = args.training, .constants = args.constants});
      next += count;
      output = made;
      after.insert(after.end(), of_cell.begin(), of_cell.end());
    }
    return Nest::tuple({output, Nest::of(after)});
  }
  void complete_config(Value& config) const { config.erase("reverse_state_order"); }  // as Keras has it
};

struct RNNLayer {
  Layer cell = {};
  RNNOptions options = {};
  KeptStates states = {};

  void check() const {
    if (!cell.defined() || !cell.object().is_cell())
      throw ValueError(
          "The RNN cell should have a `state_size` attribute (tuple of integers, one integer per RNN state). Received: "
          "cell=" +
          (cell.defined() ? cell.name() : "None"));
  }
  void build(const Nest& inputs) {
    build_cell(cell, inputs, options.time_major);
    if (cell.as<StackedRNNCellsLayer>()) cell.object().built_shapes.clear();  // not in Keras's configuration
  }
  Nest call(const Nest& inputs, const CallArgs& args) {
    Nest result = run_layer(cell, settings_of(options), states, inputs, args);
    return options.return_state && cell.as<StackedRNNCellsLayer>() ? by_cells(result) : result;
  }
  /// The output, and for each cell its state, or the list of its states.
  Nest by_cells(const Nest& result) const {
    std::vector<Nest> all = {result[0]};
    auto next = result.items().begin() + 1;
    for (const Layer& one : cell.as<StackedRNNCellsLayer>()->cells) {
      const auto count = static_cast<std::ptrdiff_t>(one.object().state_size().size());
      std::vector<Nest> states_of_cell(next, next + count);
      all.push_back(count == 1 ? states_of_cell[0] : Nest::list(std::move(states_of_cell)));
      next += count;
    }
    return Nest::list(std::move(all));
  }
  Nest compute_mask(const Nest&, const Nest& mask) {
    return sequence_mask(mask, settings_of(options), cell.object().state_size().size());
  }
  void reset_states() { states.reset(); }
  void complete_config(Value& config) const {
    complete_sequence_config(config);
    config.erase("activity_regularizer");
  }
};

}  // namespace

RNNCell StackedRNNCells(const std::vector<RNNCell>& cells, const StackedRNNCellsOptions& options) {
  return StackedRNNCellsLayer{std::vector<Layer>(cells.begin(), cells.end()), options};
}
Layer RNN(const CellOrCells& cell, const RNNOptions& options) { return RNNLayer{cell.cell(), options}; }

}  // namespace thalweg::keras::layers
