// error: compute_output_shape() takes the shape of the input, `Shape compute_output_shape(const Shape& input)`
#include <thalweg/thalweg.h>

namespace keras = thalweg::keras;
using thalweg::Tensor;

struct Twice {
  Tensor call(const Tensor& x) { return x + x; }
  thalweg::Shape compute_output_shape(const Tensor& x) { return x.shape(); }
};
keras::Layer layer = Twice{};
