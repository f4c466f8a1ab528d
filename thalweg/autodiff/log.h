// What tapes write down: one log per thread, shared by the tapes that are open at the same time.
#pragma once
#include <atomic>
#include <bit>
#include <memory>
#include <vector>

#include "thalweg/ops/apply.h"

namespace thalweg::autodiff {

/// One call of an op, or of something with a way back of its own.
struct Entry {
  const Op* op = nullptr;  // null: `backward`
  void* attrs = nullptr;   // a copy of the op's attributes
  BackwardFunction* backward = nullptr;
  TensorImpl** tensors = nullptr;  // inputs, then outputs; each is counted
  uint64_t tapes = 0;              // one bit for each tape that follows it
  uint32_t inputs = 0, outputs = 0;
  uint32_t first_slot = 0;  // outputs are numbered through the log

  std::span<const Tensor> input_tensors() const { return {reinterpret_cast<const Tensor*>(tensors), inputs}; }
  std::span<const Tensor> output_tensors() const {
    return {reinterpret_cast<const Tensor*>(tensors + inputs), outputs};
  }
};

/// Tensors that tapes were told to watch, and the handles of variables they saw being read.
class WatchList {
 public:
  struct Item {
    Tensor tensor;  // held, so that its address stays its own
    uint64_t tapes = 0;
  };
  static constexpr uint32_t none = ~0u;

  uint32_t find(const TensorImpl* t) const { return (filter_ >> hash(t) & 1) == 0 ? none : search(t); }
  void add(const Tensor& tensor, uint64_t tapes);
  /// Forgets what only these tapes watched.
  void remove(uint64_t tapes);
  void clear();
  const Item& operator[](uint32_t i) const { return items_[i]; }
  uint32_t size() const { return static_cast<uint32_t>(items_.size()); }

 private:
  // Blocks are aligned to 64 bytes.
  static unsigned hash(const TensorImpl* t) {
    return static_cast<unsigned>((reinterpret_cast<uintptr_t>(t) >> 6) * 0x9E3779B97F4A7C15u >> 58);
  }
  uint32_t search(const TensorImpl* t) const;

  uint64_t filter_ = 0;  // most tensors are told apart here
  std::vector<Item> items_;
  std::vector<uint32_t> table_;  // open addressing, once there are many
  void rebuild();
};

/// A tape is a bit in the log of its thread. An entry has the bits of the tapes that follow one of its inputs; a bit
/// counts only from where its tape began, so bits are used again.
class Log final : public Recorder {
 public:
  static constexpr int most_tapes = 64;
  /// The log of the tapes that are open in this thread, or a fresh one.
  static Log& current();
  void retain() { refs_.fetch_add(1, std::memory_order_relaxed); }
  /// Gives up a tape's bit and its share of the log. Any thread may call it, as objects may die in any.
  void release(int tape, bool is_open);

  /// A bit for a new tape.
  int add_tape();
  /// Begins, or goes on with, recording for a tape; RuntimeError in another thread than the log's.
  void start(int tape, bool watch_variables, bool persistent);
  void stop(int tape);
  void pause(int tape, bool paused);
  void watch(int tape, const Tensor& tensor) { watched_.add(tensor, bit(tape)); }
  bool is_watched(int tape, const Tensor& tensor) const {
    uint32_t i = watched_.find(tensor.get());
    return i != WatchList::none && (watched_[i].tapes & bit(tape)) != 0;
  }
  /// Lets go of what only this tape needs.
  void forget(int tape);
  bool is_own_thread() const { return thread_ == &thread_state; }
  void check_thread() const;
  /// Holds all tapes of this thread; returns them, for `resume_all`.
  static uint64_t pause_all();
  static void resume_all(uint64_t tapes);
  /// Makes this the log of the thread's open tapes, or none; returns the one before.
  static Log* exchange_current(Log* log);

  void record(const Op& op, std::span<const TensorRef> in, AttrsRef attrs, std::span<TensorImpl* const> out) override;
  void record(std::span<const Tensor> in, std::span<const Tensor> out,
              std::unique_ptr<BackwardFunction> backward) override;
  void access(const Tensor& handle) override;
  int orders() const override { return std::popcount(active_) + std::popcount(active_ & persistent_); }

  /// The first input of the op that made a symbolic tensor, where an open tape of this thread follows it; else None.
  static Tensor input_behind(const Tensor& symbolic);

  const std::vector<Entry>& entries() const { return entries_; }
  uint32_t num_slots() const { return static_cast<uint32_t>(slot_entries_.size()); }
  const WatchList& watched() const { return watched_; }
  uint32_t start_of(int tape) const { return starts_[tape]; }
  /// The entry that made a tensor of this log.
  uint32_t entry_of(const TensorImpl* t) const { return slot_entries_[t->track_slot]; }
  /// Whether the tensor is a result that this tape follows.
  bool follows(int tape, const TensorImpl* t) const {
    if (t->track != serial_) return false;
    uint32_t entry = entry_of(t);
    return entry >= starts_[tape] && (entries_[entry].tapes & bit(tape)) != 0;
  }
  /// The tape is done with an entry: frees it unless another tape needs it.
  void consume(int tape, uint32_t entry);

  static constexpr uint64_t bit(int tape) { return uint64_t{1} << tape; }

 private:
  Log() = default;
  ~Log() override = default;
  friend struct SpareLog;

  uint64_t tapes_of(const TensorImpl* t) const {
    uint64_t tapes = 0;
    if (t->track == serial_) {
      uint32_t entry = entry_of(t);
      tapes = entries_[entry].tapes & active_;
      if (entry < latest_start_) tapes = since(tapes, entry);
    }
    uint32_t i = watched_.find(t);
    return i == WatchList::none ? tapes : tapes | (watched_[i].tapes & active_);
  }
  uint64_t since(uint64_t tapes, uint32_t entry) const;
  Entry& append(uint64_t tapes, size_t inputs, size_t outputs);
  void follow(TensorImpl* output, uint32_t slot);
  void reset();
  void drop(Entry& entry);
  void update_thread();
  void reclaim_bits();

  std::atomic<uint32_t> refs_{0};
  std::atomic<uint64_t> released_{0};   // bits of tapes that are gone, perhaps in another thread
  std::atomic<uint64_t> abandoned_{0};  // of those that were open and died in another thread
  uint64_t serial_ = 0;
  uint64_t used_ = 0, open_ = 0, active_ = 0;  // tapes: alive, begun, recording
  uint64_t automatic_ = 0, persistent_ = 0;    // those that watch variables, that give more than one gradient
  uint32_t starts_[most_tapes] = {};
  uint32_t latest_start_ = 0;
  const void* thread_ = nullptr;
  std::vector<Entry> entries_;
  std::vector<uint32_t> slot_entries_;  // the entry that each result belongs to
  WatchList watched_;
  std::vector<std::unique_ptr<TensorImpl*[]>> chunks_;  // where entries keep their tensors, at fixed addresses
  std::vector<std::unique_ptr<TensorImpl*[]>> long_lists_;
  size_t chunk_used_ = 0, chunks_used_ = 0;
};

}  // namespace thalweg::autodiff
