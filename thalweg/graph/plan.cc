#include "thalweg/graph/plan.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "thalweg/core/error.h"
#include "thalweg/core/seed.h"
#include "thalweg/graph/plan_frame.h"
#include "thalweg/graph/profiler.h"
#include "thalweg/graph/run_state.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/inspection.h"

namespace thalweg::graph {
namespace {

// Whether shapes decide everything that infer says of this node, now and at every run.
bool is_static(const Node& n) {
  for (const Spec& r : n.results)
    if (!r.shape.is_fully_defined()) return false;
  for (const Value& v : n.inputs)
    if (!v.node->results[static_cast<size_t>(v.index)].shape.is_fully_defined()) return false;
  std::vector<Tensor> held;
  std::vector<TensorRef> in;
  for (const Value& v : n.inputs) {
    if (v.node->is_constant()) {
      held.push_back(v.node->constant);
      continue;
    }
    const Spec& spec = v.node->results[static_cast<size_t>(v.index)];
    Tensor t(TensorImpl::make());
    t.impl()->dtype = spec.dtype;
    t.impl()->shape = spec.shape;
    t.impl()->form = Form::symbolic;
    held.push_back(std::move(t));
  }
  in.assign(held.begin(), held.end());
  std::vector<TensorImpl*> out(n.results.size());
  for (TensorImpl*& o : out) o = TensorImpl::make();
  bool known = false;
  try {
    InferCall call(*n.op, in, n.attrs, out);
    n.op->infer(call);
    known = !call.missed_value();
    for (size_t i = 0; i < out.size() && known; ++i) known = out[i]->shape == n.results[i].shape;
  } catch (const Error&) {
    known = false;  // it will be said again, with values, when it runs
  }
  for (TensorImpl* o : out) {
    o->dtype = DType::invalid;
    release(o);
  }
  return known;
}

// Says where it happened.
void add_node(Error& error, const Node& node) {
  std::string where = describe(node.where);
  error.add_context(" [[node " + node.name + "]]" + (where.empty() ? "" : " made at " + where));
}

bool is_held(const TensorImpl& t) { return t.refs.load(std::memory_order_acquire) != 1; }

}  // namespace

Plan::~Plan() {
  delete spare_.load();
  for (Frame* f : spares_) delete f;
}

Plan::Plan(const Graph& graph, const std::vector<Node*>& arguments, const std::vector<Value>& results,
           bool keep_effects) {
  std::vector<uint8_t> needed = needed_nodes(graph, results, keep_effects);
  number_values(graph, arguments, needed);
  for (const Node& n : graph.nodes()) {
    bool is_argument = first_slots_[static_cast<size_t>(n.id)] < num_arguments_;
    if (needed[static_cast<size_t>(n.id)] && !n.is_constant() && !is_argument) add_step(n);
  }
  for (const Value& v : results) results_.push_back(slot_of(v));
  place_values();
  find_direct_steps();
  find_unread();
  find_deaths();
  std::vector<uint32_t> distinct = results_;
  std::sort(distinct.begin(), distinct.end());
  shared_results_ = std::adjacent_find(distinct.begin(), distinct.end()) != distinct.end() ||
                    (!distinct.empty() && distinct.front() < first_computed_);
}

// Arguments first, then constants, then what is computed.
void Plan::number_values(const Graph& graph, const std::vector<Node*>& arguments, const std::vector<uint8_t>& needed) {
  constexpr uint32_t none = ~0u;
  first_slots_.assign(graph.nodes().size(), none);
  for (const Node* n : arguments) first_slots_[static_cast<size_t>(n->id)] = num_slots_++;
  num_arguments_ = num_slots_;
  for (const Node& n : graph.nodes())
    if (needed[static_cast<size_t>(n.id)] && n.is_constant()) {
      first_slots_[static_cast<size_t>(n.id)] = num_slots_++;
      constants_.push_back(n.constant);
    }
  first_computed_ = num_slots_;
  for (const Node& n : graph.nodes())
    if (needed[static_cast<size_t>(n.id)] && first_slots_[static_cast<size_t>(n.id)] == none) {
      first_slots_[static_cast<size_t>(n.id)] = num_slots_;
      num_slots_ += static_cast<uint32_t>(n.results.size());
      specs_.insert(specs_.end(), n.results.begin(), n.results.end());
    }
}

void Plan::add_step(const Node& n) {
  PlanStep& s = steps_.emplace_back();
  s.op = n.op;
  s.attrs = n.attrs;
  s.node = &n;
  s.first_input = static_cast<uint32_t>(inputs_.size());
  s.num_inputs = static_cast<uint32_t>(n.inputs.size());
  for (const Value& v : n.inputs) inputs_.push_back(slot_of(v));
  s.first_output = first_slots_[static_cast<size_t>(n.id)];
  s.num_outputs = static_cast<uint32_t>(n.results.size());
  s.infer = !is_static(n);
  s.stream = n.stream.get();
  calls_functions_ |= n.op->follow != nullptr;
  most_inputs_ = std::max(most_inputs_, s.num_inputs);
}

// A frame is worth its while for a plan with memory in it, or with several blocks; else every block is fresh.
void Plan::place_values() {
  memory_ = plan_memory({steps_, inputs_, results_, specs_, first_computed_});
  constexpr long few = 3;
  framed_ = memory_.arena_bytes > 0 || std::count_if(memory_.places.begin(), memory_.places.end(),
                                                     [](Place p) { return p != Place::fresh; }) > few;
  if (framed_) return;
  std::fill(memory_.places.begin(), memory_.places.end(), Place::fresh);
  for (PlanStep& s : steps_) s.fresh = s.num_outputs > 0;
}

// Steps that do nothing but run their kernel on values that lie in their blocks.
void Plan::find_direct_steps() {
  for (PlanStep& s : steps_) {
    s.direct = !s.infer && !s.op->traits.view;
    for (uint32_t i = 0; i < s.num_outputs; ++i) {
      const Spec& result = spec(s.first_output + i);
      s.direct =
          s.direct && !is_object(result.dtype) &&
          static_cast<size_t>(result.shape.num_elements()) * size_of(result.dtype) <= sizeof(TensorImpl::inline_data);
    }
  }
}

void Plan::find_unread() {
  std::vector<bool> read(num_slots_);
  for (uint32_t slot : inputs_) read[slot] = true;
  for (uint32_t slot : results_) read[slot] = true;
  for (PlanStep& s : steps_)
    for (uint32_t i = 0; i < s.num_outputs && i < 32; ++i)
      if (!read[s.first_output + i]) s.unread |= 1u << i;
}

void Plan::find_deaths() {
  constexpr uint32_t never = ~0u;
  const auto num_steps = static_cast<uint32_t>(steps_.size());
  std::vector<uint32_t> last(num_slots_, never);
  for (uint32_t k = 0; k < num_steps; ++k) {
    const PlanStep& s = steps_[k];
    for (uint32_t i = 0; i < s.num_outputs; ++i) last[s.first_output + i] = k;  // results nobody reads
    for (uint32_t i = 0; i < s.num_inputs; ++i) last[inputs_[s.first_input + i]] = k;
  }
  for (uint32_t slot : results_) last[slot] = never;
  for (uint32_t k = 0; k < num_steps; ++k) {
    PlanStep& s = steps_[k];
    s.temporaries = 0;
    for (uint32_t i = 0; i < s.num_inputs && i < 32; ++i) {
      uint32_t slot = inputs_[s.first_input + i];
      if (slot >= first_computed_ && last[slot] == k) s.temporaries |= 1u << i;
    }
    if (s.num_outputs == 0 || place_of(s.first_output) == Place::arena) s.temporaries = 0;
  }
  // The arena's values live as long as their views.
  std::vector<uint32_t> count(num_steps + 1);
  for (uint32_t slot = first_computed_; slot < num_slots_; ++slot) {
    if (place_of(slot) == Place::arena) last[slot] = memory_.ends[slot - first_computed_];
    if (last[slot] != never) ++count[last[slot]];
  }
  uint32_t next = 0;
  for (uint32_t k = 0; k < num_steps; ++k) {
    steps_[k].first_dead = next;
    steps_[k].num_dead = count[k];
    next += std::exchange(count[k], next);
  }
  dead_.resize(next);
  for (uint32_t slot = num_slots_; slot-- > first_computed_;)  // views before what they show
    if (last[slot] != never) dead_[count[last[slot]]++] = slot;
}

// The results' blocks, as far as they are not there from the run before.
inline void Plan::make_fresh(const PlanStep& s, std::span<TensorImpl*> out) const {
  const Spec* specs = specs_.data() + (s.first_output - first_computed_);
  const Place* places = memory_.places.data() + (s.first_output - first_computed_);
  for (size_t i = 0; i < out.size(); ++i) out[i] = places[i] == Place::fresh ? nullptr : out[i];
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i]) continue;
    TensorImpl* o = out[i] = TensorImpl::make();
    o->device = thread_state.device;
    if (s.infer) continue;
    o->shape = specs[i].shape;
    o->dtype = specs[i].dtype;
    if (s.direct) o->data = o->inline_data;
  }
}

inline void Plan::run_step(const PlanStep& s, TensorImpl** slots) const {
  TensorImpl** inputs = slots + num_slots_;
  bool large = !s.direct;
  for (uint32_t i = 0; i < s.num_inputs; ++i) {
    inputs[i] = slots[inputs_[s.first_input + i]];
    large |= inputs[i]->buffer != nullptr;
  }
  std::span<const TensorRef> in(reinterpret_cast<const TensorRef*>(inputs), s.num_inputs);
  std::span<TensorImpl*> out(slots + s.first_output, s.num_outputs);
  if (s.fresh) make_fresh(s, out);
  std::optional<RandomStreamScope> stream;
  if (s.stream) [[unlikely]]
    stream.emplace(*s.stream);
  const bool inspected = detail::inspected.load(std::memory_order_relaxed) != 0;  // looks at all outputs
  if (!large) {  // everything lies in the blocks: nothing to allocate, and nothing to gain from flushing denormals
    s.op->kernel.run(KernelCall(*s.op, in, s.attrs, out));
  } else {
    if (s.infer) {
      InferCall call(*s.op, in, s.attrs, out);
      s.op->infer(call);
    }
    detail::compute(*s.op, in, s.attrs, out, s.temporaries, inspected ? 0 : s.unread);
  }
  if (inspected) [[unlikely]]
    detail::inspect(*s.op, in, out);
}

// As above, while somebody may stop or measure it.
void Plan::run_step_watched(const PlanStep& s, TensorImpl** slots) const {
  check_cancelled();
  Profiler* profiler = run_state.profiler;
  if (!profiler) return run_step(s, slots);
  auto started = profiler->begin();
  try {
    run_step(s, slots);
  } catch (...) {
    profiler->abandon();
    throw;
  }
  profiler->end(s, {reinterpret_cast<const TensorRef*>(slots + num_slots_), s.num_inputs},
                {slots + s.first_output, s.num_outputs}, started);
}

// Nobody reads the value again, unless an op has kept it.
void Plan::let_go(uint32_t slot, TensorImpl** slots, Frame* frame, const PlanStep& step) const {
  TensorImpl* t = slots[slot];
  switch (place_of(slot)) {
    case Place::fresh:
      release(t);
      slots[slot] = nullptr;
      return;
    case Place::arena:
      if ((is_held(*t) || !t->buffer || !t->buffer->unique()) && !frame->given_up()) [[unlikely]]
        frame->give_up(step.first_output + step.num_outputs);
      return;
    case Place::block:
    case Place::loose:
      if (is_held(*t)) {
        release(t);
        frame->make_block(slot);
        return;
      }
      t->track = 0;
      if (place_of(slot) == Place::block) return;
      if (t->buffer) std::exchange(t->buffer, nullptr)->drop();
      t->data = nullptr;
      t->shape = spec(slot).shape;  // whoever was written over it has left it empty
  }
}

template <bool watched> void Plan::run_steps(TensorImpl** slots, Frame* frame) const {
  const PlanStep* step = steps_.data();
  try {
    if constexpr (watched) check_cancelled();  // loops may consist of nothing else
    for (const PlanStep* end = step + steps_.size(); step != end; ++step) {
      const PlanStep& s = *step;
      if (s.overwritten >= 0 && !frame->given_up()) {
        const TensorImpl& from = *slots[s.overwritten];
        if (is_held(from) || !from.buffer->unique()) [[unlikely]]
          frame->give_up(s.first_output);
      }
      if constexpr (watched) run_step_watched(s, slots);
      else run_step(s, slots);
      for (uint32_t i = 0; i < s.num_dead; ++i) let_go(dead_[s.first_dead + i], slots, frame, s);
    }
  } catch (Error& error) {
    if (!frame) release_until(step, slots);
    if (step != steps_.data() + steps_.size()) add_node(error, *step->node);
    throw;
  } catch (...) {  // another's, as it is
    if (!frame) release_until(step, slots);
    throw;
  }
}

// After an exception: what steps up to this one have made.
void Plan::release_until(const PlanStep* step, TensorImpl** slots) const {
  if (step == steps_.data() + steps_.size()) return;
  for (uint32_t i = first_computed_; i < step->first_output + step->num_outputs; ++i) {
    if (slots[i] && !slots[i]->data) slots[i]->dtype = DType::invalid;  // described, but without memory
    release(slots[i]);
  }
}

void Plan::run_in_frame(std::span<const TensorRef> arguments, std::span<TensorImpl*> results, bool watched) const {
  FrameUse use(*this);
  TensorImpl** slots = use.get()->slots();
  for (uint32_t i = 0; i < num_arguments_; ++i) slots[i] = arguments[i].p;
  if (watched) run_steps<true>(slots, use.get());
  else run_steps<false>(slots, use.get());
  take_results(slots, results);
  use.end();
}

void Plan::run_on_stack(std::span<const TensorRef> arguments, std::span<TensorImpl*> results, bool watched) const {
  TensorImpl* few[24];
  std::unique_ptr<TensorImpl*[]> many;
  const size_t size = num_slots_ + most_inputs_;
  if (size > std::size(few)) many = std::make_unique_for_overwrite<TensorImpl*[]>(size);
  TensorImpl** slots = many ? many.get() : few;
  for (uint32_t i = 0; i < num_arguments_; ++i) slots[i] = arguments[i].p;
  for (uint32_t i = num_arguments_; i < first_computed_; ++i) slots[i] = constants_[i - num_arguments_].get();
  if (watched) {
    std::fill(slots + first_computed_, slots + num_slots_, nullptr);  // it may end before a step makes them
    run_steps<true>(slots, nullptr);
  } else {
    run_steps<false>(slots, nullptr);
  }
  take_results(slots, results);
}

// A value that the run made is the caller's from now on; others get one owner more.
void Plan::take_results(TensorImpl** slots, std::span<TensorImpl*> results) const {
  for (size_t i = 0; i < results_.size(); ++i) {
    results[i] = slots[results_[i]];
    if (shared_results_) retain(results[i]);
  }
  if (!shared_results_) {
    if (framed_)
      for (uint32_t slot : results_) slots[slot] = nullptr;
    return;
  }
  for (uint32_t slot : results_)
    if (slot >= first_computed_) release(std::exchange(slots[slot], nullptr));
}

void Plan::run(std::span<const TensorRef> arguments, std::span<TensorImpl*> results) const {
  RunState& state = run_state;
  RunDepth depth(state);
  if (framed_) run_in_frame(arguments, results, state.watched);
  else run_on_stack(arguments, results, state.watched);
}

}  // namespace thalweg::graph
