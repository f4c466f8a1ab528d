// error: call() takes its inputs by value or by reference to const, for they are the caller's
#include <thalweg/thalweg.h>

namespace keras = thalweg::keras;
using thalweg::Tensor;

struct Twice {
  Tensor call(Tensor& x) { return x = x + x; }
};
keras::Layer layer = Twice{};
