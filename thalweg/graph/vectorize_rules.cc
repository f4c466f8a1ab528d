#include "thalweg/graph/vectorize_rules.h"

#include <algorithm>
#include <map>

#include "thalweg/ops/apply.h"
#include "thalweg/ops/broadcasting.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/infer.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/slicing.h"

namespace thalweg::graph {
namespace {

std::vector<int64_t> integers(const Tensor& t) {
  Tensor wide = cast(t, DType::int64);
  return {wide.mutable_data<int64_t>(), wide.mutable_data<int64_t>() + wide.size()};
}
Tensor from(const Tensor& vector, int first) { return slice(vector, Tensor({first}), Tensor({-1})); }
Tensor first(const Tensor& vector, int count) { return slice(vector, Tensor(std::vector{0}), Tensor({count})); }

bool broadcast_rule(RowsCall& c) {
  int rank = 0;
  for (size_t i = 0; i < c.num_inputs(); ++i) {
    if (c.row_rank(i) < 0) return false;
    rank = std::max(rank, c.row_rank(i));
  }
  for (size_t i = 0; i < c.num_inputs(); ++i) c.raise(i, rank);
  c.apply(c.tensors());
  return true;
}

// Every input must have rows; the op does the same to each.
bool each_row(RowsCall& c) {
  c.give_rows_to_all();
  c.apply(c.tensors());
  return true;
}

// The last dimensions, which a row must have, are the op's; those before are its batch.
template <int Rank> bool inner_rule(RowsCall& c) {
  for (size_t i = 0; i < c.num_inputs(); ++i)
    if (c.row_rank(i) < Rank) return false;
  return each_row(c);
}

// Inputs after the first are parameters that all rows share.
template <int Rank> bool first_input_rule(RowsCall& c) {
  if (c.row_rank(0) < Rank) return false;
  for (size_t i = 1; i < c.num_inputs(); ++i)
    if (c.is_batched(i)) return false;
  c.apply(c.tensors());
  return true;
}

bool matmul_rule(RowsCall& c) {
  if (is_complex(c.tensor(0).dtype())) return false;  // there the flags differ: adjoint, not transpose
  const Op& batched = required_op("BatchMatMulV2");
  Attrs attrs(*batched.attrs);
  set_attr(batched, attrs, "adj_x", c.attr<bool>("transpose_a"));
  set_attr(batched, attrs, "adj_y", c.attr<bool>("transpose_b"));
  c.apply(batched.name, c.tensors(), attrs);
  return true;
}
bool batch_matmul_rule(RowsCall& c) {
  if (c.row_rank(0) < 0 || c.row_rank(1) < 0) return false;
  int rank = std::max(c.row_rank(0), c.row_rank(1));
  c.raise(0, rank);
  c.raise(1, rank);
  c.apply(c.tensors());
  return true;
}

// Input `Axis` says axes of input `Data`.
template <size_t Data, size_t Axis> bool axis_rule(RowsCall& c) {
  if (!c.is_batched(Data) || !c.shift_axes(Axis)) return false;
  for (size_t i = 0; i < c.num_inputs(); ++i)
    if (i != Data && c.is_batched(i)) return false;
  c.apply(c.tensors());
  return true;
}
// The last input is the axis of a list.
bool concat_rule(RowsCall& c) {
  if (!c.shift_axes(c.num_inputs() - 1)) return false;
  for (size_t i = 0; i + 1 < c.num_inputs(); ++i) c.give_rows(i);
  c.apply(c.tensors());
  return true;
}
bool shift_axis_attr(RowsCall& c) {
  Attrs attrs = c.attrs();
  int64_t axis = c.attr<int64_t>("axis");
  c.set(attrs, "axis", axis >= 0 ? axis + 1 : axis);
  c.apply(c.tensors(), attrs);
  return true;
}
// The attribute `axis` of all inputs.
bool axis_attr_rule(RowsCall& c) {
  c.give_rows_to_all();
  return shift_axis_attr(c);
}
bool one_hot_rule(RowsCall& c) {
  for (size_t i = 1; i < c.num_inputs(); ++i)
    if (c.is_batched(i)) return false;
  return shift_axis_attr(c);
}

bool reshape_rule(RowsCall& c) {
  if (!c.prepend(1, c.count())) return false;
  c.give_rows(0);
  c.apply(c.tensors());
  return true;
}
bool transpose_rule(RowsCall& c) {
  if (!c.is_batched(0) || c.is_batched(1)) return false;
  c.inputs[1].tensor = add(c.tensor(1), cast(Tensor(1), c.tensor(1).dtype()));
  if (!c.prepend(1, Tensor(0))) return false;
  c.apply(c.tensors());
  return true;
}
bool squeeze_rule(RowsCall& c) {
  std::vector<int64_t> dims;
  for (int64_t d : c.attr<std::vector<int64_t>>("squeeze_dims")) dims.push_back(d >= 0 ? d + 1 : d);
  if (dims.empty()) {  // those of the row alone
    const Shape& row = c.node.inputs[0].node->results[static_cast<size_t>(c.node.inputs[0].index)].shape;
    if (!row.is_fully_defined()) return false;
    for (int d = 0; d < row.rank(); ++d)
      if (row[d] == 1) dims.push_back(d + 1);
    if (dims.empty()) return c.outputs = {c.tensor(0)}, true;
  }
  Attrs attrs = c.attrs();
  c.set(attrs, "squeeze_dims", dims);
  c.apply(c.tensors(), attrs);
  return true;
}
bool ensure_shape_rule(RowsCall& c) {
  Shape row = c.attr<Shape>("shape");
  if (row.has_rank()) {
    std::vector<int64_t> dims(row.dims().begin(), row.dims().end());
    dims.insert(dims.begin(), -1);
    row = Shape(dims);
  }
  Attrs attrs = c.attrs();
  c.set(attrs, "shape", row);
  c.apply(c.tensors(), attrs);
  return true;
}

template <int First, int... Others> bool prepend_rule(RowsCall& c) {
  constexpr int entries[] = {First, Others...};
  if (!c.is_batched(0)) return false;
  for (size_t i = 0; i < std::size(entries); ++i)
    if (!c.prepend(i + 1, Tensor(entries[i]))) return false;
  for (size_t i = 1; i < c.num_inputs(); ++i)
    if (c.is_batched(i)) return false;
  c.apply(c.tensors());
  return true;
}
bool strided_slice_rule(RowsCall& c) {
  if (!c.is_batched(0)) return false;
  for (size_t i = 1; i < 4; ++i)
    if (!c.prepend(i, Tensor(i == 3 ? 1 : 0))) return false;
  Attrs attrs = c.attrs();
  for (const char* mask : {"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"}) {
    bool all = mask == std::string_view("begin_mask") || mask == std::string_view("end_mask");
    c.set(attrs, mask, c.attr<int64_t>(mask) * 2 + (all ? 1 : 0));
  }
  c.apply(c.tensors(), attrs);
  return true;
}
bool broadcast_to_rule(RowsCall& c) {
  const Shape& target = c.tensor(1).shape();
  if (!c.is_batched(0) || !target.is_fully_defined() || c.row_rank(0) < 0) return false;
  c.raise(0, static_cast<int>(target.num_elements()));
  if (!c.prepend(1, c.count())) return false;
  c.apply(c.tensors());
  return true;
}

bool gather_rule(RowsCall& c) {
  if (c.is_batched(2) || c.tensor(2).is_symbolic() || c.row_rank(0) < 0 || c.row_rank(1) < 0) return false;
  const int64_t batch_dims = c.attr<int64_t>("batch_dims"), axis = integers(c.tensor(2)).at(0);
  if (batch_dims < 0) return false;
  if (!c.is_batched(0) && axis == 0 && batch_dims == 0) return c.apply(c.tensors()), true;
  if (c.is_batched(0) && !c.is_batched(1) && batch_dims == 0) {
    c.shift_axes(2);
    return c.apply(c.tensors()), true;
  }
  c.give_rows(0);
  c.give_rows(1);
  c.shift_axes(2);
  Attrs attrs = c.attrs();
  c.set(attrs, "batch_dims", batch_dims + 1);
  c.apply(c.tensors(), attrs);
  return true;
}
// All rows look at one tensor.
bool shared_first_rule(RowsCall& c) {
  if (c.is_batched(0)) return false;
  c.apply(c.tensors());
  return true;
}

bool bias_add_rule(RowsCall& c) {
  if (c.attr<std::string>("data_format") != "NHWC" || c.row_rank(0) < 2) return false;
  if (!c.is_batched(1)) return c.apply(c.tensors()), true;
  c.give_rows(0);
  c.raise(1, c.row_rank(0));
  c.outputs = {add(c.tensor(0), c.tensor(1))};
  return true;
}

// Ops whose first dimension is a batch already: rows times batch is another one.
bool merge_batch_rule(RowsCall& c) {
  for (size_t i = 1; i < c.num_inputs(); ++i)
    if (c.is_batched(i)) return false;
  const Tensor whole = c.tensor(0), dims = shape(whole);
  c.inputs[0].tensor = reshape(whole, concat({Tensor({-1}), from(dims, 2)}, 0));
  c.apply(c.tensors());
  for (Tensor& out : c.outputs) out = reshape(out, concat({first(dims, 2), from(shape(out), 1)}, 0));
  return true;
}

bool einsum_rule(RowsCall& c) {
  std::string equation = c.attr<std::string>("equation");
  size_t arrow = equation.find("->");
  if (arrow == std::string::npos) return false;
  char label = 'a';
  while (label <= 'z' && equation.find(label) != std::string::npos) ++label;
  if (label > 'z') return false;
  std::string made;
  size_t at = 0;
  for (size_t i = 0; i < c.num_inputs(); ++i) {
    size_t end = std::min(equation.find(',', at), arrow);
    made += (i ? "," : "") + std::string(c.is_batched(i) ? 1 : 0, label) + equation.substr(at, end - at);
    at = end + 1;
  }
  Attrs attrs = c.attrs();
  c.set(attrs, "equation", made + "->" + label + equation.substr(arrow + 2));
  c.apply(c.tensors(), attrs);
  return true;
}

// Of the row alone: the same for all.
bool shape_rule(RowsCall& c) {
  c.batched = false;
  c.outputs = {from(shape(c.tensor(0), {.out_type = c.node.results[0].dtype}), 1)};
  return true;
}
bool size_rule(RowsCall& c) {
  c.batched = false;
  c.outputs = {reduce_prod(from(shape(c.tensor(0), {.out_type = c.node.results[0].dtype}), 1))};
  return true;
}

const std::map<std::string_view, RowsRule>& rules_by_name() {
  static const auto& rules = *new std::map<std::string_view, RowsRule>{
      {"MatMul", matmul_rule},
      {"BatchMatMul", inner_rule<2>},
      {"BatchMatMulV2", batch_matmul_rule},
      {"BatchMatMulV3", batch_matmul_rule},
      {"Einsum", einsum_rule},
      {"BiasAdd", bias_add_rule},
      {"Softmax", first_input_rule<1>},
      {"LogSoftmax", first_input_rule<1>},
      {"TopKV2", first_input_rule<1>},
      {"Sum", axis_rule<0, 1>},
      {"Mean", axis_rule<0, 1>},
      {"Prod", axis_rule<0, 1>},
      {"Max", axis_rule<0, 1>},
      {"Min", axis_rule<0, 1>},
      {"EuclideanNorm", axis_rule<0, 1>},
      {"All", axis_rule<0, 1>},
      {"Any", axis_rule<0, 1>},
      {"ArgMax", axis_rule<0, 1>},
      {"ArgMin", axis_rule<0, 1>},
      {"Cumsum", axis_rule<0, 1>},
      {"Cumprod", axis_rule<0, 1>},
      {"CumulativeLogsumexp", axis_rule<0, 1>},
      {"ReverseV2", axis_rule<0, 1>},
      {"ExpandDims", axis_rule<0, 1>},
      {"Split", axis_rule<1, 0>},
      {"SplitV", axis_rule<0, 2>},
      {"ConcatV2", concat_rule},
      {"Pack", axis_attr_rule},
      {"Unpack", axis_attr_rule},
      {"OneHot", one_hot_rule},
      {"Reshape", reshape_rule},
      {"Transpose", transpose_rule},
      {"ConjugateTranspose", transpose_rule},
      {"Squeeze", squeeze_rule},
      {"EnsureShape", ensure_shape_rule},
      {"Slice", prepend_rule<0, -1>},
      {"StridedSlice", strided_slice_rule},
      {"Tile", prepend_rule<1>},
      {"Pad", prepend_rule<0>},
      {"PadV2", prepend_rule<0>},
      {"MirrorPad", prepend_rule<0>},
      {"BroadcastTo", broadcast_to_rule},
      {"GatherV2", gather_rule},
      {"GatherNd", shared_first_rule},
      {"Shape", shape_rule},
      {"Size", size_rule},
      {"Cast", each_row},
      {"Bitcast", each_row},
      {"Identity", each_row},
      {"IdentityN", each_row},
      {"Snapshot", each_row},
      {"StopGradient", each_row},
      {"PreventGradient", each_row},
      {"ZerosLike", each_row},
      {"OnesLike", each_row},
      {"AddN", each_row},
      {"Conv2D", merge_batch_rule},
      {"DepthwiseConv2dNative", merge_batch_rule},
      {"Conv3D", merge_batch_rule},
      {"MaxPool", merge_batch_rule},
      {"AvgPool", merge_batch_rule},
      {"Cholesky", inner_rule<2>},
      {"MatrixInverse", inner_rule<2>},
      {"MatrixDeterminant", inner_rule<2>},
      {"LogMatrixDeterminant", inner_rule<2>},
      {"MatrixSolve", inner_rule<2>},
      {"Qr", inner_rule<2>},
      {"MatrixBandPart", first_input_rule<2>},
  };
  return rules;
}

}  // namespace

int RowsCall::row_rank(size_t i) const {
  const Shape& shape = tensor(i).shape();
  return shape.has_rank() ? shape.rank() - (is_batched(i) ? 1 : 0) : -1;
}

Attrs RowsCall::attrs() const { return Attrs(*node.op->attrs, node.attrs); }

void RowsCall::apply(const std::vector<Tensor>& in) {
  outputs = apply_list(*node.op, std::vector<TensorRef>(in.begin(), in.end()), node.attrs,
                       static_cast<int>(node.results.size()));
}
void RowsCall::apply(const std::vector<Tensor>& in, const Attrs& attrs) { apply(node.op->name, in, attrs); }
void RowsCall::apply(const char* op, const std::vector<Tensor>& in, const Attrs& attrs) {
  outputs = apply_list(required_op(op), std::vector<TensorRef>(in.begin(), in.end()), attrs,
                       static_cast<int>(node.results.size()));
}

std::vector<Tensor> RowsCall::tensors() const {
  std::vector<Tensor> all;
  for (const Rows& in : inputs) all.push_back(in.tensor);
  return all;
}

void RowsCall::give_rows(size_t i) {
  Rows& in = inputs[i];
  if (in.batched) return;
  in.tensor = broadcast_to(in.tensor, concat({reshape(count_, Tensor({1})), shape(in.tensor)}, 0));
  in.batched = true;
}
void RowsCall::give_rows_to_all() {
  for (size_t i = 0; i < num_inputs(); ++i) give_rows(i);
}

void RowsCall::raise(size_t i, int rank) {
  if (!is_batched(i) || row_rank(i) >= rank) return;
  std::vector<int> ones(static_cast<size_t>(rank - row_rank(i)), 1);
  Tensor dims = shape(tensor(i));
  inputs[i].tensor = reshape(tensor(i), concat({first(dims, 1), Tensor(ones), from(dims, 1)}, 0));
}

bool RowsCall::shift_axes(size_t i) {
  if (is_batched(i) || tensor(i).is_symbolic()) return false;
  Tensor axes = cast(tensor(i), DType::int64);
  Tensor shifted = Tensor::empty(DType::int64, axes.shape());
  for (int64_t k = 0; k < axes.size(); ++k) {
    int64_t axis = axes.mutable_data<int64_t>()[k];
    shifted.mutable_data<int64_t>()[k] = axis >= 0 ? axis + 1 : axis;
  }
  inputs[i].tensor = cast(shifted, tensor(i).dtype());
  return true;
}

bool RowsCall::prepend(size_t i, const Tensor& entry) {
  if (is_batched(i) || row_rank(i) < 1) return false;
  std::vector<int> dims(static_cast<size_t>(row_rank(i)), 1);  // paddings have two entries for each dimension
  if (dims.size() > 1) dims[1] = 2;
  Tensor one = cast(broadcast_to(entry, Tensor(dims)), tensor(i).dtype());
  inputs[i].tensor = concat({one, tensor(i)}, 0);
  return true;
}

RowsRule find_rows_rule(const Op& op) {
  if (auto found = rules_by_name().find(op.name); found != rules_by_name().end()) return found->second;
  if (op.traits.stateful) return nullptr;
  if (op.infer == infer::broadcast) return broadcast_rule;
  if (op.traits.elementwise && !op.traits.broadcasts) return each_row;
  return nullptr;
}

}  // namespace thalweg::graph
