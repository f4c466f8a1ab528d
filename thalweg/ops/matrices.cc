#include "thalweg/ops/matrices.h"

#include "thalweg/core/index.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/diagonals.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_elementary.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::matrices {

void require(const InferCall& c, int i) {
  c.require_rank_at_least(i, 2);
  const Shape& s = c.shape(i);
  if (s.has_rank() && (s[-1] > max_side || s[-2] > max_side))
    c.fail("matrices of shape " + s.brackets() + " are too large: a side may be at most " + std::to_string(max_side));
}

int64_t require_square(const InferCall& c, int i) {
  require(c, i);
  const Shape& s = c.shape(i);
  if (!s.has_rank()) return -1;
  if (s[-1] >= 0 && s[-2] >= 0 && s[-1] != s[-2]) c.fail("the matrices must be square, got shape " + s.brackets());
  return s[-1] >= 0 ? s[-1] : s[-2];
}

void require_spectral(const InferCall& c, int i) {
  require(c, i);
  const Shape& s = c.shape(i);
  if (s.has_rank() && s[-1] > max_spectral_side && s[-2] > max_spectral_side)
    c.fail("matrices of shape " + s.brackets() + " are too large: the shorter side may be at most " +
           std::to_string(max_spectral_side));
}

Shape leading(const Shape& shape, int count) {
  return Shape(shape.dims().first(static_cast<size_t>(shape.rank() - count)));
}

void infer_square(InferCall& c) {
  int64_t n = require_square(c, 0);
  Shape out = c.shape(0);
  if (out.has_rank()) out[-1] = out[-2] = n;
  c.output(0, out);
}

void infer_solution(InferCall& c, bool broadcasts) {
  require(c, 0);
  require(c, 1);
  const Shape &a = c.shape(0), &b = c.shape(1);
  if (!a.has_rank() || !b.has_rank()) return c.output(0, Shape::unknown_rank());
  if (a[-2] >= 0 && b[-2] >= 0 && a[-2] != b[-2])
    c.fail("matrix has " + std::to_string(a[-2]) + " rows and rhs has " + std::to_string(b[-2]) + "; shapes " +
           a.brackets() + " and " + b.brackets());
  Shape batch_a = leading(a), batch_b = leading(b), out;
  bool fits = broadcasts ? broadcast_shapes(batch_a, batch_b, out) : batch_a.is_compatible_with(batch_b);
  if (!fits)
    c.fail("the batch dimensions " + batch_a.brackets() + " and " + batch_b.brackets() +
           (broadcasts ? " do not broadcast" : " differ"));
  if (!broadcasts) out = batch_a.merge_with(batch_b);
  out.push_back(a[-1]);
  out.push_back(b[-1]);
  c.output(0, out);
}

Tensor triangle(const Tensor& matrix, bool below, bool diagonal, bool above) {
  Tensor sides = shape(matrix);
  Tensor row = expand_dims(range(sides(-2)), 1), column = expand_dims(range(sides(-1)), 0);
  Tensor kept = below   ? (diagonal ? row >= column : row > column)
                : above ? (diagonal ? row <= column : row < column)
                        : row == column;
  return cast(kept, matrix.dtype());
}

Shape batch_and(const InferCall& c, std::initializer_list<int64_t> dims) {
  if (!c.shape(0).has_rank()) return Shape::unknown_rank();
  Shape out = leading(c.shape(0));
  for (int64_t d : dims) out.push_back(d);
  return out;
}

Tensor safe_reciprocal(const Tensor& x) { return x * reciprocal(x * x + 1e-20); }
Tensor gap_reciprocals(const Tensor& values) {
  Tensor gaps = expand_dims(values, -2) - expand_dims(values, -1);
  return linalg::set_diag(safe_reciprocal(gaps), zeros_like(values));
}

}  // namespace thalweg::matrices
