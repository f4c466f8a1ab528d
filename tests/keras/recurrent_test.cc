// What the rows of tests/keras_cases cannot say of recurrent layers: cells of the user's own, loops by hand, states
// over several batches, and results that do not depend on the number of threads.
#include <gtest/gtest.h>

#include "thalweg/autodiff/gradient_tape.h"
#include "thalweg/core/error.h"
#include "thalweg/core/threads.h"
#include "thalweg/graph/function.h"
#include "thalweg/keras/functional.h"
#include "thalweg/keras/layers.h"
#include "thalweg/keras/model.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_elementary.h"
#include "thalweg/ops/matmul.h"
#include "thalweg/ops/random.h"
#include "thalweg/ops/reduction.h"

namespace thalweg::keras {
namespace {

/// A cell as users write it: half of what came in stays.
struct Decay {
  int64_t units = 3;
  int64_t state_size = 3, output_size = 3;
  Variable kernel = {};
  void build(const Shape& input) { kernel = add_weight({input[-1], units}, {.initializer = "ones"}); }
  std::pair<Tensor, std::vector<Tensor>> call(const Tensor& x, const std::vector<Tensor>& states) {
    Tensor h = 0.5f * states[0] + matmul(x, kernel);
    return {2.0f * h, {h}};
  }
};
/// The same for one state that comes without a list.
struct Sum {
  int64_t state_size = 2;
  std::tuple<Tensor, Tensor> call(const Tensor& x, const Tensor& state) { return {x + state, x + state}; }
};

/// A cell of two inputs, two outputs and two states.
struct Pair {
  int64_t rows = 2, columns = 3;
  Variable kernel = {};
  struct Step {
    Tensor vector, matrix;  // [batch, rows], [batch, rows, columns]
  };
  std::vector<Shape> state_size() const { return {{rows}, {rows, columns}}; }
  std::vector<Shape> output_size() const { return {{rows, columns}, {rows}}; }
  void build(const std::vector<Shape>& inputs) {
    kernel = add_weight({inputs.at(0)[-1], columns}, {.initializer = "ones"});  // matrix, vector: sorted
  }
  std::pair<Step, std::vector<Tensor>> call(const Step& x, const std::vector<Tensor>& states) {
    Tensor sum = x.vector + states[0], product = matmul(x.matrix, kernel) + states[1];
    return {Step{.vector = sum, .matrix = product}, {sum, product}};
  }
};

double largest(const Tensor& x) { return reduce_max(x).item<double>(); }
double distance(const Tensor& a, const Tensor& b) {
  Tensor difference = a - b;
  return largest(difference * difference);
}

TEST(Recurrent, RunsCellsOfTheUser) {
  Layer layer = layers::RNN(Decay{}, {.return_sequences = true, .return_state = true});
  Tensor x = ones({2, 4, 5});
  auto [outputs, state] = layer.call<2>(x);
  EXPECT_EQ(outputs.shape(), Shape({2, 4, 3}));
  EXPECT_EQ(outputs(0, 0, 0).item<float>(), 10.0f);
  EXPECT_EQ(outputs(1, 3, 2).item<float>(), 2 * state(1, 2).item<float>());
  EXPECT_EQ(state(0, 0).item<float>(), 5.0f + 2.5f + 1.25f + 0.625f);
  EXPECT_EQ(layer.trainable_weights().size(), 1u);
  EXPECT_EQ(layer.weights()[0].name(), "rnn/decay/kernel:0");

  Layer bare = layers::RNN(Sum{});
  EXPECT_EQ(bare(ones({1, 6, 2}))(0, 1).item<float>(), 6.0f);
}

TEST(Recurrent, RunsCellsOfSeveralInputs) {
  Layer layer = layers::RNN(Pair{}, {.return_sequences = true, .return_state = true});
  std::map<std::string, Tensor> x = {{"vector", ones({4, 5, 2})}, {"matrix", ones({4, 5, 2, 3})}};
  auto traced = function([&](const std::map<std::string, Tensor>& in) { return layer.invoke(in).flatten(); });
  EXPECT_TRUE(layer.invoke(x)[0].is_dict());
  for (const std::vector<Tensor>& result : {layer.invoke(x).flatten(), traced(x)}) {
    ASSERT_EQ(result.size(), 4u);  // matrix and vector, then the states
    EXPECT_EQ(result[0].shape(), Shape({4, 5, 2, 3}));
    EXPECT_EQ(result[1].shape(), Shape({4, 5, 2}));
    EXPECT_EQ(result[0](3, 4, 1, 2).item<float>(), 15.0f);
    EXPECT_EQ(result[2](0, 0).item<float>(), 5.0f);
    EXPECT_EQ(result[3](0, 0, 0).item<float>(), 15.0f);
  }
  // The last outputs alone, of sequences in a model and beside states.
  Layer last = layers::RNN(Pair{});
  Nest inputs = {{"vector", Input({unknown, 2})}, {"matrix", Input({unknown, 2, 3})}};
  Model model(inputs, last.invoke(inputs));
  Nest outputs = model.invoke(x);
  EXPECT_EQ(outputs.at("vector").tensor()(0, 0).item<float>(), 5.0f);
  outputs = last.invoke(Nest::list({x, ones({4, 2}), zeros({4, 2, 3})}));
  EXPECT_EQ(outputs.at("vector").tensor()(0, 0).item<float>(), 6.0f);
  Nest short_matrix = {{"vector", ones({4, 5, 2})}, {"matrix", ones({4, 3, 2, 3})}};
  EXPECT_THROW(last.invoke(short_matrix), ValueError);
}

TEST(Recurrent, CallsCellsByHand) {
  auto cell = layers::LSTMCell(3);
  Tensor x = random::normal({2, 4, 5});
  std::vector<Tensor> states = cell.zero_state(2);
  ASSERT_EQ(states.size(), 2u);
  Tensor output;
  for (int t = 0; t < 4; ++t) {
    auto [now, next] = cell(x(all, t), states);
    output = now;
    states = next;
  }
  Layer layer = layers::RNN(cell);
  EXPECT_LT(distance(layer(x), output), 1e-10);
  EXPECT_EQ(cell.get_initial_state({.inputs = x})[1].shape(), Shape({2, 3}));
  EXPECT_THROW(cell.get_initial_state({}), ValueError);
}

TEST(Recurrent, TypedCellsReturnWhatTheirStructSays) {
  auto cell = layer(Decay{});
  auto [output, states] = cell(ones({1, 5}), {zeros({1, 3})});
  EXPECT_EQ(output(0, 0).item<float>(), 10.0f);
  EXPECT_EQ(states.size(), 1u);
  EXPECT_EQ(cell->units, 3);
}

TEST(Recurrent, StacksCells) {
  Layer layer = layers::RNN({layers::GRUCell(4), layers::LSTMCell(3)}, {.return_state = true});
  std::vector<Tensor> all = layer.invoke(random::normal({2, 3, 5})).flatten();
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].shape(), Shape({2, 3}));
  EXPECT_EQ(all[1].shape(), Shape({2, 4}));
  EXPECT_EQ(layer.weights().size(), 6u);
}

TEST(Recurrent, TakesSequencesOfAnyLengthInOneTrace) {
  for (Layer layer : {layers::LSTM(3), layers::GRU(3), layers::SimpleRNN(3)}) {
    layer.build(Shape({unknown, unknown, 2}));
    auto traced = function([&](const Tensor& x) { return layer(x); },
                           {.input_signature = {{TensorSpec({unknown, unknown, 2}, DType::float32)}}});
    for (int64_t length : {1, 5, 2, 0}) {
      Tensor x = random::normal({3, length, 2});
      EXPECT_LT(distance(traced(x), layer(x)), 1e-10) << layer.name() << " of length " << length;
    }
  }
}

TEST(Recurrent, GradientsOfTracedLoopsAreThoseOfSteps) {
  for (bool has_dropout : {false, true}) {
    Layer layer = layers::GRU(3, {.dropout = has_dropout ? 1e-12 : 0.0});
    Tensor x = random::normal({2, 6, 4});
    auto gradients = [&](const Tensor& in) {
      GradientTape tape;
      Tensor loss = reduce_sum(square(layer(in, {.training = true})));
      return tape.gradient(loss, layer.trainable_weights());
    };
    layer(x);
    auto traced = function([&](const Tensor& in) { return gradients(in); });
    std::vector<Tensor> ours = gradients(x), theirs = traced(x);
    ASSERT_EQ(ours.size(), theirs.size());
    for (size_t i = 0; i < ours.size(); ++i) EXPECT_LT(distance(ours[i], theirs[i]), 1e-8);
  }
}

TEST(Recurrent, DropsTheSameValuesAtEachStep) {
  for (bool is_traced : {false, true}) {
    // One unit per value, no recurrence: what is dropped shows as it is.
    Layer layer = layers::SimpleRNN(8, {.activation = "linear",
                                        .use_bias = false,
                                        .kernel_initializer = "identity",
                                        .recurrent_initializer = "zeros",
                                        .dropout = 0.5,
                                        .return_sequences = true});
    Tensor x = ones({4, 6, 8});
    layer(x);
    auto traced = function([&](const Tensor& in) { return layer(in, {.training = true}); });
    Tensor y = is_traced ? traced(x) : layer(x, {.training = true});
    for (int t = 1; t < 6; ++t) EXPECT_EQ(distance(y(all, t), y(all, 0)), 0.0);
    Tensor again = is_traced ? traced(x) : layer(x, {.training = true});
    EXPECT_GT(distance(again, y), 0.0);
  }
}

TEST(Recurrent, KeepsStatesOverBatches) {
  Layer stateful = layers::LSTM(3, {.stateful = true}), whole = layers::LSTM(3);
  Tensor x = random::normal({2, 6, 4});
  stateful(x(all, slice(0, 2)));
  whole(x);
  whole.set_weights(stateful.get_weights());
  stateful.reset_states();
  auto step = function([&](const Tensor& in) { return stateful(in); });
  step(x(all, slice(0, 2)));
  step(x(all, slice(2, 4)));
  Tensor last = step(x(all, slice(4, 6)));
  EXPECT_LT(distance(last, whole(x)), 1e-10);
  EXPECT_GT(distance(step(x(all, slice(4, 6))), last), 1e-8);
  stateful.reset_states();
  step(x(all, slice(0, 2)));
  step(x(all, slice(2, 4)));
  EXPECT_EQ(distance(step(x(all, slice(4, 6))), last), 0.0);
  EXPECT_EQ(stateful.weights().size(), 3u);
}

TEST(Recurrent, HasTheSameBitsAtAnyNumberOfThreads) {
  const int before = num_threads();
  for (Layer layer : {layers::LSTM(32), layers::GRU(32), layers::Bidirectional(layers::SimpleRNN(16))}) {
    Tensor x = random::normal({16, 12, 24});
    layer(x);
    auto run = [&] {
      GradientTape tape;
      Tensor y = layer(x);
      std::vector<Tensor> all = tape.gradient(reduce_sum(square(y)), layer.trainable_weights());
      all.push_back(y);
      return all;
    };
    set_num_threads(1);
    std::vector<Tensor> one = run();
    set_num_threads(2);
    std::vector<Tensor> two = run();
    for (size_t i = 0; i < one.size(); ++i) EXPECT_EQ(distance(one[i], two[i]), 0.0) << layer.name();
  }
  set_num_threads(before);
}

TEST(Recurrent, RefusesWhatDoesNotFit) {
  EXPECT_THROW(layers::LSTM(0), ValueError);
  EXPECT_THROW(layers::RNN(layers::Dense(3)), ValueError);
  EXPECT_THROW(layers::LSTM(3)(ones({2, 3})), ValueError);
  EXPECT_THROW(layers::GRU(3)(ones({2, 4, 5}), {.initial_state = {zeros({2, 4})}}), ValueError);
  EXPECT_THROW(layers::Bidirectional(layers::Dense(3)), ValueError);
  EXPECT_THROW(layers::MultiHeadAttention(2, 4)(ones({2, 3, 4})), TypeError);
}

}  // namespace
}  // namespace thalweg::keras
