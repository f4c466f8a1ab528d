#include "thalweg/autodiff/backprop.h"

#include <array>

#include "thalweg/core/error.h"
#include "thalweg/ops/broadcasting.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/indexed_slices.h"

namespace thalweg::autodiff {

constinit thread_local const Op* gradient_in_progress [[gnu::tls_model("initial-exec")]] = nullptr;

namespace {

/// A few tensors without a vector: ops have seldom more than eight inputs.
class FewTensors {
 public:
  explicit FewTensors(size_t count) : count_(count) {
    if (count > few_.size()) many_.resize(count);
  }
  std::span<Tensor> all() { return {count_ > few_.size() ? many_.data() : few_.data(), count_}; }
  Tensor& operator[](size_t i) { return all()[i]; }

 private:
  std::array<Tensor, 8> few_;
  std::vector<Tensor> many_;
  size_t count_;
};

std::string name_of_entry(const Entry& e) { return e.op ? e.op->name : "a custom gradient"; }

}  // namespace

Backprop::Backprop(Log& log, int tape, bool consume)
    : log_(log),
      tape_(tape),
      consume_(consume),
      start_(log.start_of(tape)),
      end_(static_cast<uint32_t>(log.entries().size())),
      first_slot_(start_ < end_ ? log.entries()[start_].first_slot : log.num_slots()),
      slots_(log.num_slots() - first_slot_),
      leaves_(log.watched().size()),
      slot_sources_(slots_.size()),
      leaf_sources_(leaves_.size()),
      needed_(end_ - start_) {}

Tensor* Backprop::place_of(const TensorImpl* t) {
  if (log_.follows(tape_, t) && t->track_slot - first_slot_ < slots_.size())
    return &slots_[t->track_slot - first_slot_];
  uint32_t i = log_.watched().find(t);
  return i < leaves_.size() && (log_.watched()[i].tapes & Log::bit(tape_)) ? &leaves_[i] : nullptr;
}

const Tensor* Backprop::add_source(const Tensor& source) {
  Tensor* place = place_of(source.get());
  if (!place) return nullptr;
  if (!leaves_.empty() && place >= leaves_.data() && place < leaves_.data() + leaves_.size())
    leaf_sources_[static_cast<size_t>(place - leaves_.data())] = 1;
  else slot_sources_[static_cast<size_t>(place - slots_.data())] = 1;
  return place;
}

void Backprop::add_target(const Tensor& target, const Tensor& gradient) {
  Tensor* place = place_of(target.get());
  if (!place) return;
  Tensor given = gradient.defined() ? gradient : ones_like(target);
  *place = place->defined() ? add_gradients(std::move(*place), given) : given;
}

bool Backprop::leads_to_source(const TensorImpl* t) const {
  if (log_.follows(tape_, t) && t->track_slot - first_slot_ < slots_.size())
    return needed_[log_.entry_of(t) - start_] || slot_sources_[t->track_slot - first_slot_];
  uint32_t i = log_.watched().find(t);
  return i < leaf_sources_.size() && leaf_sources_[i];
}

void Backprop::find_needed() {
  const uint64_t bit = Log::bit(tape_);
  for (uint32_t k = start_; k < end_; ++k) {
    const Entry& e = log_.entries()[k];
    if (!(e.tapes & bit)) continue;
    for (uint32_t i = 0; i < e.inputs && !needed_[k - start_]; ++i) needed_[k - start_] = leads_to_source(e.tensors[i]);
  }
}

void Backprop::run() {
  find_needed();
  for (uint32_t k = end_; k-- > start_;) {
    if (needed_[k - start_]) {
      Entry e = log_.entries()[k];  // a copy: other tapes record the gradients as they are computed
      run_entry(e);
    }
    if (consume_) log_.consume(tape_, k);
  }
}

void Backprop::run_entry(const Entry& e) {
  FewTensors output_grads(e.outputs);
  bool any = false;
  for (uint32_t i = 0; i < e.outputs; ++i) {
    uint32_t slot = e.first_slot + i - first_slot_;
    if (slot_sources_[slot]) output_grads[i] = slots_[slot];
    else output_grads[i].swap(slots_[slot]);
    any |= output_grads[i].defined();
  }
  if (!any) return;
  uint64_t wanted = 0;
  for (uint32_t i = 0; i < e.inputs; ++i)
    if (leads_to_source(e.tensors[i])) wanted |= uint64_t{1} << (i < 63 ? i : 63);
  if (e.op) {
    FewTensors input_grads(e.inputs);
    GradCall call(*e.op, e.input_tensors(), e.output_tensors(), output_grads.all(), AttrsRef(e.attrs),
                  input_grads.all(), wanted);
    {
      GradientOf naming(e.op);
      e.op->grad(call);
    }
    for (uint32_t i = 0; i < e.inputs; ++i)
      if (input_grads[i].defined()) accumulate(e, e.input_tensors()[i], std::move(input_grads[i]));
    return;
  }
  for (uint32_t i = 0; i < e.outputs && !e.backward->takes_none(); ++i)
    if (!output_grads[i].defined()) output_grads[i] = zeros_like(e.output_tensors()[i]);
  std::vector<Tensor> input_grads = e.backward->run(output_grads.all(), wanted);
  if (input_grads.size() != e.inputs)
    throw ValueError("a custom gradient returned " + std::to_string(input_grads.size()) + " gradients for " +
                     std::to_string(e.inputs) + " inputs");
  for (uint32_t i = 0; i < e.inputs; ++i)
    if (input_grads[i].defined()) accumulate(e, e.input_tensors()[i], std::move(input_grads[i]));
}

void Backprop::accumulate(const Entry& e, const Tensor& input, Tensor gradient) {
  if (!leads_to_source(input.get())) return;
  if (input.dtype() != DType::resource) {
    if (gradient.dtype() != input.dtype())
      throw errors::InternalError("the gradient of " + name_of_entry(e) + " has dtype " +
                                  std::string(name_of(gradient.dtype())) + ", its input " +
                                  std::string(name_of(input.dtype())));
    bool differs = !(gradient.shape() == input.shape()) || !input.shape().is_fully_defined();
    if (differs && e.op && e.op->traits.broadcasts) gradient = sum_to_shape_of(input, to_array(gradient));
    else if (!gradient.shape().is_compatible_with(input.shape()))
      throw errors::InternalError("the gradient of " + name_of_entry(e) + " has shape " + gradient.shape().brackets() +
                                  ", its input " + input.shape().brackets());
  }
  Tensor* place = place_of(input.get());
  *place = place->defined() ? add_gradients(std::move(*place), gradient) : std::move(gradient);
}

}  // namespace thalweg::autodiff
