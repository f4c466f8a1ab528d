#include "thalweg/keras/layers/axes.h"
#include "thalweg/keras/layers/normalization.h"
#include "thalweg/ops/autocast.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/matmul.h"
#include "thalweg/ops/norms.h"
#include "thalweg/ops/random.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/selection.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::keras::layers {
namespace {

struct SpectralNormalizationLayer {
  Layer layer = {};
  SpectralNormalizationOptions options = {};
  Variable vector_u = {};
  std::shared_ptr<InputSpec> spec = {};

  void check() {
    if (options.power_iterations <= 0)
      throw ValueError("`power_iterations` should be greater than zero. Received: `power_iterations=" +
                       std::to_string(options.power_iterations) + "`");
  }
  void build(const Shape& input) {
    if (!layer.built()) {
      layer.build(input);
      layer.object().built_shapes.clear();  // Keras does not write them either
    }
    const Variable weight = kernel();
    vector_u = add_weight(
        {1, weight.shape()[-1]},
        {.dtype = weight.dtype(),
         .initializer = [](const Shape& shape,
                           DType dtype) { return random::truncated_normal(shape, {.stddev = 0.02, .dtype = dtype}); },
         .trainable = false});
    Shape any_batch = input;
    any_batch[0] = unknown;
    spec = std::make_shared<InputSpec>(InputSpec{.shape = any_batch});
  }
  std::vector<InputSpec> input_spec() const { return spec ? std::vector{*spec} : std::vector<InputSpec>(); }
  Tensor call(const Tensor& x, const CallArgs& args) {
    if (args.training) normalize();
    return layer(x);
  }
  Shape compute_output_shape(const Shape& input) { return layer.compute_output_shape(input); }

  Variable kernel() const {
    for (const char* wanted : {"kernel", "embeddings"})
      for (const auto& [path, variable] : list_variables(*layer.get()))
        if (path == wanted) return variable;
    throw ValueError(layer.class_name() + " object has no attribute 'kernel' nor 'embeddings'");
  }
  // Power iteration: u becomes the singular vector of the largest singular value. A kernel of zeros stays.
  void normalize() const {
    AutocastScope as_kept(DType::invalid);
    const Variable weight = kernel();
    Tensor whole = weight.value();
    Tensor rows = reshape(whole, Tensor(std::vector<int64_t>{-1, weight.shape()[-1]}));
    Tensor u = vector_u.value(), v;
    for (int64_t i = 0; i < options.power_iterations; ++i) {
      v = math::l2_normalize(matmul(u, rows, {.transpose_b = true}));
      u = math::l2_normalize(matmul(v, rows));
    }
    Tensor sigma = matmul(matmul(v, rows), u, {.transpose_b = true});
    Tensor is_zero = reduce_all(equal(rows, zeros_like(rows)));
    vector_u.assign(where(is_zero, vector_u.value(), u));
    weight.assign(whole / reshape(where(is_zero, ones_like(sigma), sigma), Tensor(std::vector<int64_t>())));
  }
};

}  // namespace

Layer SpectralNormalization(const Layer& layer, const SpectralNormalizationOptions& options) {
  return SpectralNormalizationLayer{layer, options};
}

}  // namespace thalweg::keras::layers
