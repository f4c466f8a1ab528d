#include "thalweg/ops/unravel.h"

#include "thalweg/core/error.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/debugging.h"
#include "thalweg/ops/division.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/scan.h"
#include "thalweg/ops/shaping.h"

namespace thalweg {

Tensor unravel_index(const TensorLike& indices, const TensorLike& dims) {
  Tensor at = indices.own(), sizes = dims.as(at.dtype());
  if (!index_types.has(at.dtype()) || at.dtype() != sizes.dtype())
    throw InvalidArgumentError("unravel_index: indices and dims must both be int32 or int64, got " +
                               std::string(name_of(at.dtype())) + " and " + std::string(name_of(sizes.dtype())));
  if (sizes.shape().has_rank() && sizes.rank() != 1)
    throw InvalidArgumentError("unravel_index: dims must be a vector, got shape " + sizes.shape().brackets());
  if (at.rank() > 1)
    throw InvalidArgumentError("unravel_index: indices must be a scalar or a vector, got shape " +
                               at.shape().brackets());
  debugging::assert_positive(sizes, {.message = "unravel_index: dims must be positive"});
  debugging::assert_less(at, reduce_prod(sizes), {.message = "unravel_index: an index is past the end of dims"});
  debugging::assert_non_negative(at, {.message = "unravel_index: an index is negative"});
  Tensor strides = reshape(math::cumprod(sizes, {.exclusive = true, .reverse = true}), {-1, 1});
  Tensor coordinates = floormod(floordiv(reshape(at, {1, -1}), strides), reshape(sizes, {-1, 1}));
  return reshape(coordinates, concat({shape(sizes), shape(at)}, 0));
}

namespace {
const FunctionDef& function = define_function<unravel_index>({"unravel_index"}, {"indices", "dims"});
}  // namespace

}  // namespace thalweg
