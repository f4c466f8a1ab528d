// Leaving the functions that are being traced.
#pragma once
#include "thalweg/autodiff/tape.h"
#include "thalweg/core/thread_state.h"

namespace thalweg {

/// While one lives, ops run at once, whatever is being traced, and no tape sees them: `InitScope scope;`.
class THALWEG_API InitScope {
 public:
  [[nodiscard]] InitScope() : before_(thread_state) {
    thread_state.tracer = nullptr;
    thread_state.reveal = nullptr;
  }
  ~InitScope() {
    thread_state.tracer = before_.tracer;
    thread_state.reveal = before_.reveal;
  }
  InitScope(const InitScope&) = delete;
  InitScope& operator=(const InitScope&) = delete;

 private:
  ThreadState before_;
  StopRecording stop_;
};
/// `auto scope = init_scope();`
[[nodiscard]] inline InitScope init_scope() { return {}; }

}  // namespace thalweg
