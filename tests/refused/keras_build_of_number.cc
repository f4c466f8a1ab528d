// error: build() takes the shape of the input, `void build(const Shape& input)`
#include <thalweg/thalweg.h>

namespace keras = thalweg::keras;
using thalweg::Tensor, thalweg::Variable;

struct Scale {
  Variable scale = {};
  void build(int features) { scale = keras::add_weight({features}); }
  Tensor call(const Tensor& x) { return x * scale; }
};
keras::Layer layer = Scale{};
