// error: a layer is a struct with one member function `call`: `Tensor call(const Tensor& x)`
#include <thalweg/thalweg.h>

namespace keras = thalweg::keras;
using thalweg::Variable;

struct Scale {
  Variable scale = {};
};
void make() { keras::layer(Scale{}); }
