// The records of control flow, and how they are made while tracing.
#include "thalweg/graph/control_flow.h"

#include "thalweg/core/error.h"
#include "thalweg/graph/branches.h"
#include "thalweg/graph/conditional_gradient.h"
#include "thalweg/graph/flow.h"
#include "thalweg/graph/loop_gradient.h"
#include "thalweg/graph/run_state.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/math.h"

namespace thalweg::graph {
namespace {

struct IfAttrs {
  DType Tcond = DType::invalid;
  std::vector<DType> Tin = {};
  std::vector<DType> Tout = {};
  FunctionAttr then_branch = {};
  FunctionAttr else_branch = {};
  std::vector<Shape> output_shapes = {};
};
struct CaseAttrs {
  std::vector<DType> Tin = {};
  std::vector<DType> Tout = {};
  std::vector<FunctionAttr> branches = {};
  std::vector<Shape> output_shapes = {};
};
struct WhileAttrs {
  std::vector<DType> T = {};
  FunctionAttr cond = {};
  FunctionAttr body = {};
  std::vector<Shape> output_shapes = {};
  int64_t parallel_iterations = 10;
};

// Arguments and results of a branch against those of the op; `first` inputs are not for the branch.
void check_branch(InferCall& c, const FunctionAttr& f, const char* what, int first, int results) {
  if (!f) c.fail(std::string("the attribute ") + what + ", a function, is needed");
  if (f->num_arguments() != static_cast<size_t>(c.num_inputs() - first))
    c.fail(std::string(what) + " takes " + std::to_string(f->num_arguments()) + " arguments, got " +
           std::to_string(c.num_inputs() - first));
  if (results >= 0 && f->num_results() != static_cast<size_t>(results))
    c.fail(std::string(what) + " has " + std::to_string(f->num_results()) + " results, the op " +
           std::to_string(results));
  for (int i = first; i < c.num_inputs(); ++i)
    if (f->argument(static_cast<size_t>(i - first)).dtype != c.dtype(i))
      c.fail("argument " + std::to_string(i - first) + " of " + what + " has another dtype");
}

void infer_branches(InferCall& c, std::span<const FunctionAttr> branches, const std::vector<Shape>& shapes) {
  c.require(!branches.empty(), "at least one branch is needed");
  for (const FunctionAttr& f : branches) check_branch(c, f, "the branch", 1, c.num_outputs());
  for (int i = 0; i < c.num_outputs(); ++i) {
    Spec spec = branches[0]->result(static_cast<size_t>(i));
    for (const FunctionAttr& f : branches) {
      const Spec& other = f->result(static_cast<size_t>(i));
      if (other.dtype != spec.dtype) c.fail("the branches' results number " + std::to_string(i) + " differ in dtype");
      spec.shape = spec.shape.most_general_common_supershape(other.shape);
    }
    if (static_cast<size_t>(i) < shapes.size() && shapes[static_cast<size_t>(i)].is_compatible_with(spec.shape))
      spec.shape = spec.shape.merge_with(shapes[static_cast<size_t>(i)]);
    c.output(i, spec.dtype, spec.shape);
  }
}
void infer_if(InferCall& c) {
  const auto& a = c.attrs<IfAttrs>();
  FunctionAttr branches[] = {a.then_branch, a.else_branch};
  infer_branches(c, branches, a.output_shapes);
}
void infer_case(InferCall& c) {
  c.require_rank(0, 0);
  infer_branches(c, c.attrs<CaseAttrs>().branches, c.attrs<CaseAttrs>().output_shapes);
}

// TensorFlow's truth: a scalar that is not zero, a text that is not empty, or anything with elements.
bool is_true(const Tensor& t) {
  if (t.dtype() == DType::bool_ && t.rank() == 0 && !t.is_symbolic()) return *t.mutable_data<bool>();
  if (t.rank() != 0) return t.size() != 0;
  return static_cast<bool>(t);
}
size_t chosen(const Tensor& index, size_t count) {
  int64_t i = index.item<int32_t>();
  return i < 0 || static_cast<size_t>(i) >= count ? count - 1 : static_cast<size_t>(i);
}

void run_if(const KernelCall& c) {
  const auto& a = c.attrs<IfAttrs>();
  run_body(c, is_true(c.tensor(0)) ? *a.then_branch : *a.else_branch, 1);
}
void run_case(const KernelCall& c) {
  const auto& branches = c.attrs<CaseAttrs>().branches;
  run_body(c, *branches[chosen(c.tensor(0), branches.size())], 1);
}

void infer_while(InferCall& c) {
  const auto& a = c.attrs<WhileAttrs>();
  check_branch(c, a.cond, "cond", 0, 1);
  check_branch(c, a.body, "body", 0, c.num_inputs());
  for (int i = 0; i < c.num_inputs(); ++i) {
    const Spec& spec = a.body->result(static_cast<size_t>(i));
    if (spec.dtype != c.dtype(i)) c.fail("result " + std::to_string(i) + " of body has another dtype than its input");
    Shape shape = static_cast<size_t>(i) < a.output_shapes.size()
                      ? a.output_shapes[static_cast<size_t>(i)]
                      : a.body->argument(static_cast<size_t>(i)).shape.most_general_common_supershape(spec.shape);
    c.output(i, spec.dtype, shape);
  }
}

/// The values of a loop, one turn and the next.
class LoopValues {
 public:
  explicit LoopValues(size_t count) : now_(count), next_(count) {}
  ~LoopValues() {
    for (TensorImpl* t : now_) release(t);
  }
  LoopValues(const LoopValues&) = delete;
  LoopValues& operator=(const LoopValues&) = delete;
  std::span<const TensorRef> arguments() const {
    return {reinterpret_cast<const TensorRef*>(now_.data()), now_.size()};
  }
  std::span<TensorImpl*> next() { return next_; }
  void advance() {
    now_.swap(next_);
    for (TensorImpl*& t : next_) {
      release(t);
      t = nullptr;
    }
  }
  std::vector<TensorImpl*>& now() { return now_; }

 private:
  std::vector<TensorImpl*> now_, next_;
};

void run_while(const KernelCall& c) {
  const auto& a = c.attrs<WhileAttrs>();
  const Plan &condition = a.cond->plan(), &body = a.body->plan();
  LoopValues values(static_cast<size_t>(c.num_inputs()));
  for (int i = 0; i < c.num_inputs(); ++i) {
    values.now()[static_cast<size_t>(i)] = c.tensor(i).impl();
    retain(c.tensor(i).impl());
  }
  for (;;) {
    note_turn();
    TensorImpl* goes_on;
    condition.run(values.arguments(), {&goes_on, 1});
    if (!is_true(Tensor(goes_on))) break;
    body.run(values.arguments(), values.next());
    values.advance();
  }
  for (int i = 0; i < c.num_outputs(); ++i) c.adopt(i, values.arguments()[static_cast<size_t>(i)].tensor());
}

void follow_if(const Op&, std::span<const TensorRef> in, AttrsRef attrs, std::span<TensorImpl*> out) {
  const auto& a = attrs.as<IfAttrs>();
  if (in[0].p->form != Form::symbolic)
    return give(out, inline_call(is_true(in[0].tensor()) ? *a.then_branch : *a.else_branch, in.subspan(1)));
  give(out, branch_with_gradient(in[0].tensor(), {a.then_branch, a.else_branch}, in.subspan(1), true));
}
void follow_case(const Op&, std::span<const TensorRef> in, AttrsRef attrs, std::span<TensorImpl*> out) {
  const auto& branches = attrs.as<CaseAttrs>().branches;
  if (in[0].p->form != Form::symbolic)
    return give(out, inline_call(*branches[chosen(in[0].tensor(), branches.size())], in.subspan(1)));
  give(out, branch_with_gradient(in[0].tensor(), branches, in.subspan(1), false));
}

// At run time a tape sees the ops of every turn; while tracing, a loop with a way back.
void follow_while(const Op&, std::span<const TensorRef> in, AttrsRef attrs, std::span<TensorImpl*> out) {
  const auto& a = attrs.as<WhileAttrs>();
  if (!a.cond || !a.body) throw InvalidArgumentError("the attributes cond and body, functions, are needed");
  if (thread_state.tracer) return give(out, loop_with_gradient(a.cond, a.body, in));
  std::vector<Tensor> values;
  for (const TensorRef& t : in) values.push_back(t.tensor());
  auto now = [&] { return std::vector<TensorRef>(values.begin(), values.end()); };
  while (is_true(inline_call(*a.cond, now())[0])) {
    note_turn();
    check_cancelled();
    values = inline_call(*a.body, now());
  }
  give(out, values);
}

constexpr const char* inside = "tapes go back through the ops inside";

OpDef if_record(const char* name, bool stateful) {
  return {
      .name = name,
      .doc = "The results of then_branch where cond is true, else those of else_branch.",
      .signature = "cond: Tcond, input: list Tin -> output: list Tout",
      .attrs = attrs_of<IfAttrs>(),
      .infer = infer_if,
      .kernel = {run_if},
      .traits = {.stateful = stateful, .view = true, .not_differentiable = inside},
      .follow = follow_if,
  };
}
OpDef case_record(const char* name, bool stateful) {
  return {
      .name = name,
      .doc = "The results of the branch with the number branch_index; of the last where there is none.",
      .signature = "branch_index: int32, input: list Tin -> output: list Tout",
      .attrs = attrs_of<CaseAttrs>(),
      .infer = infer_case,
      .kernel = {run_case},
      .traits = {.stateful = stateful, .view = true, .not_differentiable = inside},
      .follow = follow_case,
  };
}
OpDef while_record(const char* name, bool stateful) {
  return {
      .name = name,
      .doc = "The input, replaced by what body makes of it as long as cond holds.",
      .signature = "input: list T -> output: list T",
      .attrs = attrs_of<WhileAttrs>(),
      .infer = infer_while,
      .kernel = {run_while},
      .traits = {.stateful = stateful, .view = true, .not_differentiable = inside},
      .follow = follow_while,
  };
}
const Op& If = define_op(if_record("If", true));
const Op& StatelessIf = define_op(if_record("StatelessIf", false));
const Op& Case = define_op(case_record("Case", true));
const Op& StatelessCase = define_op(case_record("StatelessCase", false));
const Op& While = define_op(while_record("While", true));
const Op& StatelessWhile = define_op(while_record("StatelessWhile", false));

std::vector<DType> dtypes_of(std::span<const Tensor> tensors) {
  std::vector<DType> dtypes;
  for (const Tensor& t : tensors) dtypes.push_back(t.dtype());
  return dtypes;
}

void check_results(const BranchTracer& tracer, size_t branches) {
  for (size_t k = 1; k < branches; ++k) {
    if (tracer.num_results(k) != tracer.num_results(0))
      throw TypeError("the branches of a conditional must return the same structure: one has " +
                      std::to_string(tracer.num_results(0)) + " tensors, another " +
                      std::to_string(tracer.num_results(k)));
    for (size_t i = 0; i < tracer.num_results(0); ++i)
      if (tracer.result(k, i).dtype != tracer.result(0, i).dtype)
        throw TypeError("the branches of a conditional must return the same dtypes: result " + std::to_string(i) +
                        " is " + std::string(name_of(tracer.result(0, i).dtype)) + " in one, " +
                        std::string(name_of(tracer.result(k, i).dtype)) + " in another");
  }
}

std::vector<DType> result_dtypes(const FunctionBody& f) {
  std::vector<DType> dtypes;
  for (size_t i = 0; i < f.num_results(); ++i) dtypes.push_back(f.result(i).dtype);
  return dtypes;
}

template <class A> A* attrs_if(const Node& n, const Op& stateful, const Op& stateless) {
  bool is_one = (n.op == &stateful || n.op == &stateless) && !n.is_constant();
  return is_one ? static_cast<A*>(n.attrs.get()) : nullptr;
}

}  // namespace

std::optional<Flow> flow_of(const Node& n) {
  Flow flow = {{}, false, 1};
  if (auto* choice = attrs_if<IfAttrs>(n, If, StatelessIf)) flow.functions = {choice->then_branch, choice->else_branch};
  else if (auto* choices = attrs_if<CaseAttrs>(n, Case, StatelessCase)) flow.functions = choices->branches;
  else if (auto* loop = attrs_if<WhileAttrs>(n, While, StatelessWhile)) flow = {{loop->cond, loop->body}, true, 0};
  if (flow.functions.empty() || n.inputs.size() < flow.first_input) return {};
  for (const FunctionAttr& f : flow.functions) {
    size_t results = flow.is_loop && &f == &flow.functions[0] ? 1 : n.results.size();
    if (!f || f->num_arguments() != n.inputs.size() - flow.first_input || f->num_results() != results) return {};
  }
  return flow;
}

void set_functions(Node& n, const std::vector<FunctionAttr>& functions) {
  std::vector<DType> in, out;
  std::vector<Shape> shapes;
  for (const Value& v : n.inputs) in.push_back(v.node->results[static_cast<size_t>(v.index)].dtype);
  for (const Spec& s : n.results) {
    out.push_back(s.dtype);
    shapes.push_back(s.shape);
  }
  auto set_shapes = [&](std::vector<Shape>& known) {
    if (!known.empty()) known = shapes;
  };
  if (auto* loop = attrs_if<WhileAttrs>(n, While, StatelessWhile)) {
    loop->T = in;
    loop->cond = functions[0];
    loop->body = functions[1];
    return set_shapes(loop->output_shapes);
  }
  in.erase(in.begin());  // what chooses
  if (auto* choice = attrs_if<IfAttrs>(n, If, StatelessIf)) {
    choice->Tin = in;
    choice->Tout = out;
    choice->then_branch = functions[0];
    choice->else_branch = functions[1];
    set_shapes(choice->output_shapes);
  } else if (auto* choices = attrs_if<CaseAttrs>(n, Case, StatelessCase)) {
    choices->Tin = in;
    choices->Tout = out;
    choices->branches = functions;
    set_shapes(choices->output_shapes);
  }
}

std::vector<Tensor> apply_branches(const Tensor& choice, const std::vector<FunctionAttr>& bodies,
                                   std::span<const Tensor> inputs, bool is_if) {
  std::vector<TensorRef> in = {choice};
  in.insert(in.end(), inputs.begin(), inputs.end());
  bool stateful = false;
  for (const FunctionAttr& f : bodies) stateful |= f->is_stateful();
  std::vector<DType> tin = dtypes_of(inputs), tout = result_dtypes(*bodies[0]);
  int results = static_cast<int>(tout.size());
  if (is_if)
    return apply_list(stateful ? If : StatelessIf, in, IfAttrs{choice.dtype(), tin, tout, bodies[0], bodies[1], {}},
                      results);
  return apply_list(stateful ? Case : StatelessCase, in, CaseAttrs{tin, tout, bodies, {}}, results);
}

std::vector<Tensor> apply_loop(const FunctionAttr& condition, const FunctionAttr& body, std::span<const Tensor> values,
                               int64_t parallel_iterations) {
  std::vector<Shape> shapes;
  for (size_t i = 0; i < body->num_arguments(); ++i) shapes.push_back(body->argument(i).shape);
  bool stateful = condition->is_stateful() || body->is_stateful();
  return apply_list(stateful ? While : StatelessWhile, std::vector<TensorRef>(values.begin(), values.end()),
                    WhileAttrs{dtypes_of(values), condition, body, shapes, parallel_iterations},
                    static_cast<int>(values.size()));
}

std::vector<Tensor> cond(const Tensor& predicate, const TraceBody& then, const TraceBody& otherwise) {
  if (!predicate.is_symbolic()) return (is_true(predicate) ? then : otherwise)({}).tensors;
  BranchTracer tracer;
  tracer.add(then);
  tracer.add(otherwise);
  check_results(tracer, 2);
  BranchTracer::Branches made = tracer.finish("cond");
  return apply_branches(predicate, made.bodies, made.captures, true);
}

std::vector<Tensor> switch_case(const Tensor& index, const std::vector<TraceBody>& branches) {
  if (branches.empty()) throw ValueError("switch_case needs at least one branch");
  if (!index.is_symbolic()) return branches[chosen(index, branches.size())]({}).tensors;
  BranchTracer tracer;
  for (const TraceBody& body : branches) tracer.add(body);
  check_results(tracer, branches.size());
  BranchTracer::Branches made = tracer.finish("case");
  return apply_branches(index, made.bodies, made.captures, false);
}

std::vector<Tensor> while_loop(const TraceBody& condition, const TraceBody& body, const std::vector<Tensor>& values,
                               const std::vector<Shape>& invariants, int64_t maximum_iterations,
                               int64_t parallel_iterations) {
  if (!thread_state.tracer) {
    std::vector<Tensor> now = values;
    for (int64_t turn = 0; maximum_iterations < 0 || turn < maximum_iterations; ++turn) {
      if (!is_true(condition(now).tensors.at(0))) break;
      std::vector<Tensor> next = body(now).tensors;
      if (next.size() != now.size())
        throw ValueError("the body of a loop must return as many values as it takes: " + std::to_string(now.size()) +
                         ", got " + std::to_string(next.size()));
      now = std::move(next);
    }
    return now;
  }
  const bool counted = maximum_iterations >= 0;
  std::vector<Tensor> in = values;
  if (counted) in.insert(in.begin(), Tensor(int32_t{0}));
  std::vector<Spec> specs;
  for (size_t i = 0; i < in.size(); ++i) {
    size_t given = counted ? i - 1 : i;
    bool has_invariant = !(counted && i == 0) && given < invariants.size();
    specs.push_back({in[i].dtype(), has_invariant ? invariants[given] : in[i].shape()});
  }
  auto own = [&](std::span<const Tensor> all) { return counted ? all.subspan(1) : all; };
  BranchTracer tracer;
  tracer.add(
      [&](std::span<const Tensor> all) {
        Traced traced = condition(own(all));
        if (traced.tensors.size() != 1) throw TypeError("the condition of a loop must return one truth value");
        if (counted)
          traced.tensors[0] =
              logical_and(less(all[0], Tensor(static_cast<int32_t>(maximum_iterations))), traced.tensors[0]);
        return traced;
      },
      specs);
  tracer.add(
      [&](std::span<const Tensor> all) {
        Traced traced = body(own(all));
        if (traced.tensors.size() != values.size())
          throw ValueError("the body of a loop must return as many values as it takes: " +
                           std::to_string(values.size()) + ", got " + std::to_string(traced.tensors.size()));
        if (counted) traced.tensors.insert(traced.tensors.begin(), all[0] + 1);
        return traced;
      },
      specs);
  for (size_t i = 0; i < in.size(); ++i) {
    Spec after = tracer.result(1, i);
    if (after.dtype != specs[i].dtype ||
        !(specs[i].shape.most_general_common_supershape(after.shape) == specs[i].shape))
      throw ValueError("value " + std::to_string(counted ? i - 1 : i) + " of a loop enters with dtype " +
                       std::string(name_of(specs[i].dtype)) + " and shape " + specs[i].shape.str() +
                       ", but has dtype " + std::string(name_of(after.dtype)) + " and shape " + after.shape.str() +
                       " after one turn: give shape_invariants where shapes change");
  }
  BranchTracer::Branches made = tracer.finish("while", true);
  in.insert(in.end(), made.captures.begin(), made.captures.end());
  std::vector<Tensor> results = apply_loop(made.bodies[0], made.bodies[1], in, parallel_iterations);
  size_t first = counted ? 1 : 0;
  return {results.begin() + static_cast<std::ptrdiff_t>(first),
          results.begin() + static_cast<std::ptrdiff_t>(first + values.size())};
}

}  // namespace thalweg::graph
