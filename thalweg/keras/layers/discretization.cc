#include <algorithm>
#include <cmath>

#include "thalweg/core/error.h"
#include "thalweg/graph/init_scope.h"
#include "thalweg/keras/call_context.h"
#include "thalweg/keras/layers/categorical.h"
#include "thalweg/keras/layers/encoding.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/sorting.h"

namespace thalweg::keras::layers {
namespace {

/// NaN comes last.
bool is_before(float a, float b) { return a < b || (std::isnan(b) && !std::isnan(a)); }

/// Points of a distribution and how many values each stands for, as Keras keeps them: quantiles can be read from it,
/// and two of them make one.
struct Summary {
  std::vector<float> points, weights;

  Summary() = default;
  explicit Summary(const Tensor& kept) {
    const int64_t n = kept.shape()[1];
    points.assign(kept.data<float>(), kept.data<float>() + n);
    weights.assign(kept.data<float>() + n, kept.data<float>() + 2 * n);
  }
  /// Of values: about 1 / epsilon of them at equal distances, all where there are fewer.
  Summary(const float* values, int64_t count, double epsilon) {
    std::vector<float> sorted(values, values + count);
    std::sort(sorted.begin(), sorted.end(), is_before);
    const auto increment = static_cast<int64_t>(static_cast<float>(count) / static_cast<float>(1 / epsilon));
    const int64_t step = std::max<int64_t>(increment, 1);
    for (int64_t i = increment; i < count; i += step) {
      points.push_back(sorted[static_cast<size_t>(i)]);
      weights.push_back(static_cast<float>(step));
    }
  }
  void merge(const Summary& other) {
    Summary merged;
    size_t i = 0, j = 0;
    while (i < points.size() || j < other.points.size()) {
      const bool is_other = i == points.size() || (j < other.points.size() && is_before(other.points[j], points[i]));
      merged.points.push_back(is_other ? other.points[j] : points[i]);
      merged.weights.push_back(is_other ? other.weights[j++] : weights[i++]);
    }
    *this = std::move(merged);
  }
  /// The points at the shares epsilon, 2 epsilon, ... of the weight; nothing where there are fewer points than that.
  void compress(double epsilon) {
    if (points.empty() || static_cast<double>(points.size()) * epsilon < 1) return;
    std::vector<float> sums(weights.size());
    float sum = 0;
    for (size_t i = 0; i < weights.size(); ++i) sums[i] = sum += weights[i];
    std::vector<float> shares;
    for (float s : sums) shares.push_back(s / sum);
    const auto count = static_cast<int64_t>(std::ceil(1 / epsilon));
    std::vector<float> new_points, new_weights;
    double before = 0;
    for (int64_t i = 0; i < count; ++i) {
      const double share = epsilon + static_cast<double>(i) * epsilon;
      new_points.push_back(static_cast<float>(interpolate(share, shares, points)));
      const double below = interpolate(share, shares, sums);
      new_weights.push_back(static_cast<float>(below - before));
      before = below;
    }
    points = std::move(new_points);
    weights = std::move(new_weights);
  }
  Tensor tensor() const {
    std::vector<float> all = points;
    all.insert(all.end(), weights.begin(), weights.end());
    return {all, Shape{2, static_cast<int64_t>(points.size())}};
  }

 private:
  // On the line between the two neighbours of x; the ends go on as they are.
  static double interpolate(double x, const std::vector<float>& at, const std::vector<float>& values) {
    const auto after = std::upper_bound(at.begin(), at.end(), x, [](double a, float b) { return a < double{b}; });
    if (after == at.begin()) return values.front();
    const auto i = static_cast<size_t>(after - at.begin()) - 1;
    if (i + 1 == at.size() || double{at[i]} == x) return values[i];
    const double slope = (double{values[i + 1]} - double{values[i]}) / (double{at[i + 1]} - double{at[i]});
    return slope * (x - double{at[i]}) + double{values[i]};
  }
};

struct DiscretizationLayer {
  DiscretizationOptions options = {};
  Variable summary = {};

  void check() {
    // Categories are integers, whatever dtype is asked for.
    if (options.output_mode == "int" && !is_integer(options.dtype.compute_dtype())) options.dtype = Policy();
    check_output_mode("Discretization", options.output_mode, options.sparse, {"int", "one_hot", "multi_hot", "count"});
    complete_dtype(options.dtype, options.output_mode);
    if (options.num_bins && *options.num_bins < 0)
      throw ValueError("`num_bins` must be greater than or equal to 0. You passed `num_bins=" +
                       std::to_string(*options.num_bins) + "`");
    if (options.num_bins && options.bin_boundaries)
      throw ValueError("Both `num_bins` and `bin_boundaries` should not be set. You passed `num_bins=" +
                       std::to_string(*options.num_bins) +
                       "` and `bin_boundaries=" + keras::to_value(*options.bin_boundaries).json() + "`");
    if (options.bin_boundaries && !std::is_sorted(options.bin_boundaries->begin(), options.bin_boundaries->end()))
      throw ValueError("`bin_boundaries` must be in ascending order. Received: " +
                       keras::to_value(*options.bin_boundaries).json());
    if (!(options.epsilon > 0 && options.epsilon <= 1))
      throw ValueError("`epsilon` must lie above 0 and not above 1. Received: epsilon=" +
                       Value(options.epsilon).json());
  }
  void build(const Shape&) {
    if (options.bin_boundaries) return;
    InitScope outside;
    summary = Variable(Tensor(std::vector<float>(), Shape{2, 0}), {.trainable = false, .shape = Shape{2, unknown}});
    variable_of(summary.handle()).rename({});  // that of the member
  }
  void adapt(const Tensor& data) {
    if (options.bin_boundaries)
      throw ValueError(
          "Cannot adapt a Discretization layer that has been initialized with `bin_boundaries`, use `num_bins` "
          "instead. You passed `bin_boundaries=" +
          keras::to_value(*options.bin_boundaries).json() + "`.");
    if (options.num_bins.value_or(0) < 1)
      throw ValueError("a Discretization layer needs `num_bins`, 1 or more, to find boundaries in data. Received: " +
                       keras::to_value(options.num_bins).json());
    if (data.rank() < 1) throw ValueError("`adapt` takes a batch of data. Received a scalar: " + data.str());
    keras::detail::build_if_needed(keras::detail::CallContext::current()->layer(),
                                   Nest(keras::detail::stand_in(DType::float32, data.shape())));
    // Batch by batch, as Keras looks at arrays: what is left out differs otherwise.
    constexpr int64_t batch = 32;
    Tensor values = cast(data, DType::float32);
    const int64_t rows = data.shape()[0], each = rows ? values.size() / rows : 0;
    Summary all;
    for (int64_t row = 0; row < rows; row += batch) {
      const int64_t count = std::min(batch, rows - row) * each;
      Summary next(values.data<float>() + row * each, count, options.epsilon);
      next.merge(all);
      next.compress(options.epsilon);
      all = std::move(next);
    }
    summary.assign(all.tensor());
  }
  Tensor call(const Tensor& x) {
    const std::vector<float> bounds = boundaries();
    const bool is_known = x.dtype() == DType::int32 || x.dtype() == DType::int64 || x.dtype() == DType::float32 ||
                          x.dtype() == DType::float64;
    return encode(math::bucketize(is_known ? x : cast(x, DType::float32), bounds),
                  {.output_mode = options.output_mode,
                   .depth = static_cast<int64_t>(bounds.size()) + 1,
                   .dtype = keras::detail::own_dtype()});
  }
  Shape compute_output_shape(const Shape& input) {
    return encoded_shape(input, options.output_mode, static_cast<int64_t>(boundaries().size()) + 1);
  }

  /// Those given, or what the summary says now. They stay in a traced function: the number of bins is part of it.
  std::vector<float> boundaries() const {
    if (options.bin_boundaries) return {options.bin_boundaries->begin(), options.bin_boundaries->end()};
    if (!summary.defined()) return {};
    Summary found(variable_of(summary.handle()).read());
    const int64_t bins = options.num_bins.value_or(0);
    if (found.points.empty() || bins < 1) return {};
    found.compress(1.0 / static_cast<double>(bins));
    found.points.pop_back();
    return found.points;
  }
};

}  // namespace

DiscretizationHandle Discretization(const DiscretizationOptions& options) {
  return DiscretizationHandle(DiscretizationLayer{options});
}
std::vector<float> DiscretizationHandle::bin_boundaries() const { return as<DiscretizationLayer>()->boundaries(); }

}  // namespace thalweg::keras::layers
