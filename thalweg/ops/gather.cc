#include "thalweg/ops/gather.h"

#include "thalweg/core/error.h"
#include "thalweg/core/index.h"
#include "thalweg/core/threads.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/autocast.h"
#include "thalweg/ops/broadcasting.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/division.h"
#include "thalweg/ops/elements.h"
#include "thalweg/ops/fixed_variable.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/indexed_slices.h"
#include "thalweg/ops/indices.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_elementary.h"
#include "thalweg/ops/ranges.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/scatter.h"
#include "thalweg/ops/segments.h"
#include "thalweg/ops/selection.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/variable.h"
#include "thalweg/ops/variable_access.h"
#include "thalweg/ops/variable_ops.h"

namespace thalweg {
namespace {

constexpr TypeSet gather_index_types = types(int16, int32, int64);

// params [batch, outer, length, row], indices [batch, count] -> [batch, outer, count, row].
void gather_rows(const KernelCall& c, const Tensor& from, int axis, int batch_dims) {
  const Shape& params = from.shape();
  Indices indices(c, 1);
  int64_t length = params[axis], row = params.count(axis + 1, params.rank());
  check_indices(c, 1, indices, length);
  if (c.output_shape().count() == 0) return;
  int64_t outer = params.count(batch_dims, axis), batches = params.count(0, batch_dims);
  int64_t count = indices.size() / batches;
  auto bytes = static_cast<int64_t>(size_of(from.dtype())) * row;
  const auto* in = static_cast<const std::byte*>(from.impl()->data);
  auto* out = c.output<std::byte>();
  kernel::visit_row_copy(from.dtype(), row, [&](const auto& copy) {
    double nanoseconds = 1 + static_cast<double>(row) * kernel::nanoseconds_to_move(from.dtype());
    parallel_for(batches * outer * count, nanoseconds, [&](int64_t begin, int64_t end) {
      int64_t slice = begin / count, i = begin % count;
      while (begin < end) {
        const int64_t* list = indices.data() + slice / outer * count;
        const std::byte* rows = in + slice * length * bytes;
        for (; i < count && begin < end; ++i, ++begin) copy(rows + list[i] * bytes, out + begin * bytes);
        ++slice;
        i = 0;
      }
    });
  });
}

// The gradient of rows that were looked up: slices, however large the table is.
Tensor grad_of_rows(const Tensor& grad, const Tensor& indices, const Tensor& dims) {
  Tensor rows = indices.dtype() == DType::int16 ? cast(indices, DType::int32) : indices;
  Tensor all = Tensor::empty(dims.dtype(), {1});
  if (dims.dtype() == DType::int32) *all.mutable_data<int32_t>() = -1;
  else *all.mutable_data<int64_t>() = -1;
  return IndexedSlices{reshape(grad, concat({all, dims(slice_from(1))}, 0)), reshape(rows, {-1}), dims};
}

struct GatherAttrs {
  bool validate_indices = true;
};
const Op& Gather = define_op({
    .name = "Gather",
    .doc = "The rows of params that the indices name.",
    .signature = "params: Tparams, indices: Tindices -> output: Tparams",
    .types = {{"Tindices", index_types}},
    .attrs = attrs_of<GatherAttrs>(),
    .infer =
        [](InferCall& c) {
          c.require_rank_at_least(0, 1);
          if (!c.shape(0).has_rank() || !c.shape(1).has_rank()) return c.output(0, Shape::unknown_rank());
          c.output(0, c.shape(1).concatenate(Shape(c.shape(0).dims().subspan(1))));
        },
    .kernel = {[](const KernelCall& c) { gather_rows(c, c.tensor(0), 0, 0); }},
    .grad = [](GradCall& g) { g.input_grad(0, grad_of_rows(g.output_grad(), g.input(1), shape(g.input(0)))); },
    .grad_reads = reads::inputs<1>,
});

struct GatherV2Attrs {
  int64_t batch_dims = 0;
};
// The number of leading dimensions that params and indices share.
template <class Call> int checked_batch_dims(const Call& c, int64_t batch_dims, int params_rank, int indices_rank) {
  if (batch_dims < -indices_rank || batch_dims > indices_rank)
    c.fail("batch_dims " + std::to_string(batch_dims) + " is out of range: indices have rank " +
           std::to_string(indices_rank));
  if (batch_dims < 0) batch_dims += indices_rank;
  if (batch_dims >= params_rank)
    c.fail("batch_dims (" + std::to_string(batch_dims) + ") must be less than the rank of params, " +
           std::to_string(params_rank));
  return static_cast<int>(batch_dims);
}

// params[:axis] + indices[batch_dims:] + params[axis + 1:]
template <class Call>
Shape gathered_shape(const Call& c, const Shape& params, const Shape& indices, int axis, int batch_dims) {
  for (int d = 0; d < batch_dims; ++d)
    if (params[d] >= 0 && indices[d] >= 0 && params[d] != indices[d])
      c.fail("the batch dimensions differ: params[" + std::to_string(d) + "] is " + std::to_string(params[d]) +
             ", indices[" + std::to_string(d) + "] is " + std::to_string(indices[d]));
  Shape out;
  for (int d = 0; d < axis; ++d) out.push_back(d < batch_dims && params[d] < 0 ? indices[d] : params[d]);
  for (int d = batch_dims; d < indices.rank(); ++d) out.push_back(indices[d]);
  for (int d = axis + 1; d < params.rank(); ++d) out.push_back(params[d]);
  return out;
}

void infer_gather(InferCall& c) {
  const Shape &params = c.shape(0), &indices = c.shape(1);
  c.require_rank(2, 0);
  c.require_rank_at_least(0, 1);
  if (!params.has_rank() || !indices.has_rank()) return c.output(0, Shape::unknown_rank());
  int batch_dims = checked_batch_dims(c, c.attrs<GatherV2Attrs>().batch_dims, params.rank(), indices.rank());
  if (!c.has_value(2)) {
    gathered_shape(c, params, indices, batch_dims, batch_dims);  // refuses batches that differ
    return c.output(0, Shape::of_rank(params.rank() + indices.rank() - batch_dims - 1));
  }
  int axis = c.axis(c.scalar(2), params.rank());
  if (axis < batch_dims)
    c.fail("batch_dims (" + std::to_string(batch_dims) + ") must be at most axis (" + std::to_string(axis) + ")");
  c.output(0, gathered_shape(c, params, indices, axis, batch_dims));
}

// Adds up the elements of a gradient by the place, counted through a tensor of shape `dims`, that each came from.
Tensor sum_by_place(const Tensor& grad, const Tensor& places, const Tensor& dims) {
  Tensor sums = math::unsorted_segment_sum(reshape(grad, {-1}), reshape(places, {-1}), reduce_prod(dims));
  return reshape(sums, dims);
}

// Every element of the output came from one place of params: the gradients that belong to one place are added up.
void grad_of_gather(GradCall& g) {
  const Tensor &params = g.input(0), &indices = g.input(1), &axis = g.input(2), &grad = g.output_grad();
  int64_t batch_dims = g.attrs<GatherV2Attrs>().batch_dims;
  Tensor dims = shape(params, {.out_type = int64});
  if (batch_dims == 0 && !axis.is_symbolic() && axis.item<int64_t>() == 0)
    return g.input_grad(0, grad_of_rows(grad, indices, dims));
  Tensor numbers = reshape(range(size(params, {.out_type = int64})), dims);
  g.input_grad(0, sum_by_place(grad, apply1(g.op, {numbers, indices, axis}, GatherV2Attrs{batch_dims}), dims));
}

const Op& GatherV2 = define_op({
    .name = "GatherV2",
    .doc = "The slices of params along an axis that the indices name; the leading batch_dims dimensions go together.",
    .signature = "params: Tparams, indices: Tindices, axis: Taxis -> output: Tparams",
    .types = {{"Tindices", gather_index_types}, {"Taxis", index_types}},
    .attrs = attrs_of<GatherV2Attrs>(),
    .infer = infer_gather,
    .kernel = {[](const KernelCall& c) {
      int64_t axis = c.scalar(2);
      gather_rows(c, c.tensor(0), static_cast<int>(axis < 0 ? axis + c.shape(0).rank() : axis),
                  checked_batch_dims(c, c.attrs<GatherV2Attrs>().batch_dims, c.shape(0).rank(), c.shape(1).rank()));
    }},
    .grad = grad_of_gather,
    .grad_reads = reads::inputs<1, 2>,
});

struct ResourceGatherAttrs {
  int64_t batch_dims = 0;
  bool validate_indices = true;
  DType dtype = DType::invalid;
};
// Variables are looked up where they lie: only the rows are copied.
const Op& ResourceGather = define_op({
    .name = "ResourceGather",
    .doc = "The rows of a variable that the indices name; the leading batch_dims dimensions go together.",
    .signature = "resource: resource, indices: Tindices -> output: dtype",
    .types = {{"Tindices", index_types}},
    .attrs = attrs_of<ResourceGatherAttrs>(),
    .infer =
        [](InferCall& c) {
          const auto& a = c.attrs<ResourceGatherAttrs>();
          const Shape& indices = c.shape(1);
          const VariableResource* variable = known_variable(c, 0, a.dtype);
          if (!variable) return c.output(0, a.dtype, Shape::unknown_rank());
          const Shape& params = variable->shape();
          if (!params.has_rank() || !indices.has_rank()) return c.output(0, a.dtype, Shape::unknown_rank());
          int batch_dims = checked_batch_dims(c, a.batch_dims, params.rank(), indices.rank());
          c.output(0, a.dtype, gathered_shape(c, params, indices, batch_dims, batch_dims));
        },
    .kernel = {[](const KernelCall& c) {
      Tensor params = variable_input(c, 0, c.attrs<ResourceGatherAttrs>().dtype).read();
      int batch_dims =
          checked_batch_dims(c, c.attrs<ResourceGatherAttrs>().batch_dims, params.rank(), c.shape(1).rank());
      c.allocate(0, gathered_shape(c, params.shape(), c.shape(1), batch_dims, batch_dims));
      gather_rows(c, params, batch_dims, batch_dims);
    }},
    .grad =
        [](GradCall& g) {
          int64_t batch_dims = g.attrs<ResourceGatherAttrs>().batch_dims;
          Tensor dims = variable_shape(g.input(0));
          if (batch_dims == 0) return g.input_grad(0, grad_of_rows(g.output_grad(), g.input(1), dims));
          Tensor numbers = reshape(range(reduce_prod(dims)), dims);
          Tensor places = gather(numbers, g.input(1), {.batch_dims = batch_dims});
          g.input_grad(0, sum_by_place(g.output_grad(), places, dims));
        },
    .grad_reads = reads::inputs<0, 1>,
    .traits = {.stateful = true},
});

// indices[:-1] + params[depth:]
template <class Call> Shape gathered_nd_shape(const Call& c, const Shape& params, const Shape& indices) {
  if (params.has_rank() && params.rank() == 0) c.fail("params must have at least one dimension");
  if (!params.has_rank() || !indices.has_rank() || indices[-1] < 0) return Shape::unknown_rank();
  if (indices[-1] > params.rank())
    c.fail("the last dimension of indices is " + std::to_string(indices[-1]) + ", but params have only " +
           std::to_string(params.rank()) + " dimensions");
  Shape outer(indices.dims().first(static_cast<size_t>(indices.rank() - 1)));
  return outer.concatenate(Shape(params.dims().subspan(static_cast<size_t>(indices[-1]))));
}

void gather_slices(const KernelCall& c, const Tensor& from) {
  if (from.size() == 0 && c.shape(1).count(0, c.shape(1).rank() - 1) > 0) c.fail("params have no elements to gather");
  RowOffsets rows = row_offsets(c, 1, from.shape());
  auto bytes = static_cast<int64_t>(size_of(from.dtype())) * rows.row;
  const auto* in = static_cast<const std::byte*>(from.impl()->data);
  auto* out = c.output<std::byte>();
  kernel::visit_row_copy(from.dtype(), rows.row, [&](const auto& copy) {
    double nanoseconds = 1 + static_cast<double>(rows.row) * kernel::nanoseconds_to_move(from.dtype());
    parallel_for(static_cast<int64_t>(rows.at.size()), nanoseconds, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) copy(in + rows.at[static_cast<size_t>(i)] * bytes, out + i * bytes);
    });
  });
}

const Op& GatherNd = define_op({
    .name = "GatherNd",
    .doc = "The slices that lists of coordinates name: indices [..., depth] point into the first dimensions of params.",
    .signature = "params: Tparams, indices: Tindices -> output: Tparams",
    .types = {{"Tindices", gather_index_types}},
    .infer =
        [](InferCall& c) {
          c.require_rank_at_least(1, 1);
          c.output(0, gathered_nd_shape(c, c.shape(0), c.shape(1)));
        },
    .kernel = {[](const KernelCall& c) { gather_slices(c, c.tensor(0)); }},
    .grad =
        [](GradCall& g) {
          DType index = g.input(1).dtype() == int32 ? int32 : int64;
          Tensor dims = shape(g.input(0), {.out_type = index}), places = cast(g.input(1), index);
          Tensor grad = g.output_grad();
          if (places.rank() == 2 && places.shape()[-1] == 1)  // rows of a table
            return g.input_grad(0, IndexedSlices{grad, squeeze(places, {.axis = -1}), dims});
          if (places.rank() == 1) {
            places = expand_dims(places, 0);
            grad = expand_dims(grad, 0);
          }
          g.input_grad(0, scatter_nd(places, grad, dims));
        },
    .grad_reads = reads::inputs<1>,
});

struct ResourceGatherNdAttrs {
  DType dtype = DType::invalid;
};
const Op& ResourceGatherNd = define_op({
    .name = "ResourceGatherNd",
    .doc = "The slices of a variable that lists of coordinates name, indices [..., depth].",
    .signature = "resource: resource, indices: Tindices -> output: dtype",
    .types = {{"Tindices", index_types}},
    .attrs = attrs_of<ResourceGatherNdAttrs>(),
    .infer =
        [](InferCall& c) {
          DType dtype = c.attrs<ResourceGatherNdAttrs>().dtype;
          const VariableResource* variable = known_variable(c, 0, dtype);
          c.require_rank_at_least(1, 1);
          c.output(0, dtype, gathered_nd_shape(c, variable ? variable->shape() : Shape::unknown_rank(), c.shape(1)));
        },
    .kernel = {[](const KernelCall& c) {
      Tensor params = variable_input(c, 0, c.attrs<ResourceGatherNdAttrs>().dtype).read();
      c.allocate(0, gathered_nd_shape(c, params.shape(), c.shape(1)));
      gather_slices(c, params);
    }},
    .grad =
        [](GradCall& g) {
          const Tensor& indices = g.input(1);
          Tensor dims = cast(variable_shape(g.input(0)), indices.dtype());
          bool names_rows = indices.rank() == 2 && indices.shape()[1] == 1;
          g.input_grad(0, names_rows ? grad_of_rows(g.output_grad(), indices, dims)
                                     : scatter_nd(indices, g.output_grad(), dims));
        },
    .grad_reads = reads::inputs<0, 1>,
    .traits = {.stateful = true},
});

}  // namespace

Tensor with_batch_coordinates(const Shape& params, const Tensor& indices, int64_t batch_dims) {
  int rank = indices.rank();
  if (rank < 0) throw ValueError("batch_dims needs indices of known rank");
  if (batch_dims < 0 || batch_dims >= rank)
    throw ValueError("batch_dims must lie in [0, " + std::to_string(rank) + ") for indices of shape " +
                     indices.shape().brackets() + ", got " + std::to_string(batch_dims));
  for (int d = 0; d < batch_dims && d < params.rank(); ++d)
    if (params[d] >= 0 && indices.shape()[d] >= 0 && params[d] != indices.shape()[d])
      throw InvalidArgumentError("batch_dims: params of shape " + params.brackets() + " and indices of shape " +
                                 indices.shape().brackets() + " differ in the first " + std::to_string(batch_dims) +
                                 " dimensions");
  Tensor dims = shape(indices, {.out_type = int64});
  std::vector<int64_t> outer;
  for (int d = 0; d < rank - 1; ++d) outer.push_back(d);
  Tensor column = concat({gather(dims, outer), Tensor(std::vector<int64_t>{1})}, 0);
  std::vector<Tensor> columns;
  for (int64_t d = 0; d < batch_dims; ++d) {
    std::vector<int64_t> along(static_cast<size_t>(rank), 1);
    along[static_cast<size_t>(d)] = -1;
    columns.push_back(cast(broadcast_to(reshape(range(gather(dims, d)), along), column), indices.dtype()));
  }
  columns.push_back(indices);
  return concat(columns, -1);
}

Tensor Variable::sparse_read(const TensorLike& indices) const {
  if (fixed_value(handle())) return gather(value(), indices);
  note_access(handle());
  return autocast(handle(), apply1(ResourceGather, {handle(), indices}, ResourceGatherAttrs{.dtype = dtype()}));
}

Tensor Variable::gather_nd(const TensorLike& indices) const {
  if (fixed_value(handle())) return thalweg::gather_nd(value(), indices);
  note_access(handle());
  return autocast(handle(), apply1(ResourceGatherNd, {handle(), indices}, ResourceGatherNdAttrs{dtype()}));
}

Tensor gather(const TensorLike& params, const TensorLike& indices, const GatherOptions& options) {
  Tensor axis = options.axis.value_or(options.batch_dims);
  return apply1(GatherV2, {params, indices, axis}, GatherV2Attrs{options.batch_dims});
}
Tensor gather_nd(const TensorLike& params, const TensorLike& indices, const GatherNdOptions& options) {
  if (options.batch_dims == 0) return apply1(GatherNd, {params, indices});
  Tensor table = params.own();
  return apply1(GatherNd, {table, with_batch_coordinates(table.shape(), indices.own(), options.batch_dims)});
}
Tensor nn::embedding_lookup(const TensorLike& params, const TensorLike& ids, const EmbeddingLookupOptions& options) {
  Tensor list = ids.own(), rows = gather(params, list);
  if (!options.max_norm) return rows;
  if (rows.rank() < 0 || list.rank() < 0)
    throw ValueError("embedding_lookup: max_norm needs params and ids of known rank");
  std::vector<int64_t> axes;
  for (int d = list.rank(); d < rows.rank(); ++d) axes.push_back(d);
  // A row of zeros has length 0; its root is kept out of the way, so that the gradient there is 0.
  Tensor squares = axes.empty() ? rows * rows : reduce_sum(rows * rows, {.axis = axes, .keepdims = true});
  Tensor positive = greater(squares, 0);
  Tensor norm = where(positive, sqrt(where(positive, squares, ones_like(squares))), squares);
  return rows * *options.max_norm / maximum(norm, *options.max_norm);
}

namespace {
const FunctionDef* const gather_functions[] = {
    &define_function<gather>({"gather"}, {"params", "indices"}),
    &define_function<Tensor(const TensorLike&, const TensorLike&, const GatherNdOptions&), gather_nd>(
        {"gather_nd"}, {"params", "indices"}),
    &define_function<nn::embedding_lookup>({"nn.embedding_lookup"}, {"params", "ids"}),
};
}  // namespace

}  // namespace thalweg
