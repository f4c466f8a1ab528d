// A recurrent network over any cell: a loop over time that is written as one.
#include <thalweg/thalweg.h>

#include <cstdio>

namespace tf = thalweg;
namespace keras = tf::keras;
namespace layers = keras::layers;
using tf::Tensor;

struct DynamicRNN {
  layers::RNNCell cell = {};

  std::pair<Tensor, std::vector<Tensor>> call(const Tensor& batch) {
    auto states = cell.get_initial_state({.batch_size = batch.shape()[0], .dtype = tf::float32});
    std::vector<Tensor> outputs;
    for (const Tensor& x : tf::unstack(batch, {.axis = 1})) {  // [batch, time, features]
      std::tie(outputs.emplace_back(), states) = cell(x, states);
    }
    return {tf::stack(outputs, {.axis = 1}), states};
  }
};

bool equal(const Tensor& a, const Tensor& b) { return bool(tf::reduce_max(tf::abs(a - b)) < 1e-6f); }

void show(const char* name, const layers::RNNCell& cell) {
  auto model = keras::model(DynamicRNN{.cell = cell});
  Tensor x = tf::sin(tf::reshape(tf::range(24.0f), {2, 4, 3}));
  auto [y, states] = model(x);
  auto [traced, _] = tf::function([=](const Tensor& batch) { return model(batch); })(x);
  auto layer = layers::RNN(cell, {.return_sequences = true});
  std::printf("%s: outputs %s, states %zu, the last value %.4f\n", name, y.shape().str().c_str(), states.size(),
              y(-1, -1, -1).item<double>());
  std::printf("  as a graph and as the layer: %s %s\n", equal(y, traced) ? "True" : "False",
              equal(y, layer(x)) ? "True" : "False");
}

int main() {
  keras::utils::set_random_seed(1);
  show("SimpleRNNCell", layers::SimpleRNNCell(2));
  show("LSTMCell", layers::LSTMCell(2));
  show("GRUCell", layers::GRUCell(2));
}
