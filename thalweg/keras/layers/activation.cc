#include "thalweg/keras/layers/activation.h"

#include "thalweg/core/error.h"
#include "thalweg/keras/activations.h"
#include "thalweg/ops/activation.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/clipping.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/losses.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_elementary.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/selection.h"

namespace thalweg::keras::layers {
namespace {

std::string text(const std::optional<float>& number) {
  return number ? Value(static_cast<double>(*number)).json() : "None";
}

struct ReLULayer {
  ReLUOptions options = {};
  void check() const {
    if (options.max_value && *options.max_value < 0)
      throw ValueError("max_value of a ReLU layer cannot be a negative value. Received: " + text(options.max_value));
    if (!options.negative_slope || *options.negative_slope < 0)
      throw ValueError("negative_slope of a ReLU layer cannot be a negative value. Received: " +
                       text(options.negative_slope));
    if (!options.threshold || *options.threshold < 0)
      throw ValueError("threshold of a ReLU layer cannot be a negative value. Received: " + text(options.threshold));
  }
  Tensor call(const Tensor& x) {
    const float slope = options.negative_slope.value_or(0), threshold = options.threshold.value_or(0);
    if (slope != 0 && !options.max_value && threshold == 0) return nn::leaky_relu(x, {.alpha = slope});
    Tensor y = threshold != 0 ? x * cast(x > threshold, x.dtype()) : nn::relu(x);
    if (options.max_value) y = clip_by_value(y, 0.0f, *options.max_value);
    if (slope != 0) y = y - slope * nn::relu(threshold != 0 ? threshold - x : -x);
    return y;
  }
  static constexpr bool supports_masking = true;
};

struct LeakyReLULayer {
  LeakyReLUOptions options = {};
  void check() const {
    if (!options.alpha)
      throw ValueError("The alpha value of a Leaky ReLU layer cannot be None, Expecting a float. Received: None");
  }
  Tensor call(const Tensor& x) {
    const float alpha = options.alpha.value_or(0);
    return alpha == 0 ? nn::relu(x) : nn::leaky_relu(x, {.alpha = alpha});
  }
  static constexpr bool supports_masking = true;
};

struct ELULayer {
  ELUOptions options = {};
  void check() const {
    if (!options.alpha) throw ValueError("Alpha of an ELU layer cannot be None, expecting a float. Received: None");
  }
  Tensor call(const Tensor& x) {
    const float alpha = options.alpha.value_or(1);
    Tensor y = nn::elu(x);
    return alpha == 1 ? y : where(x > 0.0f, y, alpha * y);
  }
  static constexpr bool supports_masking = true;
};

struct PReLULayer {
  PReLUOptions options = {};
  Variable alpha = {};

  void build(const Shape& input) {
    Shape shape = input;
    shape.erase(0);
    for (int64_t axis : options.shared_axes.axes()) {
      if (axis < 1 || axis > shape.rank())
        throw ValueError("shared_axes of a PReLU layer are axes of its input after the batch. Received: " +
                         std::to_string(axis) + " for inputs of shape " + input.str());
      shape[static_cast<int>(axis) - 1] = 1;
    }
    alpha = add_weight(shape, {.initializer = options.alpha_initializer,
                               .regularizer = options.alpha_regularizer,
                               .constraint = options.alpha_constraint});
  }
  InputSpec input_spec() const {
    if (!alpha.defined()) return {};
    InputSpec spec{.ndim = alpha.shape().rank() + 1};
    for (int i = 0; i < alpha.shape().rank(); ++i)
      if (alpha.shape()[i] != 1) spec.axes.emplace_back(i + 1, alpha.shape()[i]);
    return spec;
  }
  Tensor call(const Tensor& x) { return nn::relu(x) - alpha * nn::relu(-x); }
  static constexpr bool supports_masking = true;
};

struct SoftmaxLayer {
  SoftmaxOptions options = {};
  Tensor call(const Tensor& x, const CallArgs& args) {
    return masked_softmax(x, args.mask.is_tensor() ? args.mask.tensor() : Tensor(), options.axis);
  }
  static constexpr bool supports_masking = true;
};

struct ThresholdedReLULayer {
  ThresholdedReLUOptions options = {};
  void check() const {
    if (!options.theta)
      throw ValueError("Theta of a Thresholded ReLU layer cannot be None, expecting a float. Received: None");
    if (*options.theta < 0)
      throw ValueError("The theta value of a Thresholded ReLU layer should be >=0. Received: " + text(options.theta));
  }
  Tensor call(const Tensor& x) { return x * cast(x > options.theta.value_or(0), x.dtype()); }
  static constexpr bool supports_masking = true;
};

/// A layer in the place of an activation: `{"activation": {"class_name": "ReLU", "config": {"max_value": 6}}}`.
class LayerActivation : public keras::Activation::Interface {
 public:
  explicit LayerActivation(Layer layer) : layer_(std::move(layer)) {}
  Tensor call(const Tensor& x) override { return layer_(x); }
  std::string class_name() const override { return layer_.class_name(); }
  Value get_config() const override { return layer_.get_config(); }
  Value build_config() const override { return layer_.object().build_config(); }

 private:
  Layer layer_;
};
template <class T> bool register_activation(const char* name) {
  return register_class({ActivationTag::kind, name,
                         [](const Value& config) -> std::shared_ptr<Object> {
                           auto layer = std::static_pointer_cast<LayerInterface>(LayerInterface::make<T>(config));
                           return std::make_shared<LayerActivation>(Layer(layer));
                         },
                         []() -> const Rows& { return rows_of(keras::detail::example_of<T>()); },
                         [] { return rows_of(keras::detail::example_of<T>()).get(&keras::detail::example_of<T>()); }});
}
const bool as_activations[] = {
    register_activation<ReLULayer>("ReLU"),
    register_activation<LeakyReLULayer>("LeakyReLU"),
    register_activation<ELULayer>("ELU"),
    register_activation<SoftmaxLayer>("Softmax"),
    register_activation<ThresholdedReLULayer>("ThresholdedReLU"),
};

}  // namespace

Tensor masked_softmax(const Tensor& x, const Tensor& mask, const Axis& axis) {
  Tensor logits = x;
  if (mask.defined()) {
    // So far down that it makes 0 of exp, and still a number.
    const double low = x.dtype() == DType::float16 ? -65504.0 : -1e9;
    Tensor one = cast(Tensor(1.0f), x.dtype());
    logits = x + (one - cast(mask, x.dtype())) * cast(Tensor(low), x.dtype());
  }
  if (axis.axes().size() > 1) return exp(logits - reduce_logsumexp(logits, {.axis = axis, .keepdims = true}));
  return activations::softmax(logits, {.axis = axis.given() ? axis : Axis(-1)});
}

Layer ReLU(const ReLUOptions& options) { return ReLULayer{options}; }
Layer LeakyReLU(const LeakyReLUOptions& options) { return LeakyReLULayer{options}; }
Layer ELU(const ELUOptions& options) { return ELULayer{options}; }
Layer PReLU(const PReLUOptions& options) { return PReLULayer{options}; }
Layer Softmax(const SoftmaxOptions& options) { return SoftmaxLayer{options}; }
Layer ThresholdedReLU(const ThresholdedReLUOptions& options) { return ThresholdedReLULayer{options}; }

}  // namespace thalweg::keras::layers
