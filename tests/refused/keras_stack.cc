// error: variables are not found in this class of the standard library: use std::vector
#include <thalweg/thalweg.h>

#include <stack>

namespace keras = thalweg::keras;
using thalweg::Tensor;

struct Model {
  std::stack<keras::Layer> layers = {};
  Tensor call(const Tensor& x) { return layers.top()(x); }
};
keras::Model model = Model{};
