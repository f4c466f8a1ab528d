#include "thalweg/core/error.h"
#include "thalweg/keras/layers/core.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/einsum.h"
#include "thalweg/ops/losses.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/matmul.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::keras::layers {
namespace {

struct DenseLayer {
  int64_t units = 0;
  DenseOptions options = {};
  Variable kernel = {}, bias = {};

  void check() const {
    if (units < 0)
      throw ValueError("Received an invalid value for `units`, expected a positive integer. Received: units=" +
                       std::to_string(units));
  }
  void build(const Shape& input) {
    if (input[-1] < 0)
      throw ValueError(
          "The last dimension of the inputs to a Dense layer should be defined. Found None. Full input "
          "shape received: " +
          input.str());
    kernel = add_weight({input[-1], units}, {.initializer = options.kernel_initializer,
                                             .regularizer = options.kernel_regularizer,
                                             .constraint = options.kernel_constraint});
    if (options.use_bias)
      bias = add_weight({units}, {.initializer = options.bias_initializer,
                                  .regularizer = options.bias_regularizer,
                                  .constraint = options.bias_constraint});
  }
  InputSpec input_spec() const {
    InputSpec spec{.min_ndim = 2};
    if (kernel.defined()) spec.axes = {{-1, kernel.shape()[0]}};
    return spec;
  }
  Tensor call(const Tensor& inputs) {
    const Tensor weights = kernel;
    const Tensor x = inputs.dtype() == weights.dtype() ? inputs : cast(inputs, weights.dtype());  // integers
    Tensor y = x.rank() == 2 ? matmul(x, weights) : tensordot(x, weights, 1);
    if (bias.defined()) y = nn::bias_add(y, bias);
    return options.activation.defined() ? options.activation(y) : y;
  }
  Shape compute_output_shape(Shape input) {
    input[-1] = units;
    return input;
  }
  static constexpr bool supports_masking = true;
};

}  // namespace

Layer Dense(int64_t units, const DenseOptions& options) { return DenseLayer{units, options}; }

}  // namespace thalweg::keras::layers
