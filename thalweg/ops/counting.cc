#include "thalweg/ops/counting.h"

#include <algorithm>
#include <cmath>

#include "thalweg/core/error.h"
#include "thalweg/core/index.h"
#include "thalweg/kernels/isa.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/division.h"
#include "thalweg/ops/elements.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/indices.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_rounding.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/scatter.h"
#include "thalweg/ops/shaping.h"

namespace thalweg {
namespace {

constexpr TypeSet count_types = types(int32, int64, float32, float64);
constexpr const char* whole_numbers = "the result depends on integers, or counts";

struct HistogramAttrs {
  DType dtype = DType::int32;
};
void infer_histogram(InferCall& c) {
  if (c.shape(1).has_rank() && !c.shape(1).is_compatible_with(Shape{2}))
    c.fail("value_range must have two elements, got shape " + c.shape(1).brackets());
  c.require_rank(2, 0);
  int64_t bins = c.has_value(2) ? c.scalar(2) : unknown;
  if (c.has_value(2) && bins <= 0) c.fail("nbins must be positive, got " + std::to_string(bins));
  c.output(0, {bins});
}

// The bins of n values; false where one of them is NaN.
template <class T> struct Binning {
  T low = 0;
  double step = 1, last = 0;

  [[gnu::always_inline]] inline bool body(const T* values, int64_t n, int32_t* bins) const {
    int32_t nans = 0;
    for (int64_t i = 0; i < n; ++i) {
      nans |= values[i] != values[i];
      T above = values[i] > low ? values[i] : low;
      double distance = std::is_integral_v<T> ? static_cast<double>(above) - static_cast<double>(low)
                                              : static_cast<double>(above - low);
      double bin = distance / step;
      bin = bin > last ? last : bin;
      bins[i] = static_cast<int32_t>(bin > 0 ? bin : 0);  // NaN, and a width beyond T, too
    }
    return nans == 0;
  }
  static bool plain(const Binning& b, const T* values, int64_t n, int32_t* bins) { return b.body(values, n, bins); }
  THALWEG_AVX2 static bool fast(const Binning& b, const T* values, int64_t n, int32_t* bins) {
    return b.body(values, n, bins);
  }
  THALWEG_AVX512 static bool fastest(const Binning& b, const T* values, int64_t n, int32_t* bins) {
    return b.body(values, n, bins);
  }
};

template <class T, class Count> void count_bins(const KernelCall& c, const Binning<T>& binning, Count* counts) {
  constexpr int64_t tile = 1024;
  int32_t bins[tile];
  const T* values = c.input<T>(0);
  constexpr decltype(&Binning<T>::plain) loops[kernels::num_isas] = {Binning<T>::plain, Binning<T>::fast,
                                                                     Binning<T>::fastest};
  auto find = loops[kernels::isa];
  for (int64_t first = 0; first < c.count(0); first += tile) {
    const int64_t n = std::min(tile, c.count(0) - first);
    if (!find(binning, values + first, n, bins))
      for (int64_t i = first; i < first + n; ++i)
        if (values[i] != values[i]) c.fail("values" + position_text(c.shape(0), i) + " is NaN");
    for (int64_t i = 0; i < n; ++i) ++counts[bins[i]];
  }
}
void run_histogram(const KernelCall& c) {
  int64_t bins = c.output_shape()[0];
  std::memset(c.output(), 0, static_cast<size_t>(bins) * size_of(c.output_dtype()));
  kernel::visit_type<count_types>(c.dtype(), [&]<class T>(T*) {
    const T* range = c.input<T>(1);
    if (!(range[0] < range[1]))
      c.fail("value_range must be increasing, got [" + std::to_string(range[0]) + ", " + std::to_string(range[1]) +
             "]");
    T width = range[1];
    if constexpr (std::is_integral_v<T>)
      width = static_cast<T>(static_cast<uint64_t>(range[1]) - static_cast<uint64_t>(range[0]));
    else width = range[1] - range[0];
    const double step = static_cast<double>(width) / static_cast<double>(bins);
    const Binning<T> binning{range[0], step, static_cast<double>(bins - 1)};
    if (c.output_dtype() == int64) count_bins(c, binning, c.output<int64_t>());
    else count_bins(c, binning, c.output<int32_t>());
  });
}

const Op& HistogramFixedWidth = define_op({
    .name = "HistogramFixedWidth",
    .doc = "How many values fall in each of nbins bins of equal width; values outside the range count in the end bins.",
    .signature = "values: T, value_range: T, nbins: int32 -> out: dtype",
    .types = {{"dtype", index_types}},
    .attrs = attrs_of<HistogramAttrs>(),
    .infer = infer_histogram,
    .kernel = {.run = run_histogram, .types = count_types},
    .traits = {.not_differentiable = whole_numbers},
});

// weights are empty, or have the shape of the values.
int64_t check_counts(InferCall& c) {
  const Shape &values = c.shape(0), &weights = c.shape(2);
  c.require_rank(1, 0);
  int64_t size = c.has_value(1) ? c.scalar(1) : unknown;
  if (c.has_value(1) && size < 0) c.fail("size must not be negative, got " + std::to_string(size));
  bool empty = weights.has_rank() && std::count(weights.begin(), weights.end(), 0) > 0;
  if (!empty && weights.is_fully_defined() && values.is_fully_defined() && weights != values)
    c.fail("weights must be empty or have the shape of the values, " + values.brackets() + ", got " +
           weights.brackets());
  return size;
}

template <bool Binary, class T>
void count_row(const int64_t* values, const T* weights, int64_t n, int64_t size, T* out) {
  for (int64_t i = 0; i < n; ++i) {
    if (values[i] >= size) continue;
    T& bin = out[values[i]];
    if constexpr (Binary) bin = T(1);
    else if constexpr (std::is_integral_v<T>)
      bin = static_cast<T>(static_cast<uint64_t>(bin) + static_cast<uint64_t>(weights ? weights[i] : T(1)));
    else bin += weights ? weights[i] : T(1);
  }
}
void count_rows(const KernelCall& c, bool binary) {
  const Shape& out = c.output_shape();
  Indices values(c, 0);
  for (int64_t i = 0; i < values.size(); ++i)
    if (values[i] < 0)
      c.fail(c.op.args[0].name + position_text(c.shape(0), i) + " = " + std::to_string(values[i]) + " is negative");
  int64_t size = out[-1], rows = out.count(0, out.rank() - 1), n = rows ? values.size() / rows : 0;
  kernel::visit_type<count_types>(c.dtype(2), [&]<class T>(T*) {
    std::fill_n(c.output<T>(), out.count(), T(0));
    const T* weights = c.count(2) ? c.input<T>(2) : nullptr;
    for (int64_t r = 0; r < rows; ++r) {
      const T* row = weights ? weights + r * n : nullptr;
      (binary ? count_row<true, T> : count_row<false, T>)(values.data() + r * n, row, n, size,
                                                          c.output<T>() + r * size);
    }
  });
}

const Op& Bincount = define_op({
    .name = "Bincount",
    .doc = "How often, or with which total weight, each of 0 to size - 1 occurs; larger values are left out.",
    .signature = "arr: int32, size: int32, weights: T -> bins: T",
    .types = {{"T", count_types}},
    .infer = [](InferCall& c) { c.output(0, {check_counts(c)}); },
    .kernel = {[](const KernelCall& c) { count_rows(c, false); }},
    .traits = {.not_differentiable = whole_numbers},
});

struct DenseBincountAttrs {
  bool binary_output = false;
};
const Op& DenseBincount = define_op({
    .name = "DenseBincount",
    .doc = "The counts of a vector, or of each row of a matrix; with binary_output 1 where a value occurs.",
    .signature = "input: Tidx, size: Tidx, weights: T -> output: T",
    .types = {{"Tidx", index_types}, {"T", count_types}},
    .attrs = attrs_of<DenseBincountAttrs>(),
    .infer =
        [](InferCall& c) {
          const Shape& input = c.shape(0);
          if (input.rank() == 0 || input.rank() > 2)
            c.fail("input must be a vector or a matrix, got shape " + input.brackets());
          int64_t size = check_counts(c);
          c.output(0, !input.has_rank() ? input : input.rank() == 2 ? Shape{input[0], size} : Shape{size});
        },
    .kernel = {[](const KernelCall& c) { count_rows(c, c.attrs<DenseBincountAttrs>().binary_output); }},
    .traits = {.not_differentiable = whole_numbers},
});

// One more than the largest value, within the bounds that are given; 0 when there are no values.
Tensor number_of_bins(const Tensor& values, const math::BincountOptions& options) {
  const Tensor &least = options.minlength, &most = options.maxlength;
  const bool is_known = least.defined() && most.defined() && !least.is_symbolic() && !most.is_symbolic();
  if (is_known && least.size() == 1 && most.size() == 1 && least.item<int64_t>() == most.item<int64_t>())
    return cast(least, values.dtype());  // whatever the values are
  Tensor any = cast(greater(size(values), 0), values.dtype());
  Tensor count = any * (reduce_max(values) + 1);
  if (options.minlength.defined()) count = maximum(cast(options.minlength, values.dtype()), count);
  if (options.maxlength.defined()) count = minimum(cast(options.maxlength, values.dtype()), count);
  return count;
}

}  // namespace

Tensor histogram_fixed_width(const TensorLike& values, const TensorLike& value_range,
                             const HistogramFixedWidthOptions& options) {
  Tensor bins = options.nbins.defined() ? options.nbins : Tensor(100);
  return apply1(HistogramFixedWidth, {values, value_range, bins}, HistogramAttrs{options.dtype});
}

Tensor histogram_fixed_width_bins(const TensorLike& values, const TensorLike& value_range,
                                  const HistogramFixedWidthOptions& options) {
  Tensor x = values.own(), ends = value_range.as(x.dtype());
  Tensor bins = options.nbins.defined() ? options.nbins : Tensor(100);
  if (!bins.is_symbolic() && (bins.size() != 1 || bins.item<int64_t>() < 1))
    throw InvalidArgumentError("histogram_fixed_width_bins: nbins must be one positive number, got " + bins.str());
  if (ends.shape().has_rank() && (ends.rank() != 1 || ends.shape()[0] != 2))
    throw InvalidArgumentError("histogram_fixed_width_bins: value_range must hold two numbers, got shape " +
                               ends.shape().brackets());
  Tensor share = truediv(x - ends(0), ends(1) - ends(0));
  Tensor last = cast(bins, int32) - 1;
  Tensor place = floor(cast(bins, share.dtype()) * share);
  return cast(cast(clip_by_value(place, 0, cast(last, share.dtype())), int32), options.dtype);
}

Tensor math::bincount(const TensorLike& arr, const BincountOptions& options) {
  Tensor values = arr.own();
  if (options.axis && *options.axis != 0 && *options.axis != -1)
    throw ValueError("bincount: axis must be 0, -1 or left out, got " + std::to_string(*options.axis));
  Tensor weights = options.weights.defined() ? options.weights : Tensor::empty(options.dtype, {0});
  if (!options.axis && !options.binary_output) {
    values = cast(values, int32);
    return apply1(Bincount, {values, number_of_bins(values, options), weights});
  }
  if (values.dtype() != int32 && values.dtype() != int64) values = cast(values, int32);
  if (!options.axis || *options.axis == 0) {
    values = reshape(values, {-1});
    if (options.weights.defined()) weights = reshape(weights, {-1});
  }
  return apply1(DenseBincount, {values, number_of_bins(values, options), weights},
                DenseBincountAttrs{options.binary_output});
}

Tensor math::confusion_matrix(const TensorLike& labels, const TensorLike& predictions,
                              const ConfusionMatrixOptions& options) {
  Tensor rows = labels.own(), columns = predictions.own();
  // A last dimension of length 1 that only one of them has is dropped.
  if (rows.rank() == columns.rank() + 1) rows = squeeze(rows, {.axis = -1});
  else if (columns.rank() == rows.rank() + 1) columns = squeeze(columns, {.axis = -1});
  rows = cast(rows, int64);
  columns = cast(columns, int64);
  Tensor count = options.num_classes.defined() ? cast(options.num_classes, int64)
                                               : maximum(reduce_max(rows), reduce_max(columns)) + 1;
  Tensor values =
      options.weights.defined() ? cast(options.weights, options.dtype) : ones_like(columns, {.dtype = options.dtype});
  return scatter_nd(stack({rows, columns}, {.axis = 1}), values, stack({count, count}));
}

namespace {
const FunctionDef* const counting_functions[] = {
    &define_function<Tensor(const TensorLike&, const TensorLike&, const HistogramFixedWidthOptions&),
                     histogram_fixed_width>({"histogram_fixed_width"}, {"values", "value_range"}),
    &define_function<Tensor(const TensorLike&, const TensorLike&, const HistogramFixedWidthOptions&),
                     histogram_fixed_width_bins>({"histogram_fixed_width_bins"}, {"values", "value_range"}),
    &define_function<Tensor(const TensorLike&, const math::BincountOptions&), math::bincount>({"math.bincount"},
                                                                                              {"arr"}),
    &define_function<Tensor(const TensorLike&, const TensorLike&, const math::ConfusionMatrixOptions&),
                     math::confusion_matrix>({"math.confusion_matrix"}, {"labels", "predictions"}),
};
}  // namespace

}  // namespace thalweg
