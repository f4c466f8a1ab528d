#include "thalweg/ops/masking.h"

#include "thalweg/core/error.h"
#include "thalweg/ops/broadcasting.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/gather.h"
#include "thalweg/ops/integers.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/ranges.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/selection.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/slicing.h"

namespace thalweg {
namespace {

int checked(const char* name, int64_t axis, int rank) {
  if (axis < -rank || axis >= rank)
    throw InvalidArgumentError(std::string(name) + ": axis " + std::to_string(axis) + " is out of range for " +
                               std::to_string(rank) + " dimensions");
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}
Tensor part_of_shape(const Tensor& dims, int64_t begin, int64_t count) { return slice(dims, {begin}, {count}); }

}  // namespace

Tensor boolean_mask(const TensorLike& tensor, const TensorLike& mask, const BooleanMaskOptions& options) {
  Tensor values = tensor.own(), keep = mask.own();
  const Shape &in = values.shape(), &covered = keep.shape();
  if (!covered.has_rank()) throw ValueError("boolean_mask: the number of dimensions of mask must be known");
  if (covered.rank() == 0) throw ValueError("boolean_mask: mask cannot be a scalar");
  if (!in.has_rank()) throw ValueError("boolean_mask: the number of dimensions of tensor must be known");
  int axis = checked("boolean_mask", options.axis.value_or(0), in.rank());
  bool fits = axis + covered.rank() <= in.rank();
  for (int d = 0; fits && d < covered.rank(); ++d)
    fits = covered[d] < 0 || in[axis + d] < 0 || covered[d] == in[axis + d];
  if (!fits)
    throw ValueError("boolean_mask: the mask has shape " + covered.brackets() +
                     ", which does not fit the dimensions of " + in.brackets() + " from " + std::to_string(axis) +
                     " on");
  if (keep.dtype() != DType::bool_)
    throw TypeError("boolean_mask: mask must be bool, got " + std::string(name_of(keep.dtype())));
  if (covered.rank() > 1) {
    Tensor dims = shape(values);
    Tensor flat = concat({part_of_shape(dims, 0, axis), Tensor{-1}, part_of_shape(dims, axis + covered.rank(), -1)}, 0);
    if (in.is_fully_defined()) {  // a dimension of 0 leaves -1 open
      Shape known;
      for (int d = 0; d < axis; ++d) known.push_back(in[d]);
      known.push_back(in.count(axis, axis + covered.rank()));
      for (int d = axis + covered.rank(); d < in.rank(); ++d) known.push_back(in[d]);
      flat = index_list(known.dims());
    }
    values = reshape(values, flat);
    keep = reshape(keep, {-1});
  }
  return gather(values, squeeze(where(keep), {.axis = 1}), {.axis = axis});
}

Tensor repeat(const TensorLike& input, const TensorLike& repeats, const RepeatOptions& options) {
  Tensor values = input.own(), counts = index_tensor(repeats);
  if (!options.axis) values = reshape(values, {-1});
  if (!values.shape().has_rank()) throw ValueError("repeat: the number of dimensions of input must be known");
  if (values.rank() == 0) values = reshape(values, {1});
  int axis = checked("repeat", options.axis.value_or(0), values.rank());
  if (counts.rank() > 1)
    throw ValueError("repeat: repeats must be a scalar or a vector, got shape " + counts.shape().brackets());
  counts = maximum(counts, zero_of(counts.dtype()));
  Tensor dims = shape(values, {.out_type = counts.dtype()});
  Tensor length = gather(dims, axis);
  if (counts.rank() == 0 || (counts.rank() == 1 && counts.shape()[0] == 1)) {
    // [..., n, 1, ...] broadcast to [..., n, count, ...] and flattened.
    Tensor count = reshape(counts, Tensor::empty(DType::int32, {0}));
    Tensor before = slice(dims, {0}, {axis}), after = slice(dims, {axis + 1}, {-1});
    Tensor wide = broadcast_to(expand_dims(values, axis + 1),
                               concat({before, reshape(length, {1}), reshape(count, {1}), after}, 0));
    return reshape(wide, concat({before, reshape(length * count, {1}), after}, 0));
  }
  // Slice i goes where the mask of its row is true: row i has counts[i] places.
  Tensor expanded = broadcast_to(counts, reshape(length, {1}));
  Tensor mask = sequence_mask(expanded);
  Tensor positions = broadcast_to(expand_dims(range(length), 1), shape(mask));
  return gather(values, boolean_mask(positions, mask), {.axis = axis});
}

namespace {
const FunctionDef* const functions[] = {
    &define_function<boolean_mask>({"boolean_mask"}, {"tensor", "mask"}),
    &define_function<repeat>({"repeat"}, {"input", "repeats"}),
};
}  // namespace

}  // namespace thalweg
