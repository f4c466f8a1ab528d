// error: a layer takes over its struct: write `auto layer = keras::layer(MyLayer{...})`
#include <thalweg/thalweg.h>

namespace keras = thalweg::keras;
using thalweg::Tensor, thalweg::Variable;

struct Scale {
  Variable scale = {};
  Tensor call(const Tensor& x) { return x * scale; }
};
void make() {
  Scale scale;
  keras::Layer layer = scale;
}
