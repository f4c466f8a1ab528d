// Losses that are compositions of element-wise ops and sums.
#include "thalweg/core/error.h"
#include "thalweg/kernels/reduce.h"
#include "thalweg/ops/activation.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/division.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/infer.h"
#include "thalweg/ops/losses.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_elementary.h"
#include "thalweg/ops/math_rounding.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/selection.h"
#include "thalweg/ops/shaping.h"

namespace thalweg {
namespace {

struct HalfSquares {
  template <class T> using Accumulator = T;
  template <class T> static T start() { return {}; }
  template <class T> static T step(T a, T x) { return a + x * x; }
  template <class T> static T merge(T a, T b) { return a + b; }
  template <class T, class A> static T finish(A a, int64_t) { return a / 2; }
};
constexpr kernels::ReduceTable half_squares = kernels::make_reduce_table<float_types, HalfSquares>();

const Op& L2Loss = define_op({
    .name = "L2Loss",
    .doc = "Half the sum of squares.",
    .signature = "t: T -> output: T",
    .types = {{"T", float_types}},
    .infer = infer::scalar,
    .kernel = {[](const KernelCall& c) {
      const bool all[] = {true};
      kernels::run_reduce(half_squares, c.dtype(), {c.count(0)}, all, c.input(0), c.output());
    }},
    .grad = [](GradCall& g) { g.input_grad(0, g.input() * g.output_grad()); },
    .grad_reads = reads::all_inputs,
});

void require_same_shape(const char* function, const Tensor& labels, const Tensor& logits) {
  if (!labels.shape().is_compatible_with(logits.shape()))
    throw ValueError(std::string(function) + ": labels and logits must have the same shape, got " +
                     labels.shape().brackets() + " and " + logits.shape().brackets());
}
// log(1 + exp(-|x|)): the part of softplus that never overflows.
Tensor log_of_small(const Tensor& x) { return log1p(exp(-abs(x))); }

}  // namespace

namespace nn {

Tensor l2_loss(const Tensor& t) { return apply1(L2Loss, {t}); }

Tensor sigmoid_cross_entropy_with_logits(const TensorLike& labels, const TensorLike& logits) {
  Tensor x = logits.own(), y = labels.as(x.dtype());
  require_same_shape("sigmoid_cross_entropy_with_logits", y, x);
  // relu(x) - x * y + log_of_small(x), whose derivative at 0 is sigmoid(0) - y only if both parts take the same side
  // there.
  const Tensor positive = greater_equal(x, 0);
  return where(positive, x, 0) - x * y + log1p(exp(where(positive, -x, x)));
}

Tensor weighted_cross_entropy_with_logits(const TensorLike& labels, const TensorLike& logits,
                                          const TensorLike& pos_weight) {
  Tensor x = logits.own(), y = labels.as(x.dtype());
  require_same_shape("weighted_cross_entropy_with_logits", y, x);
  Tensor weight = 1 + subtract(pos_weight.as(x.dtype()), 1) * y;
  return (1 - y) * x + weight * (log_of_small(x) + relu(-x));
}

Tensor log_poisson_loss(const Tensor& targets, const Tensor& log_input, const LogPoissonLossOptions& options) {
  require_same_shape("log_poisson_loss", targets, log_input);
  Tensor loss = exp(log_input) - log_input * targets;
  if (!options.compute_full_loss) return loss;
  constexpr double two_pi = 6.283185307179586;
  Tensor stirling = targets * log(targets) - targets + 0.5 * log(two_pi * targets);
  Tensor small = logical_and(greater_equal(targets, 0), less_equal(targets, 1));
  return loss + where(small, zeros_like(targets), stirling);
}

}  // namespace nn

namespace {
const FunctionDef* const losses_elementwise_functions[] = {
    &define_function<nn::l2_loss>({"nn.l2_loss"}, {"t"}),
    &define_function<nn::sigmoid_cross_entropy_with_logits>({"nn.sigmoid_cross_entropy_with_logits"},
                                                            {"labels", "logits"}),
    &define_function<nn::weighted_cross_entropy_with_logits>({"nn.weighted_cross_entropy_with_logits"},
                                                             {"labels", "logits", "pos_weight"}),
    &define_function<nn::log_poisson_loss>({"nn.log_poisson_loss"}, {"targets", "log_input"}),
};
}  // namespace

}  // namespace thalweg
