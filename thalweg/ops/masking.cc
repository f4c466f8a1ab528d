#include "thalweg/ops/masking.h"

#include "thalweg/core/error.h"
#include "thalweg/core/index.h"
#include "thalweg/ops/broadcasting.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/gather.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/ranges.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/scan.h"
#include "thalweg/ops/selection.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/sorting.h"

namespace thalweg {

Tensor boolean_mask(const Tensor& tensor, const Tensor& mask, const BooleanMaskOptions& options) {
  int depth = mask.rank(), rank = tensor.rank();
  int64_t axis = options.axis;
  if (mask.dtype() != DType::bool_)
    throw TypeError("boolean_mask: the mask must be bool, got " + std::string(name_of(mask.dtype())));
  if (depth < 0) throw ValueError("boolean_mask: the number of dimensions of the mask must be known");
  if (depth == 0) throw ValueError("boolean_mask: the mask cannot be a scalar");
  if (axis < 0 && rank >= 0) axis += rank;
  if (axis < 0 || (rank >= 0 && axis + depth > rank))
    throw ValueError("boolean_mask: a mask of shape " + mask.shape().brackets() + " does not fit a tensor of shape " +
                     tensor.shape().brackets() + " from axis " + std::to_string(options.axis) + " on");
  for (int d = 0; rank >= 0 && d < depth; ++d) {
    int64_t have = tensor.shape()[static_cast<int>(axis) + d], want = mask.shape()[d];
    if (have >= 0 && want >= 0 && have != want)
      throw ValueError("boolean_mask: the shapes differ: mask " + mask.shape().brackets() + ", tensor " +
                       tensor.shape().brackets() + " from axis " + std::to_string(axis) + " on");
  }
  Tensor dims = shape(tensor), length = size(mask);
  Tensor flat_dims = concat({dims(slice(0, axis)), expand_dims(length, 0), dims(slice_from(axis + depth))}, 0);
  Tensor places = squeeze(where(reshape(mask, {-1})), {.axis = 1});
  return gather(depth == 1 ? tensor : reshape(tensor, flat_dims), places, {.axis = axis});
}

Tensor repeat(const TensorLike& input, const TensorLike& repeats, const RepeatOptions& options) {
  Tensor data = input.own(), counts = maximum(cast(repeats.own(), int64), 0);
  if (!options.axis) data = reshape(data, {-1});
  if (data.rank() < 0) throw ValueError("repeat: the number of dimensions of the input must be known");
  if (data.rank() == 0) data = expand_dims(data, 0);
  int64_t axis = options.axis.value_or(0);
  if (axis < -data.rank() || axis >= data.rank())
    throw ValueError("repeat: axis " + std::to_string(axis) + " is out of range for an input of shape " +
                     data.shape().brackets());
  if (counts.rank() > 1)
    throw ValueError("repeat: repeats must be a scalar or a vector, got shape " + counts.shape().brackets());
  Tensor length = gather(shape(data), axis < 0 ? axis + data.rank() : axis);
  // Element j of the result comes from the first slice whose running total exceeds j.
  Tensor totals = cumsum(broadcast_to(counts, expand_dims(length, 0)));
  Tensor places =
      searchsorted(totals, range(reduce_sum(broadcast_to(counts, expand_dims(length, 0)))), {.side = "right"});
  return gather(data, places, {.axis = axis});
}

namespace {
const FunctionDef* const masking_functions[] = {
    &define_function<Tensor(const Tensor&, const Tensor&, const BooleanMaskOptions&), boolean_mask>({"boolean_mask"},
                                                                                                    {"tensor", "mask"}),
    &define_function<Tensor(const TensorLike&, const TensorLike&, const RepeatOptions&), repeat>({"repeat"},
                                                                                                 {"input", "repeats"}),
};
}  // namespace

}  // namespace thalweg
