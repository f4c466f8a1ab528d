#include "thalweg/graph/known_dims.h"

namespace thalweg::graph {
namespace {

bool holds_integers(const Spec& spec) {
  return (spec.dtype == DType::int32 || spec.dtype == DType::int64) && spec.shape.has_rank() &&
         spec.shape.rank() <= 1 && spec.shape.is_fully_defined() &&
         (spec.shape.rank() == 0 || spec.shape[0] <= Shape::max_rank);
}

// Every op that shapes usually go through on their way to another op.
struct Rules {
  const Op* shape = find_op("Shape");
  const Op* rank = find_op("Rank");
  const Op* pack = find_op("Pack");
  const Op* concat = find_op("ConcatV2");
  const Op* slice = find_op("StridedSlice");
  const Op* cast = find_op("Cast");
  const Op* identity = find_op("Identity");
  const Op* reshape = find_op("Reshape");
};

Shape gather(const Node& n, size_t first, size_t last) {
  Shape all;
  for (size_t i = first; i < last; ++i) {
    Shape part = known_dims(n.inputs[i]);
    if (!part.has_rank() || all.rank() + part.rank() > Shape::max_rank) return Shape::unknown_rank();
    for (int64_t d : part.dims()) all.push_back(d);
  }
  return all;
}

// x[i], x[a:b] of a vector with constant bounds; anything else is not followed.
Shape slice(const Node& n) {
  Shape from = known_dims(n.inputs[0]);
  const Spec& spec = n.results[0];
  if (!from.has_rank() || n.inputs[0].node->results[static_cast<size_t>(n.inputs[0].index)].shape.rank() != 1)
    return unknown_dims(spec.shape);
  if (get_attr<int64_t>(n, "ellipsis_mask") || get_attr<int64_t>(n, "new_axis_mask")) return unknown_dims(spec.shape);
  for (size_t i = 1; i < 4; ++i)
    if (!n.inputs[i].node->is_constant()) return unknown_dims(spec.shape);
  int64_t size = from.rank();
  auto raw = [&](size_t input) {
    const Tensor& c = n.inputs[input].node->constant;
    return c.dtype() == DType::int64 ? c.span<int64_t>()[0] : static_cast<int64_t>(c.span<int32_t>()[0]);
  };
  auto clamp = [&](int64_t at) { return std::min(std::max(at < 0 ? at + size : at, int64_t{0}), size); };
  if (n.inputs[1].node->constant.size() != 1 || raw(3) != 1) return unknown_dims(spec.shape);
  Shape part;
  if (get_attr<int64_t>(n, "shrink_axis_mask") & 1) {
    int64_t at = raw(1) < 0 ? raw(1) + size : raw(1);
    if (at < 0 || at >= size) return unknown_dims(spec.shape);
    part.push_back(from[static_cast<int>(at)]);
    return part;
  }
  int64_t begin = get_attr<int64_t>(n, "begin_mask") & 1 ? 0 : clamp(raw(1));
  int64_t end = get_attr<int64_t>(n, "end_mask") & 1 ? size : clamp(raw(2));
  for (int64_t i = begin; i < end; ++i) part.push_back(from[static_cast<int>(i)]);
  return part;
}

}  // namespace

Shape unknown_dims(const Shape& of_vector) {
  if (!of_vector.has_rank() || !of_vector.is_fully_defined() || of_vector.rank() > 1) return Shape::unknown_rank();
  int64_t count = of_vector.rank() == 0 ? 1 : of_vector[0];
  return count <= Shape::max_rank ? Shape::of_rank(static_cast<int>(count)) : Shape::unknown_rank();
}

Shape dims_of_constant(const TensorImpl& t) {
  if (!holds_integers({t.dtype, t.shape}) || t.form != Form::array) return unknown_dims(t.shape);
  Shape dims;
  for (int64_t i = 0; i < t.shape.count(); ++i) {
    int64_t d =
        t.dtype == DType::int64 ? static_cast<const int64_t*>(t.data)[i] : static_cast<const int32_t*>(t.data)[i];
    dims.push_back(d < 0 ? -1 : d);
  }
  return dims;
}

Shape known_dims(Value v) {
  const Node& n = *v.node;
  if (n.is_constant()) return dims_of_constant(*n.constant.impl());
  if (static_cast<size_t>(v.index) < n.dims.size()) return n.dims[static_cast<size_t>(v.index)];
  return unknown_dims(n.results[static_cast<size_t>(v.index)].shape);
}

void infer_known_dims(Node& n) {
  static const Rules rules;
  if (n.results.size() != 1 || !holds_integers(n.results[0])) return;
  if (n.op == rules.shape) {
    n.dims = {n.inputs[0].node->results[static_cast<size_t>(n.inputs[0].index)].shape};
  } else if (n.op == rules.rank) {
    const Shape& of = n.inputs[0].node->results[static_cast<size_t>(n.inputs[0].index)].shape;
    n.dims = {of.has_rank() ? Shape{of.rank()} : unknown_dims(n.results[0].shape)};
  } else if (n.op == rules.pack) {
    n.dims = {gather(n, 0, n.inputs.size())};
  } else if (n.op == rules.concat) {
    n.dims = {gather(n, 0, n.inputs.size() - 1)};
  } else if (n.op == rules.slice) {
    n.dims = {slice(n)};
  } else if (n.op == rules.cast || n.op == rules.identity || n.op == rules.reshape) {
    n.dims = {known_dims(n.inputs[0])};
  }
}

}  // namespace thalweg::graph
