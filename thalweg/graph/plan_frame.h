// The frames of plans: what runs have of their own, and hand on to the next run. For plan.cc alone.
#pragma once
#include <utility>

#include "thalweg/graph/plan.h"
#include "thalweg/ops/apply.h"

namespace thalweg::graph {

/// The slots of one run, with the blocks that runs share. Blocks in the arena have buffers that only say where they
/// are: whoever holds such a block or buffer when it should die has the arena from then on, and the frame is given up.
class Plan::Frame {
 public:
  explicit Frame(const Plan& plan)
      : plan_(plan), slots_(plan.num_slots_ + plan.most_inputs_), device_(thread_state.device) {
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
    TensorImpl* t = slots_[slot] = describe(slot);
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
        arena_->retain();
        b->context = arena_;
      } else {
        release(slots_[i]);
        slots_[i] = describe(i);
      }
    }
    given_up_ = true;
  }

 private:
  TensorImpl* describe(uint32_t slot) const {
    TensorImpl* t = TensorImpl::make();
    t->device = device_;
    t->dtype = plan_.spec(slot).dtype;
    t->shape = plan_.spec(slot).shape;
    return t;
  }
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

}  // namespace thalweg::graph
