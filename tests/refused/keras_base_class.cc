// error: the members of a base class cannot be found: make it a member, or list them
#include <thalweg/thalweg.h>

namespace keras = thalweg::keras;
using thalweg::Tensor, thalweg::Variable;

struct Scale {
  Variable scale = {};
};
struct Shift : Scale {
  Variable shift = {};
  Tensor call(const Tensor& x) { return x * scale + shift; }
};
keras::Layer layer = Shift{};
