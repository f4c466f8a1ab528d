#include "thalweg/ops/diagonals.h"

#include <algorithm>
#include <limits>

#include "thalweg/core/error.h"
#include "thalweg/core/threads.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/elements.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/infer.h"
#include "thalweg/ops/reduction.h"

namespace thalweg {
namespace {

struct DiagAttrs {
  std::string align = "RIGHT_LEFT";
};
void check_align(const InferCall& c) {
  const std::string& align = c.attrs<DiagAttrs>().align;
  for (const char* known : {"LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT"})
    if (align == known) return;
  c.fail("align must be LEFT_RIGHT, RIGHT_LEFT, LEFT_LEFT or RIGHT_RIGHT, got \"" + align + '"');
}

/// Which diagonals: low to high, both included.
struct Band {
  int64_t low = 0, high = 0;
  int64_t count() const { return high - low + 1; }
  /// The longest of them in a matrix of this size.
  int64_t length(int64_t rows, int64_t cols) const {
    return std::min(rows + std::min<int64_t>(high, 0), cols - std::max<int64_t>(low, 0));
  }
};
template <class Call> Band read_band(const Call& c, int input) {
  if (c.shape(input).rank() > 1 || c.shape(input).count() < 1 || c.shape(input).count() > 2)
    c.fail("k must be a scalar or a vector of one or two elements, got shape " + c.shape(input).brackets());
  std::vector<int64_t> k = c.values(input);
  if (k.front() > k.back())
    c.fail("k must not decrease, got [" + std::to_string(k.front()) + ", " + std::to_string(k.back()) + "]");
  return {k.front(), k.back()};
}
// Diagonals that a matrix does not have are refused; the main one may be empty.
void check_band(const InferCall& c, const Band& band, int64_t rows, int64_t cols) {
  for (int64_t k : {band.low, band.high})
    if (k != 0 && ((rows >= 0 && k <= -rows) || (cols >= 0 && k >= cols)))
      c.fail("diagonal " + std::to_string(k) + " lies outside a matrix of " + std::to_string(rows) + " rows and " +
             std::to_string(cols) + " columns");
}

// One diagonal of a matrix and the part of a row of `longest` elements that holds it.
struct Diagonal {
  int64_t first, step, length;  // in the matrix
  int64_t offset;               // in the row
};
Diagonal locate(int64_t k, int64_t rows, int64_t cols, int64_t longest, const std::string& align) {
  int64_t length = std::max<int64_t>(0, std::min(rows + std::min<int64_t>(k, 0), cols - std::max<int64_t>(k, 0)));
  bool left = (k >= 0 && align.starts_with("LEFT")) || (k <= 0 && align.ends_with("LEFT"));
  return {std::max<int64_t>(0, -k) * cols + std::max<int64_t>(0, k), cols + 1, length, left ? 0 : longest - length};
}

// Calls `f(matrix, row, diagonal)` for every diagonal of every matrix: the offsets of both, and where it lies.
template <class F>
void for_each_diagonal(const KernelCall& c, const Shape& matrices, const Band& band, int64_t longest, const F& f) {
  int64_t rows = matrices[-2], cols = matrices[-1];
  const std::string& align = c.attrs<DiagAttrs>().align;
  double nanoseconds = 10 * static_cast<double>(band.count()) + static_cast<double>(band.count() * longest);
  parallel_for(matrices.count(0, matrices.rank() - 2), nanoseconds, [&](int64_t begin, int64_t end) {
    for (int64_t m = begin; m < end; ++m)
      for (int64_t k = std::min(band.high, cols - 1); k >= std::max(band.low, 1 - rows); --k)  // others are empty
        f(m * rows * cols, (m * band.count() + band.high - k) * longest, locate(k, rows, cols, longest, align));
  });
}
// Writes rows of diagonals into matrices.
template <class T>
void write_diagonals(const KernelCall& c, const Shape& matrices, const Band& band, int64_t longest, const T* in,
                     T* out) {
  for_each_diagonal(c, matrices, band, longest, [&](int64_t matrix, int64_t row, const Diagonal& d) {
    for (int64_t i = 0; i < d.length; ++i) out[matrix + d.first + i * d.step] = in[row + d.offset + i];
  });
}

void infer_matrix_diag(InferCall& c) {
  check_align(c);
  c.require_rank_at_least(0, 1);
  for (int i : {2, 3, 4}) c.require_rank(i, 0);
  const Shape& diagonal = c.shape(0);
  if (!c.has_value(1)) return c.output(0, Shape::unknown_rank());
  Band band = read_band(c, 1);
  bool several = band.count() > 1;
  c.require_rank_at_least(0, several ? 2 : 1);
  if (!diagonal.has_rank()) return c.output(0, Shape::unknown_rank());
  if (several && diagonal[-2] >= 0 && diagonal[-2] != band.count())
    c.fail("diagonal must have one row for each of the " + std::to_string(band.count()) + " diagonals, got shape " +
           diagonal.brackets());
  Shape out(diagonal.dims().first(static_cast<size_t>(diagonal.rank() - (several ? 2 : 1))));
  int64_t rows = unknown, cols = unknown;
  if (diagonal[-1] >= 0 && c.has_value(2) && c.has_value(3)) {
    int64_t least_rows = diagonal[-1] - std::min<int64_t>(band.high, 0),
            least_cols = diagonal[-1] + std::max<int64_t>(band.low, 0);
    rows = c.scalar(2), cols = c.scalar(3);
    if (rows == -1 && cols == -1) rows = cols = std::max(least_rows, least_cols);
    if (rows == -1) rows = least_rows;
    if (cols == -1) cols = least_cols;
    if (rows < least_rows || cols < least_cols || (rows != least_rows && cols != least_cols))
      c.fail("a matrix of " + std::to_string(rows) + " rows and " + std::to_string(cols) +
             " columns does not have diagonals of length " + std::to_string(diagonal[-1]) + " at k");
  }
  out.push_back(rows);
  out.push_back(cols);
  c.output(0, out);
}

// These call records that come later.
void grad_of_matrix_diag(GradCall& g);
void grad_of_diag_part(GradCall& g);

const Op& MatrixDiagV3 = define_op({
    .name = "MatrixDiagV3",
    .doc = "Matrices with the given diagonals and a padding value elsewhere.",
    .signature = "diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T -> output: T",
    .attrs = attrs_of<DiagAttrs>(),
    .infer = infer_matrix_diag,
    .kernel = {[](const KernelCall& c) {
      const Shape& out = c.output_shape();
      kernel::visit_size(c.dtype(), [&]<class T>(T*) {
        std::fill_n(c.output<T>(), out.count(), *c.input<T>(4));
        if (out.count() > 0) write_diagonals(c, out, read_band(c, 1), c.shape(0)[-1], c.input<T>(0), c.output<T>());
      });
    }},
    .grad = grad_of_matrix_diag,
    .grad_reads = reads::inputs<1>,
});

// The shape of the diagonals of [..., rows, cols].
Shape diagonals_shape(const InferCall& c, const Shape& matrices, const Band& band) {
  int64_t rows = matrices[-2], cols = matrices[-1];
  check_band(c, band, rows, cols);
  Shape out(matrices.dims().first(static_cast<size_t>(matrices.rank() - 2)));
  if (band.count() > 1) out.push_back(band.count());
  out.push_back(rows < 0 || cols < 0 ? unknown : std::max<int64_t>(0, band.length(rows, cols)));
  return out;
}

const Op& MatrixDiagPartV3 = define_op({
    .name = "MatrixDiagPartV3",
    .doc = "The diagonals of matrices, from the highest to the lowest.",
    .signature = "input: T, k: int32, padding_value: T -> diagonal: T",
    .attrs = attrs_of<DiagAttrs>(),
    .infer =
        [](InferCall& c) {
          check_align(c);
          c.require_rank_at_least(0, 2);
          c.require_rank(2, 0);
          if (!c.has_value(1)) return c.output(0, Shape::unknown_rank());
          Band band = read_band(c, 1);
          c.output(0, c.shape(0).has_rank() ? diagonals_shape(c, c.shape(0), band) : Shape::unknown_rank());
        },
    .kernel = {[](const KernelCall& c) {
      int64_t longest = c.output_shape()[-1];
      if (c.output_shape().count() == 0) return;
      kernel::visit_size(c.dtype(), [&]<class T>(T*) {
        const T* in = c.input<T>(0);
        const T& padding = *c.input<T>(2);
        for_each_diagonal(c, c.shape(0), read_band(c, 1), longest, [&](int64_t matrix, int64_t row, const Diagonal& d) {
          T* out = c.output<T>() + row;
          std::fill_n(out, d.offset, padding);
          for (int64_t i = 0; i < d.length; ++i) out[d.offset + i] = in[matrix + d.first + i * d.step];
          std::fill(out + d.offset + d.length, out + longest, padding);
        });
      });
    }},
    .grad = grad_of_diag_part,
    .grad_reads = reads::inputs<1>,
});

const Op& MatrixSetDiagV3 = define_op({
    .name = "MatrixSetDiagV3",
    .doc = "The matrices with their diagonals replaced.",
    .signature = "input: T, diagonal: T, k: int32 -> output: T",
    .attrs = attrs_of<DiagAttrs>(),
    .infer =
        [](InferCall& c) {
          check_align(c);
          c.require_rank_at_least(0, 2);
          c.require_rank_at_least(1, 1);
          if (c.has_value(2)) {
            Band band = read_band(c, 2);
            if (c.shape(0).has_rank()) {
              Shape expected = diagonals_shape(c, c.shape(0), band);
              if (!c.shape(1).is_compatible_with(expected))
                c.fail("diagonal must have shape " + expected.brackets() + ", got " + c.shape(1).brackets());
            }
          }
          c.output(0, c.shape(0));
        },
    .kernel = {[](const KernelCall& c) {
      copy_elements(c.dtype(), c.input(0), c.output(), c.count(0));
      if (c.count(1) == 0) return;
      kernel::visit_size(c.dtype(), [&]<class T>(T*) {
        write_diagonals(c, c.shape(0), read_band(c, 2), c.shape(1)[-1], c.input<T>(1), c.output<T>());
      });
    }},
    .grad =
        [](GradCall& g) {
          const auto& attrs = g.attrs<DiagAttrs>();
          const Tensor& grad = g.output_grad();
          if (g.wants(0)) g.input_grad(0, apply1(g.op, {grad, zeros_like(g.input(1)), g.input(2)}, attrs));
          if (g.wants(1)) g.input_grad(1, apply1(MatrixDiagPartV3, {grad, g.input(2), zero_of(grad.dtype())}, attrs));
        },
    .grad_reads = reads::inputs<2>,
});

void grad_of_matrix_diag(GradCall& g) {
  const Tensor& grad = g.output_grad();
  g.input_grad(0, apply1(MatrixDiagPartV3, {grad, g.input(1), zero_of(grad.dtype())}, g.attrs<DiagAttrs>()));
}
void grad_of_diag_part(GradCall& g) {
  g.input_grad(0, apply1(MatrixSetDiagV3, {zeros_like(g.input(0)), g.output_grad(), g.input(1)}, g.attrs<DiagAttrs>()));
}

void infer_band(InferCall& c) {
  c.require_rank_at_least(0, 2);
  for (int i : {1, 2}) {
    c.require_rank(i, 0);
    if (!c.has_value(i) || !c.shape(0).has_rank()) continue;
    int64_t size = c.shape(0)[i == 1 ? -2 : -1];
    if (size >= 0 && c.scalar(i) > size)
      c.fail(c.op.args[static_cast<size_t>(i)].name + " must be negative or at most " + std::to_string(size) +
             ", got " + std::to_string(c.scalar(i)));
  }
  c.output(0, c.shape(0));
}
void run_band(const KernelCall& c) {
  const Shape& shape = c.shape(0);
  int64_t rows = shape[-2], cols = shape[-1], lower = c.scalar(1), upper = c.scalar(2);
  if (shape.count() == 0) return;
  kernel::visit_size(c.dtype(), [&]<class T>(T*) {
    parallel_for(shape.count() / cols, 2 + static_cast<double>(cols) * kernel::nanoseconds_to_move(c.dtype()),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t r = begin; r < end; ++r) {
                     int64_t i = r % rows;
                     int64_t first = lower < 0 ? 0 : std::clamp<int64_t>(i - lower, 0, cols);
                     int64_t last = upper < 0 ? cols : std::clamp<int64_t>(i + upper + 1, first, cols);
                     const T* in = c.input<T>(0) + r * cols;
                     T* out = c.output<T>() + r * cols;
                     std::fill_n(out, first, T{});
                     std::copy(in + first, in + last, out + first);
                     std::fill(out + last, out + cols, T{});
                   }
                 });
  });
}
const Op& MatrixBandPart = define_op({
    .name = "MatrixBandPart",
    .doc = "The matrices with all but a band around the main diagonal set to 0.",
    .signature = "input: T, num_lower: Tindex, num_upper: Tindex -> band: T",
    .types = {{"Tindex", index_types}},
    .infer = infer_band,
    .kernel = {run_band},
    .grad = [](GradCall& g) { g.input_grad(0, linalg::band_part(g.output_grad(), g.input(1), g.input(2))); },
    .grad_reads = reads::inputs<1, 2>,
});

constexpr TypeSet diag_types = float_types | index_types | complex_types;
const Op& Diag = define_op({
    .name = "Diag",
    .doc = "A tensor of twice the rank with the input on its diagonal.",
    .signature = "diagonal: T -> output: T",
    .infer =
        [](InferCall& c) {
          c.require_rank_at_least(0, 1);
          c.output(0, c.shape(0).has_rank() ? c.shape(0).concatenate(c.shape(0)) : c.shape(0));
        },
    .kernel = {.run =
                   [](const KernelCall& c) {
                     int64_t n = c.count(0);
                     kernel::visit_size(c.dtype(), [&]<class T>(T*) {
                       std::fill_n(c.output<T>(), n * n, T{});
                       for (int64_t i = 0; i < n; ++i) c.output<T>()[i * (n + 1)] = c.input<T>(0)[i];
                     });
                   },
               .types = diag_types},
    .grad = [](GradCall& g) { g.input_grad(0, linalg::tensor_diag_part(g.output_grad())); },
    .grad_reads = reads::nothing,
});
const Op& DiagPart = define_op({
    .name = "DiagPart",
    .doc = "The diagonal of a tensor whose shape is a shape written twice.",
    .signature = "input: T -> diagonal: T",
    .infer =
        [](InferCall& c) {
          const Shape& input = c.shape(0);
          if (!input.has_rank()) return c.output(0, input);
          if (input.rank() % 2 != 0) c.fail("input must have an even rank, got shape " + input.brackets());
          auto half = static_cast<size_t>(input.rank() / 2);
          Shape first(input.dims().first(half)), second(input.dims().subspan(half));
          if (!first.is_compatible_with(second))
            c.fail("the first half of the dimensions must equal the second half, got " + input.brackets());
          c.output(0, first.merge_with(second));
        },
    .kernel = {.run =
                   [](const KernelCall& c) {
                     int64_t n = c.output_shape().count();
                     kernel::visit_size(c.dtype(), [&]<class T>(T*) {
                       for (int64_t i = 0; i < n; ++i) c.output<T>()[i] = c.input<T>(0)[i * (n + 1)];
                     });
                   },
               .types = diag_types},
    .grad =
        [](GradCall& g) {
          g.input_grad(0, g.input().rank() == 0 ? g.output_grad() : linalg::tensor_diag(g.output_grad()));
        },
    .grad_reads = reads::nothing,
});

Tensor band_tensor(const Axis& k) {
  std::vector<int32_t> values;
  for (int64_t v : k.axes()) {
    if (v < std::numeric_limits<int32_t>::min() || v > std::numeric_limits<int32_t>::max())
      throw ValueError("k must fit 32 bits, got " + std::to_string(v));
    values.push_back(static_cast<int32_t>(v));
  }
  return k.is_single() || !k.given() ? Tensor(values.empty() ? 0 : values[0]) : Tensor(values);
}
Tensor padding_for(DType dtype, const Tensor& given) { return given.defined() ? cast(given, dtype) : zero_of(dtype); }

}  // namespace

namespace linalg {
Tensor diag(const TensorLike& diagonal, const DiagOptions& options) {
  Tensor x = diagonal.own(), rows = cast(options.num_rows, int32), cols = cast(options.num_cols, int32);
  return apply1(MatrixDiagV3, {x, band_tensor(options.k), rows, cols, padding_for(x.dtype(), options.padding_value)},
                DiagAttrs{options.align});
}
Tensor diag_part(const TensorLike& input, const DiagPartOptions& options) {
  Tensor x = input.own();
  return apply1(MatrixDiagPartV3, {x, band_tensor(options.k), padding_for(x.dtype(), options.padding_value)},
                DiagAttrs{options.align});
}
Tensor set_diag(const TensorLike& input, const TensorLike& diagonal, const SetDiagOptions& options) {
  return apply1(MatrixSetDiagV3, {input, diagonal, band_tensor(options.k)}, DiagAttrs{options.align});
}
Tensor band_part(const TensorLike& input, const TensorLike& num_lower, const TensorLike& num_upper) {
  return apply1(MatrixBandPart, {input, num_lower, num_upper});
}
Tensor tensor_diag(const TensorLike& diagonal) { return apply1(Diag, {diagonal}); }
Tensor tensor_diag_part(const TensorLike& input) { return apply1(DiagPart, {input}); }
Tensor trace(const TensorLike& x) { return reduce_sum(diag_part(x), {.axis = -1}); }
}  // namespace linalg

namespace {
const FunctionDef* const diagonals_functions[] = {
    &define_function<linalg::diag>({"linalg.diag"}, {"diagonal"}),
    &define_function<linalg::diag_part>({"linalg.diag_part"}, {"input"}),
    &define_function<linalg::set_diag>({"linalg.set_diag"}, {"input", "diagonal"}),
    &define_function<linalg::band_part>({"linalg.band_part"}, {"input", "num_lower", "num_upper"}),
    &define_function<linalg::tensor_diag>({"linalg.tensor_diag"}, {"diagonal"}),
    &define_function<linalg::tensor_diag_part>({"linalg.tensor_diag_part"}, {"input"}),
    &define_function<linalg::trace>({"linalg.trace"}, {"x"}),
};
}  // namespace

}  // namespace thalweg
