#include "thalweg/ops/selection.h"

#include <algorithm>

#include "thalweg/core/error.h"
#include "thalweg/core/threads.h"
#include "thalweg/kernels/broadcast.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/element_loops.h"
#include "thalweg/ops/elements.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/infer.h"
#include "thalweg/ops/parameter.h"

namespace thalweg {
namespace {

// Integers are chosen with a mask: a mask that jumps about would cost a mispredicted branch per element.
template <class T> T choose(bool condition, const T& t, const T& e) {
  if constexpr (std::is_integral_v<T>) {
    auto mask = static_cast<T>(-static_cast<T>(condition));
    return static_cast<T>((t & mask) | (e & static_cast<T>(~mask)));
  } else if constexpr (std::is_same_v<T, kernel::Bytes16>) {
    return {choose(condition, t.low, e.low), choose(condition, t.high, e.high)};
  } else {
    return condition ? t : e;
  }
}

// One row of a broadcast selection; a stride of 0 repeats the operand. Conditions are read as bytes: GCC makes loops
// over bool six times slower.
template <class T>
void select_row(const void* conditions, int64_t condition_stride, const void* ts, int64_t t_stride, const void* es,
                int64_t e_stride, void* outs, int64_t n) {
  auto* condition = static_cast<const uint8_t*>(conditions);
  auto *t = static_cast<const T*>(ts), *e = static_cast<const T*>(es);
  auto* out = static_cast<T*>(outs);
  if (condition_stride == 0) {
    const T* from = *condition ? t : e;
    int64_t stride = *condition ? t_stride : e_stride;
    if (stride) std::copy_n(from, n, out);
    else std::fill_n(out, n, *from);
  } else if (t_stride && e_stride) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = choose(condition[i] != 0, t[i], e[i]);
  } else if (t_stride) {
    const T other = *e;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = choose(condition[i] != 0, t[i], other);
  } else if (e_stride) {
    const T first = *t;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = choose(condition[i] != 0, first, e[i]);
  } else {
    const T first = *t, other = *e;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = choose(condition[i] != 0, first, other);
  }
}

void select_broadcast(const KernelCall& c, const Shape& condition_shape) {
  const Shape& shape = c.output_shape();
  if (shape.count() == 0) return;
  kernels::BroadcastPlan<3> plan(shape, {&condition_shape, &c.shape(1), &c.shape(2)});
  kernel::visit_size(c.dtype(1), [&]<class T>(T*) {
    const bool* condition = c.input<bool>(0);
    const T *t = c.input<T>(1), *e = c.input<T>(2);
    T* out = c.output<T>();
    double nanoseconds = 3 * kernel::nanoseconds_to_move(c.dtype(1));
    int64_t n = plan.size[0];
    if (plan.rank == 1) {
      int64_t cs = plan.stride[0][0], ts = plan.stride[1][0], es = plan.stride[2][0];
      parallel_for(n, nanoseconds, [&](int64_t begin, int64_t end) {
        select_row<T>(condition + begin * cs, cs, t + begin * ts, ts, e + begin * es, es, out + begin, end - begin);
      });
      return;
    }
    parallel_for(shape.count() / n, 5 + nanoseconds * static_cast<double>(n), [&](int64_t begin, int64_t end) {
      kernels::RowWalk<3> walk(plan, begin);
      for (int64_t row = begin; row < end; ++row, walk.next())
        select_row<T>(condition + walk.offset[0], plan.stride[0][0], t + walk.offset[1], plan.stride[1][0],
                      e + walk.offset[2], plan.stride[2][0], out + row * n, n);
    });
  });
}

}  // namespace

kernel::SelectLoop kernel::select_loop(DType dtype) {
  return visit_size(dtype, []<class T>(T*) -> SelectLoop { return select_row<T>; });
}

namespace {

const Op& Select = define_op({
    .name = "Select",
    .doc =
        "t where the condition holds, else e. The condition has their shape, or is a scalar, or says it for each row.",
    .signature = "condition: bool, t: T, e: T -> output: T",
    .infer =
        [](InferCall& c) {
          if (!c.shape(1).is_compatible_with(c.shape(2)))
            c.fail("t and e must have the same shape, got " + c.shape(1).brackets() + " and " + c.shape(2).brackets());
          Shape shape = c.shape(1).merge_with(c.shape(2));
          const Shape& condition = c.shape(0);
          if (condition.rank() > 0 && shape.has_rank()) {
            bool rows = condition.rank() == 1 && shape.rank() > 0 &&
                        (condition[0] < 0 || shape[0] < 0 || condition[0] == shape[0]);
            if (!rows && !condition.is_compatible_with(shape))
              c.fail("the condition must be a scalar, have the shape of t, " + shape.brackets() +
                     ", or be a vector with one element per row; got " + condition.brackets());
          }
          c.output(0, shape);
        },
    .kernel = {[](const KernelCall& c) {
      Shape condition = c.shape(0);
      if (condition.rank() == 0) return c.adopt(0, c.tensor(*c.input<bool>(0) ? 1 : 2));
      c.allocate(0, c.shape(1));
      if (condition.rank() == 1)
        while (condition.rank() < c.output_shape().rank()) condition.push_back(1);
      select_broadcast(c, condition);
    }},
    .grad =
        [](GradCall& g) {
          Tensor zero = zeros_like(g.output_grad());
          if (g.wants(1)) g.input_grad(1, apply1(Select, {g.input(0), g.output_grad(), zero}));
          if (g.wants(2)) g.input_grad(2, apply1(Select, {g.input(0), zero, g.output_grad()}));
        },
    .grad_reads = reads::inputs<0>,
    .traits = {.view = true},  // of one side, where one condition decides for all
});

const Op& SelectV2 = define_op({
    .name = "SelectV2",
    .doc = "t where the condition holds, else e; all three broadcast.",
    .signature = "condition: bool, t: T, e: T -> output: T",
    .infer = infer::broadcast,
    .kernel = {[](const KernelCall& c) { select_broadcast(c, c.shape(0)); }},
    .grad =
        [](GradCall& g) {
          Tensor zero = zeros_like(g.output_grad());
          if (g.wants(1)) g.input_grad(1, where(g.input(0), g.output_grad(), zero));
          if (g.wants(2)) g.input_grad(2, where(g.input(0), zero, g.output_grad()));
        },
    .grad_reads = reads::inputs<0>,
});

// An element is `Words` words; the mask leaves out the sign of a zero.
template <class Word, int Words> struct NonZero {
  const Word* data;
  Word mask;
  bool operator()(int64_t i) const {
    if constexpr (Words == 2) return ((data[2 * i] | data[2 * i + 1]) & mask) != 0;
    else return (data[i] & mask) != 0;
  }
};

template <class F> void with_test(const KernelCall& c, const F& f) {
  DType t = c.dtype();
  bool real = is_floating(t) || is_complex(t);
  auto test = [&]<class Word, int Words>(Word*, std::integral_constant<int, Words>) {
    Word all = static_cast<Word>(~Word{});
    f(NonZero<Word, Words>{c.input<Word>(0), real ? static_cast<Word>(all >> 1) : all});
  };
  constexpr std::integral_constant<int, 1> one;
  constexpr std::integral_constant<int, 2> two;
  if (t == complex64) return test(static_cast<uint32_t*>(nullptr), two);
  if (t == complex128) return test(static_cast<uint64_t*>(nullptr), two);
  switch (size_of(t)) {
    case 1:
      return test(static_cast<uint8_t*>(nullptr), one);
    case 2:
      return test(static_cast<uint16_t*>(nullptr), one);
    case 4:
      return test(static_cast<uint32_t*>(nullptr), one);
    default:
      return test(static_cast<uint64_t*>(nullptr), one);
  }
}

// The coordinates of the elements of [begin, end) that hold, one row each. Every element writes its coordinates and
// only those that hold move on, which spares a mispredicted branch; the rows that are still missing say when to stop.
template <class Test>
void write_coordinates(const Shape& shape, const Test& holds, int64_t begin, int64_t end, int64_t* out,
                       const int64_t* stop) {
  int rank = shape.rank();
  int64_t at[Shape::max_rank] = {}, rest = begin;
  for (int d = rank - 1; d >= 0; --d) {
    at[d] = rest % shape[d];
    rest /= shape[d];
  }
  for (int64_t i = begin; i < end && out < stop;) {
    int64_t last = std::min(end, i + shape[rank - 1] - at[rank - 1]);
    for (int64_t first = i - at[rank - 1]; i < last && out < stop; ++i) {
      for (int d = 0; d < rank - 1; ++d) out[d] = at[d];
      out[rank - 1] = i - first;
      out += holds(i) ? rank : 0;
    }
    at[rank - 1] = 0;
    for (int d = rank - 2; d >= 0 && ++at[d] == shape[d]; --d) at[d] = 0;
  }
}

void run_where(const KernelCall& c) {
  const Shape& shape = c.shape(0);
  constexpr int64_t chunk = 65'536;
  int64_t size = shape.count();
  with_test(c, [&](const auto& holds) {
    std::vector<int64_t> rows(static_cast<size_t>((size + chunk - 1) / chunk + 1));
    parallel_chunks(size, chunk, [&](int64_t begin, int64_t end) {
      int64_t found = 0;
      for (int64_t i = begin; i < end; ++i) found += holds(i);
      rows[static_cast<size_t>(begin / chunk + 1)] = found;
    });
    for (size_t i = 1; i < rows.size(); ++i) rows[i] += rows[i - 1];
    c.allocate(0, {rows.back(), shape.rank()});
    int64_t* out = c.output<int64_t>();
    parallel_chunks(size, chunk, [&](int64_t begin, int64_t end) {
      auto part = static_cast<size_t>(begin / chunk);
      write_coordinates(shape, holds, begin, end, out + rows[part] * shape.rank(), out + rows[part + 1] * shape.rank());
    });
  });
}

const Op& Where = define_op({
    .name = "Where",
    .doc = "The indices of the true or non-zero elements, one row each, in row-major order.",
    .signature = "input: T -> index: int64",
    .infer =
        [](InferCall& c) {
          c.require_rank_at_least(0, 1);
          c.output(0, {unknown, c.shape(0).has_rank() ? c.shape(0).rank() : unknown});
        },
    .kernel = {.run = run_where, .types = plain_types},
    .traits = {.not_differentiable = "the result is a list of indices"},
});

}  // namespace

Tensor where(const Tensor& condition, const TensorLike& x, const TensorLike& y) {
  return apply1(SelectV2, {condition, x, y});
}
Tensor where(const Tensor& condition) { return apply1(Where, {condition}); }

namespace {

struct WhereOptions {
  Parameter x = {};
  Parameter y = {};
};
// Python's one `where` for both.
Tensor where_or_select(const Tensor& condition, const WhereOptions& options) {
  if (options.x.given() != options.y.given()) throw ValueError("where: x and y must both be given, or neither");
  return options.x.given() ? where(condition, options.x.tensor(), options.y.tensor()) : where(condition);
}
const FunctionDef* const selection_functions[] = {&define_function<where_or_select>({"where"}, {"condition"})};

}  // namespace

}  // namespace thalweg
