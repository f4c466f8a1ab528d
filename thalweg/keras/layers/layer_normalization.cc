// Normalisation of each example by itself: over its features, over groups of them, to length 1.
#include "thalweg/core/index.h"
#include "thalweg/keras/layers/axes.h"
#include "thalweg/keras/layers/normalization.h"
#include "thalweg/ops/broadcasting.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/normalization.h"
#include "thalweg/ops/norms.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::keras::layers {

void from_value(UnitAxis& axis, const Value& value) {
  if (!value.is_integer() && !value.is_list())
    throw TypeError("Invalid value for `axis` argument: expected an int or a list/tuple of ints. Received: axis=" +
                    (value.is_text() ? value.text() : value.json()));
  keras::from_value(static_cast<Axis&>(axis), value);
}

namespace {

struct LayerNormalizationLayer {
  LayerNormalizationOptions options = {};
  Variable gamma = {}, beta = {};

  void build(const Shape& input) {
    const std::vector<int64_t> axes = resolve_axes(options.axis, input);
    options.axis = axes;
    Shape shape;
    for (int64_t a : axes) shape.push_back(input[static_cast<int>(a)]);
    gamma = add_gamma(shape, options, {.autocast = false});
    beta = add_beta(shape, options, {.autocast = false});
  }
  Tensor call(const Tensor& given) {
    Tensor x = is_half(given.dtype()) ? cast(given, DType::float32) : given;
    const std::vector<int64_t>& axes = options.axis.axes();
    nn::Moments moments = nn::moments(x, axes, {.keepdims = true});
    const bool is_last = axes.size() == 1 && axes[0] == x.rank() - 1;
    auto spread = [&](const Variable& weight) {
      if (!weight.defined()) return Tensor();
      Tensor value = is_half(given.dtype()) ? cast(weight, DType::float32) : weight.value();
      return is_last ? value : reshape(value, Tensor(broadcast_dims(Shape(x.shape()), axes)));
    };
    Tensor y = nn::batch_normalization(x, moments.mean, moments.variance, spread(beta), spread(gamma), options.epsilon);
    return is_half(given.dtype()) ? cast(y, given.dtype()) : y;
  }
  Shape compute_output_shape(const Shape& input) { return input; }
  static constexpr bool supports_masking = true;
};

struct GroupNormalizationLayer {
  GroupNormalizationOptions options = {};
  Variable gamma = {}, beta = {};
  std::shared_ptr<InputSpec> spec = {};  // of the inputs, once the first is known

  void build(const Shape& input) {
    resolve_axes(options.axis, input);
    const auto axis = static_cast<int>(options.axis);
    const int64_t size = input[axis];
    if (size < 0)
      throw ValueError("Axis " + std::to_string(axis) +
                       " of input tensor should have a defined dimension but the layer received an input with shape " +
                       input.str() + ".");
    if (options.groups == -1) options.groups = size;
    const std::string groups = std::to_string(options.groups), channels = std::to_string(size);
    if (size < options.groups)
      throw ValueError("Number of groups (" + groups + ") cannot be more than the number of channels (" + channels +
                       ").");
    if (options.groups <= 0 || size % options.groups != 0)
      throw ValueError("Number of groups (" + groups + ") must be a multiple of the number of channels (" + channels +
                       ").");
    spec = std::make_shared<InputSpec>(InputSpec{.ndim = input.rank(), .axes = {{axis, size}}});
    gamma = add_gamma({size}, options);
    beta = add_beta({size}, options);
  }
  std::vector<InputSpec> input_spec() const { return spec ? std::vector{*spec} : std::vector<InputSpec>(); }

  Tensor call(const Tensor& x, const CallArgs& args) {
    if (Shape both; args.mask.is_tensor() && !broadcast_shapes(args.mask.tensor().shape(), x.shape(), both))
      throw errors::InvalidArgumentError("the mask " + args.mask.tensor().shape().str() +
                                         " does not broadcast to the inputs " + x.shape().str());
    const auto axis = static_cast<int>(options.axis < 0 ? options.axis + x.rank() : options.axis);
    Tensor grouped = into_groups(x, axis);
    std::vector<int64_t> over;
    for (int i = 1; i <= x.rank(); ++i)
      if (i != axis) over.push_back(i);
    nn::Moments moments =
        args.mask.is_tensor()
            ? nn::weighted_moments(grouped, over,
                                   into_groups(cast(broadcast_to(args.mask.tensor(), shape(x)), x.dtype()), axis),
                                   {.keepdims = true})
            : nn::moments(grouped, over, {.keepdims = true});
    auto spread = [&](const Variable& weight) {
      if (!weight.defined()) return Tensor();
      std::vector<int64_t> dims(static_cast<size_t>(x.rank()) + 1, 1);
      dims[static_cast<size_t>(axis)] = options.groups;
      dims[static_cast<size_t>(axis) + 1] = weight.shape()[0] / options.groups;
      return reshape(weight, Tensor(dims));
    };
    Tensor y =
        nn::batch_normalization(grouped, moments.mean, moments.variance, spread(beta), spread(gamma), options.epsilon);
    y = reshape(y, sizes_of(x));
    return y.shape() == x.shape() ? y : ensure_shape(y, x.shape());
  }
  Shape compute_output_shape(const Shape& input) { return input; }
  static constexpr bool supports_masking = true;

  // The shape as a tensor: numbers, where all or all but one are known.
  static Tensor sizes_of(const Tensor& x) {
    int open = 0;
    for (int64_t dim : x.shape()) open += dim < 0;
    if (open > 1 || x.shape().num_elements() == 0) return shape(x);
    return Tensor(std::vector<int64_t>(x.shape().begin(), x.shape().end()));
  }
  Tensor into_groups(const Tensor& x, int axis) const {
    Tensor sizes = sizes_of(x);
    sizes = sizes.dtype() == DType::int64 ? sizes : cast(sizes, DType::int64);
    Tensor split(std::vector<int64_t>{options.groups, x.shape()[axis] / options.groups});
    return reshape(x, concat({sizes(slice(0, axis)), split, sizes(slice_from(axis + 1))}, 0));
  }
};

struct UnitNormalizationLayer {
  UnitNormalizationOptions options = {};

  void build(const Shape& input) { options.axis = resolve_axes(options.axis, input); }
  Tensor call(const Tensor& x) { return math::l2_normalize(x, {.axis = options.axis}); }
  Shape compute_output_shape(const Shape& input) { return input; }
  static constexpr bool supports_masking = true;
};

}  // namespace

Layer LayerNormalization(const LayerNormalizationOptions& options) { return LayerNormalizationLayer{options}; }
Layer GroupNormalization(const GroupNormalizationOptions& options) { return GroupNormalizationLayer{options}; }
Layer UnitNormalization(const UnitNormalizationOptions& options) { return UnitNormalizationLayer{options}; }

}  // namespace thalweg::keras::layers
