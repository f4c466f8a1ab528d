#include "thalweg/ops/math.h"

#include <cmath>

#include "thalweg/ops/apply.h"
#include "thalweg/ops/elementwise.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"

namespace thalweg {
namespace {

const Op& AddV2 = define_op({
    .name = "AddV2",
    .doc = "x + y, element by element, with broadcasting.",
    .signature = "x: T, y: T -> z: T",
    .infer = infer::broadcast,
    .kernel = kernel::binary<number_types>([](auto x, auto y) { return x + y; }),
    .grad = [](GradCall& g) {
      g.input_grad(0, g.output_grad());
      g.input_grad(1, g.output_grad());
    },
    .traits = {.elementwise = true, .commutative = true},
});

const Op& Sub = define_op({
    .name = "Sub",
    .doc = "x - y, element by element, with broadcasting.",
    .signature = "x: T, y: T -> z: T",
    .infer = infer::broadcast,
    .kernel = kernel::binary<number_types>([](auto x, auto y) { return x - y; }),
    .grad = [](GradCall& g) {
      g.input_grad(0, g.output_grad());
      if (g.wants(1)) g.input_grad(1, negative(g.output_grad()));
    },
    .traits = elementwise,
});

const Op& Mul = define_op({
    .name = "Mul",
    .doc = "x * y, element by element, with broadcasting.",
    .signature = "x: T, y: T -> z: T",
    .infer = infer::broadcast,
    .kernel = kernel::binary<number_types>([](auto x, auto y) { return x * y; }),
    .grad = [](GradCall& g) {
      if (g.wants(0)) g.input_grad(0, g.output_grad() * g.input(1));
      if (g.wants(1)) g.input_grad(1, g.output_grad() * g.input(0));
    },
    .traits = {.elementwise = true, .commutative = true},
});

const Op& Neg = define_op({
    .name = "Neg",
    .doc = "-x.",
    .signature = "x: T -> y: T",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<float_types | signed_types | complex_types>([](auto x) { return -x; }),
    .grad = [](GradCall& g) { g.input_grad(0, negative(g.output_grad())); },
    .traits = elementwise,
});

}  // namespace

Tensor add(const TensorLike& x, const TensorLike& y) { return apply1(AddV2, {x, y}); }
Tensor subtract(const TensorLike& x, const TensorLike& y) { return apply1(Sub, {x, y}); }
Tensor multiply(const TensorLike& x, const TensorLike& y) { return apply1(Mul, {x, y}); }
Tensor negative(const Tensor& x) { return apply1(Neg, {x}); }

namespace {
const auto& f1 = define_function<add>({"add", "math.add"}, {"x", "y"});
const auto& f2 = define_function<subtract>({"subtract", "math.subtract"}, {"x", "y"});
const auto& f3 = define_function<multiply>({"multiply", "math.multiply"}, {"x", "y"});
const auto& f4 = define_function<negative>({"negative", "math.negative"}, {"x"});
}  // namespace

}  // namespace thalweg
