#include "thalweg/graph/host_function.h"

#include <set>
#include <unordered_map>

#include "thalweg/core/error.h"
#include "thalweg/core/resource.h"
#include "thalweg/graph/function_body.h"
#include "thalweg/graph/init_scope.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/indexed_slices.h"
#include "thalweg/ops/shaping.h"

namespace thalweg {
namespace graph {
namespace {

/// Host functions by token. It holds none of them alive.
struct Registry {
  std::mutex mutex;
  uint64_t next = 0;
  std::unordered_map<std::string, std::weak_ptr<const HostFunction>> functions;
};
Registry& registry() {
  static auto& kept = *new Registry;  // host functions may die after static objects do
  return kept;
}
HostFunctionRef find(const std::string& token) {
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  auto found = all.functions.find(token);
  return found == all.functions.end() ? nullptr : found->second.lock();
}

/// The attribute `token`: text to files, a share in the function to graphs.
struct HostToken {
  HostToken() = default;
  HostToken(std::string name, HostFunctionRef held) : text(std::move(name)), function(std::move(held)) {}
  std::string text;
  HostFunctionRef function;
};

}  // namespace
}  // namespace graph

template <> const MemberType& member_type<graph::HostToken>() {
  static const MemberType type{AttrKind::text, false,
                               [](const void* p) { return AttrValue(static_cast<const graph::HostToken*>(p)->text); },
                               [](void* p, const AttrValue& v) {
                                 const auto* text = std::get_if<std::string>(&v);
                                 if (text) *static_cast<graph::HostToken*>(p) = {*text, graph::find(*text)};
                                 return text != nullptr;
                               }};
  return type;
}

namespace graph {
namespace {

struct EagerPyFuncAttrs {
  HostToken token = {};
  bool is_async = false;
  std::vector<DType> Tin = {};
  std::vector<DType> Tout = {};
};
struct PyFuncAttrs {
  HostToken token = {};
  std::vector<DType> Tin = {};
  std::vector<DType> Tout = {};
};

template <class A> void infer_host(InferCall& c) {
  const auto& types = c.attrs<A>().Tout;
  c.require(static_cast<size_t>(c.num_outputs()) == types.size(), "Tout does not say the type of every output");
  for (int i = 0; i < c.num_outputs(); ++i) c.output(i, types[static_cast<size_t>(i)], Shape::unknown_rank());
}

// Neither what is being traced nor the tapes that are open have to do with what happens inside.
std::vector<Tensor> call_untraced(const HostCall& call, std::span<const Tensor> inputs) {
  autodiff::SeparateTapes tapes;
  InitScope scope;
  return call(inputs);
}

void check_results(const std::string& token, const std::vector<Tensor>& results, const std::vector<DType>& types) {
  if (results.size() != types.size())
    throw InvalidArgumentError(token + " returns " + std::to_string(results.size()) + " values, but expects to see " +
                               std::to_string(types.size()) + " values.");
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i].defined())
      throw InvalidArgumentError(std::to_string(i) + "-th value returned by " + token + " is None, but expects " +
                                 std::string(name_of(types[i])));
    if (results[i].dtype() != types[i])
      throw InvalidArgumentError(std::to_string(i) + "-th value returned by " + token + " is " +
                                 std::string(name_of(results[i].dtype())) + ", but expects " +
                                 std::string(name_of(types[i])));
    if (results[i].is_symbolic())
      throw InvalidArgumentError(std::to_string(i) + "-th value returned by " + token +
                                 " belongs to a function that is being traced: it has no value");
  }
}

template <class A> void run_host(const KernelCall& c) {
  const auto& a = c.attrs<A>();
  if (!a.token.function)
    c.fail("callback " + a.token.text + " is not found: it was made in another process, or is gone");
  std::vector<Tensor> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) inputs.push_back(c.tensor(i));
  std::vector<Tensor> results = call_untraced(a.token.function->call(), inputs);
  for (Tensor& t : results)
    if (t.defined()) t = to_array(t);
  check_results(a.token.text, results, a.Tout);
  for (int i = 0; i < c.num_outputs(); ++i) c.adopt(i, results[static_cast<size_t>(i)]);
}

void follow_host(const Op& op, std::span<const TensorRef> in, AttrsRef attrs, std::span<TensorImpl*> out);

const Op& EagerPyFunc = define_op({
    .name = "EagerPyFunc",
    .doc = "What a host function, which takes and gives tensors, makes of the inputs.",
    .signature = "input: list Tin -> output: list Tout",
    .attrs = attrs_of<EagerPyFuncAttrs>(),
    .infer = infer_host<EagerPyFuncAttrs>,
    .kernel = {run_host<EagerPyFuncAttrs>},
    .traits = {.stateful = true, .view = true, .not_differentiable = "tapes go back through the ops inside"},
    .follow = follow_host,
});
constexpr const char* no_way_back = "nobody knows what a host function does to arrays";
const Op& PyFunc = define_op({
    .name = "PyFunc",
    .doc = "What a host function makes of the inputs; called once per run, in program order.",
    .signature = "input: list Tin -> output: list Tout",
    .attrs = attrs_of<PyFuncAttrs>(),
    .infer = infer_host<PyFuncAttrs>,
    .kernel = {run_host<PyFuncAttrs>},
    .traits = {.stateful = true, .view = true, .not_differentiable = no_way_back},
});
const Op& PyFuncStateless = define_op({
    .name = "PyFuncStateless",
    .doc = "What a host function makes of the inputs; called when its results are needed.",
    .signature = "input: list Tin -> output: list Tout",
    .attrs = attrs_of<PyFuncAttrs>(),
    .infer = infer_host<PyFuncAttrs>,
    .kernel = {run_host<PyFuncAttrs>},
    // Not while tracing, whatever is known of its inputs: it looks at the world when the function runs.
    .traits = {.stateful = true, .observes = true, .view = true, .not_differentiable = no_way_back},
});

/// What one call with a way back leaves behind: the tape that saw it.
class HostTape final : public Resource {
 public:
  HostTape() : tape({.persistent = true, .watch_accessed_variables = false}) {}
  std::string describe() const override { return "the tape of a host function"; }

  autodiff::Tape tape;
  std::vector<Tensor> sources, targets;
};

bool has_gradient(DType dtype) { return differentiable_types.has(dtype); }

// Calls it under a tape, which is one more result.
std::vector<Tensor> call_with_tape(const HostFunction& function, std::span<const Tensor> inputs) {
  auto kept = std::make_shared<HostTape>();
  std::vector<Tensor> own;
  kept->tape.start();
  for (const Tensor& t : inputs) {
    own.push_back(t);
    if (!has_gradient(t.dtype())) continue;
    own.back() = identity(t);  // one input may stand in two places
    kept->tape.watch(own.back());
    kept->sources.push_back(own.back());
  }
  std::vector<Tensor> results = function.call()(own);
  kept->tape.stop();
  for (Tensor& t : results)
    if (t.defined() && has_gradient(t.dtype())) kept->targets.push_back(t);
  Tensor handle = Tensor::empty(DType::variant, {});
  *handle.mutable_data<ResourceHandle>() = std::move(kept);
  results.push_back(std::move(handle));
  return results;
}

// From the tape and the gradients of results to those of inputs.
std::vector<Tensor> call_back(std::span<const Tensor> inputs) {
  auto* kept = dynamic_cast<HostTape*>(inputs[0].mutable_data<ResourceHandle>()->get());
  if (!kept) throw InvalidArgumentError("the gradient of a host function needs the tape of its call");
  return kept->tape.gradient(kept->targets, kept->sources, inputs.subspan(1), UnconnectedGradients::zero);
}

class HostBackward final : public BackwardFunction {
 public:
  HostBackward(Tensor tape, std::vector<Spec> inputs, std::vector<DType> outputs)
      : tape_(std::move(tape)), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}

  std::vector<Tensor> run(std::span<const Tensor> output_grads, uint64_t) override {
    static const HostFunctionRef back = register_host_function(std::make_shared<HostFunction>(call_back));
    std::vector<Tensor> in = {tape_};
    std::vector<DType> types;
    for (size_t i = 0; i < outputs_.size(); ++i)
      if (has_gradient(outputs_[i])) in.push_back(to_array(output_grads[i]));
    for (const Spec& input : inputs_)
      if (has_gradient(input.dtype)) types.push_back(input.dtype);
    std::vector<Tensor> found = call_host(back, in, types, HostKind::stateless), grads(inputs_.size());
    for (size_t i = 0, next = 0; i < inputs_.size(); ++i)
      if (has_gradient(inputs_[i].dtype)) grads[i] = ensure_shape(found[next++], inputs_[i].shape);
    return grads;
  }

 private:
  Tensor tape_;
  std::vector<Spec> inputs_;
  std::vector<DType> outputs_;
};

void follow_host(const Op& op, std::span<const TensorRef> in, AttrsRef attrs, std::span<TensorImpl*> out) {
  const auto& a = attrs.as<EagerPyFuncAttrs>();
  Recorder* recorder = thread_state.recorder;
  bool any = false;
  for (DType dtype : a.Tout) any |= has_gradient(dtype);
  std::vector<Tensor> results;
  Tensor tape;
  {
    StopRecording stop;
    if (!a.token.function || !any) return apply(op, in, attrs, out);
    auto with_tape = register_host_function(std::make_shared<HostFunction>(
        [f = a.token.function.get()](std::span<const Tensor> inputs) { return call_with_tape(*f, inputs); },
        a.token.function));
    EagerPyFuncAttrs changed = a;
    changed.token = {with_tape->token(), with_tape};
    changed.Tout.push_back(DType::variant);
    results = apply_list(op, in, changed, static_cast<int>(changed.Tout.size()));
    tape = std::move(results.back());
    results.pop_back();
  }
  std::vector<Tensor> sources;
  std::vector<Spec> specs;
  for (const TensorRef& t : in) {
    sources.push_back(t.tensor());
    specs.push_back({t.p->dtype, t.p->shape});
  }
  recorder->record(sources, results, std::make_unique<HostBackward>(std::move(tape), std::move(specs), a.Tout));
  give(out, results);
}

}  // namespace

HostFunction::HostFunction(HostCall call, HostFunctionRef inner) : call_(std::move(call)), inner_(std::move(inner)) {
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  token_ = "pyfunc_" + std::to_string(all.next++);
}
HostFunction::~HostFunction() {
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  all.functions.erase(token_);
}

HostFunctionRef register_host_function(std::shared_ptr<HostFunction> function) {
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  all.functions[function->token()] = function;
  return function;
}

void refuse_host_inputs(size_t parameters, size_t inputs) {
  throw TypeError("the host function takes " + std::to_string(parameters) + " tensors, got " + std::to_string(inputs));
}

std::vector<Tensor> call_host(const HostFunctionRef& function, std::span<const Tensor> inputs,
                              const std::vector<DType>& output_types, HostKind kind) {
  std::vector<TensorRef> in(inputs.begin(), inputs.end());
  std::vector<DType> types;
  for (const Tensor& t : inputs) {
    if (!t.defined()) throw ValueError("an input of a host function is undefined (None)");
    types.push_back(t.dtype());
  }
  HostToken token{function->token(), function};
  int count = static_cast<int>(output_types.size());
  if (kind == HostKind::differentiable)
    return apply_list(EagerPyFunc, in, EagerPyFuncAttrs{token, false, types, output_types}, count);
  return apply_list(kind == HostKind::stateful ? PyFunc : PyFuncStateless, in, PyFuncAttrs{token, types, output_types},
                    count);
}

namespace {

void collect_host_functions(const Graph& graph, std::set<const Graph*>& seen, std::set<HostFunctionRef>& found) {
  if (!seen.insert(&graph).second) return;
  for (const Node& n : graph.nodes()) {
    if (n.is_constant() || !n.op->attrs) continue;
    const void* attrs = n.attrs.get();
    HostFunctionRef called;
    if (n.op == &EagerPyFunc) called = static_cast<const EagerPyFuncAttrs*>(attrs)->token.function;
    if (n.op == &PyFunc || n.op == &PyFuncStateless) called = static_cast<const PyFuncAttrs*>(attrs)->token.function;
    for (; called; called = called->inner()) found.insert(called);
    for (size_t i = 0; i < n.op->attrs->rows.size(); ++i) {
      AttrKind kind = n.op->attrs->rows[i].type->kind;
      if (kind != AttrKind::function && kind != AttrKind::functions) continue;
      AttrValue value = n.op->attrs->get(attrs, static_cast<int>(i));
      if (auto* one = std::get_if<FunctionAttr>(&value); one && *one)
        collect_host_functions((*one)->graph(), seen, found);
      if (auto* list = std::get_if<std::vector<FunctionAttr>>(&value))
        for (const FunctionAttr& f : *list)
          if (f) collect_host_functions(f->graph(), seen, found);
    }
  }
}

}  // namespace

std::vector<HostFunctionRef> host_functions_of(const Graph& graph) {
  std::set<const Graph*> seen;
  std::set<HostFunctionRef> found;
  collect_host_functions(graph, seen, found);
  return {found.begin(), found.end()};
}

}  // namespace graph
}  // namespace thalweg
