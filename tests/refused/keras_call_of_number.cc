// error: call() takes tensors: Tensor, Nest, or a vector, map, tuple or plain struct of tensors
#include <thalweg/thalweg.h>

namespace keras = thalweg::keras;
using thalweg::Tensor;

struct Repeat {
  Tensor call(int x) { return x; }
};
keras::Layer layer = Repeat{};
