#include "thalweg/ops/ranges.h"

#include <algorithm>
#include <cmath>

#include "thalweg/core/error.h"
#include "thalweg/core/threads.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/broadcasting.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/elements.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/gather.h"
#include "thalweg/ops/infer.h"
#include "thalweg/ops/integers.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/shaping.h"

namespace thalweg {
namespace {

constexpr TypeSet range_types = float_types | signed_types | types(DType::uint16, DType::uint32);

// Each step of the arithmetic is rounded to the dtype; halves through float.
template <class T> struct Arithmetic {
  using Value = T;
  static T round(T v) { return v; }
};
template <> struct Arithmetic<Half> {
  using Value = float;
  static float round(float v) { return static_cast<float>(Half(v)); }
};
template <> struct Arithmetic<BFloat16> {
  using Value = float;
  static float round(float v) { return static_cast<float>(BFloat16(v)); }
};

template <class T> typename Arithmetic<T>::Value read(const TensorRef& t) {
  return static_cast<typename Arithmetic<T>::Value>(*static_cast<const T*>(t.p->data));
}

template <class T> int64_t range_length(const InferCall& c) {
  using A = Arithmetic<T>;
  auto start = read<T>(c.argument(0)[0]), limit = read<T>(c.argument(1)[0]), delta = read<T>(c.argument(2)[0]);
  c.require(delta != 0, "delta must not be 0");
  c.require(delta > 0 ? start <= limit : start >= limit, delta > 0
                                                             ? "start must not be above limit when delta is positive"
                                                             : "start must not be below limit when delta is negative");
  if constexpr (std::is_integral_v<T>) {
    // The distance of two int64 fits uint64.
    uint64_t distance = delta > 0 ? static_cast<uint64_t>(limit) - static_cast<uint64_t>(start)
                                  : static_cast<uint64_t>(start) - static_cast<uint64_t>(limit);
    uint64_t step = delta > 0 ? static_cast<uint64_t>(delta) : uint64_t{0} - static_cast<uint64_t>(delta);
    uint64_t length = distance / step + (distance % step != 0);
    if (length > INT64_MAX) c.fail("the range from start to limit has too many elements");
    return static_cast<int64_t>(length);
  } else {
    double length = std::ceil(std::abs(static_cast<double>(A::round(A::round(limit - start) / delta))));
    if (!(length < 9.2e18)) c.fail("the range from start to limit has too many elements, or its ends are not finite");
    return static_cast<int64_t>(length);
  }
}

const Op& Range = define_op({
    .name = "Range",
    .doc = "start, start + delta, start + 2 delta ... as long as limit is not reached.",
    .signature = "start: Tidx, limit: Tidx, delta: Tidx -> output: Tidx",
    .types = {{"Tidx", range_types}},
    .infer =
        [](InferCall& c) {
          for (int i = 0; i < 3; ++i)
            if (c.shape(i).has_rank() && c.shape(i).rank() != 0)
              c.fail(c.op.args[static_cast<size_t>(i)].name + " must be a scalar, got shape " + c.shape(i).brackets());
          if (!c.has_value(0) || !c.has_value(1) || !c.has_value(2)) return c.output(0, Shape::of_rank(1));
          int64_t length = 0;
          kernel::visit_type<range_types>(c.dtype(0), [&]<class T>(T*) { length = range_length<T>(c); });
          c.output(0, {length});
        },
    .kernel = {[](const KernelCall& c) {
      kernel::visit_type<range_types>(c.dtype(), [&]<class T>(T*) {
        using A = Arithmetic<T>;
        auto start = read<T>(c.argument(0)[0]), delta = read<T>(c.argument(2)[0]);
        T* out = c.output<T>();
        parallel_for(c.output_shape()[0], 0.5, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            if constexpr (std::is_integral_v<T>)  // the last steps may leave the type and come back
              out[i] = static_cast<T>(static_cast<uint64_t>(start) +
                                      static_cast<uint64_t>(i) * static_cast<uint64_t>(delta));
            else out[i] = T(A::round(start + A::round(A::round(static_cast<typename A::Value>(i)) * delta)));
          }
        });
      });
    }},
    .traits = {.not_differentiable = "its length depends on its inputs"},
});

const Op& LinSpace = define_op({
    .name = "LinSpace",
    .doc = "num evenly spaced values from start to stop, both included.",
    .signature = "start: T, stop: T, num: Tidx -> output: T",
    .types = {{"T", float_types}, {"Tidx", index_types}},
    .infer =
        [](InferCall& c) {
          for (int i = 0; i < 3; ++i)
            if (c.shape(i).has_rank() && c.shape(i).rank() != 0)
              c.fail(c.op.args[static_cast<size_t>(i)].name + " must be a scalar, got shape " + c.shape(i).brackets());
          int64_t num = c.has_value(2) ? integer(c, 2) : unknown;
          if (c.has_value(2) && num <= 0) c.fail("num must be positive, got " + std::to_string(num));
          c.output(0, {num});
        },
    .kernel = {[](const KernelCall& c) {
      kernel::visit_type<range_types>(c.dtype(), [&]<class T>(T*) {
        using A = Arithmetic<T>;
        auto start = read<T>(c.argument(0)[0]), stop = read<T>(c.argument(1)[0]);
        int64_t num = c.output_shape()[0];
        T* out = c.output<T>();
        if constexpr (!std::is_integral_v<T>) {
          auto step = num > 1 ? A::round(A::round(stop - start) / static_cast<typename A::Value>(num - 1)) : 0;
          parallel_for(num, 0.5, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i)
              out[i] = T(A::round(start + A::round(step * static_cast<typename A::Value>(i))));
          });
          if (num > 1) out[num - 1] = T(stop);
        }
      });
    }},
    .traits = {.not_differentiable = "use arithmetic on a range"},
});

// The widest of the dtypes, as TensorFlow orders them.
DType range_dtype(std::initializer_list<const Tensor*> values) {
  constexpr DType order[] = {DType::int32, DType::int64, DType::float32, DType::float64};
  DType widest = DType::invalid;
  long best = -1;
  for (const Tensor* value : values) {
    DType own = natural_dtype(*value->impl());
    auto at = std::find(std::begin(order), std::end(order), own);
    if (at == std::end(order)) return own;
    if (at - std::begin(order) > best) {
      best = at - std::begin(order);
      widest = own;
    }
  }
  return widest;
}
Tensor as_dtype(const Tensor& value, DType dtype) {
  if (value.impl()->weak != Weak::strong) return strengthen(value, dtype);
  return value.dtype() == dtype ? value : cast(value, dtype);
}

Tensor make_range(const Tensor& start, const Tensor& limit, const Tensor& delta, DType dtype) {
  if (dtype == DType::invalid) dtype = range_dtype({&start, &limit, &delta});
  return apply1(Range, {as_dtype(start, dtype), as_dtype(limit, dtype), as_dtype(delta, dtype)});
}

}  // namespace

Tensor range(const TensorLike& start, const RangeOptions& options) {
  Tensor one(int32_t{1}), zero(int32_t{0});
  const Tensor& delta = options.delta.defined() ? options.delta : one;
  if (!options.limit.defined()) return make_range(zero, start, delta, options.dtype);
  return make_range(start, options.limit, delta, options.dtype);
}
Tensor range(const TensorLike& start, const TensorLike& limit, const TensorLike& delta) {
  return make_range(start, limit, delta, DType::invalid);
}

Tensor linspace(const TensorLike& start, const TensorLike& stop, int64_t num, const LinspaceOptions& options) {
  Tensor first = start.own();
  if (is_integer(first.dtype())) first = cast(first, size_of(first.dtype()) <= 2 ? DType::float32 : DType::float64);
  Tensor last = as_dtype(stop, first.dtype());
  Tensor count = num == static_cast<int32_t>(num) ? Tensor(static_cast<int32_t>(num)) : Tensor(num);
  if (first.shape().rank() == 0 && last.shape().rank() == 0)
    return num == 0 ? Tensor::empty(first.dtype(), {0}) : apply1(LinSpace, {first, last, count});
  if (num < 0) throw InvalidArgumentError("linspace: num must not be negative, got " + std::to_string(num));
  if (!first.shape().has_rank() || !last.shape().has_rank())
    throw ValueError("linspace: the ranks of start and stop must be known");
  Tensor common = broadcast_dynamic_shape(shape(first), shape(last));
  Tensor low = expand_dims(broadcast_to(first, common), options.axis);
  Tensor high = expand_dims(broadcast_to(last, common), options.axis);
  int both = low.rank();
  int64_t axis = options.axis < 0 ? options.axis + both : options.axis;
  if (axis < 0 || axis >= both)
    throw InvalidArgumentError("linspace: axis " + std::to_string(options.axis) + " is out of range");
  if (num == 0) return gather(low, Tensor::empty(DType::int32, {0}), {.axis = axis});
  if (num == 1) return low;
  std::vector<int64_t> along(static_cast<size_t>(both), 1);
  along[static_cast<size_t>(axis)] = num - 1;
  Tensor steps = reshape(cast(range(num - 1), first.dtype()), along);
  Tensor delta = divide(subtract(high, low), cast(Tensor(num - 1), first.dtype()));
  return concat({add(low, multiply(delta, steps)), high}, axis);
}

Tensor sequence_mask(const TensorLike& lengths, const SequenceMaskOptions& options) {
  Tensor each = lengths.own(), limit = options.maxlen;
  if (!limit.defined()) limit = maximum(reduce_max(each), zero_of(each.dtype()));
  limit = as_dtype(limit, each.dtype());
  Tensor mask =
      less(make_range(zero_of(each.dtype()), limit, one_of(each.dtype()), each.dtype()), expand_dims(each, -1));
  return cast(mask, options.dtype);
}

namespace {
constexpr Tensor (*range_of)(const TensorLike&, const RangeOptions&) = range;
const FunctionDef* const ranges_functions[] = {
    &define_function<range_of>({"range"}, {"start"}),
    &define_function<linspace>({"linspace"}, {"start", "stop", "num"}),
    &define_function<Tensor(const TensorLike&, const SequenceMaskOptions&), sequence_mask>({"sequence_mask"},
                                                                                           {"lengths"}),
};
}  // namespace

}  // namespace thalweg
