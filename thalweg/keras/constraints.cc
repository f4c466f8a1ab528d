#include "thalweg/keras/constraints.h"

#include <algorithm>

#include "thalweg/core/error.h"
#include "thalweg/keras/backend.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/gather.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_elementary.h"
#include "thalweg/ops/reduction.h"

namespace thalweg::keras::constraints {
namespace {

Tensor norms(const Tensor& w, const Axis& axis) {
  Tensor squares = reduce_sum(square(w), {.axis = axis, .keepdims = true});
  return sqrt(squares);
}

struct MaxNormConstraint {
  MaxNormOptions options = {};
  Tensor call(const Tensor& w) {
    Tensor size = norms(w, options.axis);
    return w * (clip_by_value(size, 0.0, options.max_value) / (backend::epsilon() + size));
  }
};

struct MinMaxNormConstraint {
  MinMaxNormOptions options = {};
  Tensor call(const Tensor& w) {
    Tensor size = norms(w, options.axis);
    Tensor desired =
        options.rate * clip_by_value(size, options.min_value, options.max_value) + (1 - options.rate) * size;
    return w * (desired / (backend::epsilon() + size));
  }
};

struct NonNegConstraint {
  Tensor call(const Tensor& w) { return w * cast(greater_equal(w, 0.0), w.dtype()); }
};

struct UnitNormConstraint {
  UnitNormOptions options = {};
  Tensor call(const Tensor& w) { return w / (backend::epsilon() + norms(w, options.axis)); }
};

struct RadialConstraintConstraint {
  Tensor call(const Tensor& w) {
    const Shape& shape = w.shape();
    if (shape.rank() != 4)
      throw ValueError("The weight tensor must have rank 4. Received weight tensor with shape: " + shape.str());
    const int64_t size = shape[0];
    if (size < 1 || shape[1] != size)
      throw ValueError("RadialConstraint is for square filters. Received weight tensor with shape: " + shape.str());
    // Rings around the middle take their value from the diagonal, from the element before the middle on; where the
    // size is even, Keras leaves out the one after it.
    const int64_t half = size / 2, odd = size % 2;
    auto ring = [&](int64_t i) { return odd ? std::abs(i - half) : i < half ? half - 1 - i : i - half; };
    std::vector<int64_t> places;
    for (int64_t row = 0; row < size; ++row)
      for (int64_t column = 0; column < size; ++column) {
        const int64_t at = std::max(ring(row), ring(column));
        const int64_t from = std::max<int64_t>(at == 0 || odd ? half - 1 + at : half + at, 0);
        places.push_back(from);
        places.push_back(from);
      }
    return gather_nd(w, Tensor(places, Shape{size, size, 2}));
  }
};

const bool constraints_aliases[] = {
    register_alias("constraint", "max_norm", "MaxNorm"),
    register_alias("constraint", "maxnorm", "MaxNorm"),
    register_alias("constraint", "min_max_norm", "MinMaxNorm"),
    register_alias("constraint", "non_neg", "NonNeg"),
    register_alias("constraint", "nonneg", "NonNeg"),
    register_alias("constraint", "unit_norm", "UnitNorm"),
    register_alias("constraint", "unitnorm", "UnitNorm"),
    register_alias("constraint", "radial_constraint", "RadialConstraint"),
};

}  // namespace

Constraint MaxNorm(const MaxNormOptions& options) { return MaxNormConstraint{options}; }
Constraint MinMaxNorm(const MinMaxNormOptions& options) { return MinMaxNormConstraint{options}; }
Constraint NonNeg() { return NonNegConstraint{}; }
Constraint UnitNorm(const UnitNormOptions& options) { return UnitNormConstraint{options}; }
Constraint RadialConstraint() { return RadialConstraintConstraint{}; }

}  // namespace thalweg::keras::constraints
