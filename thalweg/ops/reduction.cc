#include "thalweg/ops/reduction.h"

#include <cmath>
#include <limits>

#include "thalweg/core/error.h"
#include "thalweg/core/threads.h"
#include "thalweg/kernels/reduce.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/broadcasting.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/division.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/gather.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/infer.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_complex.h"
#include "thalweg/ops/math_elementary.h"
#include "thalweg/ops/math_rounding.h"
#include "thalweg/ops/ordering.h"
#include "thalweg/ops/ranges.h"
#include "thalweg/ops/scan.h"
#include "thalweg/ops/scatter.h"
#include "thalweg/ops/selection.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/transposing.h"
#include "thalweg/ops/unique.h"

namespace thalweg {
namespace {

using math::conj;

struct ReduceAttrs {
  bool keep_dims = false;
};

// Which axes a reduction takes; each may be named once.
void mark_axes(const InferCall& c, const std::vector<int64_t>& axes, int rank, bool* reduced) {
  for (int64_t a : axes) {
    bool& mark = reduced[c.axis(a, rank)];
    if (mark) c.fail("axis " + std::to_string(a) + " is named twice");
    mark = true;
  }
}

void infer_reduce(InferCall& c) {
  bool keep = c.attrs<ReduceAttrs>().keep_dims;
  const Shape& in = c.shape(0);
  if (!in.has_rank()) return c.output(0, Shape::unknown_rank());
  if (!c.has_value(1)) {
    bool none = c.shape(1).is_fully_defined() && c.shape(1).count() == 0;
    return c.output(0, none ? in : keep ? Shape::of_rank(in.rank()) : Shape::unknown_rank());
  }
  bool reduced[Shape::max_rank] = {};
  mark_axes(c, c.values(1), in.rank(), reduced);
  Shape out;
  for (int i = 0; i < in.rank(); ++i) {
    if (!reduced[i]) out.push_back(in[i]);
    else if (keep) out.push_back(1);
  }
  c.output(0, out);
}

void run_reduce(const KernelCall& c) {
  bool reduced[Shape::max_rank] = {};
  int rank = c.shape(0).rank();
  for (int64_t a : c.values(1)) reduced[a < 0 ? a + rank : a] = true;
  kernels::run_reduce(*static_cast<const kernels::ReduceTable*>(c.op.kernel.loops), c.dtype(), c.shape(0),
                      {reduced, static_cast<size_t>(rank)}, c.input(0), c.output());
}

template <TypeSet S, class R> inline constexpr kernels::ReduceTable table = kernels::make_reduce_table<S, R>();
template <TypeSet S, class R> constexpr Kernel reduce() { return {run_reduce, &table<S, R>, S}; }

// Integers add and multiply modulo 2^n: as unsigned numbers, which may overflow.
template <class T>
using Wrapping = typename std::conditional_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, std::make_unsigned<T>,
                                             std::type_identity<T>>::type;

struct SumOf {
  template <class T> using Accumulator = Wrapping<T>;
  template <class T> static Accumulator<T> start() { return {}; }
  template <class A, class T> static A step(A a, T x) { return static_cast<A>(a + static_cast<A>(x)); }
  template <class A> static A merge(A a, A b) { return static_cast<A>(a + b); }
  template <class T, class A> static T finish(A a, int64_t) { return static_cast<T>(a); }
};
// Integers are added up in 64 bits.
struct MeanOf : SumOf {
  template <class T>
  using Accumulator = std::conditional_t<std::is_integral_v<T>, uint64_t, typename SumOf::Accumulator<T>>;
  template <class T> static Accumulator<T> start() { return {}; }
  template <class T, class A> static T finish(A a, int64_t count) {
    using Whole = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
    if constexpr (std::is_integral_v<T>)
      return count ? static_cast<T>(static_cast<Whole>(a) / static_cast<Whole>(count)) : T(0);
    else if constexpr (std::is_floating_point_v<T>) return a / static_cast<T>(count);
    else return count ? a / static_cast<typename T::value_type>(count) : T(0);
  }
};
struct ProdOf {
  template <class T> using Accumulator = Wrapping<T>;
  template <class T> static Accumulator<T> start() { return Accumulator<T>(1); }
  template <class A, class T> static A step(A a, T x) { return merge(a, static_cast<A>(x)); }
  template <class A> static A merge(A a, A b) {
    if constexpr (std::is_integral_v<A>) return static_cast<A>(uint64_t{a} * uint64_t{b});
    else return a * b;
  }
  template <class T, class A> static T finish(A a, int64_t) { return static_cast<T>(a); }
};
struct MaxOf {
  template <class T> using Accumulator = T;
  template <class T> static T start() {
    if constexpr (std::is_floating_point_v<T>) return -std::numeric_limits<T>::infinity();
    else return std::numeric_limits<T>::lowest();
  }
  template <class T> static T step(T a, T x) { return x > a || x != x ? x : a; }
  template <class T> static T merge(T a, T b) { return step(a, b); }
  template <class T, class A> static T finish(A a, int64_t) { return a; }
};
struct MinOf {
  template <class T> using Accumulator = T;
  template <class T> static T start() {
    if constexpr (std::is_floating_point_v<T>) return std::numeric_limits<T>::infinity();
    else return std::numeric_limits<T>::max();
  }
  template <class T> static T step(T a, T x) { return x < a || x != x ? x : a; }
  template <class T> static T merge(T a, T b) { return step(a, b); }
  template <class T, class A> static T finish(A a, int64_t) { return a; }
};
struct AllOf {
  template <class T> using Accumulator = uint8_t;
  template <class T> static uint8_t start() { return 1; }
  static uint8_t step(uint8_t a, bool x) { return static_cast<uint8_t>(a & uint8_t{x}); }
  static uint8_t merge(uint8_t a, uint8_t b) { return a & b; }
  template <class T, class A> static T finish(A a, int64_t) { return a != 0; }
};
struct AnyOf : AllOf {
  template <class T> static uint8_t start() { return 0; }
  static uint8_t step(uint8_t a, bool x) { return static_cast<uint8_t>(a | uint8_t{x}); }
  static uint8_t merge(uint8_t a, uint8_t b) { return a | b; }
};
struct NormOf {
  template <class T> using Accumulator = Wrapping<T>;
  template <class T> static Accumulator<T> start() { return {}; }
  template <class A, class T> static A step(A a, T x) {
    if constexpr (requires { x.real(); }) return a + A(x.real() * x.real() + x.imag() * x.imag());
    else if constexpr (std::is_integral_v<A>)
      return static_cast<A>(a + static_cast<A>(uint64_t{static_cast<A>(x)} * uint64_t{static_cast<A>(x)}));
    else return a + x * x;
  }
  template <class A> static A merge(A a, A b) { return static_cast<A>(a + b); }
  template <class T, class A> static T finish(A a, int64_t) {
    if constexpr (std::is_integral_v<T>) return static_cast<T>(std::sqrt(static_cast<double>(static_cast<T>(a))));
    else return std::sqrt(a);
  }
};

// The input's shape with length 1 along the reduced axes: what keep_dims would have given.
Tensor kept_shape(const GradCall& g) {
  const Tensor &input = g.input(0), &axes = g.input(1);
  const Shape& shape_in = input.shape();
  if (shape_in.is_fully_defined() && !axes.is_symbolic()) {
    Tensor kept = Tensor::empty(DType::int64, {shape_in.rank()});
    auto* dims = kept.mutable_data<int64_t>();
    std::copy(shape_in.dims().begin(), shape_in.dims().end(), dims);
    Tensor wide = cast(axes, DType::int64);
    for (int64_t axis : wide.span<int64_t>()) dims[axis < 0 ? axis + shape_in.rank() : axis] = 1;
    return kept;
  }
  Tensor named = reshape(cast(axes, DType::int32), {-1, 1});
  named = where(less(named, 0), named + rank(input), named);
  return tensor_scatter_nd_update(shape(input), named, ones_like(reshape(named, {-1})));
}
// A gradient of the result, repeated along the axes that were reduced.
Tensor spread(const GradCall& g, const Tensor& gradient) {
  return broadcast_to(reshape(gradient, kept_shape(g)), shape(g.input(0)));
}

const Op& Sum = define_op({
    .name = "Sum",
    .doc = "The sum along axes.",
    .signature = "input: T, reduction_indices: Tidx -> output: T",
    .types = {{"Tidx", index_types}},
    .attrs = attrs_of<ReduceAttrs>(),
    .infer = infer_reduce,
    .kernel = reduce<number_types, SumOf>(),
    .grad = [](GradCall& g) { g.input_grad(0, spread(g, g.output_grad())); },
    .grad_reads = reads::inputs<1>,
    .traits = {.never_fails = true},
});

const Op& Mean = define_op({
    .name = "Mean",
    .doc = "The mean along axes; of nothing NaN, or 0 of a type without it and of complex numbers.",
    .signature = "input: T, reduction_indices: Tidx -> output: T",
    .types = {{"Tidx", index_types}},
    .attrs = attrs_of<ReduceAttrs>(),
    .infer = infer_reduce,
    .kernel = reduce<number_types, MeanOf>(),
    .grad =
        [](GradCall& g) {
          Tensor count = size(g.input(0)), results = maximum(size(g.output()), 1);
          g.input_grad(0, spread(g, g.output_grad() / cast(floordiv(count, results), g.output_grad().dtype())));
        },
    .grad_reads = reads::inputs<1>,
    .traits = {.never_fails = true},
});

// Equal extremes share the gradient.
void share_gradient(GradCall& g) {
  Tensor kept = kept_shape(g), dims = shape(g.input(0));
  Tensor best = cast(equal(g.input(0), reshape(g.output(), kept)), g.output_grad().dtype());
  Tensor count = reshape(apply1(Sum, {best, g.input(1)}, ReduceAttrs{}), kept);
  g.input_grad(0, best / count * reshape(g.output_grad(), kept));
}

const Op& Prod = define_op({
    .name = "Prod",
    .doc = "The product along axes.",
    .signature = "input: T, reduction_indices: Tidx -> output: T",
    .types = {{"Tidx", index_types}},
    .attrs = attrs_of<ReduceAttrs>(),
    .infer = infer_reduce,
    .kernel = reduce<number_types, ProdOf>(),
    .grad =
        [](GradCall& g) {
          // For each element the product of all the others, without dividing by a zero: what comes before times what
          // comes after, along one axis that holds all the reduced ones.
          const Tensor& x = g.input(0);
          Tensor dims = shape(x), ndims = rank(x), reduced = reshape(cast(g.input(1), DType::int32), {-1});
          reduced = floormod(reduced + ndims, ndims);
          Tensor others = setdiff1d(range(ndims), reduced).out;
          Tensor order = concat({reduced, others}, 0), turned = gather(dims, order);
          Tensor table = stack({reduce_prod(gather(dims, reduced)), reduce_prod(gather(dims, others))});
          Tensor column = reshape(detail::transpose_by(x, order), table);
          Tensor before = math::cumprod(column, {.axis = 0, .exclusive = true});
          Tensor after = math::cumprod(column, {.axis = 0, .exclusive = true, .reverse = true});
          Tensor rest =
              detail::transpose_by(reshape(conj(before) * conj(after), turned), math::invert_permutation(order));
          g.input_grad(0, rest * reshape(g.output_grad(), kept_shape(g)));
        },
    .grad_reads = reads::all_inputs,
});

const Op& Max = define_op({
    .name = "Max",
    .doc = "The largest element along axes; NaN where one is.",
    .signature = "input: T, reduction_indices: Tidx -> output: T",
    .types = {{"Tidx", index_types}},
    .attrs = attrs_of<ReduceAttrs>(),
    .infer = infer_reduce,
    .kernel = reduce<real_types, MaxOf>(),
    .grad = share_gradient,
    .traits = {.never_fails = true},
});

const Op& Min = define_op({
    .name = "Min",
    .doc = "The smallest element along axes; NaN where one is.",
    .signature = "input: T, reduction_indices: Tidx -> output: T",
    .types = {{"Tidx", index_types}},
    .attrs = attrs_of<ReduceAttrs>(),
    .infer = infer_reduce,
    .kernel = reduce<real_types, MinOf>(),
    .grad = share_gradient,
    .traits = {.never_fails = true},
});

const Op& EuclideanNorm = define_op({
    .name = "EuclideanNorm",
    .doc = "The square root of the sum of squares along axes.",
    .signature = "input: T, reduction_indices: Tidx -> output: T",
    .types = {{"Tidx", index_types}},
    .attrs = attrs_of<ReduceAttrs>(),
    .infer = infer_reduce,
    .kernel = reduce<number_types, NormOf>(),
    .grad =
        [](GradCall& g) {
          Tensor kept = kept_shape(g);
          g.input_grad(0, g.input(0) / (reshape(g.output(), kept) / reshape(g.output_grad(), kept)));
        },
});

const Op& All = define_op({
    .name = "All",
    .doc = "Whether all elements along axes are true.",
    .signature = "input: bool, reduction_indices: Tidx -> output: bool",
    .types = {{"Tidx", index_types}},
    .attrs = attrs_of<ReduceAttrs>(),
    .infer = infer_reduce,
    .kernel = reduce<types(bool_), AllOf>(),
    .traits = {.not_differentiable = "the result is boolean"},
});

const Op& Any = define_op({
    .name = "Any",
    .doc = "Whether any element along axes is true.",
    .signature = "input: bool, reduction_indices: Tidx -> output: bool",
    .types = {{"Tidx", index_types}},
    .attrs = attrs_of<ReduceAttrs>(),
    .infer = infer_reduce,
    .kernel = reduce<types(bool_), AnyOf>(),
    .traits = {.not_differentiable = "the result is boolean"},
});

// The axes as an input tensor; all of them where none are named.
Tensor axes_tensor(const Tensor& x, const Axis& axis) {
  if (!axis.given()) {
    if (x.rank() < 0) return range(0, rank(x), 1);
    Tensor all = Tensor::empty(DType::int32, {x.rank()});
    for (int i = 0; i < x.rank(); ++i) all.mutable_data<int32_t>()[i] = i;
    return all;
  }
  Shape shape;
  if (!axis.is_single()) shape.push_back(static_cast<int64_t>(axis.axes().size()));
  Tensor named = Tensor::empty(DType::int32, shape);
  for (size_t i = 0; i < axis.axes().size(); ++i) {
    int64_t a = axis.axes()[i];
    if (a != static_cast<int32_t>(a)) throw InvalidArgumentError("axis " + std::to_string(a) + " is out of range");
    named.mutable_data<int32_t>()[i] = static_cast<int32_t>(a);
  }
  return named;
}
Tensor reduce_with(const Op& op, const Tensor& x, const ReduceOptions& options) {
  return apply1(op, {x, axes_tensor(x, options.axis)}, ReduceAttrs{options.keepdims});
}

}  // namespace

Tensor detail::sum_along(const Tensor& x, const Tensor& axes) { return apply1(Sum, {x, axes}, ReduceAttrs{}); }

Tensor reduce_sum(const Tensor& input_tensor, const ReduceOptions& options) {
  return reduce_with(Sum, input_tensor, options);
}
Tensor reduce_mean(const Tensor& input_tensor, const ReduceOptions& options) {
  return reduce_with(Mean, input_tensor, options);
}
Tensor reduce_prod(const Tensor& input_tensor, const ReduceOptions& options) {
  return reduce_with(Prod, input_tensor, options);
}
Tensor reduce_max(const Tensor& input_tensor, const ReduceOptions& options) {
  return reduce_with(Max, input_tensor, options);
}
Tensor reduce_min(const Tensor& input_tensor, const ReduceOptions& options) {
  return reduce_with(Min, input_tensor, options);
}
Tensor reduce_all(const Tensor& input_tensor, const ReduceOptions& options) {
  return reduce_with(All, input_tensor, options);
}
Tensor reduce_any(const Tensor& input_tensor, const ReduceOptions& options) {
  return reduce_with(Any, input_tensor, options);
}
Tensor reduce_logsumexp(const Tensor& input_tensor, const ReduceOptions& options) {
  Tensor largest = stop_gradient(reduce_max(input_tensor, {.axis = options.axis, .keepdims = true}));
  Tensor shift = where(math::is_finite(largest), largest, zeros_like(largest));
  Tensor sum = log(reduce_sum(exp(input_tensor - shift), {.axis = options.axis, .keepdims = options.keepdims}));
  return sum + (options.keepdims ? shift : reshape(shift, shape(sum)));
}

namespace math {
Tensor reduce_euclidean_norm(const Tensor& input_tensor, const ReduceOptions& options) {
  return reduce_with(EuclideanNorm, input_tensor, options);
}
Tensor reduce_variance(const Tensor& input_tensor, const ReduceOptions& options) {
  if (is_integer(input_tensor.dtype()))
    throw TypeError("reduce_variance: the input must be a floating-point or complex tensor, got " +
                    std::string(name_of(input_tensor.dtype())));
  Tensor mean = reduce_mean(input_tensor, {.axis = options.axis, .keepdims = true});
  Tensor distance = input_tensor - mean;
  Tensor squared = is_complex(distance.dtype()) ? math::real(distance * conj(distance)) : square(distance);
  return reduce_mean(squared, options);
}
Tensor reduce_std(const Tensor& input_tensor, const ReduceOptions& options) {
  return sqrt(reduce_variance(input_tensor, options));
}
Tensor count_nonzero(const Tensor& input, const CountNonzeroOptions& options) {
  Tensor zero = input.dtype() == DType::string ? Tensor("") : Tensor();
  Tensor there = zero.defined() ? not_equal(input, zero) : cast(input, DType::bool_);
  return cast(reduce_sum(cast(there, DType::int64), {.axis = options.axis, .keepdims = options.keepdims}),
              options.dtype);
}
Tensor zero_fraction(const Tensor& value) {
  return 1.0f - reduce_mean(cast(cast(value, DType::bool_), DType::float32));
}
}  // namespace math

namespace {
const FunctionDef* const reduction_functions[] = {
    &define_function<Tensor(const Tensor&, const ReduceOptions&), reduce_sum>({"reduce_sum", "math.reduce_sum"},
                                                                              {"input_tensor"}),
    &define_function<Tensor(const Tensor&, const ReduceOptions&), reduce_mean>({"reduce_mean", "math.reduce_mean"},
                                                                               {"input_tensor"}),
    &define_function<Tensor(const Tensor&, const ReduceOptions&), reduce_prod>({"reduce_prod", "math.reduce_prod"},
                                                                               {"input_tensor"}),
    &define_function<Tensor(const Tensor&, const ReduceOptions&), reduce_max>({"reduce_max", "math.reduce_max"},
                                                                              {"input_tensor"}),
    &define_function<Tensor(const Tensor&, const ReduceOptions&), reduce_min>({"reduce_min", "math.reduce_min"},
                                                                              {"input_tensor"}),
    &define_function<Tensor(const Tensor&, const ReduceOptions&), reduce_all>({"reduce_all", "math.reduce_all"},
                                                                              {"input_tensor"}),
    &define_function<Tensor(const Tensor&, const ReduceOptions&), reduce_any>({"reduce_any", "math.reduce_any"},
                                                                              {"input_tensor"}),
    &define_function<Tensor(const Tensor&, const ReduceOptions&), reduce_logsumexp>(
        {"reduce_logsumexp", "math.reduce_logsumexp"}, {"input_tensor"}),
    &define_function<Tensor(const Tensor&, const ReduceOptions&), math::reduce_euclidean_norm>(
        {"math.reduce_euclidean_norm"}, {"input_tensor"}),
    &define_function<Tensor(const Tensor&, const ReduceOptions&), math::reduce_variance>({"math.reduce_variance"},
                                                                                         {"input_tensor"}),
    &define_function<Tensor(const Tensor&, const ReduceOptions&), math::reduce_std>({"math.reduce_std"},
                                                                                    {"input_tensor"}),
    &define_function<Tensor(const Tensor&, const math::CountNonzeroOptions&), math::count_nonzero>(
        {"math.count_nonzero"}, {"input"}),
    &define_function<math::zero_fraction>({"math.zero_fraction", "nn.zero_fraction"}, {"value"}),
};
}  // namespace

}  // namespace thalweg
