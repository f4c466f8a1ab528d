#include "thalweg/keras/activations.h"

#include "thalweg/core/companion.h"
#include "thalweg/core/error.h"
#include "thalweg/core/format.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/losses.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_elementary.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/selection.h"

namespace thalweg::keras {

Activation::Activation(Tensor (*softmax)(const Tensor& x, const nn::SoftmaxOptions& options))
    : FunctionHandle(softmax) {}
Activation::Activation(Tensor (*leaky_relu)(const Tensor& x, const LeakyReluOptions& options))
    : FunctionHandle(leaky_relu) {}

}  // namespace thalweg::keras

namespace thalweg::keras::activations {

namespace {
/// Losses of probabilities compute from the logits where these are known.
Tensor with_logits(const Tensor& probabilities, const Tensor& logits) {
  set_companion(probabilities, logits, Companion::logits);
  return probabilities;
}
}  // namespace

Tensor linear(const Tensor& x) { return x; }

Tensor relu(const Tensor& x, const ReluOptions& options) {
  const auto& [alpha, max_value, threshold] = options;
  if (alpha != 0 && !max_value && threshold == 0) return nn::leaky_relu(x, {.alpha = alpha});
  Tensor positive = threshold != 0   ? x * cast(greater(x, threshold), x.dtype())
                    : max_value == 6 ? nn::relu6(x)
                                     : nn::relu(x);
  if (max_value && (threshold != 0 || *max_value != 6)) positive = clip_by_value(positive, 0.0, *max_value);
  if (alpha == 0) return positive;
  return positive - alpha * nn::relu(threshold != 0 ? threshold - x : -x);
}
Tensor relu6(const Tensor& x) { return nn::relu6(x); }
Tensor leaky_relu(const Tensor& x, const LeakyReluOptions& options) { return nn::leaky_relu(x, options); }
Tensor elu(const Tensor& x, const EluOptions& options) {
  Tensor made = nn::elu(x);
  return options.alpha == 1 ? made : where(greater(x, 0.0), made, options.alpha * made);
}
Tensor selu(const Tensor& x) { return nn::selu(x); }
Tensor gelu(const Tensor& x, const GeluOptions& options) { return nn::gelu(x, options); }
Tensor swish(const Tensor& x) { return nn::silu(x); }
Tensor silu(const Tensor& x) { return nn::silu(x); }
Tensor mish(const Tensor& x) { return x * thalweg::tanh(nn::softplus(x)); }
Tensor sigmoid(const Tensor& x) { return with_logits(thalweg::sigmoid(x), x); }
Tensor hard_sigmoid(const Tensor& x) { return clip_by_value(x * 0.2 + 0.5, 0.0, 1.0); }
Tensor tanh(const Tensor& x) { return thalweg::tanh(x); }
Tensor softplus(const Tensor& x) { return nn::softplus(x); }
Tensor softsign(const Tensor& x) { return nn::softsign(x); }
Tensor exponential(const Tensor& x) { return exp(x); }

Tensor softmax(const Tensor& x, const SoftmaxOptions& options) {
  if (x.shape().has_rank() && x.shape().rank() <= 1)
    throw ValueError("Cannot apply softmax to a tensor that is 1D. Received input: " +
                     (x.is_symbolic()
                          ? "shape " + x.shape().str()
                          : format_values(x.dtype(), x.shape(), x.mutable_data<const void>(), FormatStyle::str)));
  if (options.axis.is_single()) return with_logits(nn::softmax(x, {.axis = options.axis.axes()[0]}), x);
  Tensor powers = exp(x - reduce_max(x, {.axis = options.axis, .keepdims = true}));
  return with_logits(powers / reduce_sum(powers, {.axis = options.axis, .keepdims = true}), x);
}
Tensor log_softmax(const Tensor& x) { return nn::log_softmax(x); }

namespace {
using Interface = Activation::Interface;
const bool activations_names[] = {
    register_named<Interface, linear>("linear"),     register_named<Interface, relu>("relu"),
    register_named<Interface, relu6>("relu6"),       register_named<Interface, leaky_relu>("leaky_relu"),
    register_named<Interface, elu>("elu"),           register_named<Interface, selu>("selu"),
    register_named<Interface, gelu>("gelu"),         register_named<Interface, swish>("swish"),
    register_named<Interface, silu>("silu"),         register_named<Interface, mish>("mish"),
    register_named<Interface, sigmoid>("sigmoid"),   register_named<Interface, hard_sigmoid>("hard_sigmoid"),
    register_named<Interface, tanh>("tanh"),         register_named<Interface, softplus>("softplus"),
    register_named<Interface, softsign>("softsign"), register_named<Interface, exponential>("exponential"),
    register_named<Interface, softmax>("softmax"),   register_named<Interface, log_softmax>("log_softmax"),
};
}  // namespace

}  // namespace thalweg::keras::activations
