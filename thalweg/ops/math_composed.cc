#include "thalweg/ops/math_composed.h"

#include "thalweg/core/error.h"
#include "thalweg/core/index.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/debugging.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/indexed_slices.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_special.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/shaping.h"

namespace thalweg {

Tensor scalar_mul(const TensorLike& scalar, const Tensor& x) {
  const Shape& shape = scalar.tensor().shape();
  if (shape.has_rank() && shape.rank() != 0)
    throw ValueError("scalar_mul: the scalar must have no dimensions, got shape " + shape.str());
  return map_values(x, [&](const Tensor& values) { return multiply(scalar, values); });
}

namespace math {

Tensor polyval(const std::vector<Tensor>& coeffs, const TensorLike& x) {
  if (coeffs.empty()) return zeros_like(x);
  Tensor at = x.as(coeffs[0].dtype()), value = coeffs[0];
  for (const Tensor& c : std::span(coeffs).subspan(1)) value = c + value * at;  // Horner's rule
  return value;
}

Tensor lbeta(const Tensor& x) {
  if (x.rank() == 0) throw InvalidArgumentError("lbeta: x must have a dimension or more, got a scalar");
  return reduce_sum(lgamma(x), {.axis = -1}) - lgamma(reduce_sum(x, {.axis = -1}));
}

namespace {
template <class Compare> Tensor in_order(const char* name, const Tensor& x, Compare compare) {
  if (!debugging::is_numeric_tensor(x))
    throw TypeError(std::string(name) + ": x must be numeric, got " + std::string(name_of(x.dtype())));
  Tensor flat = reshape(x, {-1});
  return reduce_all(compare(flat(Slice{.stop = -1}), flat(slice_from(1))));
}
}  // namespace
Tensor is_strictly_increasing(const Tensor& x) { return in_order("is_strictly_increasing", x, less); }
Tensor is_non_decreasing(const Tensor& x) { return in_order("is_non_decreasing", x, less_equal); }

namespace {
const FunctionDef* const math_composed_functions[] = {
    &define_function<scalar_mul>({"scalar_mul", "math.scalar_mul"}, {"scalar", "x"}),
    &define_function<polyval>({"math.polyval"}, {"coeffs", "x"}),
    &define_function<lbeta>({"math.lbeta"}, {"x"}),
    &define_function<is_strictly_increasing>({"math.is_strictly_increasing"}, {"x"}),
    &define_function<is_non_decreasing>({"math.is_non_decreasing"}, {"x"}),
};
}  // namespace

}  // namespace math
}  // namespace thalweg
