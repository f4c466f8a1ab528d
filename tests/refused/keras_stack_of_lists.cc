// error: variables are not found in this class of the standard library: use std::vector
#include <thalweg/thalweg.h>

#include <queue>

namespace keras = thalweg::keras;
using thalweg::Tensor;

struct Model {
  std::queue<std::vector<keras::Layer>> layers = {};
  Tensor call(const Tensor& x) { return layers.front()[0](x); }
};
keras::Model model = Model{};
