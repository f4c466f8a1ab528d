// What the runs of plans on one thread have in common: how deep they are nested, and who looks at them.
#pragma once
#include <atomic>
#include <cstdint>

#include "thalweg/core/export.h"

namespace thalweg {
class CancellationScope;
}

namespace thalweg::graph {

class Profiler;

/// Runs of plans look at this once, at their beginning.
struct RunState {
  int depth = 0;         // runs inside of runs
  bool watched = false;  // one of the next two is there
  bool quiet = false;    // a lock is held: nobody is asked whether to go on
  const CancellationScope* cancellation = nullptr;
  Profiler* profiler = nullptr;
  uint32_t turns_left = 1, turns_period = 1;  // of loops, until somebody asks whether to go on
  int64_t asked_at = 0;                       // nanoseconds
  void update() { watched = cancellation || profiler; }
};
THALWEG_API extern constinit thread_local RunState run_state [[gnu::tls_model("initial-exec")]];

/// Throws if a loop is to be left; called a few dozen times a second by threads that run loops. For programs that have
/// another way to be told to stop, such as Python's interrupt.
THALWEG_API void set_interrupt_check(void (*check)());

/// Counts one run inside of the others, and refuses what would not end before the stack does.
class RunDepth {
 public:
  explicit RunDepth(RunState& state) : state_(state) {
    if (++state.depth > most) [[unlikely]]
      refuse();
  }
  ~RunDepth() { --state_.depth; }
  RunDepth(const RunDepth&) = delete;
  RunDepth& operator=(const RunDepth&) = delete;

 private:
  static constexpr int most = 1000;
  [[noreturn]] void refuse();
  RunState& state_;
};

/// While it lives, loops on this thread are not interrupted: for those who hold a lock.
class Uninterrupted {
 public:
  Uninterrupted() : before_(run_state.quiet) { run_state.quiet = true; }
  ~Uninterrupted() { run_state.quiet = before_; }
  Uninterrupted(const Uninterrupted&) = delete;
  Uninterrupted& operator=(const Uninterrupted&) = delete;

 private:
  bool before_;
};

/// Throws CancelledError if what runs on this thread was cancelled.
void check_cancelled();
void ask_interrupt_check();
/// Called at each turn of a loop.
inline void note_turn() {
  RunState& state = run_state;
  if (--state.turns_left == 0) [[unlikely]]
    ask_interrupt_check();
}

}  // namespace thalweg::graph
