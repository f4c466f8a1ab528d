// error: call() takes at least the inputs: `Tensor call(const Tensor& x)`
#include <thalweg/thalweg.h>

namespace keras = thalweg::keras;
using thalweg::Tensor;

struct One {
  Tensor call() { return 1.0f; }
};
keras::Layer layer = One{};
