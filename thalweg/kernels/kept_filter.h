// Weights that never change: kept in the orders of elements in which kernels read them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

namespace thalweg::kernels {

enum class KeptOrder { panels, winograd, engine };

/// The orders that were asked for, each made at its first use. Any number of threads may ask.
class KeptFilter {
 public:
  /// What `make(T* to)` writes, `count` elements. It may not wait for other threads.
  template <class T, class Make> const T* get(KeptOrder order, int64_t count, const Make& make) {
    return get<T>(order, nullptr, [](const void*) { return true; }, count, make);
  }
  /// The same where there are several orders of a kind: made by `owner`, which is held, unless there is one whose
  /// owner `suits(other)`.
  template <class T, class Suits, class Make>
  const T* get(KeptOrder order, const std::shared_ptr<const void>& owner, const Suits& suits, int64_t count,
               const Make& make) {
    std::lock_guard lock(mutex_);
    for (const Entry& e : entries_)
      if (e.order == order && suits(e.owner.get())) return reinterpret_cast<const T*>(e.data.get());
    auto size = (static_cast<size_t>(count) * sizeof(T) + 63) / 64 * 64;
    Data data(static_cast<std::byte*>(::operator new(size, std::align_val_t{64})));
    make(reinterpret_cast<T*>(data.get()));
    entries_.push_back({order, owner, std::move(data)});
    return reinterpret_cast<const T*>(entries_.back().data.get());
  }

 private:
  struct Free {
    void operator()(std::byte* p) const { ::operator delete(p, std::align_val_t{64}); }
  };
  using Data = std::unique_ptr<std::byte, Free>;
  struct Entry {
    KeptOrder order;
    std::shared_ptr<const void> owner;
    Data data;
  };
  std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace thalweg::kernels
