// error: compute_mask() takes inputs and their masks: `Nest compute_mask(const Nest& inputs, const Nest& mask)`
#include <thalweg/thalweg.h>

namespace keras = thalweg::keras;
using thalweg::Tensor;

struct Twice {
  Tensor call(const Tensor& x) { return x + x; }
  thalweg::Nest compute_mask(const thalweg::Nest& mask) { return mask; }
};
keras::Layer layer = Twice{};
