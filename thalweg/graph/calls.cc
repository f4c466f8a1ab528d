// The records of calls: how a traced function stands in another one's graph.
#include "thalweg/core/error.h"
#include "thalweg/graph/gradient.h"
#include "thalweg/ops/infer.h"

namespace thalweg::graph {
namespace {

struct CallAttrs {
  std::vector<DType> Tin = {};
  std::vector<DType> Tout = {};
  FunctionAttr f = {};
  std::string config = "";
  std::string config_proto = "";
  std::string executor_type = "";
};

void infer_call(InferCall& c) {
  const auto& a = c.attrs<CallAttrs>();
  c.require(a.f != nullptr, "the attribute f, a function, is needed");
  c.require(static_cast<size_t>(c.num_inputs()) == a.f->num_arguments(),
            "the number of inputs is not that of the function's arguments");
  c.require(static_cast<size_t>(c.num_outputs()) == a.f->num_results(),
            "the number of results is not that of the function's results");
  for (int i = 0; i < c.num_inputs(); ++i) {
    const Spec& wanted = a.f->argument(static_cast<size_t>(i));
    if (c.dtype(i) != wanted.dtype || !c.shape(i).is_compatible_with(wanted.shape))
      c.fail("argument " + std::to_string(i) + " of " + a.f->name() + " is " + std::string(name_of(wanted.dtype)) +
             " of shape " + wanted.shape.brackets());
  }
  for (int i = 0; i < c.num_outputs(); ++i)
    c.output(i, a.f->result(static_cast<size_t>(i)).dtype, a.f->result(static_cast<size_t>(i)).shape);
}

void run_call(const KernelCall& c) { run_body(c, *c.attrs<CallAttrs>().f, 0); }

// While tracing, and when gradients are differentiated again, a tape sees the ops themselves; else it sees one call
// with a way back.
void follow_call(const Op&, std::span<const TensorRef> in, AttrsRef attrs, std::span<TensorImpl*> out) {
  const FunctionAttr& f = attrs.as<CallAttrs>().f;
  if (!f) throw InvalidArgumentError("the attribute f, a function, is needed");
  bool sees_ops = thread_state.tracer || thread_state.recorder->orders() > 1;
  give(out, sees_ops ? inline_call(*f, in) : call_with_gradient(f, in));
}

const Op& PartitionedCall = define_op({
    .name = "PartitionedCall",
    .doc = "The results of a function without effects.",
    .signature = "args: list Tin -> output: list Tout",
    .attrs = attrs_of<CallAttrs>(),
    .infer = infer_call,
    .kernel = {run_call},
    .traits = {.view = true, .not_differentiable = "tapes go back through the function's own ops"},
    .follow = follow_call,
});
const Op& StatefulPartitionedCall = define_op({
    .name = "StatefulPartitionedCall",
    .doc = "The results of a function, which may have effects.",
    .signature = "args: list Tin -> output: list Tout",
    .attrs = attrs_of<CallAttrs>(),
    .infer = infer_call,
    .kernel = {run_call},
    .traits = {.stateful = true, .view = true, .not_differentiable = "tapes go back through the function's own ops"},
    .follow = follow_call,
});

}  // namespace

std::vector<Tensor> call(const FunctionAttr& body, std::span<const TensorRef> arguments) {
  if (!thread_state.tracer && !thread_state.recorder) return run(body->plan(), body->num_results(), arguments);
  CallAttrs attrs;
  attrs.f = body;
  for (const TensorRef& a : arguments) attrs.Tin.push_back(a.p->dtype);
  for (size_t i = 0; i < body->num_results(); ++i) attrs.Tout.push_back(body->result(i).dtype);
  return apply_list(body->is_stateful() ? StatefulPartitionedCall : PartitionedCall, arguments, attrs,
                    static_cast<int>(body->num_results()));
}

}  // namespace thalweg::graph
