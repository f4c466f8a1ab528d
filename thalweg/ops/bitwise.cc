#include "thalweg/ops/bitwise.h"

#include <bit>

#include "thalweg/ops/apply.h"
#include "thalweg/ops/elementwise.h"
#include "thalweg/ops/function.h"

namespace thalweg {
namespace {

constexpr const char* integers_only = "integers have no gradient";

// A shift past the width is undefined in C++: distances are held between 0 and the last bit, as TensorFlow holds them.
template <class T> [[gnu::always_inline]] inline T distance(T y) {
  constexpr T last = static_cast<T>(sizeof(T) * 8 - 1);
  return y < T(0) ? T(0) : y > last ? last : y;
}

const Op& BitwiseAnd = define_op({
    .name = "BitwiseAnd",
    .doc = "x & y.",
    .signature = "x: T, y: T -> z: T",
    .infer = infer::broadcast,
    .kernel = kernel::binary<int_types>([](auto x, auto y) { return x & y; }),
    .traits = {.elementwise = true, .commutative = true, .not_differentiable = integers_only},
});

const Op& BitwiseOr = define_op({
    .name = "BitwiseOr",
    .doc = "x | y.",
    .signature = "x: T, y: T -> z: T",
    .infer = infer::broadcast,
    .kernel = kernel::binary<int_types>([](auto x, auto y) { return x | y; }),
    .traits = {.elementwise = true, .commutative = true, .not_differentiable = integers_only},
});

const Op& BitwiseXor = define_op({
    .name = "BitwiseXor",
    .doc = "x ^ y.",
    .signature = "x: T, y: T -> z: T",
    .infer = infer::broadcast,
    .kernel = kernel::binary<int_types>([](auto x, auto y) { return x ^ y; }),
    .traits = {.elementwise = true, .commutative = true, .not_differentiable = integers_only},
});

const Op& LeftShift = define_op({
    .name = "LeftShift",
    .doc = "x shifted left by y bits.",
    .signature = "x: T, y: T -> z: T",
    .infer = infer::broadcast,
    .kernel = kernel::binary<int_types>(
        [](auto x, auto y) { return static_cast<decltype(x)>(static_cast<uint64_t>(x) << distance(y)); }),
    .traits = {.elementwise = true, .not_differentiable = integers_only},
});

const Op& RightShift = define_op({
    .name = "RightShift",
    .doc = "x shifted right by y bits; signed numbers keep their sign.",
    .signature = "x: T, y: T -> z: T",
    .infer = infer::broadcast,
    .kernel = kernel::binary<int_types>([](auto x, auto y) { return static_cast<decltype(x)>(x >> distance(y)); }),
    .traits = {.elementwise = true, .not_differentiable = integers_only},
});

const Op& Invert = define_op({
    .name = "Invert",
    .doc = "Every bit of x turned over.",
    .signature = "x: T -> y: T",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<int_types>([](auto x) { return ~x; }),
    .traits = {.elementwise = true, .twice = Twice::is_nothing, .not_differentiable = integers_only},
});

const Op& PopulationCount = define_op({
    .name = "PopulationCount",
    .doc = "How many bits of x are set.",
    .signature = "x: T -> y: uint8",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<int_types>(
        [](auto x) { return static_cast<uint8_t>(std::popcount(static_cast<std::make_unsigned_t<decltype(x)>>(x))); }),
    .traits = {.elementwise = true, .not_differentiable = integers_only},
});

}  // namespace

namespace bitwise {
Tensor bitwise_and(const TensorLike& x, const TensorLike& y) { return apply1(BitwiseAnd, {x, y}); }
Tensor bitwise_or(const TensorLike& x, const TensorLike& y) { return apply1(BitwiseOr, {x, y}); }
Tensor bitwise_xor(const TensorLike& x, const TensorLike& y) { return apply1(BitwiseXor, {x, y}); }
Tensor left_shift(const TensorLike& x, const TensorLike& y) { return apply1(LeftShift, {x, y}); }
Tensor right_shift(const TensorLike& x, const TensorLike& y) { return apply1(RightShift, {x, y}); }
Tensor invert(const Tensor& x) { return apply1(Invert, {x}); }
}  // namespace bitwise

namespace {
const FunctionDef* const bitwise_functions[] = {
    &define_function<bitwise::bitwise_and>({"bitwise.bitwise_and"}, {"x", "y"}),
    &define_function<bitwise::bitwise_or>({"bitwise.bitwise_or"}, {"x", "y"}),
    &define_function<bitwise::bitwise_xor>({"bitwise.bitwise_xor"}, {"x", "y"}),
    &define_function<bitwise::left_shift>({"bitwise.left_shift"}, {"x", "y"}),
    &define_function<bitwise::right_shift>({"bitwise.right_shift"}, {"x", "y"}),
    &define_function<bitwise::invert>({"bitwise.invert"}, {"x"}),
};
}  // namespace

}  // namespace thalweg
