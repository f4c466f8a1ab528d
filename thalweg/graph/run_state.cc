#include "thalweg/graph/run_state.h"

#include <algorithm>
#include <chrono>

#include "thalweg/core/error.h"
#include "thalweg/graph/cancellation.h"

namespace thalweg {
namespace graph {
namespace {
std::atomic<void (*)()> interrupt_check{nullptr};
}

constinit thread_local RunState run_state [[gnu::tls_model("initial-exec")]];

void set_interrupt_check(void (*check)()) { interrupt_check.store(check, std::memory_order_release); }

void RunDepth::refuse() {
  --state_.depth;
  throw ResourceExhaustedError("functions that call functions are nested more than " + std::to_string(most) + " deep");
}

void check_cancelled() {
  for (const CancellationScope* s = run_state.cancellation; s; s = s->outer())
    if (s->manager().is_cancelled()) throw errors::CancelledError("the function was cancelled while it ran");
}

// A turn may take nanoseconds or minutes: the number of turns between two questions follows the clock.
void ask_interrupt_check() {
  constexpr int64_t often = 10'000'000, seldom = 40'000'000;
  constexpr uint32_t most_turns = 1 << 20;
  RunState& state = run_state;
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  int64_t at = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  int64_t passed = at - state.asked_at;
  if (passed < often) state.turns_period = std::min(state.turns_period * 2, most_turns);
  else if (passed > seldom) state.turns_period = std::max(state.turns_period / 4, 1u);
  state.turns_left = state.turns_period;
  state.asked_at = at;
  if (state.quiet) return;
  if (auto* check = interrupt_check.load(std::memory_order_acquire)) check();
}

}  // namespace graph
}  // namespace thalweg
