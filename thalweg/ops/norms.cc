#include "thalweg/ops/norms.h"

#include <cmath>
#include <limits>

#include "thalweg/core/error.h"
#include "thalweg/core/index.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/indexed_slices.h"
#include "thalweg/ops/linalg.h"
#include "thalweg/ops/losses.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_complex.h"
#include "thalweg/ops/math_elementary.h"
#include "thalweg/ops/math_rounding.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/transposing.h"

namespace thalweg {
namespace {

// The largest singular value of the matrices in two axes, which stay with length 1.
Tensor spectral_norm(const Tensor& x, int64_t row_axis, int64_t column_axis) {
  const int rank = x.rank();
  if (rank < 2)
    throw ValueError("norm: matrices need at least 2 dimensions with a known rank, got " + x.shape().brackets());
  auto place = [&](int64_t axis) {
    if (axis < -rank || axis >= rank)
      throw InvalidArgumentError("norm: axis " + std::to_string(axis) + " is out of range for rank " +
                                 std::to_string(rank));
    return axis < 0 ? axis + rank : axis;
  };
  int64_t row = place(row_axis), column = place(column_axis);
  std::vector<int64_t> perm, back(static_cast<size_t>(rank));
  for (int64_t i = 0; i < rank; ++i)
    if (i != row && i != column) perm.push_back(i);
  perm.push_back(row);
  perm.push_back(column);
  for (size_t i = 0; i < perm.size(); ++i) back[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  Tensor largest =
      reduce_max(linalg::svd(transpose(x, {.perm = perm}), {.compute_uv = false}).s, {.axis = -1, .keepdims = true});
  return transpose(expand_dims(largest, -1), {.perm = back});
}

}  // namespace

Tensor norm(const TensorLike& tensor, const NormOptions& options) {
  Tensor x = tensor.own();
  const Axis& axis = options.axis;
  const bool matrix = axis.given() && !axis.is_single() && axis.axes().size() == 2;
  if (axis.given() && !axis.is_single() && axis.axes().size() != 1 && (!matrix || axis.axes()[0] == axis.axes()[1]))
    throw ValueError("norm: axis must be left out, one integer, or two different integers");
  bool euclidean = true;
  double order = 2;
  if (options.ord.defined() && options.ord.dtype() == DType::string) {
    auto text = options.ord.item<std::string>();
    if (text == "inf")
      return norm(tensor, {.ord = std::numeric_limits<float>::infinity(), .axis = axis, .keepdims = options.keepdims});
    if (text != "euclidean" && (text != "fro" || !matrix))
      throw ValueError("norm: ord '" + text + "' is no " +
                       (matrix ? "matrix norm: use 'euclidean', 'fro', 1, 2 or infinity"
                               : "vector norm: use 'euclidean' or a positive number"));
  } else if (options.ord.defined()) {
    order = options.ord.item<double>();
    euclidean = order == 2 && !matrix;
    if (!(order > 0) || (matrix && order != 1 && order != 2 && !std::isinf(order)))
      throw ValueError(
          "norm: ord " + std::to_string(order) + " is no " +
          (matrix ? "matrix norm: use 'euclidean', 'fro', 1, 2 or infinity" : "vector norm: it must be positive"));
  }
  auto along = [&](size_t i) { return matrix ? Axis(axis.axes()[i]) : axis; };
  Tensor result;
  if (euclidean) {
    result = sqrt(reduce_sum(x * math::conj(x), {.axis = axis, .keepdims = true}));
  } else if (matrix && order == 2) {
    result = spectral_norm(x, axis.axes()[0], axis.axes()[1]);
  } else if (order == 1) {
    result = reduce_sum(abs(x), {.axis = along(0), .keepdims = true});
    if (matrix) result = reduce_max(result, {.axis = along(1), .keepdims = true});
  } else if (std::isinf(order)) {
    result = matrix ? reduce_sum(abs(x), {.axis = along(1), .keepdims = true}) : abs(x);
    result = reduce_max(result, {.axis = along(0), .keepdims = true});
  } else {
    result = pow(reduce_sum(pow(abs(x), order), {.axis = axis, .keepdims = true}), 1 / order);
  }
  if (options.keepdims) return result;
  return axis.given() ? squeeze(result, {.axis = axis}) : reshape(result, Tensor(std::vector<int32_t>{}));
}

linalg::NormalizeResult linalg::normalize(const TensorLike& tensor, const NormalizeOptions& options) {
  Tensor x = tensor.own();
  Tensor size = norm(x, {.ord = options.ord, .axis = options.axis, .keepdims = true});
  if (size.dtype() != x.dtype()) size = cast(size, x.dtype());
  return {x / size, size};
}

Tensor linalg::global_norm(const std::vector<Tensor>& t_list) {
  std::vector<Tensor> squares;
  for (const Tensor& t : t_list)
    if (t.defined()) squares.push_back(nn::l2_loss(values_of(t)));
  if (squares.empty()) throw ValueError("global_norm: t_list holds no tensor");
  return sqrt(2 * add_n(squares));
}

Tensor math::l2_normalize(const TensorLike& x, const L2NormalizeOptions& options) {
  Tensor t = x.own();
  if (!is_complex(t.dtype())) {
    Tensor squares = reduce_sum(square(t), {.axis = options.axis, .keepdims = true});
    return t * rsqrt(maximum(squares, options.epsilon));
  }
  Tensor squares = reduce_sum(square(math::real(t)) + square(math::imag(t)), {.axis = options.axis, .keepdims = true});
  Tensor inverse = rsqrt(maximum(squares, options.epsilon));
  return complex(math::real(t) * inverse, math::imag(t) * inverse);
}

namespace {
const FunctionDef* const norms_functions[] = {
    &define_function<Tensor(const TensorLike&, const NormOptions&), norm>({"norm", "linalg.norm"}, {"tensor"}),
    &define_function<linalg::NormalizeResult(const TensorLike&, const linalg::NormalizeOptions&), linalg::normalize>(
        {"linalg.normalize"}, {"tensor"}),
    &define_function<linalg::global_norm>({"linalg.global_norm"}, {"t_list"}),
    &define_function<Tensor(const TensorLike&, const L2NormalizeOptions&), math::l2_normalize>(
        {"math.l2_normalize", "nn.l2_normalize", "linalg.l2_normalize"}, {"x"}),
};
}  // namespace

}  // namespace thalweg
