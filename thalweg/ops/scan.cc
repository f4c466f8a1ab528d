#include "thalweg/ops/scan.h"

#include <cmath>
#include <limits>

#include "thalweg/core/complex.h"
#include "thalweg/core/convert.h"
#include "thalweg/core/threads.h"
#include "thalweg/kernels/scalar_arithmetic.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/division.h"
#include "thalweg/ops/elements.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/infer.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_complex.h"
#include "thalweg/ops/math_elementary.h"
#include "thalweg/ops/selection.h"
#include "thalweg/ops/shaping.h"

namespace thalweg {
namespace {

struct ScanAttrs {
  bool exclusive = false;
  bool reverse = false;
};

void infer_scan(InferCall& c) {
  c.require(c.shape(1).rank() <= 0, "axis must be a scalar");
  if (c.shape(0).has_rank() && c.has_value(1)) c.axis(c.scalar(1), c.shape(0).rank());
  c.output(0, c.shape(0));
}

struct Add {
  template <class T> static T start() { return T{}; }
  template <class T> T operator()(T a, T x) const { return kernels::scalar::add(a, x); }
};
struct Multiply {
  template <class T> static T start() { return T(1); }
  template <class T> T operator()(T a, T x) const { return kernels::scalar::multiply(a, x); }
};
// log(exp(a) + exp(x)): the larger one is taken out of the sum.
struct LogAddExp {
  template <class T> static T start() { return -std::numeric_limits<T>::infinity(); }
  template <class T> T operator()(T a, T x) const {
    T large = a > x ? a : x, small = a > x ? x : a;
    if (a != a || x != x) return a + x;
    return large == -std::numeric_limits<T>::infinity() ? large : large + std::log1p(std::exp(small - large));
  }
};

template <class T, class F>
void scan_along(const T* x, T* y, int64_t outer, int64_t n, int64_t inner, ScanAttrs attrs) {
  parallel_for(outer, 1.0 * static_cast<double>(n * inner), [&](int64_t begin, int64_t end) {
    for (int64_t o = begin; o < end; ++o)
      for (int64_t i = 0; i < inner; ++i) {
        T running = F::template start<T>();
        for (int64_t k = 0; k < n; ++k) {
          int64_t at = (o * n + (attrs.reverse ? n - 1 - k : k)) * inner + i;
          T next = F{}(running, x[at]);
          y[at] = attrs.exclusive ? running : next;
          running = next;
        }
      }
  });
}

template <class F, TypeSet S> void run_scan(const KernelCall& c) {
  const Shape& shape = c.shape(0);
  int64_t at = c.scalar(1), total = shape.count();
  if (total == 0) return;
  int axis = static_cast<int>(at < 0 ? at + shape.rank() : at);
  int64_t outer = shape.count(0, axis), n = shape[axis], inner = shape.count(axis + 1, shape.rank());
  auto attrs = c.attrs<ScanAttrs>();
  if (is_half(c.dtype())) {  // rounded once, at the end
    std::vector<float> x(static_cast<size_t>(total)), y(static_cast<size_t>(total));
    widen_halves(c.dtype(), c.input<uint16_t>(0), x.data(), total);
    scan_along<float, F>(x.data(), y.data(), outer, n, inner, attrs);
    return narrow_halves(c.dtype(), y.data(), c.output<uint16_t>(), total);
  }
  kernel::visit_type<S - half_types>(
      c.dtype(), [&]<class T>(T*) { scan_along<T, F>(c.input<T>(0), c.output<T>(), outer, n, inner, attrs); });
}

const Op& Cumsum = define_op({
    .name = "Cumsum",
    .doc = "The running sum along an axis.",
    .signature = "x: T, axis: Tidx -> out: T",
    .types = {{"T", number_types}, {"Tidx", index_types}},
    .attrs = attrs_of<ScanAttrs>(),
    .infer = infer_scan,
    .kernel = {run_scan<Add, number_types>},
    .grad =
        [](GradCall& g) {
          auto attrs = g.attrs<ScanAttrs>();
          g.input_grad(0, apply1(g.op, {g.output_grad(), g.input(1)}, ScanAttrs{attrs.exclusive, !attrs.reverse}));
        },
    .grad_reads = reads::inputs<1>,
});

const Op& Cumprod = define_op({
    .name = "Cumprod",
    .doc = "The running product along an axis.",
    .signature = "x: T, axis: Tidx -> out: T",
    .types = {{"T", number_types}, {"Tidx", index_types}},
    .attrs = attrs_of<ScanAttrs>(),
    .infer = infer_scan,
    .kernel = {run_scan<Multiply, number_types>},
    .grad =
        [](GradCall& g) {
          auto attrs = g.attrs<ScanAttrs>();
          const Tensor &x = g.input(0), &axis = g.input(1);
          Tensor products = apply1(g.op, {x, axis}, attrs);
          Tensor sums = apply1(Cumsum, {products * g.output_grad(), axis}, ScanAttrs{attrs.exclusive, !attrs.reverse});
          g.input_grad(0, math::divide_no_nan(sums, x));
        },
    .grad_reads = reads::all_inputs,
});

// The most negative number of a type.
Tensor lowest_of(DType dtype) {
  double lowest = dtype == DType::float64    ? std::numeric_limits<double>::lowest()
                  : dtype == DType::float16  ? -65504.0
                  : dtype == DType::bfloat16 ? -3.3895313892515355e38
                                             : std::numeric_limits<float>::lowest();
  return cast(Tensor(std::vector<double>{lowest}, {}), dtype);
}

const Op& CumulativeLogsumexp = define_op({
    .name = "CumulativeLogsumexp",
    .doc = "The running log of the sum of exponentials along an axis.",
    .signature = "x: T, axis: Tidx -> out: T",
    .types = {{"T", float_types}, {"Tidx", index_types}},
    .attrs = attrs_of<ScanAttrs>(),
    .infer = infer_scan,
    .kernel = {run_scan<LogAddExp, float_types>},
    .grad =
        [](GradCall& g) {
          // Positive and negative gradients apart, each as a logarithm.
          auto attrs = g.attrs<ScanAttrs>();
          const Tensor &x = g.input(0), &axis = g.input(1), &grad = g.output_grad();
          Tensor lowest = fill(shape(grad), lowest_of(grad.dtype()));
          auto part = [&](const Tensor& of) {
            Tensor logs = where(greater(of, 0), log(of), lowest) - g.output();
            return exp(apply1(g.op, {logs, axis}, ScanAttrs{attrs.exclusive, !attrs.reverse}) + x);
          };
          g.input_grad(0, part(grad) - part(-grad));
        },
});

Tensor scan(const Op& op, const Tensor& x, const ScanOptions& options) {
  return apply1(op, {x, Tensor(options.axis)}, ScanAttrs{options.exclusive, options.reverse});
}

}  // namespace

Tensor cumsum(const Tensor& x, const ScanOptions& options) { return scan(Cumsum, x, options); }
Tensor math::cumprod(const Tensor& x, const ScanOptions& options) { return scan(Cumprod, x, options); }
Tensor math::cumulative_logsumexp(const Tensor& x, const ScanOptions& options) {
  return scan(CumulativeLogsumexp, x, options);
}

namespace {
const FunctionDef* const scan_functions[] = {
    &define_function<Tensor(const Tensor&, const ScanOptions&), cumsum>({"cumsum", "math.cumsum"}, {"x"}),
    &define_function<Tensor(const Tensor&, const ScanOptions&), math::cumprod>({"math.cumprod"}, {"x"}),
    &define_function<Tensor(const Tensor&, const ScanOptions&), math::cumulative_logsumexp>(
        {"math.cumulative_logsumexp"}, {"x"}),
};
}  // namespace

}  // namespace thalweg
