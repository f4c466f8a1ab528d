#include "thalweg/ops/activation.h"

#include <cmath>

#include "thalweg/core/error.h"
#include "thalweg/kernels/scalar_math.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/division.h"
#include "thalweg/ops/elementwise.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_elementary.h"
#include "thalweg/ops/math_rounding.h"
#include "thalweg/ops/math_special.h"
#include "thalweg/ops/selection.h"

namespace thalweg {
namespace {

namespace scalar = kernels::scalar;

struct LeakyReluAttrs {
  float alpha = 0.2f;
};
// Self-normalising: chosen so that mean 0 and variance 1 are a fixed point.
constexpr double selu_scale = 1.0507009873554804934193349852946;
constexpr double selu_scale_alpha = 1.7580993408473768599402175208123;

const Op& ReluGrad = define_op({
    .name = "ReluGrad",
    .doc = "gradients where features > 0, else 0.",
    .signature = "gradients: T, features: T -> backprops: T",
    .infer = infer::same_shape,
    .kernel = kernel::binary<real_types>([](auto g, auto x) {
      using T = decltype(x);
      return static_cast<T>(g * T(x > T(0)));  // NaN stays NaN
    }),
    .grad =
        [](GradCall& g) {
          g.input_grad(0, nn::relu_grad(g.output_grad(), g.input(1)));
          g.input_grad(1, zeros_like(g.input(1)));
        },
    .grad_reads = reads::inputs<1>,
    .traits = elementwise,
});

const Op& Relu = define_op({
    .name = "Relu",
    .doc = "max(x, 0); the derivative at 0 is 0; NaN stays NaN.",
    .signature = "features: T -> activations: T",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<real_types>([](auto x) {
      using T = decltype(x);
      return x < T(0) ? T(0) : x;
    }),
    .grad = [](GradCall& g) { g.input_grad(0, nn::relu_grad(g.output_grad(), g.output())); },
    .grad_reads = reads::outputs<0>,
    .traits = {.elementwise = true, .twice = Twice::is_once},
});

const Op& Relu6Grad = define_op({
    .name = "Relu6Grad",
    .doc = "gradients where 0 < features < 6, else 0.",
    .signature = "gradients: T, features: T -> backprops: T",
    .infer = infer::same_shape,
    .kernel = kernel::binary<real_types>([](auto g, auto x) {
      using T = decltype(x);
      return static_cast<T>(g * T(x > T(0)) * T(x < T(6)));  // NaN stays NaN; `&&` would be a branch
    }),
    .grad =
        [](GradCall& g) {
          g.input_grad(0, apply1(g.op, {g.output_grad(), g.input(1)}));
          g.input_grad(1, zeros_like(g.input(1)));
        },
    .grad_reads = reads::inputs<1>,
    .traits = elementwise,
});

const Op& Relu6 = define_op({
    .name = "Relu6",
    .doc = "min(max(x, 0), 6).",
    .signature = "features: T -> activations: T",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<real_types>([](auto x) {
      using T = decltype(x);
      T low = x < T(0) ? T(0) : x;
      return low > T(6) ? T(6) : low;
    }),
    .grad = [](GradCall& g) { g.input_grad(0, apply1(Relu6Grad, {g.output_grad(), g.output()})); },
    .grad_reads = reads::outputs<0>,
    .traits = {.elementwise = true, .twice = Twice::is_once},
});

const Op& LeakyReluGrad = define_op({
    .name = "LeakyReluGrad",
    .doc = "gradients where features > 0, else alpha * gradients.",
    .signature = "gradients: T, features: T -> backprops: T",
    .attrs = attrs_of<LeakyReluAttrs>(),
    .infer = infer::same_shape,
    .kernel = kernel::binary<float_types, LeakyReluAttrs>([](auto g, auto x, const LeakyReluAttrs& a) {
      using T = decltype(x);
      return x > T(0) ? g : g * T(a.alpha);
    }),
    .grad =
        [](GradCall& g) {
          g.input_grad(0, apply1(g.op, {g.output_grad(), g.input(1)}, g.attrs()));
          g.input_grad(1, zeros_like(g.input(1)));
        },
    .grad_reads = reads::inputs<1>,
    .traits = elementwise,
});

const Op& LeakyRelu = define_op({
    .name = "LeakyRelu",
    .doc = "x above 0, alpha * x below.",
    .signature = "features: T -> activations: T",
    .attrs = attrs_of<LeakyReluAttrs>(),
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<float_types, LeakyReluAttrs>([](auto x, const LeakyReluAttrs& a) {
      using T = decltype(x);
      return x > T(0) ? x : x * T(a.alpha);
    }),
    .grad =
        [](GradCall& g) {
          g.input_grad(0, apply1(LeakyReluGrad, {g.output_grad(), g.input()}, g.attrs<LeakyReluAttrs>()));
        },
    .grad_reads = reads::all_inputs,
    .traits = elementwise,
});

const Op& EluGrad = define_op({
    .name = "EluGrad",
    .doc = "gradients * (outputs + 1) below 0, gradients above.",
    .signature = "gradients: T, outputs: T -> backprops: T",
    .infer = infer::same_shape,
    .kernel = kernel::binary<float_types>([](auto g, auto x) {
      using T = decltype(x);
      return x < T(0) ? (x + T(1)) * g : g;
    }),
    .grad =
        [](GradCall& g) {
          const Tensor &given = g.input(0), &elu = g.input(1), &grad = g.output_grad();
          if (g.wants(0)) g.input_grad(0, apply1(g.op, {grad, elu}));
          if (g.wants(1)) g.input_grad(1, where(less(elu, 0), grad * given, zeros_like(elu)));
        },
    .grad_reads = reads::all_inputs,
    .traits = elementwise,
});

const Op& Elu = define_op({
    .name = "Elu",
    .doc = "x above 0, exp(x) - 1 below.",
    .signature = "features: T -> activations: T",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<float_types>([](auto x) {
      using T = decltype(x);
      return x < T(0) ? scalar::expm1(x) : x;
    }),
    .grad = [](GradCall& g) { g.input_grad(0, apply1(EluGrad, {g.output_grad(), g.output()})); },
    .grad_reads = reads::outputs<0>,
    .traits = elementwise,
});

const Op& SeluGrad = define_op({
    .name = "SeluGrad",
    .doc = "The gradient of selu from its outputs.",
    .signature = "gradients: T, outputs: T -> backprops: T",
    .infer = infer::same_shape,
    .kernel = kernel::binary<float_types>([](auto g, auto x) {
      using T = decltype(x);
      return x < T(0) ? g * (x + T(selu_scale_alpha)) : g * T(selu_scale);
    }),
    .grad =
        [](GradCall& g) {
          const Tensor &given = g.input(0), &selu = g.input(1), &grad = g.output_grad();
          if (g.wants(0)) g.input_grad(0, apply1(g.op, {grad, selu}));
          if (g.wants(1)) g.input_grad(1, where(less(selu, 0), grad * given, zeros_like(selu)));
        },
    .grad_reads = reads::all_inputs,
    .traits = elementwise,
});

const Op& Selu = define_op({
    .name = "Selu",
    .doc = "The self-normalising activation: scaled x above 0, a scaled exponential below.",
    .signature = "features: T -> activations: T",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<float_types>([](auto x) {
      using T = decltype(x);
      return x < T(0) ? T(selu_scale_alpha) * scalar::expm1(x) : T(selu_scale) * x;
    }),
    .grad = [](GradCall& g) { g.input_grad(0, apply1(SeluGrad, {g.output_grad(), g.output()})); },
    .grad_reads = reads::outputs<0>,
    .traits = elementwise,
});

const Op& SoftplusGrad = define_op({
    .name = "SoftplusGrad",
    .doc = "gradients * sigmoid(features).",
    .signature = "gradients: T, features: T -> backprops: T",
    .infer = infer::same_shape,
    .kernel = kernel::binary<float_types>([](auto g, auto x) {
      using T = decltype(x);
      return g / (scalar::exp(-x) + T(1));
    }),
    .grad =
        [](GradCall& g) {
          const Tensor &given = g.input(0), &x = g.input(1), &grad = g.output_grad();
          if (g.wants(0)) g.input_grad(0, apply1(g.op, {grad, x}));
          if (g.wants(1)) g.input_grad(1, grad * given / (exp(-x) + 2 + exp(x)));
        },
    .grad_reads = reads::all_inputs,
    .traits = elementwise,
});

const Op& Softplus = define_op({
    .name = "Softplus",
    .doc = "log(exp(x) + 1), without overflow.",
    .signature = "features: T -> activations: T",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<float_types>([](auto x) { return scalar::softplus(x); }),
    .grad = [](GradCall& g) { g.input_grad(0, apply1(SoftplusGrad, {g.output_grad(), g.input()})); },
    .grad_reads = reads::all_inputs,
    .traits = elementwise,
});

const Op& SoftsignGrad = define_op({
    .name = "SoftsignGrad",
    .doc = "gradients / (1 + |features|)^2.",
    .signature = "gradients: T, features: T -> backprops: T",
    .infer = infer::same_shape,
    .kernel = kernel::binary<float_types>([](auto g, auto x) {
      using T = decltype(x);
      T d = T(1) + std::abs(x);
      return g / (d * d);
    }),
    .grad =
        [](GradCall& g) {
          const Tensor &given = g.input(0), &x = g.input(1), &grad = g.output_grad();
          if (g.wants(0)) g.input_grad(0, apply1(g.op, {grad, x}));
          if (g.wants(1)) g.input_grad(1, -2 * grad * given * sign(x) / pow(1 + abs(x), 3));
        },
    .grad_reads = reads::all_inputs,
    .traits = elementwise,
});

const Op& Softsign = define_op({
    .name = "Softsign",
    .doc = "x / (|x| + 1).",
    .signature = "features: T -> activations: T",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<float_types>([](auto x) {
      using T = decltype(x);
      return x / (std::abs(x) + T(1));
    }),
    .grad = [](GradCall& g) { g.input_grad(0, apply1(SoftsignGrad, {g.output_grad(), g.input()})); },
    .grad_reads = reads::all_inputs,
    .traits = elementwise,
});

}  // namespace

namespace nn {

Tensor relu(const Tensor& features) { return apply1(Relu, {features}); }
Tensor relu_grad(const Tensor& gradients, const Tensor& features) { return apply1(ReluGrad, {gradients, features}); }
Tensor relu6(const Tensor& features) { return apply1(Relu6, {features}); }
Tensor leaky_relu(const Tensor& features, const LeakyReluOptions& options) {
  Tensor real = is_integer(features.dtype()) ? cast(features, float32) : features;
  return apply1(LeakyRelu, {real}, LeakyReluAttrs{static_cast<float>(options.alpha)});
}
Tensor elu(const Tensor& features) { return apply1(Elu, {features}); }
Tensor selu(const Tensor& features) { return apply1(Selu, {features}); }
Tensor softsign(const Tensor& features) { return apply1(Softsign, {features}); }
Tensor crelu(const Tensor& features, const CreluOptions& options) {
  return relu(concat(std::vector<Tensor>{features, -features}, options.axis));
}
Tensor silu(const Tensor& features, const SiluOptions& options) {
  return features * sigmoid(options.beta == 1.0 ? features : options.beta * features);
}
// TensorFlow rounds two of the constants to float32, whatever the dtype of the features.
Tensor gelu(const Tensor& features, const GeluOptions& options) {
  if (!is_floating(features.dtype()))
    throw ValueError("gelu: features must be a floating-point tensor, got " + std::string(name_of(features.dtype())));
  if (options.approximate) {
    constexpr double root_two_over_pi = 0.7978845608028654, cubic = 0.044715f;
    return 0.5 * features * (1.0 + tanh(root_two_over_pi * (features + cubic * thalweg::pow(features, 3))));
  }
  constexpr double root_two = 1.4142135623730951f;
  return 0.5 * features * (1.0 + math::erf(features / root_two));
}

}  // namespace nn

Tensor math::softplus(const Tensor& features) { return apply1(Softplus, {features}); }

namespace {
const FunctionDef* const activation_functions[] = {
    &define_function<nn::relu>({"nn.relu"}, {"features"}),
    &define_function<nn::relu6>({"nn.relu6"}, {"features"}),
    &define_function<Tensor(const Tensor&, const LeakyReluOptions&), nn::leaky_relu>({"nn.leaky_relu"}, {"features"}),
    &define_function<nn::elu>({"nn.elu"}, {"features"}),
    &define_function<nn::selu>({"nn.selu"}, {"features"}),
    &define_function<nn::softsign>({"nn.softsign", "math.softsign"}, {"features"}),
    &define_function<nn::crelu>({"nn.crelu"}, {"features"}),
    &define_function<nn::silu>({"nn.silu", "nn.swish"}, {"features"}),
    &define_function<nn::gelu>({"nn.gelu"}, {"features"}),
    &define_function<math::softplus>({"math.softplus", "nn.softplus"}, {"features"}),
};
}  // namespace

}  // namespace thalweg
