#include "thalweg/ops/math.h"

#include <algorithm>
#include <cmath>

#include "thalweg/core/convert.h"
#include "thalweg/core/error.h"
#include "thalweg/core/threads.h"
#include "thalweg/kernels/scalar_arithmetic.h"
#include "thalweg/kernels/scalar_complex.h"
#include "thalweg/kernels/scalar_math.h"
#include "thalweg/kernels/strided_copy.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/division.h"
#include "thalweg/ops/elementwise.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/indexed_slices.h"
#include "thalweg/ops/math_complex.h"
#include "thalweg/ops/math_elementary.h"
#include "thalweg/ops/selection.h"
#include "thalweg/ops/variants.h"

namespace thalweg {
namespace {

namespace scalar = kernels::scalar;

using math::conj;

const Op& AddV2 = define_op({
    .name = "AddV2",
    .doc = "x + y, element by element, with broadcasting.",
    .signature = "x: T, y: T -> z: T",
    .infer = infer::broadcast,
    .kernel = kernel::binary<number_types>([](auto x, auto y) { return scalar::add(x, y); }),
    .grad =
        [](GradCall& g) {
          g.input_grad(0, g.output_grad());
          g.input_grad(1, g.output_grad());
        },
    .grad_reads = reads::nothing,
    .traits = {.elementwise = true, .commutative = true, .neutral = Neutral::zero},
});

const Op& Add = define_op({
    .name = "Add",
    .doc = "x + y; strings are joined.",
    .signature = "x: T, y: T -> z: T",
    .infer = infer::broadcast,
    .kernel = kernel::binary<(float_types | signed_types | types(uint8, string) | complex_types)>(
        [](const auto& x, const auto& y) { return scalar::add(x, y); }),
    .grad =
        [](GradCall& g) {
          g.input_grad(0, g.output_grad());
          g.input_grad(1, g.output_grad());
        },
    .grad_reads = reads::nothing,
    .traits = {.elementwise = true, .neutral = Neutral::zero},
});

const Op& Sub = define_op({
    .name = "Sub",
    .doc = "x - y, element by element, with broadcasting.",
    .signature = "x: T, y: T -> z: T",
    .infer = infer::broadcast,
    .kernel = kernel::binary<number_types>([](auto x, auto y) { return scalar::subtract(x, y); }),
    .grad =
        [](GradCall& g) {
          g.input_grad(0, g.output_grad());
          if (g.wants(1)) g.input_grad(1, -g.output_grad());
        },
    .grad_reads = reads::nothing,
    .traits = {.elementwise = true, .neutral = Neutral::zero_right},
});

const Op& Mul = define_op({
    .name = "Mul",
    .doc = "x * y, element by element, with broadcasting.",
    .signature = "x: T, y: T -> z: T",
    .infer = infer::broadcast,
    .kernel = kernel::binary<number_types>([](auto x, auto y) { return scalar::multiply(x, y); }),
    .grad =
        [](GradCall& g) {
          if (g.wants(0)) g.input_grad(0, g.output_grad() * conj(g.input(1)));
          if (g.wants(1)) g.input_grad(1, g.output_grad() * conj(g.input(0)));
        },
    .grad_reads = reads::all_inputs,
    .traits = {.elementwise = true, .commutative = true, .neutral = Neutral::one},
});

const Op& MulNoNan = define_op({
    .name = "MulNoNan",
    .doc = "x * y, and 0 where y is 0 even if x is infinite or NaN.",
    .signature = "x: T, y: T -> z: T",
    .infer = infer::broadcast,
    .kernel = kernel::binary<(float_types | complex_types)>(
        [](auto x, auto y) { return y == decltype(y)(0) ? decltype(x)(0) : x * y; }),
    .grad =
        [](GradCall& g) {
          if (g.wants(0)) g.input_grad(0, math::multiply_no_nan(g.output_grad(), g.input(1)));
          if (g.wants(1)) g.input_grad(1, math::multiply_no_nan(g.input(0), g.output_grad()));
        },
    .grad_reads = reads::all_inputs,
    .traits = elementwise,
});

const Op& Neg = define_op({
    .name = "Neg",
    .doc = "-x.",
    .signature = "x: T -> y: T",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<(float_types | signed_types | complex_types)>([](auto x) { return scalar::negative(x); }),
    .grad = [](GradCall& g) { g.input_grad(0, -g.output_grad()); },
    .grad_reads = reads::nothing,
    .traits = {.elementwise = true, .twice = Twice::is_nothing},
});

const Op& Maximum = define_op({
    .name = "Maximum",
    .doc = "The larger of x and y; NaN where either is.",
    .signature = "x: T, y: T -> z: T",
    .infer = infer::broadcast,
    .kernel = kernel::binary<real_types>([](auto x, auto y) { return x > y || x != x ? x : y; }),
    .grad =
        [](GradCall& g) {
          Tensor zero = zeros_like(g.output_grad()), first = greater_equal(g.input(0), g.input(1));
          if (g.wants(0)) g.input_grad(0, where(first, g.output_grad(), zero));
          if (g.wants(1)) g.input_grad(1, where(first, zero, g.output_grad()));
        },
    .grad_reads = reads::all_inputs,
    .traits = elementwise,
});

const Op& Minimum = define_op({
    .name = "Minimum",
    .doc = "The smaller of x and y; NaN where either is.",
    .signature = "x: T, y: T -> z: T",
    .infer = infer::broadcast,
    .kernel = kernel::binary<real_types>([](auto x, auto y) { return x < y || x != x ? x : y; }),
    .grad =
        [](GradCall& g) {
          Tensor zero = zeros_like(g.output_grad()), first = less_equal(g.input(0), g.input(1));
          if (g.wants(0)) g.input_grad(0, where(first, g.output_grad(), zero));
          if (g.wants(1)) g.input_grad(1, where(first, zero, g.output_grad()));
        },
    .grad_reads = reads::all_inputs,
    .traits = elementwise,
});

const Op& SquaredDifference = define_op({
    .name = "SquaredDifference",
    .doc = "(x - y)^2; of complex numbers conj(x - y) * (x - y).",
    .signature = "x: T, y: T -> z: T",
    .infer = infer::broadcast,
    .kernel = kernel::binary<(float_types | index_types | complex_types)>([](auto x, auto y) {
      using T = decltype(x);
      if constexpr (std::is_integral_v<T>) {
        T d = scalar::subtract(x, y);
        return scalar::multiply(d, d);
      } else if constexpr (requires { x.real(); }) {
        T d = x - y;
        return T(d.real(), -d.imag()) * d;
      } else {
        return (x - y) * (x - y);
      }
    }),
    .grad =
        [](GradCall& g) {
          Tensor slope = 2 * g.output_grad() * (g.input(0) - g.input(1));
          g.input_grad(0, slope);
          if (g.wants(1)) g.input_grad(1, -slope);
        },
    .grad_reads = reads::all_inputs,
    .traits = {.elementwise = true, .commutative = true},
});

// Integers wrap around, and a negative exponent is an error that the kernel's check has already raised.
template <class T> [[gnu::always_inline]] inline T integer_power(T x, T y) {
  uint64_t base = static_cast<uint64_t>(x), result = 1;
  for (auto n = static_cast<uint64_t>(y); n; n >>= 1, base *= base)
    if (n & 1) result *= base;
  return static_cast<T>(result);
}
constexpr Kernel power_loops =
    kernel::binary<(float_types | signed_types | complex_types), kernels::NoAttrs, kernel::costly>([](auto x, auto y) {
      if constexpr (std::is_integral_v<decltype(x)>) return integer_power(x, y);
      else return kernels::scalar::pow(x, y);
    });

const Op& Pow = define_op({
    .name = "Pow",
    .doc = "x to the power of y. Integers to negative powers are refused.",
    .signature = "x: T, y: T -> z: T",
    .infer = infer::broadcast,
    .kernel = {[](const KernelCall& c) {
                 if (is_integer(c.dtype()) && c.tensor(0).size() > 0 && any_negative(c.tensor(1)))
                   c.fail("integers to negative integer powers are not allowed");
                 kernel::run_binary(c);
               },
               power_loops.loops, power_loops.types},
    .grad =
        [](GradCall& g) {
          Tensor x = conj(g.input(0)), y = conj(g.input(1)), z = conj(g.output());
          if (g.wants(0)) g.input_grad(0, g.output_grad() * y * pow(x, y - 1));
          if (g.wants(1)) {  // log x where it exists, else 0
            Tensor positive = is_complex(x.dtype()) ? not_equal(x, 0) : greater(x, 0);
            Tensor safe = where(positive, x, ones_like(x));
            g.input_grad(1, g.output_grad() * z * where(positive, log(safe), zeros_like(x)));
          }
        },
    .traits = elementwise,
});

void infer_sum(InferCall& c) {
  c.require(c.num_inputs() > 0, "needs at least one tensor");
  infer::same_shape(c);
}
// Tile by tile, so that the sum so far stays in the cache while the inputs go by.
void run_sum(const KernelCall& c) {
  const DType dtype = c.dtype();
  const int64_t count = c.output_shape().count();
  if (c.num_inputs() == 1) return copy_elements(dtype, c.input(0), c.output(), count);
  constexpr int64_t tile = 16384;
  const auto& adding = *static_cast<const kernels::BinaryLoops*>(AddV2.kernel.loops);
  parallel_for((count + tile - 1) / tile, 0.3 * tile * c.num_inputs(), [&](int64_t begin, int64_t end) {
    for (int64_t at = begin * tile; at < std::min(end * tile, count); at += tile) {
      const Shape part{std::min(tile, count - at)};
      void* sum = kernels::element(dtype, c.output(), at);
      for (int k = 1; k < c.num_inputs(); ++k)
        kernels::run_binary(adding, dtype, part, k == 1 ? kernels::element(dtype, c.input(0), at) : sum, part,
                            kernels::element(dtype, c.input(k), at), part, sum, nullptr);
    }
  });
}
void sum_lists(const KernelCall& c) {
  auto* out = c.output<ResourceHandle>();
  for (int64_t k = 0; k < c.output_shape().count(); ++k) {
    out[k] = c.input<ResourceHandle>(0)[k];
    for (int i = 1; i < c.num_inputs(); ++i) out[k] = add_variants(out[k], c.input<ResourceHandle>(i)[k]);
  }
}
void grad_of_sum(GradCall& g) {
  for (int i = 0; i < g.num_inputs(); ++i) g.input_grad(i, g.output_grad());
}

const Op& AddN = define_op({
    .name = "AddN",
    .doc = "The sum of tensors of one shape; of lists, the list of their elements' sums.",
    .signature = "inputs: N * T -> sum: T",
    .types = {{"T", number_types | types(DType::variant)}},
    .infer = infer_sum,
    .kernel = {[](const KernelCall& c) { return c.output_dtype() == DType::variant ? sum_lists(c) : run_sum(c); }},
    .grad = grad_of_sum,
    .grad_reads = reads::nothing,
    .traits = {.commutative = true},
});

struct AccumulateAttrs {
  Shape shape = Shape::unknown_rank();
};
const Op& AccumulateNV2 = define_op({
    .name = "AccumulateNV2",
    .doc = "The sum of tensors of one shape, which is named.",
    .signature = "inputs: N * T -> sum: T",
    .types = {{"T", number_types}},
    .attrs = attrs_of<AccumulateAttrs>(),
    .infer =
        [](InferCall& c) {
          infer_sum(c);
          for (int i = 0; i < c.num_inputs(); ++i)
            c.require(c.attrs<AccumulateAttrs>().shape.is_compatible_with(c.shape(i)),
                      "the inputs must have the shape that is named");
        },
    .kernel = {run_sum},
    .grad = grad_of_sum,
    .grad_reads = reads::nothing,
    .traits = {.commutative = true},
});

const Op& ClipByValue = define_op({
    .name = "ClipByValue",
    .doc = "t, held between two limits, which have its shape or are scalars.",
    .signature = "t: T, clip_value_min: T, clip_value_max: T -> output: T",
    .infer =
        [](InferCall& c) {
          for (int i = 1; i < 3; ++i)
            c.require(c.shape(i).rank() <= 0 || c.shape(i).is_compatible_with(c.shape(0)),
                      "a limit must be a scalar or have the shape of t");
          c.output(0, c.shape(0));
        },
    .kernel = kernel::ternary<number_types>([](auto t, auto low, auto high) {
      if constexpr (requires { t.imag(); }) {  // real and imaginary parts on their own, as TensorFlow has it
        auto held = [](auto x, auto l, auto h) { return std::max(std::min(x, h), l); };
        return decltype(t)(held(t.real(), low.real(), high.real()), held(t.imag(), low.imag(), high.imag()));
      } else {
        auto lowered = high < t ? high : t;
        return lowered < low ? low : lowered;
      }
    }),
    .grad =
        [](GradCall& g) {
          Tensor zero = zeros_like(g.output_grad()), below = less(g.input(0), g.input(1)),
                 above = greater(g.input(0), g.input(2));
          if (g.wants(0)) g.input_grad(0, where(logical_or(below, above), zero, g.output_grad()));
          if (g.wants(1)) g.input_grad(1, where(below, g.output_grad(), zero));
          if (g.wants(2)) g.input_grad(2, where(above, g.output_grad(), zero));
        },
    .grad_reads = reads::all_inputs,
    .traits = {.elementwise = true, .broadcasts = true},
});

}  // namespace

namespace detail {
Tensor add(const TensorLike& x, const TensorLike& y, unsigned temporaries) {
  const TensorImpl* first = x.tensor().get();
  return apply1(first && first->dtype == DType::string ? Add : AddV2, {x, y}, {}, temporaries);
}
Tensor subtract(const TensorLike& x, const TensorLike& y, unsigned temporaries) {
  return apply1(Sub, {x, y}, {}, temporaries);
}
Tensor multiply(const TensorLike& x, const TensorLike& y, unsigned temporaries) {
  return apply1(Mul, {x, y}, {}, temporaries);
}
Tensor negative(const Tensor& x, unsigned temporaries) { return apply1(Neg, {x}, {}, temporaries); }
}  // namespace detail

Tensor add(const TensorLike& x, const TensorLike& y) { return detail::add(x, y, 0); }
Tensor subtract(const TensorLike& x, const TensorLike& y) { return detail::subtract(x, y, 0); }
Tensor multiply(const TensorLike& x, const TensorLike& y) { return detail::multiply(x, y, 0); }
Tensor negative(const Tensor& x) { return detail::negative(x, 0); }
Tensor pow(const TensorLike& x, const TensorLike& y) { return apply1(Pow, {x, y}); }
Tensor maximum(const TensorLike& x, const TensorLike& y) { return apply1(Maximum, {x, y}); }
Tensor minimum(const TensorLike& x, const TensorLike& y) { return apply1(Minimum, {x, y}); }
Tensor add_n(const std::vector<Tensor>& inputs) {
  if (inputs.empty()) throw ValueError("add_n: inputs must be a list of at least one tensor, got an empty one");
  return apply_values(AddN, inputs, {});
}
Tensor clip_by_value(const Tensor& t, const TensorLike& clip_value_min, const TensorLike& clip_value_max) {
  if (is_indexed_slices(t))
    return map_values(t, [&](const Tensor& x) { return clip_by_value(x, clip_value_min, clip_value_max); });
  // As TensorFlow's Python does it: the limits may broadcast, but never make the result larger than t.
  Tensor clipped = maximum(minimum(t, clip_value_max), clip_value_min);
  if (!clipped.shape().is_compatible_with(t.shape()))
    throw InvalidArgumentError("clip_by_value: the limits broadcast t from " + t.shape().brackets() + " to " +
                               clipped.shape().brackets() + "; they must fit t's shape");
  return clipped;
}
Tensor math::squared_difference(const TensorLike& x, const TensorLike& y) { return apply1(SquaredDifference, {x, y}); }
Tensor math::multiply_no_nan(const TensorLike& x, const TensorLike& y) { return apply1(MulNoNan, {x, y}); }
Tensor math::accumulate_n(const std::vector<Tensor>& inputs) { return apply_values(AddN, inputs, {}); }

namespace {
const FunctionDef* const math_functions[] = {
    &define_function<add>({"add", "math.add"}, {"x", "y"}),
    &define_function<subtract>({"subtract", "math.subtract"}, {"x", "y"}),
    &define_function<multiply>({"multiply", "math.multiply"}, {"x", "y"}),
    &define_function<negative>({"negative", "math.negative"}, {"x"}),
    &define_function<thalweg::pow>({"pow", "math.pow"}, {"x", "y"}),
    &define_function<maximum>({"maximum", "math.maximum"}, {"x", "y"}),
    &define_function<minimum>({"minimum", "math.minimum"}, {"x", "y"}),
    &define_function<add_n>({"add_n", "math.add_n"}, {"inputs"}),
    &define_function<clip_by_value>({"clip_by_value"}, {"t", "clip_value_min", "clip_value_max"}),
    &define_function<math::squared_difference>({"math.squared_difference"}, {"x", "y"}),
    &define_function<math::multiply_no_nan>({"math.multiply_no_nan"}, {"x", "y"}),
    &define_function<math::accumulate_n>({"math.accumulate_n"}, {"inputs"}),
};
}  // namespace

}  // namespace thalweg
