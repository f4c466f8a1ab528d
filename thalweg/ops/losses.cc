#include "thalweg/ops/losses.h"

#include <cstring>

#include "thalweg/core/error.h"
#include "thalweg/core/index.h"
#include "thalweg/kernels/softmax.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/division.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/integers.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_elementary.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/transposing.h"

namespace thalweg {
namespace {

// Rows and their length.
struct Rows {
  explicit Rows(const Shape& s) : count(s.count(0, s.rank() - 1)), length(s[-1]) {}
  int64_t count, length;
};
void infer_softmax(InferCall& c) {
  c.require_rank_at_least(0, 1);
  c.output(0, c.shape(0));
}

const Op& Softmax = define_op({
    .name = "Softmax",
    .doc = "exp(logits) divided by its sum along the last dimension.",
    .signature = "logits: T -> softmax: T",
    .types = {{"T", float_types}},
    .infer = infer_softmax,
    .kernel = {[](const KernelCall& c) {
      Rows rows(c.shape(0));
      kernels::softmax(c.dtype(), rows.count, rows.length, c.input(0), c.output());
    }},
    .grad =
        [](GradCall& g) {
          const Tensor &y = g.output(), &d = g.output_grad();
          g.input_grad(0, (d - reduce_sum(d * y, {.axis = -1, .keepdims = true})) * y);
        },
    .grad_reads = reads::outputs<0>,
    .traits = {.never_fails = true},
});

const Op& LogSoftmax = define_op({
    .name = "LogSoftmax",
    .doc = "The logarithm of softmax along the last dimension, without overflow.",
    .signature = "logits: T -> logsoftmax: T",
    .types = {{"T", float_types}},
    .infer = infer_softmax,
    .kernel = {[](const KernelCall& c) {
      Rows rows(c.shape(0));
      kernels::log_softmax(c.dtype(), rows.count, rows.length, c.input(0), c.output());
    }},
    .grad =
        [](GradCall& g) {
          const Tensor& d = g.output_grad();
          g.input_grad(0, d - exp(g.output()) * reduce_sum(d, {.axis = -1, .keepdims = true}));
        },
    .grad_reads = reads::outputs<0>,
});

void infer_cross_entropy(InferCall& c) {
  Shape all;
  if (!broadcast_shapes(c.shape(0), c.shape(1), all))
    c.fail("features and labels must broadcast, got " + c.shape(0).brackets() + " and " + c.shape(1).brackets());
  if (!all.has_rank()) all = Shape::of_rank(2);
  if (all.rank() != 2)
    c.fail("features and labels must be matrices or broadcast to one, got " + c.shape(0).brackets() + " and " +
           c.shape(1).brackets());
  c.output(0, {all[0]});
  c.output(1, all);
}

// A matrix, a row or a number repeated to a larger matrix.
const void* broadcast_matrix(const KernelCall& c, int i, const Shape& all, std::vector<std::byte>& copy) {
  const Shape& s = c.shape(i);
  if (s == all) return c.input(i);
  const int64_t rows = s.rank() > 1 ? s[0] : 1, columns = s.rank() > 0 ? s[-1] : 1;
  size_t size = size_of(c.dtype());
  copy.resize(static_cast<size_t>(all.count()) * size);
  std::byte* to = copy.data();
  for (int64_t row = 0; row < all[0]; ++row)
    for (int64_t column = 0; column < all[1]; ++column, to += size) {
      int64_t at = (rows == 1 ? 0 : row) * columns + (columns == 1 ? 0 : column);
      std::memcpy(to, c.input<std::byte>(i) + static_cast<size_t>(at) * size, size);
    }
  return copy.data();
}

// The gradient of the logits; the second part is there when backprop itself is differentiated.
Tensor grad_of_logits(GradCall& g) {
  Tensor grad = expand_dims(g.output_grad(0), -1) * g.output(1);
  if (!g.has_output_grad(1)) return grad;
  const Tensor& second = g.output_grad(1);
  Tensor y = nn::softmax(g.input(0));
  return grad + (second - reduce_sum(second * y, {.axis = -1, .keepdims = true})) * y;
}

const Op& SoftmaxCrossEntropyWithLogits = define_op({
    .name = "SoftmaxCrossEntropyWithLogits",
    .doc = "The cross entropy of each row of labels with softmax(features), and its gradient with respect to features.",
    .signature = "features: T, labels: T -> loss: T, backprop: T",
    .types = {{"T", float_types}},
    .infer = infer_cross_entropy,
    .kernel = {[](const KernelCall& c) {
      const Shape& all = c.output_shape(1);
      if (all[0] == 0) return;
      std::vector<std::byte> features, labels;
      kernels::softmax_cross_entropy(c.dtype(), all[0], all[1], broadcast_matrix(c, 0, all, features),
                                     broadcast_matrix(c, 1, all, labels), c.output(0), c.output(1));
    }},
    .grad =
        [](GradCall& g) {
          if (g.wants(0)) g.input_grad(0, grad_of_logits(g));
          if (g.wants(1)) g.input_grad(1, expand_dims(g.output_grad(0), -1) * -nn::log_softmax(g.input(0)));
        },
    .grad_reads = reads::inputs<0> | reads::outputs<1>,
    .traits = {.broadcasts = true},
});

void infer_sparse(InferCall& c) {
  c.require_rank(0, 2);
  c.require_rank(1, 1);
  Shape features = c.shape(0).has_rank() ? c.shape(0) : Shape::of_rank(2);
  int64_t rows = c.shape(1).has_rank() ? c.shape(1)[0] : unknown;
  if (features[0] >= 0 && rows >= 0 && features[0] != rows)
    c.fail("labels must have one number for each of the " + std::to_string(features[0]) + " rows of features, got " +
           std::to_string(rows));
  if (features[0] < 0) features[0] = rows;
  if (features[1] == 0) c.fail("features " + features.brackets() + " must have at least one class");
  c.output(0, {features[0]});
  c.output(1, features);
}

void check_labels(const KernelCall& c) {
  int64_t classes = c.shape(0)[1];
  auto check = [&](const auto* labels) {
    for (int64_t i = 0; i < c.count(1); ++i)
      if (labels[i] < 0 || labels[i] >= classes)
        c.fail("label " + std::to_string(labels[i]) + " at " + std::to_string(i) +
               " is out of range: it must lie in [0, " + std::to_string(classes) + ")");
  };
  if (c.dtype(1) == DType::int32) check(c.input<int32_t>(1));
  else check(c.input<int64_t>(1));
}

const Op& SparseSoftmaxCrossEntropyWithLogits = define_op({
    .name = "SparseSoftmaxCrossEntropyWithLogits",
    .doc = "The cross entropy where one class of each row is right, and its gradient with respect to features.",
    .signature = "features: T, labels: Tlabels -> loss: T, backprop: T",
    .types = {{"T", float_types}, {"Tlabels", index_types}},
    .infer = infer_sparse,
    .kernel = {[](const KernelCall& c) {
      check_labels(c);
      kernels::sparse_softmax_cross_entropy(c.dtype(), c.dtype(1), c.shape(0)[0], c.shape(0)[1], c.input(0), c.input(1),
                                            c.output(0), c.output(1));
    }},
    .grad = [](GradCall& g) { g.input_grad(0, grad_of_logits(g)); },
    .grad_reads = reads::inputs<0> | reads::outputs<1>,
});

// The last dimension stays, all others become one.
Tensor as_matrix(const Tensor& x) {
  if (x.rank() == 2) return x;
  return reshape(
      x, concat({reduce_prod(shape(x)(slice(0, -1)), {.axis = 0, .keepdims = true}), shape(x)(slice_from(-1))}, 0));
}
// Exchanges an axis with the last one.
Tensor exchange_with_last(const Tensor& x, int64_t axis) {
  std::vector<int64_t> perm;
  for (int i = 0; i < x.rank(); ++i) perm.push_back(i);
  std::swap(perm[static_cast<size_t>(axis)], perm.back());
  return transpose(x, {.perm = perm});
}
int64_t checked_axis(const char* function, int64_t axis, int rank) {
  if (axis < -rank || axis >= rank)
    throw InvalidArgumentError(std::string(function) + ": axis " + std::to_string(axis) +
                               " is out of range: it must lie in [" + std::to_string(-rank) + ", " +
                               std::to_string(rank) + ")");
  return axis < 0 ? axis + rank : axis;
}
Tensor along_axis(const Op& op, const char* function, const Tensor& logits, std::optional<int64_t> given) {
  int64_t axis = given.value_or(-1);
  if (axis == -1) return apply1(op, {logits});
  axis = checked_axis(function, axis, logits.rank());
  if (axis == logits.rank() - 1) return apply1(op, {logits});
  return exchange_with_last(apply1(op, {exchange_with_last(logits, axis)}), axis);
}
// The losses of halves are computed in float32.
Tensor precise(const Tensor& x) { return is_half(x.dtype()) ? cast(x, DType::float32) : x; }

}  // namespace

namespace nn {

Tensor softmax(const Tensor& logits, const SoftmaxOptions& options) {
  return along_axis(Softmax, "softmax", logits, options.axis);
}
Tensor log_softmax(const Tensor& logits, const SoftmaxOptions& options) {
  return along_axis(LogSoftmax, "log_softmax", logits, options.axis);
}

Tensor softmax_cross_entropy_with_logits(const TensorLike& labels, const TensorLike& logits,
                                         const CrossEntropyOptions& options) {
  Tensor given = logits.own(), x = precise(given), y = labels.as(x.dtype());
  if (y.dtype() != x.dtype()) y = cast(y, x.dtype());
  int64_t axis = options.axis;
  if (axis != -1) {
    axis = checked_axis("softmax_cross_entropy_with_logits", axis, x.rank());
    if (axis != x.rank() - 1) {
      // The axis moves to the end, the others keep their order.
      std::vector<int64_t> perm;
      for (int i = 0; i < x.rank(); ++i)
        if (i != axis) perm.push_back(i);
      perm.push_back(axis);
      x = transpose(x, {.perm = perm});
      y = transpose(y, {.perm = perm});
    }
  }
  Tensor loss = apply_n<2>(SoftmaxCrossEntropyWithLogits, {as_matrix(x), as_matrix(y)})[0];
  if (x.rank() != 2) loss = reshape(loss, thalweg::shape(x)(slice(0, -1)));
  return loss.dtype() == given.dtype() ? loss : cast(loss, given.dtype());
}

Tensor sparse_softmax_cross_entropy_with_logits(const TensorLike& labels, const TensorLike& logits) {
  Tensor given = logits.own(), x = precise(given), y = labels.own();
  if (x.rank() == 0) throw ValueError("sparse_softmax_cross_entropy_with_logits: logits cannot be scalars");
  if (x.shape().has_rank() && y.shape().has_rank()) {
    Shape rows = x.shape();
    rows.erase(rows.rank() - 1);
    if (!rows.is_compatible_with(y.shape()))
      throw ValueError("sparse_softmax_cross_entropy_with_logits: labels must have shape " + rows.brackets() +
                       " for logits of shape " + x.shape().brackets() + ", got " + y.shape().brackets());
  }
  bool matrix = x.rank() == 2;
  Tensor flat = matrix ? y : reshape(y, std::vector<int32_t>{-1});
  Tensor loss = apply_n<2>(SparseSoftmaxCrossEntropyWithLogits, {as_matrix(x), flat})[0];
  if (!matrix) loss = reshape(loss, thalweg::shape(y));
  return loss.dtype() == given.dtype() ? loss : cast(loss, given.dtype());
}

}  // namespace nn

namespace {
const FunctionDef* const losses_functions[] = {
    &define_function<Tensor(const Tensor&, const nn::SoftmaxOptions&), nn::softmax>({"nn.softmax", "math.softmax"},
                                                                                    {"logits"}),
    &define_function<Tensor(const Tensor&, const nn::SoftmaxOptions&), nn::log_softmax>(
        {"nn.log_softmax", "math.log_softmax"}, {"logits"}),
    &define_function<nn::softmax_cross_entropy_with_logits>({"nn.softmax_cross_entropy_with_logits"},
                                                            {"labels", "logits"}),
    &define_function<nn::sparse_softmax_cross_entropy_with_logits>({"nn.sparse_softmax_cross_entropy_with_logits"},
                                                                   {"labels", "logits"}),
};
}  // namespace

}  // namespace thalweg
