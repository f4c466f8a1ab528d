#include "thalweg/ops/division.h"

#include <algorithm>
#include <cmath>

#include "thalweg/core/error.h"
#include "thalweg/kernels/scalar_arithmetic.h"
#include "thalweg/kernels/scalar_complex.h"
#include "thalweg/kernels/scalar_math.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/elements.h"
#include "thalweg/ops/elementwise.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_complex.h"
#include "thalweg/ops/math_elementary.h"

namespace thalweg {
namespace {

using math::conj;
namespace scalar = kernels::scalar;
constexpr TypeSet fc_types = float_types | complex_types;

// The smallest integer divided by -1 does not fit; it wraps around instead of trapping.
template <class T> [[gnu::always_inline]] inline T truncated(T x, T y) {
  if constexpr (std::is_signed_v<T>) {
    if (y == T(-1)) return scalar::negative(x);
  }
  return static_cast<T>(x / y);
}
template <class T> [[gnu::always_inline]] inline T remainder(T x, T y) {
  if constexpr (std::is_signed_v<T>) {
    if (y == T(-1)) return T(0);
  }
  return static_cast<T>(x % y);
}

// Integers are checked once, before the loop: a zero among the divisors would trap.
void run_checked(const KernelCall& c) {
  if (is_integer(c.dtype()) && c.tensor(0).size() > 0 && any_zero(c.tensor(1))) c.fail("integer division by zero");
  kernel::run_binary(c);
}
constexpr Kernel checked(Kernel k) { return {run_checked, k.loops, k.types}; }

void grad_of_quotient(GradCall& g) {
  Tensor x = conj(g.input(0)), y = conj(g.input(1));
  if (g.wants(0)) g.input_grad(0, g.output_grad() / y);
  if (g.wants(1)) g.input_grad(1, g.output_grad() * (-x / y / y));
}

const Op& RealDiv = define_op({
    .name = "RealDiv",
    .doc = "x / y.",
    .signature = "x: T, y: T -> z: T",
    .infer = infer::broadcast,
    .kernel = checked(kernel::binary<number_types>([](auto x, auto y) {
      if constexpr (std::is_integral_v<decltype(x)>) return truncated(x, y);
      else return x / y;
    })),
    .grad = grad_of_quotient,
    .grad_reads = reads::all_inputs,
    .traits = {.elementwise = true, .neutral = Neutral::one_right},
});

const Op& Div = define_op({
    .name = "Div",
    .doc = "x / y; integers toward zero.",
    .signature = "x: T, y: T -> z: T",
    .infer = infer::broadcast,
    .kernel = checked(kernel::binary<number_types>([](auto x, auto y) {
      if constexpr (std::is_integral_v<decltype(x)>) return truncated(x, y);
      else return x / y;
    })),
    .grad = grad_of_quotient,
    .grad_reads = reads::all_inputs,
    .traits = {.elementwise = true, .neutral = Neutral::one_right},
});

const Op& TruncateDiv = define_op({
    .name = "TruncateDiv",
    .doc = "x / y, rounded toward zero.",
    .signature = "x: T, y: T -> z: T",
    .types = {{"T", number_types}},
    .infer = infer::broadcast,
    .kernel = checked(kernel::binary<number_types>([](auto x, auto y) {
      using T = decltype(x);
      if constexpr (std::is_integral_v<T>) return truncated(x, y);
      else if constexpr (std::is_floating_point_v<T>) return std::trunc(x / y);
      else return x / y;
    })),
    .traits = {.elementwise = true, .not_differentiable = "a step function"},
});

const Op& FloorDiv = define_op({
    .name = "FloorDiv",
    .doc = "x / y, rounded toward minus infinity.",
    .signature = "x: T, y: T -> z: T",
    .types = {{"T", number_types}},
    .infer = infer::broadcast,
    .kernel = checked(kernel::binary<number_types>([](auto x, auto y) {
      using T = decltype(x);
      if constexpr (std::is_integral_v<T>) {
        T q = truncated(x, y);
        if constexpr (std::is_signed_v<T>) {
          T rest = scalar::subtract(x, scalar::multiply(q, y));  // a second division would take as long as the first
          q = scalar::subtract(q, static_cast<T>((rest != 0) & ((rest ^ y) < 0)));
        }
        return q;
      } else if constexpr (std::is_floating_point_v<T>) {
        return scalar::floor(x / y);
      } else {
        return x / y;
      }
    })),
    .traits = {.elementwise = true, .not_differentiable = "a step function"},
});

const Op& FloorMod = define_op({
    .name = "FloorMod",
    .doc = "The remainder with the sign of y.",
    .signature = "x: T, y: T -> z: T",
    .infer = infer::broadcast,
    .kernel = checked(kernel::binary<real_types>([](auto x, auto y) {
      using T = decltype(x);
      if constexpr (std::is_integral_v<T>) {
        T r = remainder(x, y);
        if constexpr (std::is_signed_v<T>) {
          const int opposite = (r != 0) & ((r ^ y) < 0);
          r = static_cast<T>(r + (y & static_cast<T>(-opposite)));  // a choice would be a mispredicted branch
        }
        return r;
      } else {
        T r = std::fmod(x, y);
        return r != T(0) && (r < T(0)) != (y < T(0)) ? r + y : r;
      }
    })),
    .grad =
        [](GradCall& g) {
          g.input_grad(0, g.output_grad());
          if (g.wants(1)) g.input_grad(1, -(g.output_grad() * floordiv(g.input(0), g.input(1))));
        },
    .grad_reads = reads::all_inputs,
    .traits = elementwise,
});

constexpr TypeSet mod_types = float_types | index_types;
const Op& Mod = define_op({
    .name = "Mod",
    .doc = "The remainder with the sign of x.",
    .signature = "x: T, y: T -> z: T",
    .infer = infer::broadcast,
    .kernel = checked(kernel::binary<mod_types>([](auto x, auto y) {
      if constexpr (std::is_integral_v<decltype(x)>) return remainder(x, y);
      else return std::fmod(x, y);
    })),
    .grad =
        [](GradCall& g) {
          g.input_grad(0, g.output_grad());
          if (g.wants(1)) g.input_grad(1, g.output_grad() * ((g.output() - g.input(0)) / g.input(1)));
        },
    .traits = elementwise,
});

const Op& TruncateMod = define_op({
    .name = "TruncateMod",
    .doc = "The remainder with the sign of x.",
    .signature = "x: T, y: T -> z: T",
    .infer = infer::broadcast,
    .kernel = checked(kernel::binary<mod_types>([](auto x, auto y) {
      if constexpr (std::is_integral_v<decltype(x)>) return remainder(x, y);
      else return std::fmod(x, y);
    })),
    .grad =
        [](GradCall& g) {
          g.input_grad(0, g.output_grad());
          if (g.wants(1)) g.input_grad(1, g.output_grad() * ((g.output() - g.input(0)) / g.input(1)));
        },
    .traits = elementwise,
});

const Op& DivNoNan = define_op({
    .name = "DivNoNan",
    .doc = "x / y, and 0 where y is 0.",
    .signature = "x: T, y: T -> z: T",
    .infer = infer::broadcast,
    .kernel = kernel::binary<fc_types>([](auto x, auto y) { return y == decltype(y)(0) ? decltype(x)(0) : x / y; }),
    .grad =
        [](GradCall& g) {
          Tensor x = conj(g.input(0)), y = conj(g.input(1));
          if (g.wants(0)) g.input_grad(0, math::divide_no_nan(g.output_grad(), y));
          if (g.wants(1)) g.input_grad(1, g.output_grad() * math::divide_no_nan(math::divide_no_nan(-x, y), y));
        },
    .grad_reads = reads::all_inputs,
    .traits = elementwise,
});

const Op& Xdivy = define_op({
    .name = "Xdivy",
    .doc = "x / y, and 0 where x is 0.",
    .signature = "x: T, y: T -> z: T",
    .infer = infer::broadcast,
    .kernel = kernel::binary<fc_types>([](auto x, auto y) { return x == decltype(x)(0) ? decltype(x)(0) : x / y; }),
    .grad =
        [](GradCall& g) {
          const Tensor &x = g.input(0), &y = g.input(1), &grad = g.output_grad();
          Tensor nonzero = cast(not_equal(x, 0), x.dtype());
          if (g.wants(0)) g.input_grad(0, grad * math::xdivy(nonzero, y));
          if (g.wants(1)) g.input_grad(1, grad * math::xdivy(-x, y * y));
        },
    .grad_reads = reads::all_inputs,
    .traits = elementwise,
});

const Op& Xlogy = define_op({
    .name = "Xlogy",
    .doc = "x * log(y), and 0 where x is 0.",
    .signature = "x: T, y: T -> z: T",
    .infer = infer::broadcast,
    .kernel = kernel::binary<fc_types>(
        [](auto x, auto y) { return x == decltype(x)(0) ? decltype(x)(0) : x * scalar::log(y); }),
    .grad =
        [](GradCall& g) {
          const Tensor &x = g.input(0), &y = g.input(1), &grad = g.output_grad();
          Tensor nonzero = cast(not_equal(x, 0), x.dtype());
          if (g.wants(0)) g.input_grad(0, grad * math::xlogy(nonzero, y));
          if (g.wants(1)) g.input_grad(1, grad * math::xdivy(x, y));
        },
    .grad_reads = reads::all_inputs,
    .traits = elementwise,
});

const Op& Xlog1py = define_op({
    .name = "Xlog1py",
    .doc = "x * log1p(y), and 0 where x is 0.",
    .signature = "x: T, y: T -> z: T",
    .infer = infer::broadcast,
    .kernel = kernel::binary<fc_types>(
        [](auto x, auto y) { return x == decltype(x)(0) ? decltype(x)(0) : x * scalar::log1p(y); }),
    .grad =
        [](GradCall& g) {
          const Tensor &x = g.input(0), &y = g.input(1), &grad = g.output_grad();
          Tensor nonzero = cast(not_equal(x, 0), x.dtype());
          if (g.wants(0)) g.input_grad(0, grad * math::xlog1py(nonzero, y));
          if (g.wants(1)) g.input_grad(1, grad * math::xdivy(x, y + 1));
        },
    .grad_reads = reads::all_inputs,
    .traits = elementwise,
});

template <class F> bool any_integer(const Tensor& t, F wrong) {
  bool found = false;
  kernel::visit_type<int_types>(t.dtype(), [&]<class T>(T*) {
    const T* p = static_cast<const T*>(t.impl()->data);
    found = std::any_of(p, p + t.size(), wrong);
  });
  return found;
}

}  // namespace

bool any_zero(const Tensor& t) {
  return any_integer(t, [](auto v) { return v == 0; });
}
bool any_negative(const Tensor& t) {
  return any_integer(t, [](auto v) { return v < decltype(v){}; });
}

namespace {
DType real_for(DType integer) { return size_of(integer) <= 2 ? float32 : float64; }

// Integers become real before they are divided, as in Python.
Tensor divide_as_reals(const Op& op, const char* name, const TensorLike& x, const TensorLike& y) {
  bool x_strong = x.tensor().impl()->weak == Weak::strong, y_strong = y.tensor().impl()->weak == Weak::strong;
  DType t = x_strong || !y_strong ? natural_dtype(*x.tensor().impl()) : y.tensor().dtype();
  if (!is_integer(t)) return apply1(op, {x, y});
  Tensor a = x.as(t), b = y.as(t);
  if (a.dtype() != b.dtype())
    throw TypeError(std::string(name) + ": x and y must have the same dtype, got " + std::string(name_of(a.dtype())) +
                    " and " + std::string(name_of(b.dtype())));
  return apply1(op, {cast(a, real_for(t)), cast(b, real_for(t))});
}
}  // namespace

Tensor detail::divide(const TensorLike& x, const TensorLike& y) {
  auto is_real_literal = [](const Tensor& t) { return t.impl()->weak == Weak::bare && is_floating(t.dtype()); };
  auto is_integers = [](const Tensor& t) { return t.impl()->weak == Weak::strong && is_integer(t.dtype()); };
  const Tensor &a = x.tensor(), &b = y.tensor();
  if (is_integers(a) && is_real_literal(b)) return truediv(cast(a, real_for(a.dtype())), y);
  if (is_real_literal(a) && is_integers(b)) return truediv(x, cast(b, real_for(b.dtype())));
  return truediv(x, y);
}

Tensor truediv(const TensorLike& x, const TensorLike& y) { return divide_as_reals(RealDiv, "truediv", x, y); }
Tensor divide(const TensorLike& x, const TensorLike& y) { return truediv(x, y); }
Tensor floordiv(const TensorLike& x, const TensorLike& y) { return apply1(FloorDiv, {x, y}); }
Tensor floormod(const TensorLike& x, const TensorLike& y) { return apply1(FloorMod, {x, y}); }
Tensor truncatediv(const TensorLike& x, const TensorLike& y) { return apply1(TruncateDiv, {x, y}); }
Tensor truncatemod(const TensorLike& x, const TensorLike& y) { return apply1(TruncateMod, {x, y}); }

namespace math {
Tensor divide_no_nan(const TensorLike& x, const TensorLike& y) {
  return divide_as_reals(DivNoNan, "divide_no_nan", x, y);
}
Tensor xdivy(const TensorLike& x, const TensorLike& y) { return apply1(Xdivy, {x, y}); }
Tensor xlogy(const TensorLike& x, const TensorLike& y) { return apply1(Xlogy, {x, y}); }
Tensor xlog1py(const TensorLike& x, const TensorLike& y) { return apply1(Xlog1py, {x, y}); }
Tensor reciprocal_no_nan(const Tensor& x) { return divide_no_nan(ones_like(x), x); }
}  // namespace math

namespace {
const FunctionDef* const division_functions[] = {
    &define_function<divide>({"divide", "math.divide"}, {"x", "y"}),
    &define_function<truediv>({"truediv", "math.truediv"}, {"x", "y"}),
    &define_function<floordiv>({"math.floordiv"}, {"x", "y"}),
    &define_function<floormod>({"math.floormod", "math.mod"}, {"x", "y"}),
    &define_function<truncatediv>({"truncatediv"}, {"x", "y"}),
    &define_function<truncatemod>({"truncatemod"}, {"x", "y"}),
    &define_function<math::divide_no_nan>({"math.divide_no_nan"}, {"x", "y"}),
    &define_function<math::xdivy>({"math.xdivy"}, {"x", "y"}),
    &define_function<math::xlogy>({"math.xlogy"}, {"x", "y"}),
    &define_function<math::xlog1py>({"math.xlog1py"}, {"x", "y"}),
    &define_function<math::reciprocal_no_nan>({"math.reciprocal_no_nan"}, {"x"}),
};
}  // namespace

}  // namespace thalweg
