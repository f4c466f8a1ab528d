#include "thalweg/autodiff/log.h"

#include <bit>

#include "thalweg/core/error.h"
#include "thalweg/core/thread_state.h"

namespace thalweg::autodiff {

/// The log that a thread's last tapes left: its vectors have grown to the size that this program needs.
struct SpareLog {
  Log* log = nullptr;
  bool closed = false;
  ~SpareLog() {
    delete log;
    log = nullptr;
    closed = true;
  }
  static Log* take();
  static void give_back(Log* log);
};

namespace {

constexpr size_t chunk_size = 1024;
constexpr size_t most_spare_entries = 1 << 16;

thread_local Log* current_log = nullptr;
thread_local SpareLog spare;
std::atomic<uint64_t> next_serial{1};

// What a tape keeps of a value that no gradient reads: dtype, shape, and where it comes from.
TensorImpl* outline_of(const TensorImpl& t) {
  TensorImpl* o = TensorImpl::make();
  o->dtype = t.dtype;
  o->shape = t.shape;
  o->device = t.device;
  o->form = Form::outline;
  o->track = t.track;
  o->track_slot = t.track_slot;
  return o;
}

TensorImpl* hold(TensorImpl* t) {
  retain(t);
  return t;
}

bool can_have_gradient(DType dtype) {
  return differentiable_types.has(dtype) || dtype == DType::resource || dtype == DType::variant;
}

}  // namespace

Log* SpareLog::take() {
  Log* log = spare.log ? spare.log : new Log;
  spare.log = nullptr;
  return log;
}
void SpareLog::give_back(Log* log) {
  if (spare.log || spare.closed || log->entries_.capacity() > most_spare_entries) delete log;
  else spare.log = log;
}

void WatchList::add(const Tensor& tensor, uint64_t tapes) {
  uint32_t i = find(tensor.get());
  if (i != none) {
    items_[i].tapes |= tapes;
    return;
  }
  items_.push_back({tensor, tapes});
  filter_ |= uint64_t{1} << hash(tensor.get());
  if (items_.size() > 8 && items_.size() * 2 > table_.size()) rebuild();
  else if (!table_.empty()) {
    size_t mask = table_.size() - 1, at = reinterpret_cast<uintptr_t>(tensor.get()) / 64 & mask;
    while (table_[at] != none) at = (at + 1) & mask;
    table_[at] = static_cast<uint32_t>(items_.size() - 1);
  }
}

void WatchList::rebuild() {
  filter_ = 0;
  for (const Item& item : items_) filter_ |= uint64_t{1} << hash(item.tensor.get());
  table_.clear();
  if (items_.size() <= 8) return;
  table_.assign(std::bit_ceil(items_.size() * 4), none);
  size_t mask = table_.size() - 1;
  for (uint32_t i = 0; i < items_.size(); ++i) {
    size_t at = reinterpret_cast<uintptr_t>(items_[i].tensor.get()) / 64 & mask;
    while (table_[at] != none) at = (at + 1) & mask;
    table_[at] = i;
  }
}

uint32_t WatchList::search(const TensorImpl* t) const {
  if (table_.empty()) {
    for (uint32_t i = 0; i < items_.size(); ++i)
      if (items_[i].tensor.get() == t) return i;
    return none;
  }
  size_t mask = table_.size() - 1, at = reinterpret_cast<uintptr_t>(t) / 64 & mask;
  for (; table_[at] != none; at = (at + 1) & mask)
    if (items_[table_[at]].tensor.get() == t) return table_[at];
  return none;
}

void WatchList::remove(uint64_t tapes) {
  bool any = false;
  for (Item& item : items_) {
    item.tapes &= ~tapes;
    any |= item.tapes == 0;
  }
  if (!any) return;
  std::erase_if(items_, [](const Item& item) { return item.tapes == 0; });
  rebuild();
}

void WatchList::clear() {
  items_.clear();
  table_.clear();
  filter_ = 0;
}

Log& Log::current() {
  if (!current_log) {
    Log* log = SpareLog::take();
    log->serial_ = next_serial.fetch_add(1, std::memory_order_relaxed);
    log->thread_ = &thread_state;
    return *log;
  }
  return *current_log;
}

int Log::add_tape() {
  reclaim_bits();
  int tape = std::countr_one(used_);
  if (tape == most_tapes) throw RuntimeError("a thread can have 64 gradient tapes at once; drop some of them");
  used_ |= bit(tape);
  automatic_ &= ~bit(tape);
  persistent_ &= ~bit(tape);
  starts_[tape] = static_cast<uint32_t>(entries_.size());
  retain();
  return tape;
}

void Log::release(int tape, bool is_open) {
  if (is_own_thread()) {
    if (refs_.load(std::memory_order_relaxed) > 1) forget(tape);  // else everything goes at once
    used_ &= ~bit(tape);
  } else if (is_open) {  // the log's own thread still writes to it, and clears up when it opens the next one
    abandoned_.fetch_or(bit(tape), std::memory_order_release);
    return;
  } else {
    released_.fetch_or(bit(tape), std::memory_order_release);
  }
  if (refs_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (current_log == this) current_log = nullptr;
  reset();
  SpareLog::give_back(this);
}

// Tapes that are gone leave their bits to others; only the log's own thread touches the lists.
void Log::reclaim_bits() {
  if (uint64_t left_open = abandoned_.exchange(0, std::memory_order_acquire)) {
    open_ &= ~left_open;
    active_ &= ~left_open;
    released_.fetch_or(left_open, std::memory_order_relaxed);
    refs_.fetch_sub(static_cast<uint32_t>(std::popcount(left_open)), std::memory_order_relaxed);
    update_thread();
  }
  uint64_t gone = released_.exchange(0, std::memory_order_acquire);
  if (!gone) return;
  used_ &= ~gone;
  watched_.remove(gone);
  for (Entry& e : entries_) {
    e.tapes &= ~gone;
    if (!e.tapes && e.tensors) drop(e);
  }
}

void Log::check_thread() const {
  if (thread_ != &thread_state)
    throw RuntimeError("a gradient tape belongs to the thread that made it; open another tape in this thread");
}

void Log::start(int tape, bool watch_variables, bool persistent) {
  check_thread();
  if (current_log && current_log != this)
    throw RuntimeError(
        "this tape cannot go on recording while newer tapes of this thread are open; close them first, or open a new "
        "tape");
  open_ |= bit(tape);
  active_ |= bit(tape);
  if (watch_variables) automatic_ |= bit(tape);
  if (persistent) persistent_ |= bit(tape);
  update_thread();
}

void Log::stop(int tape) {
  if (thread_ != &thread_state) return;  // what a thread sees is changed by that thread alone
  open_ &= ~bit(tape);
  active_ &= ~bit(tape);
  update_thread();
}

void Log::pause(int tape, bool paused) {
  check_thread();
  if (paused) active_ &= ~bit(tape);
  else active_ |= open_ & bit(tape);
  update_thread();
}

uint64_t Log::pause_all() {
  if (!current_log) return 0;
  uint64_t tapes = std::exchange(current_log->active_, 0);
  current_log->update_thread();
  return tapes;
}
void Log::resume_all(uint64_t tapes) {
  if (!current_log || !tapes) return;
  current_log->active_ |= tapes & current_log->open_;
  current_log->update_thread();
}

Log* Log::exchange_current(Log* log) { return std::exchange(current_log, log); }

// The thread sees this log while one of its tapes records.
void Log::update_thread() {
  if (open_) current_log = this;
  else if (current_log == this) current_log = nullptr;
  if (current_log == this || thread_state.recorder == this) thread_state.recorder = active_ ? this : nullptr;
  latest_start_ = 0;
  for (uint64_t rest = active_; rest; rest &= rest - 1)
    latest_start_ = std::max(latest_start_, starts_[std::countr_zero(rest)]);
}

uint64_t Log::since(uint64_t tapes, uint32_t entry) const {
  uint64_t kept = 0;
  for (uint64_t rest = tapes; rest; rest &= rest - 1) {
    int tape = std::countr_zero(rest);
    if (entry >= starts_[tape]) kept |= bit(tape);
  }
  return kept;
}

Entry& Log::append(uint64_t tapes, size_t inputs, size_t outputs) {
  size_t count = inputs + outputs;
  TensorImpl** place = nullptr;
  if (count > chunk_size) {
    long_lists_.push_back(std::make_unique<TensorImpl*[]>(count));
    place = long_lists_.back().get();
  } else {
    if (chunks_used_ == 0 || chunk_used_ + count > chunk_size) {
      if (chunks_used_ == chunks_.size()) chunks_.push_back(std::make_unique_for_overwrite<TensorImpl*[]>(chunk_size));
      ++chunks_used_;
      chunk_used_ = 0;
    }
    place = chunks_[chunks_used_ - 1].get() + chunk_used_;
    chunk_used_ += count;
  }
  Entry& e = entries_.emplace_back();
  e.tensors = place;
  e.tapes = tapes;
  e.inputs = static_cast<uint32_t>(inputs);
  e.outputs = static_cast<uint32_t>(outputs);
  e.first_slot = num_slots();
  slot_entries_.insert(slot_entries_.end(), outputs, static_cast<uint32_t>(entries_.size() - 1));
  return e;
}

void Log::follow(TensorImpl* output, uint32_t slot) {
  if (!can_have_gradient(output->dtype)) return;
  output->track = serial_;
  output->track_slot = slot;
}

void Log::record(const Op& op, std::span<const TensorRef> in, AttrsRef attrs, std::span<TensorImpl* const> out) {
  if (!op.grad) return;
  uint64_t tapes = 0;
  for (const TensorRef& t : in) tapes |= tapes_of(t.p);
  if (!tapes) return;
  void* cloned = op.attrs ? op.attrs->clone(attrs.p) : nullptr;
  Entry& e = append(tapes, in.size(), out.size());
  e.op = &op;
  e.attrs = cloned;
  TensorImpl** place = e.tensors;
  for (size_t i = 0; i < in.size(); ++i) {
    TensorImpl* t = in[i].p;
    bool keep = Reads::has(op.grad_reads.inputs, i) || !t->buffer || watched_.find(t) != WatchList::none;
    *place++ = keep ? hold(t) : outline_of(*t);
  }
  for (size_t i = 0; i < out.size(); ++i) {
    follow(out[i], e.first_slot + static_cast<uint32_t>(i));
    bool keep = Reads::has(op.grad_reads.outputs, i) || !out[i]->buffer;
    *place++ = keep ? hold(out[i]) : outline_of(*out[i]);
  }
}

void Log::record(std::span<const Tensor> in, std::span<const Tensor> out, std::unique_ptr<BackwardFunction> backward) {
  uint64_t tapes = 0;
  for (const Tensor& t : in)
    if (t.defined()) tapes |= tapes_of(t.get());
  if (!tapes) return;
  Entry& e = append(tapes, in.size(), out.size());
  e.backward = backward.release();
  TensorImpl** place = e.tensors;
  for (const Tensor& t : in) {
    bool keep = !t.impl()->buffer || watched_.find(t.get()) != WatchList::none;
    *place++ = keep ? hold(t.get()) : outline_of(*t.get());
  }
  for (size_t i = 0; i < out.size(); ++i) {
    follow(out[i].get(), e.first_slot + static_cast<uint32_t>(i));
    *place++ = out[i].impl()->buffer ? outline_of(*out[i].get()) : hold(out[i].get());
  }
}

void Log::access(const Tensor& handle) {
  uint64_t tapes = automatic_ & active_;
  if (!tapes) return;
  uint32_t i = watched_.find(handle.get());
  if (i == WatchList::none || (watched_[i].tapes & tapes) != tapes) watched_.add(handle, tapes);
}

Tensor Log::input_behind(const Tensor& symbolic) {
  const TensorImpl* t = symbolic.get();
  if (!current_log || t->track != current_log->serial_) return {};
  const Entry& e = current_log->entries_[current_log->entry_of(t)];
  return e.op && e.inputs > 0 ? e.input_tensors()[0] : Tensor();
}

void Log::drop(Entry& e) {
  for (uint32_t i = 0; i < e.inputs + e.outputs; ++i) thalweg::release(e.tensors[i]);
  if (e.attrs) e.op->attrs->destroy(e.attrs);
  delete e.backward;
  uint32_t slot = e.first_slot;
  e = Entry{};
  e.first_slot = slot;
}

void Log::consume(int tape, uint32_t entry) {
  Entry& e = entries_[entry];
  e.tapes &= ~bit(tape);
  if (!e.tapes && e.tensors) drop(e);
}

void Log::forget(int tape) {
  for (uint32_t i = starts_[tape]; i < entries_.size(); ++i) consume(tape, i);
  watched_.remove(bit(tape));
  starts_[tape] = static_cast<uint32_t>(entries_.size());
  if (thread_ == &thread_state) update_thread();
}

void Log::reset() {
  for (Entry& e : entries_)
    if (e.tensors) drop(e);
  entries_.clear();
  watched_.clear();
  long_lists_.clear();
  if (chunks_.size() > 64) chunks_.resize(64);
  chunk_used_ = chunks_used_ = 0;
  used_ = open_ = active_ = automatic_ = persistent_ = 0;
  slot_entries_.clear();
  latest_start_ = 0;
  released_.store(0, std::memory_order_relaxed);
  abandoned_.store(0, std::memory_order_relaxed);
  if (thread_state.recorder == this) thread_state.recorder = nullptr;
}

}  // namespace thalweg::autodiff
