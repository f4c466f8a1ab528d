// Kernels bring weights into an order of their own at every call: panels of a matrix, the engine's blocks, Winograd's
// transforms. Where the weights are a constant (a frozen graph, or tensors that a function captured) this is done at
// the first run and kept with the plan. What is computed, and in which order, stays the same: no bit changes.
#include "thalweg/graph/passes/pass.h"
#include "thalweg/ops/fused.h"

namespace thalweg::graph {
namespace {

void run_keep_filters(Graph& graph) {
  for (Node& n : graph.nodes()) {
    if (!is_pure(n) || n.inputs.size() < 2 || !n.inputs[1].node->is_constant()) continue;
    const fused::Contraction* c = fused::find_contraction(*n.op);
    if (!c || !c->with_kept_filter || !c->types.has(n.results[0].dtype)) continue;
    Attrs attrs(*c->with_epilogue->attrs);
    copy_attrs(n, *c->with_epilogue, attrs);
    n.op = c->with_kept_filter;
    n.attrs = fused::keep_filter(*n.op, attrs);
  }
}

}  // namespace

constinit const Pass keep_filters{"keep_filters", "layout_optimizer", true, run_keep_filters, true};

}  // namespace thalweg::graph
