// error: put configuration members before layers and weights: from_config gives them to the initialisers
#include <thalweg/thalweg.h>

namespace keras = thalweg::keras;
using thalweg::Tensor, thalweg::Variable;

struct Scale {
  Variable scale = {};
  int64_t units = 1;
  Tensor call(const Tensor& x) { return x * scale; }
};
keras::Layer layer = Scale{};
