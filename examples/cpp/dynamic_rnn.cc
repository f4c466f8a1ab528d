// A recurrent network over any cell: a loop over time that is written as one.
#include <thalweg/thalweg.h>

#include <iostream>

namespace tf = thalweg;
namespace keras = tf::keras;
namespace layers = keras::layers;
using tf::Tensor;

std::pair<Tensor, std::vector<Tensor>> run(const layers::RNNCell& cell, const Tensor& batch) {
  Tensor input = tf::transpose(batch, {.perm = {1, 0, 2}});  // [time, batch, features]
  auto states = cell.zero_state(batch.shape()[0]);
  std::vector<Tensor> outputs;
  for (const Tensor& x : input) {
    Tensor output;
    std::tie(output, states) = cell(x, states);
    outputs.push_back(output);
  }
  return {tf::transpose(tf::stack(outputs), {.perm = {1, 0, 2}}), states};
}

void show(const char* name, const layers::RNNCell& cell, const Tensor& x) {
  auto [y, states] = run(cell, x);
  Tensor layer = layers::RNN(cell, {.return_sequences = true})(x);
  std::cout << name << ": outputs " << y.shape() << ", " << states.size()
            << " state(s), as the layer: " << std::boolalpha
            << (tf::reduce_max(tf::abs(y - layer)).item<float>() < 1e-6f) << "\n";
}

int main() {
  keras::utils::set_random_seed(1);
  Tensor x = tf::sin(tf::reshape(tf::range(24.0f), {2, 4, 3}));
  show("SimpleRNNCell", layers::SimpleRNNCell(2), x);
  show("LSTMCell", layers::LSTMCell(2), x);
  show("GRUCell", layers::GRUCell(2), x);
}
