// Memory for tensors: 64-byte aligned, cached by size class, counted per device, limited.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "thalweg/core/dtype.h"
#include "thalweg/core/export.h"

namespace thalweg {

/// What a device's tensors occupy, in bytes.
struct MemoryInfo {
  int64_t current = 0;
  int64_t peak = 0;
};
THALWEG_API MemoryInfo memory_info(int device);
THALWEG_API void reset_peak_memory(int device);
/// The most bytes a device's tensors may occupy. 0 means the default: nine tenths of the machine's memory.
THALWEG_API void set_memory_limit(int device, int64_t bytes);
THALWEG_API int64_t memory_limit(int device);
/// Gives cached memory back to the system.
THALWEG_API void release_cached_memory();

/// A counted piece of memory, shared by the tensors that view it.
struct alignas(64) Buffer {
  std::atomic<uint32_t> refs{1};
  uint32_t size_class = 0;
  DType objects = DType::invalid;  // elements to destroy, for strings and handles
  uint8_t device = 0;
  size_t bytes = 0;  // of data, as counted against the device
  void* data = nullptr;
  void (*release)(void*) = nullptr;  // memory that belongs to someone else
  void* context = nullptr;

  /// Fresh memory; throws ResourceExhaustedError before it allocates past the limit.
  static Buffer* make(size_t bytes, DType dtype, int device);
  /// A view of memory that is not ours; `release(context)` is called when the last tensor lets go.
  static Buffer* wrap(void* data, void (*release)(void*), void* context);

  void retain() { refs.fetch_add(1, std::memory_order_relaxed); }
  void drop() {
    if (refs.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy(this);
  }
  bool unique() const { return refs.load(std::memory_order_acquire) == 1; }
  static void destroy(Buffer* buffer);
};

}  // namespace thalweg
