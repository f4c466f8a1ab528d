#include <algorithm>

#include "thalweg/keras/call_context.h"
#include "thalweg/keras/layers/axes.h"
#include "thalweg/keras/layers/normalization.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_elementary.h"
#include "thalweg/ops/normalization.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::keras::layers {

Value to_value(const RenormClipping& clipping) {
  Value::Map bounds;
  for (const auto& [name, bound] :
       {std::pair("rmin", clipping.rmin), std::pair("rmax", clipping.rmax), std::pair("dmax", clipping.dmax)})
    if (bound) bounds.emplace_back(name, *bound);
  return bounds;
}
void from_value(RenormClipping& clipping, const Value& value) {
  clipping = {};
  if (value.is_none()) return;
  for (const auto& [name, bound] : value.map()) {
    if (name == "rmin") keras::from_value(clipping.rmin, bound);
    else if (name == "rmax") keras::from_value(clipping.rmax, bound);
    else if (name == "dmax") keras::from_value(clipping.dmax, bound);
    else
      throw ValueError("Received invalid keys for `renorm_clipping` argument: " + value.json() +
                       ". Supported values: ['rmax', 'rmin', 'dmax'].");
  }
}

namespace {

/// What normalised values are multiplied with and what is added then; either may be nothing.
struct Transform {
  Tensor scale, offset;

  Transform then(const Transform& next) const {
    if (!scale.defined()) return next;
    Transform both = *this;
    if (next.scale.defined()) both = {both.scale * next.scale, both.offset * next.scale};
    if (next.offset.defined()) both.offset = both.offset + next.offset;
    return both;
  }
};

struct BatchNormalizationLayer {
  BatchNormalizationOptions options = {};
  Variable gamma = {}, beta = {}, moving_mean = {}, moving_variance = {};
  Variable moving_stddev = {}, renorm_mean = {}, renorm_stddev = {};
  std::shared_ptr<InputSpec> spec = {};  // of the inputs, once the first is known

  void check() {
    if (options.synchronized && options.fused.value_or(false))
      throw ValueError("`fused=True` is not supported when `synchronized=True`.");
    if (options.synchronized) options.fused = false;
    if (options.fused.has_value() && !*options.fused) return;
    const std::string reason = why_not_fused();
    if (options.fused && !reason.empty()) throw ValueError(reason);
    if (!reason.empty()) options.fused = false;
  }
  /// Why the one kernel cannot be used, whatever the inputs; nothing where it can.
  std::string why_not_fused() const {
    if (options.renorm) return "Passing both `fused=True` and `renorm=True` is not supported";
    const std::vector<int64_t>& axes = options.axis.axes();
    constexpr int64_t fitting[] = {-4, -3, -1, 1, 3, 4};
    if (axes.size() != 1 || std::find(std::begin(fitting), std::end(fitting), axes[0]) == std::end(fitting))
      return "Passing `fused=True` is only supported when axis is 1 or 3 for input rank = 4 or 1 or 4 for input rank = "
             "5. Got axis " +
             Shape(axes).str();
    if (options.virtual_batch_size)
      return "Passing `fused=True` is not supported when `virtual_batch_size` is specified.";
    if (options.adjustment.defined()) return "Passing `fused=True` is not supported when `adjustment` is specified.";
    const Policy policy = options.dtype.given() ? options.dtype : mixed_precision::global_policy();
    if (policy.compute_dtype() == DType::float64)
      return "Passing `fused=True` is only supported when the compute dtype is float16, bfloat16, or float32. Got "
             "dtype: float64";
    return {};
  }

  void build(const Shape& input) {
    const std::vector<int64_t> axes = resolve_axes(options.axis, input);
    options.axis = axes;
    check_virtual_batch(axes);
    decide_fused(input, axes);
    for (int64_t a : axes)
      if (input[static_cast<int>(a)] < 0)
        throw ValueError("Input has undefined `axis` dimension. Received input with shape " + input.str() +
                         " and axis=" + Shape(axes).str());
    const bool is_vector = axes.size() == 1 && !options.virtual_batch_size;
    Shape shape = is_vector ? Shape{input[static_cast<int>(axes[0])]} : Shape(broadcast_dims(input, axes));
    if (options.virtual_batch_size) shape.insert(1, 1);  // for the groups of examples
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
    if (options.renorm) {
      const Initializer variance = options.moving_variance_initializer;
      const Initializer stddev = [variance](const Shape& s, DType d) { return sqrt(variance(s, d)); };
      moving_stddev = average(stddev);
      renorm_mean = average(options.moving_mean_initializer);
      renorm_stddev = average(stddev);
    }
    spec = std::make_shared<InputSpec>(InputSpec{.ndim = input.rank()});
    for (int64_t a : axes) spec->axes.emplace_back(static_cast<int>(a), input[static_cast<int>(a)]);
  }
  void check_virtual_batch(const std::vector<int64_t>& axes) const {
    if (!options.virtual_batch_size) return;
    if (*options.virtual_batch_size <= 0)
      throw ValueError(
          "`virtual_batch_size` must be a positive integer that divides the true batch size of the input tensor. "
          "Received: virtual_batch_size=" +
          std::to_string(*options.virtual_batch_size));
    if (std::find(axes.begin(), axes.end(), 0) != axes.end())
      throw ValueError(
          "When using `virtual_batch_size`, the batch dimension must be 0 and thus axis cannot include 0. Received "
          "axis=" +
          Shape(axes).str());
    if (options.adjustment.defined())
      throw ValueError("When using `virtual_batch_size`, adjustment cannot be specified");
  }
  void decide_fused(const Shape& input, const std::vector<int64_t>& axes) {
    const int rank = input.rank();
    const bool has_kernel = rank == 4 || rank == 5;
    if (options.fused.value_or(false) && !has_kernel)
      throw ValueError(
          "Batch normalization layers with `fused=True` only support 4D or 5D input tensors. Received tensor with "
          "shape: " +
          input.str());
    if (!options.fused) options.fused = has_kernel;
    if (!*options.fused || axes[0] == 1 || axes[0] == rank - 1) return;
    if (rank == 4)
      throw ValueError(
          "Unsupported axis. The use of `fused=True` is only possible with `axis=1` or `axis=3` for 4D input tensors. "
          "Received: axis=" +
          Shape(axes).str());
    options.fused = false;
  }
  std::vector<InputSpec> input_spec() const { return spec ? std::vector{*spec} : std::vector<InputSpec>(); }

  Tensor call(const Tensor& given, const CallArgs& args) {
    const bool training = args.training && detail::CallContext::current()->layer().trainable;
    const Tensor x = cast(given, detail::own_dtype());
    if (options.fused.value_or(false)) return call_fused(x, training);
    return options.virtual_batch_size ? call_in_groups(x, args.mask, training) : call_in_steps(x, args.mask, training);
  }
  Shape compute_output_shape(const Shape& input) { return input; }
  /// As Keras writes it: what is not set is left out, and what a configuration cannot hold.
  void complete_config(Value& config) const {
    for (const char* name : {"synchronized", "fused", "adjustment"}) config.erase(name);
    if (!options.virtual_batch_size) config.erase("virtual_batch_size");
    if (options.renorm) return;
    for (const char* name : {"renorm", "renorm_clipping", "renorm_momentum"}) config.erase(name);
  }
  static constexpr bool supports_masking = true;

  Tensor call_fused(const Tensor& x, bool training) {
    const bool is_last = options.axis.axes()[0] != 1;
    const bool is_volume = x.rank() == 5;
    const std::string layout = is_last ? (is_volume ? "NDHWC" : "NHWC") : (is_volume ? "NCDHW" : "NCHW");
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

  /// Examples stand in columns, [virtual batch, groups, ...], and each column is normalised by itself.
  Tensor call_in_groups(const Tensor& x, const Nest& mask, bool training) {
    const Tensor rest = shape(x)(slice_from(1));
    const std::vector<int32_t> columns =
        training ? std::vector<int32_t>{static_cast<int32_t>(*options.virtual_batch_size), -1}
                 : std::vector<int32_t>{-1, 1};
    const Tensor y = call_in_steps(reshape(x, concat({Tensor(columns), rest}, 0)), mask, training);
    return ensure_shape(reshape(y, concat({Tensor(std::vector<int32_t>{-1}), rest}, 0)), x.shape());
  }

  Tensor call_in_steps(const Tensor& given, const Nest& mask, bool training) {
    const bool half = is_half(given.dtype());
    const bool in_groups = options.virtual_batch_size.has_value();
    Tensor x = half ? cast(given, DType::float32) : given;
    std::vector<int64_t> axes = options.axis.axes();
    if (in_groups)
      for (int64_t& axis : axes) ++axis;
    std::vector<int64_t> others;
    for (int64_t i = 0; i < x.rank(); ++i)
      if (std::find(axes.begin(), axes.end(), i) == axes.end() && !(in_groups && i == 1)) others.push_back(i);
    const bool is_last = axes.size() == 1 && axes[0] == x.rank() - 1 && !in_groups;
    auto spread = [&](const Tensor& t) {
      if (!t.defined() || t.rank() == x.rank() || is_last) return t;
      return reshape(t, Tensor(broadcast_dims(Shape(x.shape()), axes)));
    };
    Transform transform{spread(gamma.defined() ? gamma.value() : Tensor()),
                        spread(beta.defined() ? beta.value() : Tensor())};
    nn::Moments moments{moving_mean, moving_variance};
    if (training) {
      if (options.adjustment.defined()) {
        auto [scale, offset] = options.adjustment(shape(x));
        transform = Transform{scale, offset}.then(transform);
      }
      const Flag keepdims = axes.size() > 1 || in_groups;
      const Tensor precise = cast(x, moving_mean.dtype());
      moments = mask.is_tensor()
                    ? nn::weighted_moments(precise, others, expand_dims(cast(mask.tensor(), precise.dtype()), -1),
                                           {.keepdims = keepdims})
                    : nn::moments(precise, others, {.keepdims = keepdims});
      nn::Moments seen = moments;
      if (in_groups)
        seen = {reduce_mean(seen.mean, {.axis = 1, .keepdims = true}),
                reduce_mean(seen.variance, {.axis = 1, .keepdims = true})};
      if (options.renorm) {
        Transform correction = renormalize(seen);
        transform = Transform{spread(correction.scale), spread(correction.offset)}.then(transform);
      }
      move(moving_mean, seen.mean, options.momentum);
      if (!options.renorm) move(moving_variance, seen.variance, options.momentum);
    }
    auto as_x = [&](const Tensor& t) { return t.defined() ? cast(spread(t), x.dtype()) : t; };
    Tensor y = nn::batch_normalization(x, as_x(moments.mean), as_x(moments.variance), as_x(transform.offset),
                                       as_x(transform.scale), options.epsilon);
    return half ? cast(y, given.dtype()) : y;
  }
  /// Batch renormalisation (Ioffe, 2017): what brings values normalised by the batch to where the averages r = s / s',
  /// d = (m - m') / s' would have them. The averages then take the batch in.
  Transform renormalize(const nn::Moments& seen) const {
    const DType dtype = seen.mean.dtype();
    auto number = [&](double value) { return cast(Tensor(value), dtype); };
    const Tensor stddev = sqrt(seen.variance + number(options.epsilon));
    const Tensor kept = maximum(renorm_stddev.value(), sqrt(number(options.epsilon)));
    Tensor r = stddev / kept, d = (seen.mean - renorm_mean.value()) / kept;
    const RenormClipping& bounds = options.renorm_clipping;
    if (bounds.rmin) r = maximum(r, number(*bounds.rmin));
    if (bounds.rmax) r = minimum(r, number(*bounds.rmax));
    if (bounds.dmax) d = minimum(maximum(d, number(-*bounds.dmax)), number(*bounds.dmax));
    move(renorm_mean, seen.mean, options.renorm_momentum);
    move(renorm_stddev, stddev, options.renorm_momentum);
    move(moving_stddev, stddev, options.momentum);
    const Tensor now = moving_stddev.value();
    // Rounding must not make it negative.
    moving_variance.assign(maximum(now * now - number(options.epsilon), number(0)));
    return {stop_gradient(r), stop_gradient(d)};
  }
  static void move(const Variable& average, const Tensor& value, double momentum) {
    average.assign_sub((average.value() - cast(value, average.dtype())) * cast(Tensor(1 - momentum), average.dtype()));
  }
};

}  // namespace

Layer BatchNormalization(const BatchNormalizationOptions& options) { return BatchNormalizationLayer{options}; }

}  // namespace thalweg::keras::layers
