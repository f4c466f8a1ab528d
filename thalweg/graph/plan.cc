#include "thalweg/graph/plan.h"

#include <memory>

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

}  // namespace

/// The values of one run; what is left is given back at its end.
class Plan::Frame {
 public:
  explicit Frame(const Plan& plan) : plan_(plan) {
    size_t size = plan.num_slots_ + plan.most_inputs_;
    if (size > few_.size()) many_ = std::make_unique_for_overwrite<TensorImpl*[]>(size);
    slots_ = many_ ? many_.get() : few_.data();
    for (uint32_t i = plan.first_computed_; i < plan.num_slots_; ++i) slots_[i] = nullptr;
  }
  ~Frame() {
    for (uint32_t i = plan_.first_computed_; i < plan_.num_slots_; ++i) release(slots_[i]);
  }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;
  TensorImpl** slots() { return slots_; }
  TensorImpl** inputs() { return slots_ + plan_.num_slots_; }

 private:
  const Plan& plan_;
  std::array<TensorImpl*, 48> few_;
  std::unique_ptr<TensorImpl*[]> many_;
  TensorImpl** slots_;
};

Plan::Plan(const Graph& graph, const std::vector<Node*>& arguments, const std::vector<Value>& results,
           bool keep_effects) {
  std::vector<uint8_t> needed = needed_nodes(graph, results, keep_effects);
  number_values(graph, arguments, needed);
  for (const Node& n : graph.nodes()) {
    bool is_argument = first_slots_[static_cast<size_t>(n.id)] < num_arguments_;
    if (needed[static_cast<size_t>(n.id)] && !n.is_constant() && !is_argument) add_step(n);
  }
  for (const Value& v : results) results_.push_back(slot_of(v));
  find_last_uses();
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
  Step& s = steps_.emplace_back();
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

void Plan::find_last_uses() {
  constexpr uint32_t never = ~0u;
  std::vector<uint32_t> last(num_slots_, never);
  for (uint32_t k = 0; k < steps_.size(); ++k) {
    const Step& s = steps_[k];
    for (uint32_t i = 0; i < s.num_outputs; ++i) last[s.first_output + i] = k;  // results nobody reads
    for (uint32_t i = 0; i < s.num_inputs; ++i) last[inputs_[s.first_input + i]] = k;
  }
  for (uint32_t slot : results_) last[slot] = never;
  for (uint32_t k = 0; k < steps_.size(); ++k) {
    Step& s = steps_[k];
    s.first_dead = static_cast<uint32_t>(dead_.size());
    s.temporaries = 0;
    auto die = [&](uint32_t slot) {
      if (slot < first_computed_ || last[slot] != k) return;
      dead_.push_back(slot);
      last[slot] = never;
    };
    for (uint32_t i = 0; i < s.num_inputs && i < 32; ++i) {
      uint32_t slot = inputs_[s.first_input + i];
      if (slot >= first_computed_ && last[slot] == k) s.temporaries |= 1u << i;
    }
    for (uint32_t i = 0; i < s.num_inputs; ++i) die(inputs_[s.first_input + i]);
    for (uint32_t i = 0; i < s.num_outputs; ++i) die(s.first_output + i);
    s.num_dead = static_cast<uint32_t>(dead_.size()) - s.first_dead;
  }
}

void Plan::run_step(const Step& s, TensorImpl** slots, TensorImpl** inputs) const {
  for (uint32_t i = 0; i < s.num_inputs; ++i) inputs[i] = slots[inputs_[s.first_input + i]];
  std::span<const TensorRef> in(reinterpret_cast<const TensorRef*>(inputs), s.num_inputs);
  std::span<TensorImpl*> out(slots + s.first_output, s.num_outputs);
  const Spec* specs = specs_.data() + (s.first_output - first_computed_);
  for (uint32_t i = 0; i < s.num_outputs; ++i) {
    TensorImpl* o = TensorImpl::make();
    o->device = thread_state.device;
    out[i] = o;
    if (s.infer) continue;
    o->shape = specs[i].shape;
    o->dtype = specs[i].dtype;
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

void Plan::run(std::span<const TensorRef> arguments, std::span<TensorImpl*> results) const {
  Frame frame(*this);
  TensorImpl** slots = frame.slots();
  for (uint32_t i = 0; i < num_arguments_; ++i) slots[i] = arguments[i].p;
  for (uint32_t i = num_arguments_; i < first_computed_; ++i) slots[i] = constants_[i - num_arguments_].get();
  const Step* step = nullptr;
  try {
    for (const Step& s : steps_) {
      step = &s;
      run_step(s, slots, frame.inputs());
      for (uint32_t i = 0; i < s.num_dead; ++i) {
        uint32_t slot = dead_[s.first_dead + i];
        release(slots[slot]);
        slots[slot] = nullptr;
      }
    }
  } catch (Error& error) {
    error.add_context(" [[node " + step->node->name + "]]");
    throw;
  }
  for (size_t i = 0; i < results_.size(); ++i) {
    results[i] = slots[results_[i]];
    retain(results[i]);
  }
}

}  // namespace thalweg::graph
