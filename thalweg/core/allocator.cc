#include "thalweg/core/allocator.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "thalweg/core/error.h"
#include "thalweg/core/resource.h"
#include "thalweg/core/sanitizer.h"

namespace thalweg {
namespace {

// Four classes per power of two, from 128 bytes: at most a quarter of a block is wasted.
constexpr size_t smallest = 128;
constexpr uint32_t num_classes = 4 * 48;
constexpr uint32_t class_of(size_t bytes) {
  if (bytes <= smallest) return 0;
  auto power = static_cast<uint32_t>(std::bit_width(bytes - 1)) - 1;  // 2^power < bytes <= 2^(power + 1)
  auto quarter = static_cast<uint32_t>((bytes - 1) >> (power - 2)) & 3;
  return (power - 7) * 4 + quarter + 1;
}
constexpr size_t bytes_of(uint32_t size_class) {
  if (size_class == 0) return smallest;
  uint32_t power = (size_class - 1) / 4 + 7, quarter = (size_class - 1) % 4;
  return (size_t{1} << power) + (quarter + 1) * (size_t{1} << (power - 2));
}
static_assert(bytes_of(class_of(129)) == 160 && bytes_of(class_of(256)) == 256 && bytes_of(class_of(257)) == 320);

constexpr bool caching = !under_sanitizer;

constexpr size_t huge = 2 << 20;

// Large blocks lie on huge pages. Each begins a little further into its first page than the one before: operands at
// equal distances from a page would compete for the same lines of every cache, which makes x * y + x half as fast.
constexpr size_t stagger = 69 * 64, num_staggers = 16;

void* system_allocate(size_t bytes) {
  if (bytes < huge) return std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  static std::atomic<size_t> count{0};
  size_t offset = count.fetch_add(1, std::memory_order_relaxed) % num_staggers * stagger;
  void* p = nullptr;
  if (posix_memalign(&p, huge, bytes + offset) != 0) return nullptr;
  madvise(p, bytes, MADV_HUGEPAGE);
  return static_cast<char*>(p) + offset;
}
void system_free(void* p, size_t bytes) {
  if (bytes >= huge) p = static_cast<char*>(p) - reinterpret_cast<uintptr_t>(p) % huge;
  std::free(p);
}

/// Blocks nobody uses, by class. Small ones are first kept per thread.
struct FreeBlocks {
  std::array<std::vector<void*>, num_classes> at;
};
struct Shared {
  std::mutex mutex;
  FreeBlocks free;
  size_t cached = 0;  // bytes in `free`
};
Shared& shared() {
  static Shared& s = *new Shared;  // outlives every thread's cache
  return s;
}

constexpr uint32_t num_small = class_of(64 << 10) + 1;
constexpr size_t kept_per_class = 32;

/// On the heap but for a pointer: thread-local memory is scarce in a module that is loaded late.
struct ThreadCache {
  using Lists = std::array<std::vector<void*>, num_small>;
  std::unique_ptr<Lists> lists = std::make_unique<Lists>();
  bool alive = true;
  ~ThreadCache() {
    alive = false;
    std::lock_guard lock(shared().mutex);
    for (uint32_t c = 0; c < num_small; ++c) {
      auto& all = shared().free.at[c];
      all.insert(all.end(), (*lists)[c].begin(), (*lists)[c].end());
      shared().cached += (*lists)[c].size() * bytes_of(c);
    }
  }
};
thread_local ThreadCache thread_cache;

// With the mutex held.
void release_shared() {
  for (uint32_t c = 0; c < num_classes; ++c) {
    for (void* p : shared().free.at[c]) system_free(p, bytes_of(c));
    shared().free.at[c].clear();
  }
  shared().cached = 0;
}

size_t most_cached() {
  static const size_t bytes =
      static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGE_SIZE)) / 8;
  return bytes;
}

void* take_block(uint32_t size_class) {
  if (caching) {
    if (size_class < num_small && thread_cache.alive) {
      auto& list = (*thread_cache.lists)[size_class];
      if (!list.empty()) {
        void* p = list.back();
        list.pop_back();
        return p;
      }
    }
    std::lock_guard lock(shared().mutex);
    auto& list = shared().free.at[size_class];
    if (!list.empty()) {
      void* p = list.back();
      list.pop_back();
      shared().cached -= bytes_of(size_class);
      return p;
    }
  }
  void* p = system_allocate(bytes_of(size_class));
  if (!p && caching) {
    release_cached_memory();
    p = system_allocate(bytes_of(size_class));
  }
  return p;
}

void give_block(void* p, uint32_t size_class) {
  if (!caching) return system_free(p, bytes_of(size_class));
  if (size_class < num_small && thread_cache.alive) {
    auto& list = (*thread_cache.lists)[size_class];
    if (list.size() < kept_per_class) return list.push_back(p);
  }
  std::lock_guard lock(shared().mutex);
  // A program whose sizes keep changing would gather blocks that it never uses again.
  if (shared().cached + bytes_of(size_class) > most_cached()) release_shared();
  shared().free.at[size_class].push_back(p);
  shared().cached += bytes_of(size_class);
}

constexpr int max_devices = 64;
struct Counter {
  std::atomic<int64_t> current{0}, peak{0}, limit{0};
};
std::array<Counter, max_devices> counters;
Counter& counter_of(int device) {
  if (device < 0 || device >= max_devices) [[unlikely]]
    throw InvalidArgumentError("there is no device CPU:" + std::to_string(device));
  return counters[static_cast<size_t>(device)];
}

int64_t default_limit() {
  static const int64_t bytes = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE) / 10 * 9;
  return bytes;
}

void count_bytes(size_t bytes, int device) {
  Counter& c = counter_of(device);
  int64_t limit = memory_limit(device);
  int64_t before = c.current.fetch_add(static_cast<int64_t>(bytes), std::memory_order_relaxed);
  int64_t now = before + static_cast<int64_t>(bytes);
  if (bytes > static_cast<size_t>(limit) || now > limit) [[unlikely]] {
    c.current.fetch_sub(static_cast<int64_t>(bytes), std::memory_order_relaxed);
    throw ResourceExhaustedError("out of memory on CPU:" + std::to_string(device) + ": asked for " +
                                 std::to_string(bytes) + " bytes with " + std::to_string(before) + " of " +
                                 std::to_string(limit) + " in use");
  }
  int64_t peak = c.peak.load(std::memory_order_relaxed);
  while (now > peak && !c.peak.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {}
}
void uncount_bytes(size_t bytes, int device) {
  counters[static_cast<size_t>(device)].current.fetch_sub(static_cast<int64_t>(bytes), std::memory_order_relaxed);
}

}  // namespace

MemoryInfo memory_info(int device) {
  const Counter& c = counter_of(device);
  return {c.current.load(), c.peak.load()};
}
void reset_peak_memory(int device) {
  Counter& c = counter_of(device);
  c.peak = c.current.load();
}
void set_memory_limit(int device, int64_t bytes) { counter_of(device).limit = bytes; }
int64_t memory_limit(int device) {
  int64_t limit = counter_of(device).limit.load(std::memory_order_relaxed);
  return limit > 0 ? limit : default_limit();
}

void release_cached_memory() {
  std::lock_guard lock(shared().mutex);
  release_shared();
}

Buffer* Buffer::make(size_t bytes, DType dtype, int device) {
  if (bytes > (size_t{1} << 50))
    throw ResourceExhaustedError("out of memory: asked for " + std::to_string(bytes) + " bytes");
  count_bytes(bytes, device);
  uint32_t size_class = class_of(bytes + sizeof(Buffer));
  void* block = take_block(size_class);
  if (!block) {
    uncount_bytes(bytes, device);
    throw ResourceExhaustedError("out of memory: the system has no " + std::to_string(bytes) + " bytes");
  }
  auto* buffer = new (block) Buffer;
  buffer->size_class = size_class;
  buffer->device = static_cast<uint8_t>(device);
  buffer->bytes = bytes;
  buffer->data = buffer + 1;
  if (is_object(dtype)) {
    buffer->objects = dtype;
    construct_objects(dtype, buffer->data, bytes / size_of(dtype));
  }
  return buffer;
}

Buffer* Buffer::wrap(void* data, void (*release)(void*), void* context) {
  void* block = take_block(0);
  if (!block) throw ResourceExhaustedError("out of memory: the system has no memory for a view");
  auto* buffer = new (block) Buffer;
  buffer->data = data;
  buffer->release = release;
  buffer->context = context;
  return buffer;
}

void Buffer::destroy(Buffer* buffer) {
  if (buffer->release) buffer->release(buffer->context);
  if (buffer->objects != DType::invalid)
    destroy_objects(buffer->objects, buffer->data, buffer->bytes / size_of(buffer->objects));
  if (buffer->bytes) uncount_bytes(buffer->bytes, buffer->device);
  uint32_t size_class = buffer->size_class;
  buffer->~Buffer();
  give_block(buffer, size_class);
}

}  // namespace thalweg
