// Ops that change some rows or a slice of a variable, in its own memory. Everything that can be wrong is found before
// the first element changes.
#include "thalweg/core/error.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/scatter_updates.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/slice_spec.h"
#include "thalweg/ops/variable.h"
#include "thalweg/ops/variable_access.h"

namespace thalweg {
namespace {

using scatter::Larger;
using scatter::Minus;
using scatter::Plus;
using scatter::Smaller;
struct Times {
  template <class T> auto operator()(const T& a, const T& b) const { return kernels::scalar::multiply(a, b); }
};
struct Quotient {
  template <class T> auto operator()(const T& a, const T& b) const {
    if constexpr (std::is_signed_v<T> && std::is_integral_v<T>)  // the smallest number has no opposite
      return b == T{-1} ? kernels::scalar::negative(a) : static_cast<T>(a / b);
    else return a / b;
  }
};

// The updates are one number for all rows, or indices.shape + variable.shape[1:].
template <class Call> void check_rows(const Call& c, const Shape& variable) {
  const Shape &indices = c.shape(1), &updates = c.shape(2);
  if (variable.has_rank() && variable.rank() == 0) c.fail("a variable without dimensions has no rows");
  if (!variable.has_rank() || !indices.has_rank() || !updates.has_rank() || updates.rank() == 0) return;
  Shape expected = indices.concatenate(Shape(variable.dims().subspan(1)));
  if (!updates.is_compatible_with(expected))
    c.fail("updates must be a scalar or have shape " + expected.brackets() +
           " (indices.shape + variable.shape[1:]), got " + updates.brackets());
}
void infer_rows(InferCall& c) {
  if (const VariableResource* variable = known_variable(c, 0, c.dtype(2))) check_rows(c, variable->shape());
}

// A scalar, once for every element of the rows.
Tensor repeated(const Tensor& scalar, int64_t count) {
  Tensor all = Tensor::empty(scalar.dtype(), {count});
  kernel::visit_size(scalar.dtype(), [&]<class T>(T*) {
    std::fill_n(static_cast<T*>(all.impl()->data), count, *static_cast<const T*>(scalar.impl()->data));
  });
  return all;
}

// TensorFlow refuses them of real numbers too.
void refuse_zero_divisors(const KernelCall& c) {
  kernel::visit_type<number_types>(c.dtype(2), [&]<class T>(T*) {
    using W = kernel::Wide<T>;
    const T* divisors = c.input<T>(2);
    for (int64_t i = 0; i < c.count(2); ++i)
      if (static_cast<W>(divisors[i]) == W{}) c.fail("updates must not contain 0");
  });
}

using LoopOf = UpdateLoop (*)(DType);
template <LoopOf loop_of> void run_rows(const KernelCall& c) {
  VariableLock lock({&variable_input(c, 0, c.dtype(2))});
  const Shape shape = lock.value(0).shape();
  check_rows(c, shape);
  Indices indices(c, 1);
  check_indices(c, 1, indices, shape[0]);
  int64_t row = shape.count(1, shape.rank());
  if (indices.size() == 0 || row == 0) return;
  Tensor updates = c.tensor(2);
  if (updates.rank() == 0) updates = repeated(updates, indices.size() * row);
  run_updates({indices.data(), static_cast<size_t>(indices.size())}, shape[0], row, loop_of(c.dtype(2)),
              lock.writable(0), updates.impl()->data);
}
void run_quotients(const KernelCall& c) {
  refuse_zero_divisors(c);
  run_rows<scatter::combining_loop<number_types, Quotient>>(c);
}

const Op& ResourceScatterAdd = define_op({
    .name = "ResourceScatterAdd",
    .doc = "Adds updates to the rows of a variable that the indices name.",
    .signature = "resource: resource, indices: Tindices, updates: dtype ->",
    .types = {{"Tindices", index_types}, {"dtype", number_types}},
    .infer = infer_rows,
    .kernel = {run_rows<scatter::combining_loop<number_types, Plus>>},
    .traits = changes_variable,
});
const Op& ResourceScatterSub = define_op({
    .name = "ResourceScatterSub",
    .doc = "Subtracts updates from the rows of a variable that the indices name.",
    .signature = "resource: resource, indices: Tindices, updates: dtype ->",
    .types = {{"Tindices", index_types}, {"dtype", number_types}},
    .infer = infer_rows,
    .kernel = {run_rows<scatter::combining_loop<number_types, Minus>>},
    .traits = changes_variable,
});
const Op& ResourceScatterMul = define_op({
    .name = "ResourceScatterMul",
    .doc = "Multiplies the rows of a variable that the indices name by updates.",
    .signature = "resource: resource, indices: Tindices, updates: dtype ->",
    .types = {{"Tindices", index_types}, {"dtype", number_types}},
    .infer = infer_rows,
    .kernel = {run_rows<scatter::combining_loop<number_types, Times>>},
    .traits = changes_variable,
});
const Op& ResourceScatterDiv = define_op({
    .name = "ResourceScatterDiv",
    .doc = "Divides the rows of a variable that the indices name by updates; integers are cut towards zero.",
    .signature = "resource: resource, indices: Tindices, updates: dtype ->",
    .types = {{"Tindices", index_types}, {"dtype", number_types}},
    .infer = infer_rows,
    .kernel = {run_quotients},
    .traits = changes_variable,
});
const Op& ResourceScatterMin = define_op({
    .name = "ResourceScatterMin",
    .doc = "The smaller of updates and the rows of a variable that the indices name.",
    .signature = "resource: resource, indices: Tindices, updates: dtype ->",
    .types = {{"Tindices", index_types}, {"dtype", real_types}},
    .infer = infer_rows,
    .kernel = {run_rows<scatter::combining_loop<real_types, Smaller>>},
    .traits = changes_variable,
});
const Op& ResourceScatterMax = define_op({
    .name = "ResourceScatterMax",
    .doc = "The larger of updates and the rows of a variable that the indices name.",
    .signature = "resource: resource, indices: Tindices, updates: dtype ->",
    .types = {{"Tindices", index_types}, {"dtype", real_types}},
    .infer = infer_rows,
    .kernel = {run_rows<scatter::combining_loop<real_types, Larger>>},
    .traits = changes_variable,
});
const Op& ResourceScatterUpdate = define_op({
    .name = "ResourceScatterUpdate",
    .doc = "Replaces the rows of a variable that the indices name; of several updates of one row the last counts.",
    .signature = "resource: resource, indices: Tindices, updates: dtype ->",
    .types = {{"Tindices", index_types}},
    .infer = infer_rows,
    .kernel = {run_rows<scatter::replacing_loop>},
    .traits = changes_variable,
});

struct ScatterNdAttrs {
  bool use_locking = true;
};
// Lists of coordinates [..., depth]; a vector holds lists of length one.
Shape lists_of(const Shape& indices) {
  return indices.has_rank() && indices.rank() == 1 ? Shape{indices[0], 1} : indices;
}
void infer_slices(InferCall& c) {
  c.require_rank_at_least(1, 1);
  c.require_rank_at_least(2, 1);
  if (const VariableResource* variable = known_variable(c, 0, c.dtype(2)))
    scatter::check_updates(c, lists_of(c.shape(1)), c.shape(2), variable->shape());
}
template <LoopOf loop_of> void run_slices(const KernelCall& c) {
  VariableLock lock({&variable_input(c, 0, c.dtype(2))});
  const Shape shape = lock.value(0).shape(), lists = lists_of(c.shape(1));
  scatter::check_updates(c, lists, c.shape(2), shape);
  RowOffsets rows = row_offsets(c, 1, lists, shape);
  if (c.count(2) == 0) return;
  run_updates(rows.at, shape.count() / rows.row, rows.row, loop_of(c.dtype(2)), lock.writable(0), c.input(2));
}

const Op& ResourceScatterNdUpdate = define_op({
    .name = "ResourceScatterNdUpdate",
    .doc = "Replaces the slices of a variable that lists of coordinates name; of several updates the last counts.",
    .signature = "ref: resource, indices: Tindices, updates: T ->",
    .types = {{"Tindices", index_types}, {"T", plain_types | types(DType::string)}},
    .attrs = attrs_of<ScatterNdAttrs>(),
    .infer = infer_slices,
    .kernel = {run_slices<scatter::replacing_loop>},
    .traits = changes_variable,
});
const Op& ResourceScatterNdAdd = define_op({
    .name = "ResourceScatterNdAdd",
    .doc = "Adds updates to the slices of a variable that lists of coordinates name.",
    .signature = "ref: resource, indices: Tindices, updates: T ->",
    .types = {{"Tindices", index_types}, {"T", plain_types}},
    .attrs = attrs_of<ScatterNdAttrs>(),
    .infer = infer_slices,
    .kernel = {run_slices<scatter::combining_loop<plain_types, Plus>>},
    .traits = changes_variable,
});
const Op& ResourceScatterNdSub = define_op({
    .name = "ResourceScatterNdSub",
    .doc = "Subtracts updates from the slices of a variable that lists of coordinates name.",
    .signature = "ref: resource, indices: Tindices, updates: T ->",
    .types = {{"Tindices", index_types}, {"T", plain_types}},
    .attrs = attrs_of<ScatterNdAttrs>(),
    .infer = infer_slices,
    .kernel = {run_slices<scatter::combining_loop<plain_types, Minus>>},
    .traits = changes_variable,
});
const Op& ResourceScatterNdMin = define_op({
    .name = "ResourceScatterNdMin",
    .doc = "The smaller of updates and the slices of a variable that lists of coordinates name.",
    .signature = "ref: resource, indices: Tindices, updates: T ->",
    .types = {{"Tindices", index_types}, {"T", real_types}},
    .attrs = attrs_of<ScatterNdAttrs>(),
    .infer = infer_slices,
    .kernel = {run_slices<scatter::combining_loop<real_types, Smaller>>},
    .traits = changes_variable,
});
const Op& ResourceScatterNdMax = define_op({
    .name = "ResourceScatterNdMax",
    .doc = "The larger of updates and the slices of a variable that lists of coordinates name.",
    .signature = "ref: resource, indices: Tindices, updates: T ->",
    .types = {{"Tindices", index_types}, {"T", real_types}},
    .attrs = attrs_of<ScatterNdAttrs>(),
    .infer = infer_slices,
    .kernel = {run_slices<scatter::combining_loop<real_types, Larger>>},
    .traits = changes_variable,
});

template <class Call> void check_value(const Call& c, const ResolvedSlice& slice) {
  if (!broadcasts_to(slice, c.shape(4)))
    c.fail("value has shape " + c.shape(4).brackets() + ", which does not broadcast to the slice, " +
           slice.shape.brackets());
}
const Op& ResourceStridedSliceAssign = define_op({
    .name = "ResourceStridedSliceAssign",
    .doc = "Replaces a strided slice of a variable by a value, which may broadcast.",
    .signature = "ref: resource, begin: Index, end: Index, strides: Index, value: T ->",
    .types = {{"Index", index_types}},
    .attrs = attrs_of<StridedSliceAttrs>(),
    .infer =
        [](InferCall& c) {
          const VariableResource* variable = known_variable(c, 0, c.dtype(4));
          ResolvedSlice slice;
          if (infer_slice(c, variable ? variable->shape() : Shape::unknown_rank(), 1, slice) &&
              slice.shape.is_fully_defined() && c.shape(4).is_fully_defined())
            check_value(c, slice);
        },
    .kernel = {[](const KernelCall& c) {
      VariableLock lock({&variable_input(c, 0, c.dtype(4))});
      const Shape shape = lock.value(0).shape();
      ResolvedSlice slice;
      read_slice(c, shape, 1, slice);
      check_value(c, slice);
      write_slice(c.dtype(4), slice, c.shape(4), c.input(4), shape, lock.writable(0));
    }},
    .traits = changes_variable,
});

void change(const Op& op, const Variable& variable, const TensorLike& indices, const TensorLike& updates) {
  apply(op, std::initializer_list<TensorRef>{variable.handle(), indices, updates.as(variable.dtype())}, {}, {});
}
void change_rows(const Op& op, const Variable& variable, const IndexedSlices& slices) {
  if (!slices.values.defined() || !slices.indices.defined())
    throw ValueError(std::string(op.name) + ": the slices need values and indices");
  change(op, variable, slices.indices, slices.values);
}

}  // namespace

const Variable& Variable::scatter_add(const IndexedSlices& slices) const {
  change_rows(ResourceScatterAdd, *this, slices);
  return *this;
}
const Variable& Variable::scatter_sub(const IndexedSlices& slices) const {
  change_rows(ResourceScatterSub, *this, slices);
  return *this;
}
const Variable& Variable::scatter_mul(const IndexedSlices& slices) const {
  change_rows(ResourceScatterMul, *this, slices);
  return *this;
}
const Variable& Variable::scatter_div(const IndexedSlices& slices) const {
  change_rows(ResourceScatterDiv, *this, slices);
  return *this;
}
const Variable& Variable::scatter_min(const IndexedSlices& slices) const {
  change_rows(ResourceScatterMin, *this, slices);
  return *this;
}
const Variable& Variable::scatter_max(const IndexedSlices& slices) const {
  change_rows(ResourceScatterMax, *this, slices);
  return *this;
}
const Variable& Variable::scatter_update(const IndexedSlices& slices) const {
  change_rows(ResourceScatterUpdate, *this, slices);
  return *this;
}
const Variable& Variable::batch_scatter_update(const IndexedSlices& slices) const {
  if (!slices.values.defined() || !slices.indices.defined())
    throw ValueError("batch_scatter_update: the slices need values and indices");
  Tensor lists = with_batch_coordinates(shape(), expand_dims(slices.indices, -1), slices.indices.rank() - 1);
  return scatter_nd_update(lists, slices.values);
}

const Variable& Variable::scatter_nd_add(const TensorLike& indices, const TensorLike& updates) const {
  change(ResourceScatterNdAdd, *this, indices, updates);
  return *this;
}
const Variable& Variable::scatter_nd_sub(const TensorLike& indices, const TensorLike& updates) const {
  change(ResourceScatterNdSub, *this, indices, updates);
  return *this;
}
const Variable& Variable::scatter_nd_min(const TensorLike& indices, const TensorLike& updates) const {
  change(ResourceScatterNdMin, *this, indices, updates);
  return *this;
}
const Variable& Variable::scatter_nd_max(const TensorLike& indices, const TensorLike& updates) const {
  change(ResourceScatterNdMax, *this, indices, updates);
  return *this;
}
const Variable& Variable::scatter_nd_update(const TensorLike& indices, const TensorLike& updates) const {
  change(ResourceScatterNdUpdate, *this, indices, updates);
  return *this;
}

const Variable& Variable::assign_at(std::span<const Index> indices, const TensorLike& value) const {
  IndexedPart part = part_of(indices);
  apply(ResourceStridedSliceAssign,
        std::initializer_list<TensorRef>{handle(), part.begin, part.end, part.strides, value.as(dtype())}, part.masks,
        {});
  return *this;
}

}  // namespace thalweg
