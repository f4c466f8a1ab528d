// Stopping functions that run: from another thread, or when a deadline has passed.
#pragma once
#include <atomic>
#include <memory>
#include <utility>

#include "thalweg/core/export.h"

namespace thalweg {

/// Stops the traced functions that run under it: between two ops, and at each turn of a loop, they see that they were
/// cancelled and throw `errors::CancelledError`. A handle: copies share the state.
class THALWEG_API CancellationManager {
 public:
  CancellationManager() : cancelled_(std::make_shared<std::atomic<bool>>(false)) {}
  /// Cancels what runs under it now and later. Any thread may call it, and a signal handler.
  void start_cancel() const { cancelled_->store(true, std::memory_order_relaxed); }
  bool is_cancelled() const { return cancelled_->load(std::memory_order_relaxed); }
  /// The function, which runs under this manager whenever it is called.
  template <class F> auto get_cancelable_function(F f) const;

 private:
  std::shared_ptr<std::atomic<bool>> cancelled_;
};

/// While it lives, functions on this thread run under the manager, beside those of scopes around it.
class THALWEG_API CancellationScope {
 public:
  explicit CancellationScope(CancellationManager manager);
  ~CancellationScope();
  CancellationScope(const CancellationScope&) = delete;
  CancellationScope& operator=(const CancellationScope&) = delete;
  const CancellationManager& manager() const { return manager_; }
  const CancellationScope* outer() const { return outer_; }

 private:
  CancellationManager manager_;
  const CancellationScope* outer_;
};

template <class F> auto CancellationManager::get_cancelable_function(F f) const {
  return [f = std::move(f), manager = *this](auto&&... arguments) -> decltype(auto) {
    CancellationScope scope(manager);
    return f(std::forward<decltype(arguments)>(arguments)...);
  };
}

}  // namespace thalweg
