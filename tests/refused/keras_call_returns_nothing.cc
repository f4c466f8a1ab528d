// error: call() returns a Tensor, a Nest, or a vector, map, tuple or plain struct of tensors
#include <thalweg/thalweg.h>

namespace keras = thalweg::keras;
using thalweg::Tensor;

struct Silent {
  void call(const Tensor&) {}
};
keras::Layer layer = Silent{};
