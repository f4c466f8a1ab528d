#include "thalweg/graph/plan.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "thalweg/core/error.h"
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

TensorImpl* describe(const Spec& spec) {
  TensorImpl* t = TensorImpl::make();
  t->device = thread_state.device;
  t->dtype = spec.dtype;
  t->shape = spec.shape;
  return t;
}

bool is_held(const TensorImpl& t) { return t.refs.load(std::memory_order_acquire) != 1; }

}  // namespace

/// The slots of one run, with the blocks that runs share. Blocks in the arena have buffers that only say where they
/// are: whoever holds such a block or buffer when it should die has the arena from then on, and the frame is given up.
class Plan::Frame {
 public:
  explicit Frame(const Plan& plan) : plan_(plan), slots_(plan.num_slots_ + plan.most_inputs_) {
    device_ = thread_state.device;
    for (uint32_t i = plan.num_arguments_; i < plan.first_computed_; ++i)
      slots_[i] = plan.constants_[i - plan.num_arguments_].get();
    for (uint32_t i = plan.first_computed_; i < plan.num_slots_; ++i) make_block(i);
  }
  ~Frame() {
    for (uint32_t i = plan_.first_computed_; i < plan_.num_slots_; ++i) release(slots_[i]);
    if (arena_) arena_->drop();
  }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  TensorImpl** slots() { return slots_.data(); }
  bool given_up() const { return given_up_; }

  void begin() {
    if (device_ != thread_state.device) [[unlikely]]
      move_to(thread_state.device);
    if (plan_.memory_.arena_bytes == 0) return;
    arena_ = Buffer::make(plan_.memory_.arena_bytes, DType::uint8, device_);
    if (arena_->data != base_) rebase();
  }
  void end() {
    if (arena_) std::exchange(arena_, nullptr)->drop();
  }

  /// A block for the next run, as it was made.
  void make_block(uint32_t slot) {
    const Place place = plan_.place_of(slot);
    if (place == Place::fresh) return;
    TensorImpl* t = slots_[slot] = describe(plan_.spec(slot));
    if (place == Place::block) t->data = t->inline_data;
    if (place != Place::arena) return;
    t->buffer = Buffer::wrap(nullptr, let_arena_go, nullptr);
  }
  /// Somebody holds memory of the arena. From this slot on values lie elsewhere; those before it stay where they are.
  void give_up(uint32_t first) {
    for (uint32_t i = plan_.first_computed_; i < plan_.num_slots_; ++i) {
      if (plan_.place_of(i) != Place::arena) continue;
      if (i < first) {
        Buffer* b = slots_[i]->buffer;
        if (given_up_ || !b) continue;
        arena_->retain();
        b->context = arena_;
      } else {
        release(slots_[i]);
        slots_[i] = describe(plan_.spec(i));
      }
    }
    given_up_ = true;
  }

 private:
  static void let_arena_go(void* arena) {
    if (arena) static_cast<Buffer*>(arena)->drop();
  }
  void rebase() {
    base_ = arena_->data;
    for (uint32_t i = plan_.first_computed_; i < plan_.num_slots_; ++i) {
      if (plan_.place_of(i) != Place::arena) continue;
      TensorImpl* t = slots_[i];
      t->data = t->buffer->data = static_cast<char*>(base_) + plan_.memory_.offsets[i - plan_.first_computed_];
    }
  }
  void move_to(uint8_t device) {
    device_ = device;
    for (uint32_t i = plan_.first_computed_; i < plan_.num_slots_; ++i)
      if (slots_[i]) slots_[i]->device = device;
  }

  const Plan& plan_;
  std::vector<TensorImpl*> slots_;  // then room for the inputs of a step
  Buffer* arena_ = nullptr;
  void* base_ = nullptr;
  uint8_t device_ = 0;
  bool given_up_ = false;
};

/// A frame for one run: a spare one, or a new one. After an exception, or when somebody holds its memory, it goes away.
class Plan::FrameUse {
 public:
  explicit FrameUse(const Plan& plan) : plan_(plan), frame_(plan.spare_.exchange(nullptr, std::memory_order_acquire)) {
    if (!frame_) [[unlikely]]
      frame_ = find();
    try {
      frame_->begin();
    } catch (...) {
      delete frame_;
      throw;
    }
  }
  ~FrameUse() {
    if (!ended_) delete frame_;
  }
  FrameUse(const FrameUse&) = delete;
  FrameUse& operator=(const FrameUse&) = delete;
  Frame* get() { return frame_; }
  void end() {
    if (frame_->given_up()) return;
    frame_->end();
    ended_ = true;
    Frame* none = nullptr;
    if (plan_.spare_.compare_exchange_strong(none, frame_, std::memory_order_release)) return;
    std::lock_guard lock(plan_.mutex_);
    plan_.spares_.push_back(frame_);
  }

 private:
  Frame* find() {
    {
      std::lock_guard lock(plan_.mutex_);
      if (!plan_.spares_.empty()) {
        Frame* found = plan_.spares_.back();
        plan_.spares_.pop_back();
        return found;
      }
    }
    return new Frame(plan_);
  }

  const Plan& plan_;
  Frame* frame_;
  bool ended_ = false;
};

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
  find_deaths();
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
    if (s.num_outputs && place_of(s.first_output) == Place::arena) s.temporaries = 0;
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

void Plan::run_step(const PlanStep& s, TensorImpl** slots) const {
  TensorImpl** inputs = slots + num_slots_;
  for (uint32_t i = 0; i < s.num_inputs; ++i) inputs[i] = slots[inputs_[s.first_input + i]];
  std::span<const TensorRef> in(reinterpret_cast<const TensorRef*>(inputs), s.num_inputs);
  std::span<TensorImpl*> out(slots + s.first_output, s.num_outputs);
  if (s.fresh)
    for (uint32_t i = 0; i < s.num_outputs; ++i) {
      if (place_of(s.first_output + i) != Place::fresh) continue;
      TensorImpl* o = TensorImpl::make();
      o->device = thread_state.device;
      out[i] = o;
      if (s.infer) continue;
      const Spec& described = spec(s.first_output + i);
      o->shape = described.shape;
      o->dtype = described.dtype;
    }
  try {
    if (s.infer) {
      InferCall call(*s.op, in, s.attrs, out);
      s.op->infer(call);
    }
    detail::compute(*s.op, in, s.attrs, out, s.temporaries);
  } catch (...) {
    for (TensorImpl* o : out)
      if (!o->data) o->dtype = DType::invalid;  // described, but without memory
    throw;
  }
  if (detail::inspected.load(std::memory_order_relaxed)) [[unlikely]]
    detail::inspect(*s.op, in, out);
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

void Plan::run_steps(TensorImpl** slots, Frame* frame) const {
  const PlanStep* step = nullptr;
  try {
    for (const PlanStep& s : steps_) {
      step = &s;
      if (s.overwritten >= 0 && !frame->given_up()) {
        const TensorImpl& from = *slots[s.overwritten];
        if (is_held(from) || !from.buffer->unique()) [[unlikely]]
          frame->give_up(s.first_output);
      }
      run_step(s, slots);
      for (uint32_t i = 0; i < s.num_dead; ++i) let_go(dead_[s.first_dead + i], slots, frame, s);
    }
  } catch (Error& error) {
    error.add_context(" [[node " + step->node->name + "]]");
    throw;
  }
}

void Plan::take_results(TensorImpl** slots, std::span<TensorImpl*> results) const {
  for (size_t i = 0; i < results_.size(); ++i) {
    results[i] = slots[results_[i]];
    retain(results[i]);
  }
}

void Plan::run_in_frame(std::span<const TensorRef> arguments, std::span<TensorImpl*> results) const {
  FrameUse use(*this);
  TensorImpl** slots = use.get()->slots();
  for (uint32_t i = 0; i < num_arguments_; ++i) slots[i] = arguments[i].p;
  run_steps(slots, use.get());
  take_results(slots, results);
  for (uint32_t slot : results_)
    if (slot >= first_computed_) release(std::exchange(slots[slot], nullptr));
  use.end();
}

void Plan::run_on_stack(std::span<const TensorRef> arguments, std::span<TensorImpl*> results) const {
  /// What is left is given back at the end.
  struct Slots {
    const Plan& plan;
    std::array<TensorImpl*, 24> few;
    std::unique_ptr<TensorImpl*[]> many;
    TensorImpl** all;
    explicit Slots(const Plan& p) : plan(p) {
      size_t size = plan.num_slots_ + plan.most_inputs_;
      if (size > few.size()) many = std::make_unique_for_overwrite<TensorImpl*[]>(size);
      all = many ? many.get() : few.data();
      for (uint32_t i = plan.first_computed_; i < plan.num_slots_; ++i) all[i] = nullptr;
    }
    ~Slots() {
      for (uint32_t i = plan.first_computed_; i < plan.num_slots_; ++i) release(all[i]);
    }
  } slots(*this);
  for (uint32_t i = 0; i < num_arguments_; ++i) slots.all[i] = arguments[i].p;
  for (uint32_t i = num_arguments_; i < first_computed_; ++i) slots.all[i] = constants_[i - num_arguments_].get();
  run_steps(slots.all, nullptr);
  take_results(slots.all, results);
}

void Plan::run(std::span<const TensorRef> arguments, std::span<TensorImpl*> results) const {
  if (framed_) run_in_frame(arguments, results);
  else run_on_stack(arguments, results);
}

}  // namespace thalweg::graph
