#include "thalweg/core/error.h"
#include "thalweg/graph/init_scope.h"
#include "thalweg/graph/known_dims.h"
#include "thalweg/graph/passes/pass.h"
#include "thalweg/ops/apply.h"

namespace thalweg::graph {
namespace {

constexpr int64_t most_bytes = 10 << 20;

bool is_small(const Spec& spec) {
  if (spec.dtype == DType::variant || spec.dtype == DType::resource || !spec.shape.is_fully_defined()) return false;
  int64_t most_elements = most_bytes / static_cast<int64_t>(size_of(spec.dtype));
  int64_t elements = 1;
  for (int64_t d : spec.shape.dims()) {
    if (d > 0 && elements > most_elements / d) return false;
    elements *= d;
  }
  return true;
}

// Loops and branches are not followed: they may run for long, and the passes look into them by themselves.
bool can_fold(const Node& n) {
  if (!is_pure(n) || n.op->follow || n.results.size() != 1 || n.inputs.empty() || !is_small(n.results[0])) return false;
  for (const Value& v : n.inputs)
    if (!v.node->is_constant() || v.node->constant.impl()->form != Form::array ||
        v.node->constant.dtype() == DType::resource)
      return false;
  return true;
}

// Undefined where the op refuses its inputs: it will say so when it runs.
Tensor value_of(const Node& n) {
  std::vector<TensorRef> in;
  for (const Value& v : n.inputs) in.emplace_back(v.node->constant);
  InitScope eagerly;
  try {
    Tensor made = apply_list(*n.op, in, n.attrs, 1)[0];
    const Spec& spec = n.results[0];
    return made.dtype() == spec.dtype && made.shape() == spec.shape ? made : Tensor();
  } catch (const Error&) {
    return {};
  }
}

// Ops that read nothing but shapes: they run on blocks without elements.
Tensor value_of_shapes(const Node& n) {
  if (!is_pure(n) || !n.op->traits.shape_only || n.results.size() != 1 || !is_small(n.results[0])) return {};
  std::vector<Tensor> outlines;
  for (const Value& v : n.inputs) {
    const Spec& spec = spec_of(v);
    if (!spec.shape.is_fully_defined() || spec.dtype == DType::variant) return {};
    Tensor t(TensorImpl::make());
    t.impl()->dtype = spec.dtype;
    t.impl()->shape = spec.shape;
    t.impl()->form = Form::outline;
    outlines.push_back(std::move(t));
  }
  InitScope eagerly;
  try {
    std::vector<TensorRef> in(outlines.begin(), outlines.end());
    return apply_list(*n.op, in, n.attrs, 1)[0];
  } catch (const Error&) {
    return {};
  }
}

// Vectors of dimensions which tracing knew although the tensor they come from has unknown ones beside: shape(x)[1].
Tensor value_of_dims(const Node& n) {
  if (!is_pure(n) || n.dims.size() != 1 || n.results.size() != 1) return {};
  const Spec& spec = n.results[0];
  const Shape& dims = n.dims[0];
  if (!dims.has_rank() || !dims.is_fully_defined() || !spec.shape.is_fully_defined() ||
      dims.rank() != spec.shape.num_elements())
    return {};
  if (spec.dtype != DType::int32 && spec.dtype != DType::int64) return {};
  Tensor made(TensorImpl::make());
  made.impl()->dtype = spec.dtype;
  made.impl()->shape = spec.shape;
  made.impl()->allocate();
  for (int i = 0; i < dims.rank(); ++i) {
    if (spec.dtype == DType::int64) static_cast<int64_t*>(made.impl()->data)[i] = dims[i];
    else if (dims[i] <= INT32_MAX) static_cast<int32_t*>(made.impl()->data)[i] = static_cast<int32_t>(dims[i]);
    else return {};
  }
  return made;
}

void run_fold_constants(Graph& graph) {
  static const Op& constant = required_op("Const");
  std::vector<uint8_t> is_argument(graph.nodes().size());
  for (const Node* n : graph.arguments) is_argument[static_cast<size_t>(n->id)] = 1;
  for (Node& n : graph.nodes()) {
    if (is_argument[static_cast<size_t>(n.id)]) continue;
    Tensor value = can_fold(n) ? value_of(n) : value_of_shapes(n);
    if (!value.defined()) value = value_of_dims(n);
    if (!value.defined()) continue;
    n.op = &constant;
    n.attrs = constant.attrs ? Attrs(*constant.attrs) : Attrs();
    n.inputs.clear();
    n.constant = value;
  }
}

}  // namespace

constinit const Pass fold_constants{"fold_constants", "constant_folding", true, run_fold_constants};

}  // namespace thalweg::graph
