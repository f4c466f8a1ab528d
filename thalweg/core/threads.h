// The one compute pool: work is cut into fixed chunks, workers claim chunks atomically, the caller works too.
#pragma once
#include <cstdint>
#include <type_traits>

#include "thalweg/core/export.h"

namespace thalweg {

/// How many threads compute one op. 0 asks for as many as the machine has cores.
THALWEG_API int num_threads();
/// RuntimeError from inside a parallel computation.
THALWEG_API void set_num_threads(int count);

/// Work worth less than this many nanoseconds runs on the calling thread.
inline constexpr double serial_nanoseconds = 20'000;

namespace detail {
THALWEG_API void run_chunks(int64_t num_chunks, void (*run)(const void* body, int64_t chunk), const void* body);
}

/// Calls `body(begin, end)` over [0, size) in chunks of `chunk` (the last may be shorter), in any order and on any
/// thread. The cut depends on `chunk` alone, so results have the same bits at any number of threads. The first
/// exception is thrown again on the calling thread. Nested calls run serially.
template <class Body> void parallel_chunks(int64_t size, int64_t chunk, const Body& body) {
  if (size <= 0) return;
  if (size <= chunk) return body(int64_t{0}, size);
  struct Work {
    const Body& body;
    int64_t size, chunk;
  } work{body, size, chunk};
  detail::run_chunks((size + chunk - 1) / chunk,
                     [](const void* p, int64_t i) {
                       const Work& w = *static_cast<const Work*>(p);
                       int64_t begin = i * w.chunk;
                       w.body(begin, begin + w.chunk < w.size ? begin + w.chunk : w.size);
                     },
                     &work);
}

/// The same, with the chunk chosen from what one item costs, so that a chunk is worth the hand-over.
template <class Body> void parallel_for(int64_t size, double nanoseconds_per_item, const Body& body) {
  double items = serial_nanoseconds / (nanoseconds_per_item > 0.01 ? nanoseconds_per_item : 0.01);
  int64_t chunk = items < 1 ? 1 : items > 1e9 ? int64_t{1'000'000'000} : static_cast<int64_t>(items);
  parallel_chunks(size, chunk, body);
}

}  // namespace thalweg
