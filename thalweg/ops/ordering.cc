#include "thalweg/ops/ordering.h"

#include <algorithm>
#include <cstring>

#include "thalweg/core/threads.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/elements.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/indices.h"
#include "thalweg/ops/infer.h"
#include "thalweg/ops/math.h"

namespace thalweg {
namespace {

// The row (over the first `dims` dimensions) that `source(d, i)` maps row number `row` to, dimension by dimension.
template <class F> int64_t source_row(const Shape& shape, int dims, int64_t row, const F& source) {
  int64_t result = 0, stride = 1;
  for (int d = dims - 1; d >= 0; --d) {
    result += source(d, row % shape[d]) * stride;
    row /= shape[d];
    stride *= shape[d];
  }
  return result;
}

// Which axes an input names; fails when one is named twice.
void read_axes(const InferCall& c, int input, int rank, bool (&named)[Shape::max_rank]) {
  for (int64_t value : c.values(input)) {
    int axis = c.axis(value, rank);
    if (named[axis]) c.fail("axis " + std::to_string(value) + " is named twice");
    named[axis] = true;
  }
}

// Bytes are turned round eight at a time, in a register.
template <class T> void reverse_row(const T* from, int64_t n, T* out) {
  if constexpr (sizeof(T) == 1)
    for (; n >= 8; n -= 8, out += 8) {
      uint64_t word;
      std::memcpy(&word, from + n - 8, 8);
      word = __builtin_bswap64(word);
      std::memcpy(out, &word, 8);
    }
  std::reverse_copy(from, from + n, out);
}

void run_reverse(const KernelCall& c) {
  // Adjacent dimensions that are both reversed, or both not, act as one.
  Shape merged;
  bool reversed[Shape::max_rank] = {}, flip[Shape::max_rank] = {};
  const Shape& shape = c.shape(0);
  for (int64_t axis : c.values(1)) reversed[axis < 0 ? axis + shape.rank() : axis] = true;
  for (int d = 0; d < shape.rank(); ++d) {
    int last = merged.rank() - 1;
    if (last >= 0 && flip[last] == reversed[d]) {
      merged[last] *= shape[d];
    } else {
      merged.push_back(shape[d]);
      flip[last + 1] = reversed[d];
    }
  }
  if (shape.count() == 0) return;
  if (merged.rank() == 0) return copy_elements(c.dtype(), c.input(0), c.output(), 1);
  int outer = merged.rank() - 1;
  int64_t n = merged[outer];
  auto source = [&](int d, int64_t i) { return flip[d] ? merged[d] - 1 - i : i; };
  kernel::visit_size(c.dtype(), [&]<class T>(T*) {
    const T* in = c.input<T>(0);
    T* out = c.output<T>();
    double nanoseconds = 5 + static_cast<double>(n) * kernel::nanoseconds_to_move(c.dtype());
    parallel_for(merged.count(0, outer), nanoseconds, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const T* from = in + source_row(merged, outer, row, source) * n;
        if (flip[outer]) reverse_row(from, n, out + row * n);
        else std::copy_n(from, n, out + row * n);
      }
    });
  });
}

const Op& ReverseV2 = define_op({
    .name = "ReverseV2",
    .doc = "The tensor with the order along some axes reversed.",
    .signature = "tensor: T, axis: Tidx -> output: T",
    .types = {{"Tidx", index_types}},
    .infer =
        [](InferCall& c) {
          c.require_rank(1, 1);
          bool named[Shape::max_rank] = {};
          if (c.has_value(1) && c.shape(0).has_rank()) read_axes(c, 1, c.shape(0).rank(), named);
          c.output(0, c.shape(0));
        },
    .kernel = {.run = run_reverse, .types = plain_types | types(string)},
    .grad = [](GradCall& g) { g.input_grad(0, reverse(g.output_grad(), g.input(1))); },
    .grad_reads = reads::inputs<1>,
});

struct ReverseSequenceAttrs {
  int64_t seq_dim = 0;
  int64_t batch_dim = 0;
};
void infer_reverse_sequence(InferCall& c) {
  const auto& a = c.attrs<ReverseSequenceAttrs>();
  const Shape &input = c.shape(0), &lengths = c.shape(1);
  c.require_rank(1, 1);
  if (a.seq_dim == a.batch_dim) c.fail("seq_dim and batch_dim are both " + std::to_string(a.seq_dim));
  if (a.seq_dim < 0 || a.batch_dim < 0) c.fail("seq_dim and batch_dim must not be negative");
  if (!input.has_rank()) return c.output(0, input);
  c.axis(a.seq_dim, input.rank());
  int batch = c.axis(a.batch_dim, input.rank());
  Shape out = input;
  if (lengths.has_rank()) {
    if (input[batch] >= 0 && lengths[0] >= 0 && input[batch] != lengths[0])
      c.fail("seq_lengths must have one length for each of the " + std::to_string(input[batch]) +
             " entries of the batch, got " + std::to_string(lengths[0]));
    if (out[batch] < 0) out[batch] = lengths[0];
  }
  c.output(0, out);
}
void run_reverse_sequence(const KernelCall& c) {
  const auto& a = c.attrs<ReverseSequenceAttrs>();
  const Shape& shape = c.shape(0);
  int seq = static_cast<int>(a.seq_dim), batch = static_cast<int>(a.batch_dim), dims = std::max(seq, batch) + 1;
  Indices lengths(c, 1);
  for (int64_t i = 0; i < lengths.size(); ++i)
    if (lengths[i] < 0 || lengths[i] > shape[seq])
      c.fail("seq_lengths[" + std::to_string(i) + "] = " + std::to_string(lengths[i]) + " is not in [0, " +
             std::to_string(shape[seq]) + "]");
  if (shape.count() == 0) return;
  // The last of both dimensions is gone along; the position in the other is the same for all of a line.
  int other = std::min(seq, batch), last = dims - 1;
  int64_t row = shape.count(dims, shape.rank()), n = shape[last], per_other = shape.count(other + 1, last);
  auto bytes = static_cast<int64_t>(size_of(c.dtype())) * row;
  kernel::visit_row_copy(c.dtype(), row, [&](const auto& copy) {
    double nanoseconds = 1 + static_cast<double>(row) * kernel::nanoseconds_to_move(c.dtype());
    parallel_for(shape.count(0, last), nanoseconds * static_cast<double>(n), [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line) {
        const std::byte* in = c.input<std::byte>(0) + line * n * bytes;
        std::byte* out = c.output<std::byte>() + line * n * bytes;
        int64_t at = line / per_other % shape[other];
        if (seq == last) {
          int64_t length = lengths[at];
          for (int64_t j = 0; j < length; ++j) copy(in + (length - 1 - j) * bytes, out + j * bytes);
          copy_elements(c.dtype(), in + length * bytes, out + length * bytes, (n - length) * row);
        } else {
          for (int64_t j = 0; j < n; ++j) {
            int64_t steps = at < lengths[j] ? lengths[j] - 1 - 2 * at : 0;  // to where the entry's row comes from
            copy(in + (steps * per_other * n + j) * bytes, out + j * bytes);
          }
        }
      }
    });
  });
}

const Op& ReverseSequence = define_op({
    .name = "ReverseSequence",
    .doc = "For each entry of the batch the first seq_lengths steps in reverse, the others as they are.",
    .signature = "input: T, seq_lengths: Tlen -> output: T",
    .types = {{"Tlen", index_types}},
    .attrs = attrs_of<ReverseSequenceAttrs>(),
    .infer = infer_reverse_sequence,
    .kernel = {run_reverse_sequence},
    .grad =
        [](GradCall& g) {
          g.input_grad(0, apply1(g.op, {g.output_grad(), g.input(1)}, g.attrs<ReverseSequenceAttrs>()));
        },
    .grad_reads = reads::inputs<1>,
});

void infer_roll(InferCall& c) {
  c.require_rank_at_least(0, 1);
  for (int i : {1, 2})
    if (c.shape(i).has_rank() && c.shape(i).rank() > 1)
      c.fail(c.op.args[static_cast<size_t>(i)].name + " must be a scalar or a vector, got shape " +
             c.shape(i).brackets());
  if (c.shape(1).has_rank() && c.shape(2).has_rank() && !c.shape(1).is_compatible_with(c.shape(2)))
    c.fail("shift and axis must have the same shape, got " + c.shape(1).brackets() + " and " + c.shape(2).brackets());
  if (c.has_value(2) && c.shape(0).has_rank())
    for (int64_t axis : c.values(2)) c.axis(axis, c.shape(0).rank());
  c.output(0, c.shape(0));
}
void run_roll(const KernelCall& c) {
  const Shape& shape = c.shape(0);
  if (shape.count() == 0) return;
  int64_t shift[Shape::max_rank] = {};
  std::vector<int64_t> shifts = c.values(1), axes = c.values(2);
  int last = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    int d = static_cast<int>(axes[i] < 0 ? axes[i] + shape.rank() : axes[i]);
    int64_t n = shape[d], step = shifts[i] % n;
    shift[d] = (shift[d] + (step < 0 ? step + n : step)) % n;
  }
  for (int d = 0; d < shape.rank(); ++d)
    if (shift[d]) last = d;
  // Along the last axis that moves, a row is two blocks that change places.
  int64_t inner = shape.count(last + 1, shape.rank()), row = shape[last] * inner, tail = shift[last] * inner;
  auto source = [&](int d, int64_t i) { return i >= shift[d] ? i - shift[d] : i - shift[d] + shape[d]; };
  auto bytes = static_cast<int64_t>(size_of(c.dtype()));
  parallel_for(shape.count(0, last), 10 + static_cast<double>(row) * kernel::nanoseconds_to_move(c.dtype()),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   const std::byte* from = c.input<std::byte>(0) + source_row(shape, last, i, source) * row * bytes;
                   std::byte* to = c.output<std::byte>() + i * row * bytes;
                   copy_elements(c.dtype(), from, to + tail * bytes, row - tail);
                   copy_elements(c.dtype(), from + (row - tail) * bytes, to, tail);
                 }
               });
}

const Op& Roll = define_op({
    .name = "Roll",
    .doc = "The elements moved along axes; what leaves at one end comes back at the other.",
    .signature = "input: T, shift: Tshift, axis: Taxis -> output: T",
    .types = {{"Tshift", index_types}, {"Taxis", index_types}},
    .infer = infer_roll,
    .kernel = {run_roll},
    .grad = [](GradCall& g) { g.input_grad(0, roll(g.output_grad(), -g.input(1), g.input(2))); },
    .grad_reads = reads::inputs<1, 2>,
});

const Op& InvertPermutation = define_op({
    .name = "InvertPermutation",
    .doc = "y with y[x[i]] = i.",
    .signature = "x: T -> y: T",
    .infer =
        [](InferCall& c) {
          c.require_rank(0, 1);
          c.output(0, c.shape(0));
        },
    .kernel = {.run =
                   [](const KernelCall& c) {
                     kernel::visit_type<index_types>(c.dtype(), [&]<class T>(T*) {
                       const T* x = c.input<T>(0);
                       T* y = c.output<T>();
                       int64_t n = c.count(0);
                       std::fill_n(y, n, T(-1));
                       for (int64_t i = 0; i < n; ++i) {
                         if (x[i] < 0 || x[i] >= n) check_indices(c, 0, Indices(c, 0), n);
                         if (y[x[i]] >= 0) c.fail(std::to_string(x[i]) + " is there twice: x is not a permutation");
                         y[x[i]] = static_cast<T>(i);
                       }
                     });
                   },
               .types = index_types},
    .traits = {.not_differentiable = "the result is a list of indices"},
});

}  // namespace

Tensor reverse(const TensorLike& tensor, const TensorLike& axis) { return apply1(ReverseV2, {tensor, axis}); }
Tensor reverse_sequence(const TensorLike& input, const TensorLike& seq_lengths, const ReverseSequenceOptions& options) {
  return apply1(ReverseSequence, {input, seq_lengths},
                ReverseSequenceAttrs{options.seq_axis.value_or(0), options.batch_axis.value_or(0)});
}
Tensor roll(const TensorLike& input, const TensorLike& shift, const TensorLike& axis) {
  return apply1(Roll, {input, shift, axis});
}
Tensor math::invert_permutation(const TensorLike& x) { return apply1(InvertPermutation, {x}); }

namespace {
const FunctionDef* const ordering_functions[] = {
    &define_function<reverse>({"reverse"}, {"tensor", "axis"}),
    &define_function<reverse_sequence>({"reverse_sequence"}, {"input", "seq_lengths"}),
    &define_function<roll>({"roll"}, {"input", "shift", "axis"}),
    &define_function<math::invert_permutation>({"math.invert_permutation"}, {"x"}),
};
}  // namespace

}  // namespace thalweg
