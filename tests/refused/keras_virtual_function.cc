// error: this class has private members, a constructor or virtual functions, so its weights and options cannot be found
#include <thalweg/thalweg.h>

namespace keras = thalweg::keras;
using thalweg::Tensor, thalweg::Variable;

struct Scale {
  Variable scale = {};
  virtual ~Scale() = default;
  virtual Tensor call(const Tensor& x) { return x * scale; }
};
keras::Layer layer = Scale{};
