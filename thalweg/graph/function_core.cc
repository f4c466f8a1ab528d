#include "thalweg/graph/function_core.h"

#include <ranges>

#include "thalweg/core/error.h"
#include "thalweg/core/warning.h"
#include "thalweg/graph/path_tracer.h"
#include "thalweg/graph/trace.h"

namespace thalweg {
namespace {
std::atomic<bool> eagerly{false};
std::atomic<uint64_t> next_function{0};
}  // namespace

void config::run_functions_eagerly(bool run_eagerly) { eagerly = run_eagerly; }
bool config::functions_run_eagerly() { return eagerly.load(std::memory_order_relaxed); }

const std::string& ConcreteFunction::name() const { return body_->name(); }
const graph::Graph& ConcreteFunction::graph() const { return body_->graph(); }

std::vector<Tensor> ConcreteFunction::operator()(const std::vector<Tensor>& arguments) const {
  if (arguments.size() != body_->num_arguments())
    throw TypeError(name() + " takes " + std::to_string(body_->num_arguments()) + " tensors, got " +
                    std::to_string(arguments.size()));
  for (size_t i = 0; i < arguments.size(); ++i) {
    const graph::Spec& wanted = body_->argument(i);
    if (arguments[i].dtype() != wanted.dtype || !arguments[i].shape().is_compatible_with(wanted.shape))
      throw TypeError(name() + ": argument " + std::to_string(i) + " must be " +
                      TensorSpec(wanted.shape, wanted.dtype).str() + ", got " +
                      TensorSpec(arguments[i].shape(), arguments[i].dtype()).str());
  }
  return graph::call(body_, std::vector<TensorRef>(arguments.begin(), arguments.end()));
}

namespace graph {

void refuse_empty_function() {
  throw ValueError("this Function is undefined (None): it was default-constructed or moved from");
}

namespace {

/// A function asked for a value while it was traced inside of another one, which will know it. Whatever exception comes
/// out of it then (it may have gone through another language) means that.
thread_local bool values_were_needed = false;

TensorImpl* refuse_for_now(TensorImpl*, bool) {
  values_were_needed = true;
  throw TypeError("a symbolic tensor has no value yet: it is being traced. Use tf::cond, tf::while_loop or tf::print");
}

// Whether a tensor of one shape may go where the other was traced for: what is known there must be known and equal.
bool covers(const Shape& traced, const Shape& given) {
  if (!traced.has_rank()) return true;
  if (!given.has_rank() || traced.rank() != given.rank()) return false;
  for (int i = 0; i < traced.rank(); ++i)
    if (traced[i] >= 0 && traced[i] != given[i]) return false;
  return true;
}

}  // namespace

bool Trace::fits(std::span<const TensorRef> tensors, const std::string& other_rest) const {
  if (tensors.size() != arguments.size() || rest != other_rest) return false;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const TensorImpl& t = *tensors[i].p;
    if (t.dtype != arguments[i].dtype || t.weak != Weak::strong || t.form > Form::symbolic) return false;
    if (!(t.shape == arguments[i].shape) && !covers(arguments[i].shape, t.shape)) return false;
  }
  return true;
}

struct FunctionCore::State {
  mutable std::recursive_mutex mutex;
  std::deque<Trace> traces;
  std::atomic<const Trace*> latest{nullptr};
  std::atomic<int> tracing_count{0};
  bool tracing = false, called = false, asks_for_values = false;
  int recent_traces = 0, recent_calls = 0;
  bool warned = false;

  const Trace* latest_for(std::span<const TensorRef> tensors, const std::string& rest) const {
    const Trace* trace = latest.load(std::memory_order_acquire);
    return trace && trace->fits(tensors, rest) ? trace : nullptr;
  }
};

FunctionCore::FunctionCore(FunctionOptions options) : options_(std::move(options)), state_(std::make_unique<State>()) {}
FunctionCore::~FunctionCore() = default;

int FunctionCore::tracing_count() const { return state_->tracing_count.load(std::memory_order_relaxed); }

Tensor FunctionCore::run_one(std::span<const TensorRef> tensors, const std::string& rest) const {
  if (thread_state.tracer || thread_state.recorder) return {};
  const Trace* trace = state_->latest_for(tensors, rest);
  if (!trace || trace->paths || trace->body->num_results() != 1) return {};
  TensorImpl* result;
  trace->body->plan().run(tensors, {&result, 1});
  return Tensor(result);
}

std::optional<Traced> FunctionCore::run_again(std::span<const TensorRef> tensors, const std::string& rest) const {
  const Trace* trace = state_->latest_for(tensors, rest);
  if (!trace || trace->paths) return {};
  return Traced{call(trace->body, tensors), trace->structure};
}

std::optional<Traced> FunctionCore::run(std::span<const TensorRef> tensors, const std::string& rest,
                                        const TraceBody& body) {
  Found found{state_->latest_for(tensors, rest), {}};
  if (!found.trace) found = find(tensors, rest, body);
  if (found.outcome) return std::move(found.outcome);
  // What asks for values is a part of the function around it.
  if (!found.trace || (found.trace->paths && thread_state.tracer)) return {};
  if (found.trace->paths) return found.trace->paths->run(tensors, body);
  return Traced{call(found.trace->body, tensors), found.trace->structure};
}

ConcreteFunction FunctionCore::concrete(std::span<const TensorRef> tensors, const std::string& rest,
                                        const TraceBody& body) {
  return ConcreteFunction(find_graph(tensors, rest, body).body);
}

const Trace* FunctionCore::search(std::span<const TensorRef> tensors, const std::string& rest) const {
  for (const Trace& t : std::views::reverse(state_->traces))  // the newest first
    if (t.fits(tensors, rest)) return &t;
  return nullptr;
}

std::vector<const Trace*> FunctionCore::traces() const {
  std::lock_guard lock(state_->mutex);
  std::vector<const Trace*> all;
  for (const Trace& t : state_->traces) all.push_back(&t);
  return all;
}

namespace {

/// What a trace for these arguments takes.
std::vector<Spec> specs_for(std::span<const TensorRef> tensors, const std::string& rest, const FunctionOptions& options,
                            const std::deque<Trace>& traces) {
  std::vector<Spec> specs;
  for (const TensorRef& t : tensors) specs.push_back({t.p->dtype, t.p->shape});
  if (!options.input_signature.empty()) {
    if (tensors.size() != options.input_signature.size())
      throw TypeError(options.name + " has an input_signature of " + std::to_string(options.input_signature.size()) +
                      " tensors, but was called with " + std::to_string(tensors.size()));
    for (size_t i = 0; i < specs.size(); ++i) {
      const TensorSpec& wanted = options.input_signature[i];
      if (specs[i].dtype != wanted.dtype || !covers(wanted.shape, specs[i].shape))
        throw TypeError("Binding inputs to tf.function failed due to `Can not cast " +
                        TensorSpec(specs[i].shape, specs[i].dtype).str() + " to " + wanted.str() + "`.");
      specs[i].shape = wanted.shape;
    }
  } else if (options.reduce_retracing) {
    for (const Trace& t : traces) {
      bool alike = t.rest == rest && t.arguments.size() == specs.size();
      for (size_t i = 0; i < specs.size() && alike; ++i) alike = t.arguments[i].dtype == specs[i].dtype;
      for (size_t i = 0; i < specs.size() && alike; ++i)
        specs[i].shape = specs[i].shape.most_general_common_supershape(t.arguments[i].shape);
    }
  }
  return specs;
}

}  // namespace

FunctionCore::Found FunctionCore::find(std::span<const TensorRef> tensors, const std::string& rest,
                                       const TraceBody& body, std::span<const std::string> names) {
  std::lock_guard lock(state_->mutex);
  if (state_->asks_for_values && thread_state.tracer) return {};
  Found found{search(tensors, rest), {}};
  note_call(!found.trace);
  try {
    if (!found.trace) found = make(tensors, rest, body, names);
  } catch (...) {
    if (!std::exchange(values_were_needed, false)) throw;
    state_->asks_for_values = true;
    return {};
  }
  if (found.trace) state_->latest.store(found.trace, std::memory_order_release);
  return found;
}

const Trace& FunctionCore::find_graph(std::span<const TensorRef> tensors, const std::string& rest,
                                      const TraceBody& body, std::span<const std::string> names) {
  Found found = find(tensors, rest, body, names);
  if (!found.trace || !found.trace->body)
    throw TypeError(options_.name +
                    " has no single graph: what it does depends on values of tensors. Use tf::cond and tf::while_loop "
                    "instead of if and while");
  return *found.trace;
}

FunctionCore::Found FunctionCore::make(std::span<const TensorRef> tensors, const std::string& rest,
                                       const TraceBody& body, std::span<const std::string> names) {
  if (state_->tracing)
    throw RuntimeError(options_.name +
                       " calls itself while it is traced, without end: use tf.while_loop, or a plain function for the "
                       "recursion");
  state_->tracing = true;
  struct Ended {
    bool& tracing;
    ~Ended() { tracing = false; }
  } ended{state_->tracing};
  Found found;
  Trace made{specs_for(tensors, rest, options_, state_->traces), rest, nullptr, nullptr, nullptr};
  bool created_variables = trace(made, tensors, body, names, !state_->called, found.outcome);
  state_->called = true;
  // Later calls will not make variables: the trace to keep is one that does not either.
  if (created_variables && found.outcome) return found;
  if (created_variables) trace(made, tensors, body, names, false, found.outcome);
  found.trace = &state_->traces.emplace_back(std::move(made));
  return found;
}

bool FunctionCore::trace(Trace& to, std::span<const TensorRef> tensors, const TraceBody& body,
                         std::span<const std::string> names, bool may_create_variables,
                         std::optional<Traced>& outcome) {
  bool has_values = !thread_state.tracer;
  for (const TensorRef& t : tensors) has_values &= t.p->form != Form::symbolic;
  const bool values_around = thread_state.reveal != nullptr;
  PathTracer tracer(current_tracer(), options_.name, tensors);
  tracer.may_create_variables = may_create_variables;
  tracer.graph().jit_compile |= options_.jit_compile;
  std::vector<Tensor> arguments;
  Tracing tracing(&tracer);
  for (size_t i = 0; i < to.arguments.size(); ++i) {
    std::string name = i < names.size() ? names[i] : "";
    if (i < options_.input_signature.size() && !options_.input_signature[i].name.empty())
      name = options_.input_signature[i].name;
    arguments.push_back(tracer.argument(to.arguments[i].dtype, to.arguments[i].shape, name));
  }
  if (!options_.autograph) thread_state.reveal = nullptr;
  else if (has_values) tracer.answer_questions(tracing.stopped(), arguments);
  else if (values_around) thread_state.reveal = refuse_for_now;
  state_->tracing_count.fetch_add(1, std::memory_order_relaxed);
  Traced traced = body(arguments);
  values_were_needed = false;
  if (tracer.was_asked()) {
    outcome = tracer.finish(traced);
    to.paths = tracer.take_paths();
    return !tracer.created_variables().empty();
  }
  for (const Tensor& t : traced.tensors) tracer.graph().results.push_back(tracer.value_of(t));
  to.structure = std::move(traced.structure);
  if (!tracer.captures().empty())
    throw TypeError(options_.name +
                    " uses a symbolic tensor of the function that calls it: pass it as an argument instead");
  to.body = std::make_shared<FunctionBody>("__inference_" + options_.name + "_" + std::to_string(next_function++),
                                           std::move(tracer.graph()));
  return !tracer.created_variables().empty();
}

std::string describe(const FunctionCore& core) {
  auto text = [](const Spec& spec) { return std::string(name_of(spec.dtype)) + " " + spec.shape.str(); };
  std::string lines;
  for (const Trace* t : core.traces()) {
    lines += core.options().name + "(";
    for (size_t i = 0; i < t->arguments.size(); ++i) lines += (i ? ", " : "") + text(t->arguments[i]);
    lines += ") -> ";
    if (t->paths) {
      lines += "what values decide, in " + std::to_string(t->paths->num_segments()) + " segments\n";
      continue;
    }
    for (size_t i = 0; i < t->body->num_results(); ++i) lines += (i ? ", " : "") + text(t->body->result(i));
    lines += t->body->num_results() ? "\n" : "None\n";
  }
  return lines;
}

// As TensorFlow: five traces within the last five calls are too many.
void FunctionCore::note_call(bool traced) {
  state_->recent_traces = traced ? state_->recent_traces + 1 : std::max(0, state_->recent_traces - 1);
  ++state_->recent_calls;
  if (state_->recent_traces < 5 || state_->recent_calls <= 5 || state_->warned) return;
  state_->warned = true;
  warn("5 out of the last 5 calls to " + (options_.described_as.empty() ? options_.name : options_.described_as) +
       " triggered tf.function retracing. Tracing is expensive and the excessive number of tracings could be due to "
       "(1) creating functions repeatedly in a loop, (2) passing tensors with different shapes, (3) passing numbers or "
       "other objects instead of tensors. For (1), make the function outside of the loop. For (2), set "
       "reduce_retracing, or give an input_signature. For (3), pass tensors. "
       "https://www.tensorflow.org/guide/function#controlling_retracing says more.");
}

}  // namespace graph
}  // namespace thalweg
