#include "thalweg/ops/comparison.h"

#include <cmath>

#include "thalweg/kernels/scalar_complex.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/elementwise.h"
#include "thalweg/ops/function.h"

namespace thalweg {
namespace {

/// Without the error, shapes that do not broadcast compare as a whole: one answer.
struct EqualAttrs {
  bool incompatible_shape_error = true;
};
void infer_equal(InferCall& c) {
  if (c.attrs<EqualAttrs>().incompatible_shape_error) return infer::broadcast(c);
  Shape both;
  if (!c.shape(0).is_fully_defined() || !c.shape(1).is_fully_defined()) both = Shape::unknown_rank();
  else if (!broadcast_shapes(c.shape(0), c.shape(1), both)) both = Shape();
  c.output(0, both);
}
// Shapes that do not broadcast: nothing is equal.
template <bool Answer> void run_equal(const KernelCall& c) {
  Shape both;
  if (broadcast_shapes(c.shape(0), c.shape(1), both)) return kernel::run_binary(c);
  *c.output<bool>() = Answer;
}
constexpr TypeSet equal_types = plain_types | types(string);
constexpr Kernel equal_loops = kernel::binary<equal_types>([](const auto& x, const auto& y) { return x == y; });
constexpr Kernel not_equal_loops = kernel::binary<equal_types>([](const auto& x, const auto& y) { return x != y; });

const Op& Equal = define_op({
    .name = "Equal",
    .doc = "x == y, element by element.",
    .signature = "x: T, y: T -> z: bool",
    .attrs = attrs_of<EqualAttrs>(),
    .infer = infer_equal,
    .kernel = {run_equal<false>, equal_loops.loops, equal_loops.types},
    .traits = {.elementwise = true, .commutative = true, .not_differentiable = "the result is boolean"},
});

const Op& NotEqual = define_op({
    .name = "NotEqual",
    .doc = "x != y, element by element.",
    .signature = "x: T, y: T -> z: bool",
    .attrs = attrs_of<EqualAttrs>(),
    .infer = infer_equal,
    .kernel = {run_equal<true>, not_equal_loops.loops, not_equal_loops.types},
    .traits = {.elementwise = true, .commutative = true, .not_differentiable = "the result is boolean"},
});

const Op& Less = define_op({
    .name = "Less",
    .doc = "x < y.",
    .signature = "x: T, y: T -> z: bool",
    .infer = infer::broadcast,
    .kernel = kernel::binary<real_types>([](auto x, auto y) { return x < y; }),
    .traits = {.elementwise = true, .not_differentiable = "the result is boolean"},
});

const Op& LessEqual = define_op({
    .name = "LessEqual",
    .doc = "x <= y.",
    .signature = "x: T, y: T -> z: bool",
    .infer = infer::broadcast,
    .kernel = kernel::binary<real_types>([](auto x, auto y) { return x <= y; }),
    .traits = {.elementwise = true, .not_differentiable = "the result is boolean"},
});

const Op& Greater = define_op({
    .name = "Greater",
    .doc = "x > y.",
    .signature = "x: T, y: T -> z: bool",
    .infer = infer::broadcast,
    .kernel = kernel::binary<real_types>([](auto x, auto y) { return x > y; }),
    .traits = {.elementwise = true, .not_differentiable = "the result is boolean"},
});

const Op& GreaterEqual = define_op({
    .name = "GreaterEqual",
    .doc = "x >= y.",
    .signature = "x: T, y: T -> z: bool",
    .infer = infer::broadcast,
    .kernel = kernel::binary<real_types>([](auto x, auto y) { return x >= y; }),
    .traits = {.elementwise = true, .not_differentiable = "the result is boolean"},
});

const Op& LogicalAnd = define_op({
    .name = "LogicalAnd",
    .doc = "x and y.",
    .signature = "x: bool, y: bool -> z: bool",
    .infer = infer::broadcast,
    .kernel = kernel::binary<types(bool_)>([](auto x, auto y) { return x && y; }),
    .traits = {.elementwise = true, .commutative = true, .not_differentiable = "the result is boolean"},
});

const Op& LogicalOr = define_op({
    .name = "LogicalOr",
    .doc = "x or y.",
    .signature = "x: bool, y: bool -> z: bool",
    .infer = infer::broadcast,
    .kernel = kernel::binary<types(bool_)>([](auto x, auto y) { return x || y; }),
    .traits = {.elementwise = true, .commutative = true, .not_differentiable = "the result is boolean"},
});

const Op& LogicalNot = define_op({
    .name = "LogicalNot",
    .doc = "not x.",
    .signature = "x: bool -> y: bool",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<types(bool_)>([](auto x) { return !x; }),
    .traits = {.elementwise = true, .twice = Twice::is_nothing, .not_differentiable = "the result is boolean"},
});

struct ApproximateEqualAttrs {
  float tolerance = 1e-5f;
};
const Op& ApproximateEqual = define_op({
    .name = "ApproximateEqual",
    .doc = "|x - y| <= tolerance; x and y have one shape.",
    .signature = "x: T, y: T -> z: bool",
    .attrs = attrs_of<ApproximateEqualAttrs>(),
    .infer = infer::same_shape,
    .kernel = kernel::binary<number_types, ApproximateEqualAttrs>([](auto x, auto y, const ApproximateEqualAttrs& a) {
      using T = decltype(x);
      if constexpr (std::is_unsigned_v<T>)
        return static_cast<double>(static_cast<T>(x - y)) <= static_cast<double>(a.tolerance);
      else if constexpr (std::is_integral_v<T>)
        return std::abs(static_cast<double>(x) - static_cast<double>(y)) <= static_cast<double>(a.tolerance);
      else return static_cast<double>(std::abs(x - y)) <= static_cast<double>(a.tolerance);
    }),
    .traits = {.elementwise = true, .commutative = true, .not_differentiable = "the result is boolean"},
});

}  // namespace

Tensor equal(const TensorLike& x, const TensorLike& y) { return apply1(Equal, {x, y}); }
Tensor not_equal(const TensorLike& x, const TensorLike& y) { return apply1(NotEqual, {x, y}); }
Tensor less(const TensorLike& x, const TensorLike& y) { return apply1(Less, {x, y}); }
Tensor less_equal(const TensorLike& x, const TensorLike& y) { return apply1(LessEqual, {x, y}); }
Tensor greater(const TensorLike& x, const TensorLike& y) { return apply1(Greater, {x, y}); }
Tensor greater_equal(const TensorLike& x, const TensorLike& y) { return apply1(GreaterEqual, {x, y}); }
Tensor logical_and(const TensorLike& x, const TensorLike& y) { return apply1(LogicalAnd, {x, y}); }
Tensor logical_or(const TensorLike& x, const TensorLike& y) { return apply1(LogicalOr, {x, y}); }
Tensor logical_not(const Tensor& x) { return apply1(LogicalNot, {x}); }
Tensor math::logical_xor(const TensorLike& x, const TensorLike& y) {
  return logical_and(logical_or(x, y), logical_not(logical_and(x, y)));
}
Tensor math::approximate_equal(const TensorLike& x, const TensorLike& y, const ApproximateEqualOptions& options) {
  return apply1(ApproximateEqual, {x, y}, ApproximateEqualAttrs{static_cast<float>(options.tolerance)});
}

namespace {
const FunctionDef* const comparison_functions[] = {
    &define_function<equal>({"equal", "math.equal"}, {"x", "y"}),
    &define_function<not_equal>({"not_equal", "math.not_equal"}, {"x", "y"}),
    &define_function<less>({"less", "math.less"}, {"x", "y"}),
    &define_function<less_equal>({"less_equal", "math.less_equal"}, {"x", "y"}),
    &define_function<greater>({"greater", "math.greater"}, {"x", "y"}),
    &define_function<greater_equal>({"greater_equal", "math.greater_equal"}, {"x", "y"}),
    &define_function<logical_and>({"logical_and", "math.logical_and"}, {"x", "y"}),
    &define_function<logical_or>({"logical_or", "math.logical_or"}, {"x", "y"}),
    &define_function<logical_not>({"logical_not", "math.logical_not"}, {"x"}),
    &define_function<math::logical_xor>({"math.logical_xor"}, {"x", "y"}),
    &define_function<Tensor(const TensorLike&, const TensorLike&, const ApproximateEqualOptions&),
                     math::approximate_equal>({"math.approximate_equal"}, {"x", "y"}),
};
}  // namespace

}  // namespace thalweg
