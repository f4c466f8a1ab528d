#include "thalweg/ops/random_rows.h"

#include <vector>

#include "thalweg/core/convert.h"
#include "thalweg/kernels/random_multinomial.h"
#include "thalweg/kernels/random_shuffle.h"
#include "thalweg/ops/random_support.h"

namespace thalweg::random {

void shuffle_rows(const KernelCall& c, const PhiloxState& state) {
  const Shape& shape = c.shape(0);
  int64_t count = c.count(0), rows = shape.rank() == 0 ? 1 : shape[0];
  if (rows < 2 || count < 2) return copy_elements(c.dtype(), c.input(0), c.output(), count);
  std::vector<int64_t> permutation(static_cast<size_t>(rows));
  kernels::shuffle_permutation(state, rows, permutation.data());
  size_t row_bytes = static_cast<size_t>(count / rows) * size_of(c.dtype());
  if (!is_object(c.dtype())) return kernels::gather_rows(c.input(0), permutation.data(), rows, row_bytes, c.output());
  const char* in = c.input<char>(0);
  char* out = c.output<char>();
  for (int64_t from : permutation) {
    copy_elements(c.dtype(), in + static_cast<size_t>(from) * row_bytes, out, count / rows);
    out += row_bytes;
  }
}

void infer_multinomial(InferCall& c) {
  const Shape& logits = c.shape(0);
  if (logits.has_rank() && logits.rank() != 2) c.fail("logits should be a matrix, got shape " + logits.brackets());
  require_scalar(c, 1);
  int64_t samples = unknown;
  if (c.has_value(1)) {
    samples = c.scalar(1);
    if (samples < 0) c.fail("num_samples should be nonnegative, got " + std::to_string(samples));
  }
  if (logits.has_rank() && logits[1] == 0) c.fail("num_classes should be positive, got 0");
  c.output(0, Shape{logits.has_rank() ? logits[0] : unknown, samples});
}

void draw_multinomial(const KernelCall& c, const PhiloxState& state) {
  const Shape& logits = c.shape(0);
  kernels::multinomial(c.dtype(0), c.input(0), logits[0], logits[1], c.output_shape()[1], state, c.output_dtype(),
                       c.output());
}

}  // namespace thalweg::random
