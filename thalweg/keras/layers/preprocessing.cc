#include "thalweg/keras/layers/preprocessing.h"

#include <algorithm>

#include "thalweg/graph/init_scope.h"
#include "thalweg/keras/backend.h"
#include "thalweg/keras/call_context.h"
#include "thalweg/keras/layers/axes.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_elementary.h"
#include "thalweg/ops/normalization.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::keras::layers {

Numbers::Numbers(double number) : values_(std::vector<double>{number}, Shape{}) {}
Numbers::Numbers(std::initializer_list<double> numbers) : Numbers(std::vector<double>(numbers)) {}
Numbers::Numbers(const std::vector<double>& numbers) : values_(numbers, Shape{static_cast<int64_t>(numbers.size())}) {}
Numbers::Numbers(const Tensor& values) : values_(values.defined() ? cast(values, DType::float64) : values) {}
Tensor Numbers::tensor(DType dtype) const { return given() ? cast(values_, dtype) : Tensor(); }

Value to_value(const Numbers& numbers) { return keras::to_value(numbers.values_); }
void from_value(Numbers& numbers, const Value& value) {
  auto read = [](auto&& self, const Value& v) -> Tensor {
    if (!v.is_list()) return Tensor(std::vector<double>{v.number()}, Shape{});
    std::vector<Tensor> items;
    for (const Value& item : v.list()) items.push_back(self(self, item));
    return items.empty() ? Tensor(std::vector<double>(), Shape{0}) : stack(items);
  };
  numbers.values_ = value.is_none() ? Tensor() : read(read, value);
}

namespace {

struct RescalingLayer {
  Numbers scale = {};
  RescalingOptions options = {};

  Tensor call(const Tensor& x) {
    const DType dtype = detail::own_dtype();
    return cast(x, dtype) * scale.tensor(dtype) + options.offset.tensor(dtype);
  }
  Shape compute_output_shape(const Shape& input) { return input; }
};

struct NormalizationLayer {
  NormalizationOptions options = {};
  Variable mean = {}, variance = {}, count = {};
  std::shared_ptr<const nn::Moments> fixed = {};  // where they are given

  void check() {
    auto text = [](const Numbers& numbers) { return numbers.given() ? to_value(numbers).json() : "None"; };
    if (options.mean.given() != options.variance.given())
      throw ValueError("When setting values directly, both `mean` and `variance` must be set. Got mean: " +
                       text(options.mean) + " and variance: " + text(options.variance));
    // None and one number are written as lists.
    options.axis = options.axis.axes();
  }
  void build(const Shape& input) {
    const int64_t rank = input.rank();
    for (int64_t a : options.axis.axes())
      if (a < -rank || a >= rank)
        throw ValueError("All `axis` values must be in the range [-ndim, ndim). Found ndim: `" + std::to_string(rank) +
                         "`, axis: " + Shape(options.axis.axes()).str());
    Shape shape;
    for (int64_t a : kept_axes(rank)) {
      shape.push_back(input[static_cast<int>(a)]);
      if (shape[-1] < 0)
        throw ValueError(
            "All `axis` values to be kept must have known shape. Got axis: " + Shape(options.axis.axes()).str() +
            ", input shape: " + input.str() + ", with unknown axis at index: " + std::to_string(a));
    }
    const DType dtype = detail::own_dtype();
    if (options.mean.given()) {
      InitScope outside;  // they stay, whatever is being traced
      Tensor dims(broadcast_dims(input, kept_axes(rank)));
      Tensor like = ones(shape, {.dtype = dtype});
      fixed = std::make_shared<const nn::Moments>(nn::Moments{reshape(options.mean.tensor(dtype) * like, dims),
                                                              reshape(options.variance.tensor(dtype) * like, dims)});
      return;
    }
    mean = add_weight(shape, {.initializer = "zeros", .trainable = false});
    variance = add_weight(shape, {.initializer = "ones", .trainable = false});
    count = add_weight({}, {.dtype = DType::int64, .initializer = "zeros", .trainable = false});
  }
  void adapt(const Tensor& data) {
    if (options.mean.given())
      throw ValueError(
          "Cannot `adapt` a Normalization layer that is initialized with static `mean` and `variance`, you passed "
          "mean " +
          to_value(options.mean).json() + " and variance " + to_value(options.variance).json() + ".");
    Shape shape = data.shape();
    if (shape.rank() > 0) shape[0] = unknown;
    const DType dtype = detail::own_dtype();
    detail::build_if_needed(detail::CallContext::current()->layer(), Nest(detail::stand_in(dtype, shape)));
    const std::vector<int64_t> kept = kept_axes(data.rank());
    std::vector<int64_t> others;
    int64_t size = 1;
    for (int i = 0; i < data.rank(); ++i)
      if (std::find(kept.begin(), kept.end(), i) == kept.end()) {
        others.push_back(i);
        size *= data.shape()[i];
      }
    nn::Moments moments = nn::moments(cast(data, dtype), others);
    mean.assign(moments.mean);
    variance.assign(moments.variance);
    count.assign(Tensor(size));
  }

  Tensor call(const Tensor& given) {
    Tensor x = cast(given, detail::own_dtype());
    auto [m, v] = statistics(x.rank());
    Tensor deviation = maximum(sqrt(v), cast(Tensor(backend::epsilon()), x.dtype()));
    return options.invert ? m + x * deviation : (x - m) / deviation;
  }
  Shape compute_output_shape(const Shape& input) { return input; }

  std::vector<int64_t> kept_axes(int64_t rank) const {
    std::vector<int64_t> kept;
    for (int64_t a : options.axis.axes()) kept.push_back(a < 0 ? a + rank : a);
    std::sort(kept.begin(), kept.end());
    return kept;
  }
  // Mean and variance as they broadcast with inputs of this rank.
  nn::Moments statistics(int rank) const {
    if (fixed) return *fixed;
    std::vector<int64_t> dims(static_cast<size_t>(rank), 1);
    int next = 0;
    for (int64_t a : kept_axes(rank)) dims[static_cast<size_t>(a)] = mean.shape()[next++];
    return {reshape(mean, Tensor(dims)), reshape(variance, Tensor(dims))};
  }
};

}  // namespace

Layer Rescaling(const Numbers& scale, const RescalingOptions& options) { return RescalingLayer{scale, options}; }
NormalizationHandle Normalization(const NormalizationOptions& options) {
  return NormalizationHandle(NormalizationLayer{options});
}

Tensor NormalizationHandle::mean() const {
  return built() ? as<NormalizationLayer>()->statistics(get()->built_shapes.at(0).rank()).mean : Tensor();
}
Tensor NormalizationHandle::variance() const {
  return built() ? as<NormalizationLayer>()->statistics(get()->built_shapes.at(0).rank()).variance : Tensor();
}

}  // namespace thalweg::keras::layers
