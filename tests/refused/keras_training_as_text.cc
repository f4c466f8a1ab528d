// error: no match for call to
#include <thalweg/thalweg.h>

namespace keras = thalweg::keras;
using thalweg::Tensor;

Tensor run(const keras::Layer& layer, const Tensor& x) { return layer(x, {.training = "yes"}); }
