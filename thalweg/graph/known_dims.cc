#include "thalweg/graph/known_dims.h"

#include "thalweg/ops/infer.h"

namespace thalweg::graph {
namespace {

bool holds_integers(const Spec& spec) {
  return (spec.dtype == DType::int32 || spec.dtype == DType::int64) && spec.shape.has_rank() &&
         spec.shape.rank() <= 1 && spec.shape.is_fully_defined() &&
         (spec.shape.rank() == 0 || spec.shape[0] <= Shape::max_rank);
}

}  // namespace

Shape dims_of_constant(const TensorImpl& t) {
  if (!holds_integers({t.dtype, t.shape}) || t.form != Form::array) return dims::unknown(t.shape);
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
  return dims::unknown(n.results[static_cast<size_t>(v.index)].shape);
}

void infer_known_dims(Node& n) {
  if (!n.op->dims || n.results.size() != 1 || !holds_integers(n.results[0])) return;
  std::vector<DimsCall::Input> inputs;
  for (const Value& v : n.inputs)
    inputs.push_back({&spec_of(v).shape, known_dims(v), v.node->is_constant() ? v.node->constant.impl() : nullptr});
  n.dims = {n.op->dims(DimsCall(inputs, AttrsRef(n.attrs.get()), n.results[0].shape))};
}

}  // namespace thalweg::graph
