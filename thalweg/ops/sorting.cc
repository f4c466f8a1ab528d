#include "thalweg/ops/sorting.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "thalweg/core/error.h"
#include "thalweg/core/threads.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/bitwise.h"
#include "thalweg/ops/elements.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/gather.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/ranges.h"
#include "thalweg/ops/segments.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/transposing.h"

namespace thalweg {
namespace {

// An unsigned number that grows with the value; both zeros are one. NaN counts as less than any number, so that it
// comes last in falling order; sort turns the signs for rising order, where it then comes last too, as in NumPy.
template <class T> uint64_t rank_of(T value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return rank_of(static_cast<float>(value));
  } else if constexpr (std::is_floating_point_v<T>) {
    using U = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    if (value != value) return 0;
    U bits = __builtin_bit_cast(U, value == T(0) ? T(0) : value), sign = U{1} << (8 * sizeof(T) - 1);
    return bits & sign ? static_cast<U>(~bits) : static_cast<U>(bits | sign);
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<uint64_t>(value) - static_cast<uint64_t>(std::numeric_limits<T>::min());
  } else {
    return value;
  }
}

// What is sorted: descending rank, then ascending place. Ranks of 32 bits share one word with their place.
struct LongKey {
  uint64_t inverse;
  int64_t place;
  bool operator<(const LongKey& o) const { return inverse < o.inverse || (inverse == o.inverse && place < o.place); }
};
int64_t place_of(uint64_t key) { return static_cast<int64_t>(key & 0xffffffff); }
int64_t place_of(const LongKey& key) { return key.place; }

template <class Key> void order_keys(std::vector<Key>& keys, int64_t k, std::vector<int64_t>& order) {
  if (k < static_cast<int64_t>(keys.size())) std::nth_element(keys.begin(), keys.begin() + k, keys.end());
  std::sort(keys.begin(), keys.begin() + k);
  order.resize(static_cast<size_t>(k));
  for (size_t i = 0; i < order.size(); ++i) order[i] = place_of(keys[i]);
}

// The places of the k largest of n, in order.
template <class T> void find_largest(const T* row, int64_t n, int64_t k, std::vector<int64_t>& order) {
  constexpr int64_t few = 32;
  if (k <= few && k < n) {  // most elements are no match for the smallest that is kept
    auto before = [row](T value, int64_t kept) { return rank_of(value) > rank_of(row[kept]); };
    order.clear();
    using W = kernel::Wide<T>;
    W least{};  // the smallest that is kept, once there are k
    for (int64_t i = 0; i < n; ++i) {
      const W value = static_cast<W>(row[i]);
      bool full = static_cast<int64_t>(order.size()) == k;
      if (full && (value <= least || value != value)) continue;
      if (full) order.pop_back();
      order.insert(std::upper_bound(order.begin(), order.end(), row[i], before), i);
      least = static_cast<W>(row[order.back()]);
    }
  } else if (sizeof(T) <= 4 && n <= std::numeric_limits<uint32_t>::max()) {
    std::vector<uint64_t> keys(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i)
      keys[static_cast<size_t>(i)] = (~rank_of(row[i]) & 0xffffffff) << 32 | static_cast<uint64_t>(i);
    order_keys(keys, k, order);
  } else {
    std::vector<LongKey> keys(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) keys[static_cast<size_t>(i)] = {~rank_of(row[i]), i};
    order_keys(keys, k, order);
  }
}

struct TopKAttrs {
  bool sorted = true;
  DType index_type = DType::int32;
};
void infer_top_k(InferCall& c) {
  c.require_rank_at_least(0, 1);
  c.require_rank(1, 0);
  int64_t k = c.has_value(1) ? c.scalar(1) : unknown;
  if (c.has_value(1) && k < 0) c.fail("k must not be negative, got " + std::to_string(k));
  Shape out = c.shape(0);
  if (out.has_rank()) {
    if (out[-1] >= 0 && k > out[-1])
      c.fail("input must have at least k elements along its last axis: k is " + std::to_string(k) + ", the axis has " +
             std::to_string(out[-1]));
    out[-1] = k;
  }
  c.output(0, out);
  c.output(1, out);
}
void run_top_k(const KernelCall& c) {
  const Shape& shape = c.shape(0);
  int64_t n = shape[-1], k = c.output_shape()[-1], rows = shape.count(0, shape.rank() - 1);
  if (k == 0 || rows == 0) return;
  kernel::visit_type<real_types>(c.dtype(), [&]<class T>(T*) {
    const T* in = c.input<T>(0);
    T* values = c.output<T>(0);
    double steps = static_cast<double>(n) * (k <= 32 ? 2 : 5 * std::log2(static_cast<double>(n) + 1));
    parallel_for(rows, steps, [&](int64_t begin, int64_t end) {
      std::vector<int64_t> order;
      for (int64_t r = begin; r < end; ++r) {
        find_largest(in + r * n, n, k, order);
        for (int64_t j = 0; j < k; ++j) values[r * k + j] = in[r * n + order[static_cast<size_t>(j)]];
        auto size = static_cast<int64_t>(size_of(c.output_dtype(1)));
        convert_elements(DType::int64, order.data(), c.output_dtype(1), c.output<std::byte>(1) + r * k * size, k);
      }
    });
  });
}

const Op& TopKV2 = define_op({
    .name = "TopKV2",
    .doc = "The k largest elements along the last axis and where they are; of equal elements the first comes first.",
    .signature = "input: T, k: Tk -> values: T, indices: index_type",
    .types = {{"Tk", types(int16, int32, int64)}, {"index_type", types(int16, int32, int64)}},
    .attrs = attrs_of<TopKAttrs>(),
    .infer = infer_top_k,
    .kernel = {.run = run_top_k, .types = real_types},
    .grad =
        [](GradCall& g) {
          const Tensor& x = g.input(0);
          if (x.rank() < 0) throw ValueError("TopKV2: the gradient needs an input of known rank");
          Tensor dims = shape(x, {.out_type = int64}), count = size(x, {.out_type = int64});
          Tensor places = gather(reshape(range(count), dims), g.output(1), {.axis = -1, .batch_dims = x.rank() - 1});
          Tensor sums = math::unsorted_segment_sum(reshape(g.output_grad(0), {-1}), reshape(places, {-1}), count);
          g.input_grad(0, reshape(sums, dims));
        },
    .grad_reads = reads::outputs<1>,
});

const Op& InTopKV2 = define_op({
    .name = "InTopKV2",
    .doc = "Whether fewer than k predictions exceed that of the target; false where that cannot be said.",
    .signature = "predictions: float, targets: T, k: T -> precision: bool",
    .types = {{"T", index_types}},
    .infer =
        [](InferCall& c) {
          c.require_rank(0, 2);
          c.require_rank(1, 1);
          c.require_rank(2, 0);
          Shape out = c.shape(1).has_rank() ? c.shape(1) : Shape{unknown};
          if (c.shape(0).has_rank()) {
            if (!out.is_compatible_with(Shape{c.shape(0)[0]}))
              c.fail("predictions and targets must have the same batch size, got " + c.shape(0).brackets() + " and " +
                     out.brackets());
            if (out[0] < 0) out[0] = c.shape(0)[0];
          }
          c.output(0, out);
        },
    .kernel = {[](const KernelCall& c) {
      int64_t classes = c.shape(0)[1], k = c.scalar(2);
      std::vector<int64_t> targets = c.values(1);
      for (size_t b = 0; b < targets.size(); ++b) {
        const float* row = c.input<float>(0) + static_cast<int64_t>(b) * classes;
        bool known = targets[b] >= 0 && targets[b] < classes;
        int64_t larger = 0;
        for (int64_t i = 0; known && larger < k && i < classes; ++i) {
          known = std::isfinite(row[i]);
          larger += row[i] > row[targets[b]];
        }
        c.output<bool>()[b] = known && larger < k;
      }
    }},
    .traits = {.not_differentiable = "the result is boolean"},
});

struct BoundAttrs {
  DType out_type = DType::int32;
};
void infer_bound(InferCall& c) {
  c.require_rank(0, 2);
  c.require_rank(1, 2);
  Shape out = c.shape(1).has_rank() ? c.shape(1) : Shape{unknown, unknown};
  if (c.shape(0).has_rank()) {
    if (c.shape(0)[0] >= 0 && out[0] >= 0 && c.shape(0)[0] != out[0])
      c.fail("sorted_inputs and values must have the same number of rows, got " + c.shape(0).brackets() + " and " +
             out.brackets());
    if (out[0] < 0) out[0] = c.shape(0)[0];
  }
  c.output(0, out);
}
template <bool Upper, class T> void find_bounds(const KernelCall& c, const T* sorted, const T* values) {
  using W = kernel::Wide<T>;
  auto less = [](const T& a, const T& b) { return static_cast<W>(a) < static_cast<W>(b); };
  int64_t n = c.shape(0)[1], m = c.shape(1)[1];
  parallel_for(c.count(1), 5 + 3 * std::log2(static_cast<double>(n) + 1), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T *first = sorted + i / m * n, *last = first + n;
      int64_t at =
          (Upper ? std::upper_bound(first, last, values[i], less) : std::lower_bound(first, last, values[i], less)) -
          first;
      if (c.output_dtype() == int64) c.output<int64_t>()[i] = at;
      else c.output<int32_t>()[i] = static_cast<int32_t>(at);
    }
  });
}
template <bool Upper> void run_bound(const KernelCall& c) {
  constexpr int64_t many = 16;  // elements of a row that are looked at for each value, and more
  if (is_half(c.dtype()) && c.count(0) <= many * c.count(1)) {
    std::vector<float> sorted(static_cast<size_t>(c.count(0))), values(static_cast<size_t>(c.count(1)));
    widen_halves(c.dtype(), c.input<uint16_t>(0), sorted.data(), c.count(0));
    widen_halves(c.dtype(), c.input<uint16_t>(1), values.data(), c.count(1));
    return find_bounds<Upper>(c, sorted.data(), values.data());
  }
  kernel::visit_type<real_types>(c.dtype(), [&]<class T>(T*) { find_bounds<Upper>(c, c.input<T>(0), c.input<T>(1)); });
}
constexpr const char* integer_result = "the result is a list of indices";

const Op& LowerBound = define_op({
    .name = "LowerBound",
    .doc = "Where each value would stand in its sorted row, before equal elements.",
    .signature = "sorted_inputs: T, values: T -> output: out_type",
    .types = {{"out_type", index_types}},
    .attrs = attrs_of<BoundAttrs>(),
    .infer = infer_bound,
    .kernel = {.run = run_bound<false>, .types = real_types},
    .traits = {.not_differentiable = integer_result},
});
const Op& UpperBound = define_op({
    .name = "UpperBound",
    .doc = "Where each value would stand in its sorted row, after equal elements.",
    .signature = "sorted_inputs: T, values: T -> output: out_type",
    .types = {{"out_type", index_types}},
    .attrs = attrs_of<BoundAttrs>(),
    .infer = infer_bound,
    .kernel = {.run = run_bound<true>, .types = real_types},
    .traits = {.not_differentiable = integer_result},
});

struct BucketizeAttrs {
  std::vector<float> boundaries = {};
};
const Op& Bucketize = define_op({
    .name = "Bucketize",
    .doc = "How many of the sorted boundaries are at most the element.",
    .signature = "input: T -> output: int32",
    .attrs = attrs_of<BucketizeAttrs>(),
    .infer =
        [](InferCall& c) {
          const auto& boundaries = c.attrs<BucketizeAttrs>().boundaries;
          c.require(std::is_sorted(boundaries.begin(), boundaries.end()), "boundaries must be sorted");
          c.output(0, c.shape(0));
        },
    .kernel = {.run =
                   [](const KernelCall& c) {
                     const auto& boundaries = c.attrs<BucketizeAttrs>().boundaries;
                     kernel::visit_type<types(int32, int64, float32, float64)>(c.dtype(), [&]<class T>(T*) {
                       using Common = std::conditional_t<std::is_same_v<T, double>, double, float>;
                       const T* in = c.input<T>(0);
                       for (int64_t i = 0; i < c.count(0); ++i)
                         c.output<int32_t>()[i] = static_cast<int32_t>(
                             std::upper_bound(
                                 boundaries.begin(), boundaries.end(), static_cast<Common>(in[i]),
                                 [](Common value, float bound) { return value < static_cast<Common>(bound); }) -
                             boundaries.begin());
                     });
                   },
               .types = types(int32, int64, float32, float64)},
    .traits = {.not_differentiable = integer_result},
});

Tensor last_dimension(const Tensor& x) {
  if (x.rank() < 1)
    throw ValueError("a tensor of known rank with at least one dimension is needed, got shape " + x.shape().brackets());
  return gather(shape(x), x.rank() - 1);
}

// The largest first; what reverses the order of a dtype turns that around.
math::TopK sort_with_indices(const Tensor& x, int64_t axis, const std::string& direction) {
  bool ascending = direction == "ASCENDING";
  if (!ascending && direction != "DESCENDING")
    throw ValueError("sort: direction must be \"ASCENDING\" or \"DESCENDING\", got \"" + direction + '"');
  int rank = x.rank();
  if (rank < 0) throw ValueError("sort: the number of dimensions must be known");
  if (axis < -rank || axis >= rank)
    throw ValueError("sort: axis " + std::to_string(axis) + " is out of range for shape " + x.shape().brackets());
  std::vector<int64_t> swapped(static_cast<size_t>(rank));
  std::iota(swapped.begin(), swapped.end(), int64_t{0});
  if (axis < 0) axis += rank;
  std::swap(swapped[static_cast<size_t>(axis)], swapped.back());
  auto swap_axes = [&](const Tensor& t) { return axis == rank - 1 ? t : transpose(t, {.perm = swapped}); };
  auto turn = [&](const Tensor& t) { return !ascending ? t : is_integer(t.dtype()) ? bitwise::invert(t) : -t; };
  Tensor keys = turn(swap_axes(x));
  math::TopK sorted = math::top_k(keys, {.k = last_dimension(keys)});
  return {swap_axes(turn(sorted.values)), swap_axes(sorted.indices)};
}

// [..., n] as a matrix.
Tensor as_rows(const Tensor& x) {
  if (x.rank() == 2) return x;
  return reshape(x, concat({Tensor(std::vector<int32_t>{-1}), expand_dims(last_dimension(x), 0)}, 0));
}

}  // namespace

Tensor sort(const TensorLike& values, const SortOptions& options) {
  return sort_with_indices(values.own(), options.axis, options.direction).values;
}
Tensor argsort(const TensorLike& values, const ArgsortOptions& options) {
  return sort_with_indices(values.own(), options.axis, options.direction).indices;
}
Tensor searchsorted(const TensorLike& sorted_sequence, const TensorLike& values, const SearchsortedOptions& options) {
  bool left = options.side == "left";
  if (!left && options.side != "right")
    throw ValueError("searchsorted: side must be \"left\" or \"right\", got \"" + options.side + '"');
  bool weak = sorted_sequence.tensor().impl()->weak != Weak::strong;
  Tensor x = weak ? sorted_sequence.as(values.own().dtype()) : sorted_sequence.own(), v = values.as(x.dtype());
  Tensor rows = apply1(left ? LowerBound : UpperBound, {as_rows(x), as_rows(v)}, BoundAttrs{options.out_type});
  return v.rank() == 2 ? rows : reshape(rows, shape(v));
}
math::TopK math::top_k(const TensorLike& input, const TopKOptions& options) {
  auto [values, indices] = apply_n<2>(TopKV2, {input, options.k.defined() ? options.k : Tensor(1)},
                                      TopKAttrs{options.sorted, options.index_type});
  return {values, indices};
}
Tensor math::in_top_k(const TensorLike& targets, const TensorLike& predictions, const TensorLike& k) {
  return apply1(InTopKV2, {predictions, targets, k});
}
Tensor math::bucketize(const TensorLike& input, const std::vector<float>& boundaries) {
  return apply1(Bucketize, {input}, BucketizeAttrs{boundaries});
}

namespace {
const FunctionDef* const sorting_functions[] = {
    &define_function<Tensor(const TensorLike&, const SortOptions&), sort>({"sort"}, {"values"}),
    &define_function<Tensor(const TensorLike&, const ArgsortOptions&), argsort>({"argsort"}, {"values"}),
    &define_function<Tensor(const TensorLike&, const TensorLike&, const SearchsortedOptions&), searchsorted>(
        {"searchsorted"}, {"sorted_sequence", "values"}),
    &define_function<static_cast<math::TopK (*)(const TensorLike&, const math::TopKOptions&)>(math::top_k)>(
        {"math.top_k", "nn.top_k"}, {"input"}),
    &define_function<math::in_top_k>({"math.in_top_k", "nn.in_top_k"}, {"targets", "predictions", "k"}),
};
}  // namespace

}  // namespace thalweg
