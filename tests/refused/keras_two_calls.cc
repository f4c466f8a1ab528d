// error: a model is a struct with one member function `call`: `Tensor call(const Tensor& x)`
#include <thalweg/thalweg.h>

namespace keras = thalweg::keras;
using thalweg::Tensor;

struct Sum {
  Tensor call(const Tensor& x) { return x; }
  Tensor call(const Tensor& x, const Tensor& y) { return x + y; }
};
void make() { keras::model(Sum{}); }
