#include <algorithm>

#include "thalweg/keras/call_context.h"
#include "thalweg/keras/layers/axes.h"
#include "thalweg/keras/layers/normalization.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/normalization.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::keras::layers {
namespace {

struct BatchNormalizationLayer {
  BatchNormalizationOptions options = {};
  Variable gamma = {}, beta = {}, moving_mean = {}, moving_variance = {};
  std::shared_ptr<InputSpec> spec = {};  // of the inputs, once the first is known

  void build(const Shape& input) {
    const std::vector<int64_t> axes = resolve_axes(options.axis, input);
    options.axis = axes;
    for (int64_t a : axes)
      if (input[static_cast<int>(a)] < 0)
        throw ValueError("Input has undefined `axis` dimension. Received input with shape " + input.str() +
                         " and axis=" + Shape(axes).str());
    const Shape shape = axes.size() == 1 ? Shape{input[static_cast<int>(axes[0])]} : Shape(broadcast_dims(input, axes));
    // Half precision is too coarse for averages.
    const DType own = detail::CallContext::current()->layer().policy.variable_dtype();
    const DType dtype = is_half(own) ? DType::float32 : own;
    gamma = add_gamma(shape, options, {.dtype = dtype, .autocast = false});
    beta = add_beta(shape, options, {.dtype = dtype, .autocast = false});
    auto average = [&](const Initializer& initializer) {
      return add_weight(shape, {.dtype = dtype, .initializer = initializer, .trainable = false, .autocast = false});
    };
    moving_mean = average(options.moving_mean_initializer);
    moving_variance = average(options.moving_variance_initializer);
    spec = std::make_shared<InputSpec>(InputSpec{.ndim = input.rank()});
    for (int64_t a : axes) spec->axes.emplace_back(static_cast<int>(a), input[static_cast<int>(a)]);
  }
  std::vector<InputSpec> input_spec() const { return spec ? std::vector{*spec} : std::vector<InputSpec>(); }

  Tensor call(const Tensor& x, const CallArgs& args) {
    const bool training = args.training && detail::CallContext::current()->layer().trainable;
    const std::string layout = fused_layout(x);
    return layout.empty() ? call_in_steps(x, args.mask, training) : call_fused(x, layout, training);
  }
  Shape compute_output_shape(const Shape& input) { return input; }
  void complete_config(Value& config) const { config.erase("synchronized"); }  // as Keras leaves it out
  static constexpr bool supports_masking = true;

  // The layout for the fused kernel, or nothing where it does not fit.
  std::string fused_layout(const Tensor& x) const {
    const int rank = x.rank();
    if (options.axis.axes().size() != 1 || (rank != 4 && rank != 5) || x.dtype() == DType::float64) return {};
    const int64_t axis = options.axis.axes()[0];
    if (axis == rank - 1) return rank == 4 ? "NHWC" : "NDHWC";
    if (axis == 1) return rank == 4 ? "NCHW" : "NCDHW";
    return {};
  }
  Tensor call_fused(const Tensor& x, const std::string& layout, bool training) {
    Tensor scale = gamma.defined() ? gamma.value() : ones(moving_mean.shape(), {.dtype = moving_mean.dtype()});
    Tensor offset = beta.defined() ? beta.value() : zeros(moving_mean.shape(), {.dtype = moving_mean.dtype()});
    nn::FusedBatchNorm made = nn::fused_batch_norm(x, scale, offset,
                                                   {.mean = moving_mean,
                                                    .variance = moving_variance,
                                                    .epsilon = options.epsilon,
                                                    .data_format = layout,
                                                    .is_training = training,
                                                    .exponential_avg_factor = training ? 1 - options.momentum : 1.0});
    if (training) {
      moving_mean.assign(made.running_mean);
      moving_variance.assign(made.running_var);
    }
    return made.y;
  }

  Tensor call_in_steps(const Tensor& given, const Nest& mask, bool training) {
    const bool half = is_half(given.dtype());
    Tensor x = half ? cast(given, DType::float32) : given;
    const std::vector<int64_t>& axes = options.axis.axes();
    std::vector<int64_t> others;
    for (int64_t i = 0; i < x.rank(); ++i)
      if (std::find(axes.begin(), axes.end(), i) == axes.end()) others.push_back(i);
    nn::Moments moments;
    if (!training) {
      moments = {moving_mean, moving_variance};
    } else {
      const Flag keepdims = axes.size() > 1;
      moments = mask.is_tensor() ? nn::weighted_moments(x, others, expand_dims(cast(mask.tensor(), x.dtype()), -1),
                                                        {.keepdims = keepdims})
                                 : nn::moments(x, others, {.keepdims = keepdims});
      move(moving_mean, moments.mean);
      move(moving_variance, moments.variance);
    }
    const bool is_last = axes.size() == 1 && axes[0] == x.rank() - 1;
    auto spread = [&](const Tensor& t) {
      if (!t.defined() || t.rank() == x.rank() || is_last) return t;
      return reshape(t, Tensor(broadcast_dims(Shape(x.shape()), axes)));
    };
    Tensor y = nn::batch_normalization(x, spread(moments.mean), spread(moments.variance),
                                       spread(beta.defined() ? beta.value() : Tensor()),
                                       spread(gamma.defined() ? gamma.value() : Tensor()), options.epsilon);
    return half ? cast(y, given.dtype()) : y;
  }
  void move(const Variable& average, const Tensor& value) const {
    average.assign_sub((average.value() - value) * cast(Tensor(1 - options.momentum), average.dtype()));
  }
};

}  // namespace

Layer BatchNormalization(const BatchNormalizationOptions& options) { return BatchNormalizationLayer{options}; }

}  // namespace thalweg::keras::layers
