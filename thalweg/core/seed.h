// Seeds as TensorFlow hands them to random ops, and the streams that stateful random ops advance.
//
// A stateful random op carries two attributes, `seed` and `seed2`. Outside graphs TensorFlow chooses them so:
//   global seed set, op seed given    (global, op)
//   global seed set, no op seed       (global, r), r the next `randint(0, 2**31 - 1)` of Python's
//   `random.Random(global)` no global seed, op seed given     (87654321, op) neither                           (0, 0),
//   which asks for a stream nobody can predict
// each taken modulo 2**31 - 1; (0, 0) from given seeds becomes (0, 2**31 - 1).
//
// The kernel made for an op and its attributes is kept and used again, with its stream where the last call left it:
// `uniform([1], seed=1)` twice gives two different values, also when the shapes differ, for the shape is an input and
// no attribute. Setting the global seed drops all kernels, so the same calls then give the same values again.
// `SeedState` keeps those streams: one per op name, attributes and seeds.
//
// While a function is traced, its graph chooses (`GraphSeeds`): the global seed is the one that was set when tracing
// began, and the op seed that stands for "none" is counted per graph from 0; branches and bodies of loops are graphs of
// their own. When the function runs, each of its ops has a stream of its own (`RandomStream`), which goes on from call
// to call and starts anew when the global seed is set.
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "thalweg/core/export.h"
#include "thalweg/core/philox_state.h"

namespace thalweg {

/// Python's `random.Random` of an integer: MT19937 seeded by the words of the absolute value.
class THALWEG_API PythonRandom {
 public:
  explicit PythonRandom(int64_t seed);
  /// `getrandbits(32)`.
  uint32_t next_word();
  /// `randint(0, 2**31 - 1)`: words are drawn until one is below 2**31.
  int64_t next_seed();

 private:
  static constexpr int num_words = 624;
  uint32_t words_[num_words] = {};
  int index_ = num_words;
};

/// TensorFlow's `seed` and `seed2` attributes for a global and an op seed, both already chosen.
THALWEG_API std::pair<int64_t, int64_t> combine_seeds(std::optional<int64_t> global_seed,
                                                      std::optional<int64_t> op_seed);

/// How the ops of one graph get their seeds while it is traced.
struct GraphSeeds {
  std::optional<int64_t> global_seed = {};
  int64_t num_unseeded = 0;  // ops so far that were given no seed
};
/// Makes these the seeds of what is traced on this thread, while it lives.
class THALWEG_API GraphSeedsScope {
 public:
  explicit GraphSeedsScope(GraphSeeds& seeds);
  ~GraphSeedsScope();
  GraphSeedsScope(const GraphSeedsScope&) = delete;
  GraphSeedsScope& operator=(const GraphSeedsScope&) = delete;

 private:
  GraphSeeds* before_;
};

/// The stream of one op in a function that is ready to run. Threads may share it.
class THALWEG_API RandomStream {
 public:
  /// Where the stream stands, which then moves on; it starts at the seeds, and does so again once a seed was set.
  PhiloxState reserve(int64_t seed, int64_t seed2, uint64_t blocks);

 private:
  std::mutex mutex_;
  std::optional<uint64_t> generation_;  // of the seeds when it started
  PhiloxState state_;
};
/// Makes this the stream that the kernel run on this thread draws from, while it lives.
class THALWEG_API RandomStreamScope {
 public:
  explicit RandomStreamScope(RandomStream& stream);
  ~RandomStreamScope();
  RandomStreamScope(const RandomStreamScope&) = delete;
  RandomStreamScope& operator=(const RandomStreamScope&) = delete;
};

/// The global seed, the op seeds that follow from it, and the streams of stateful random ops. Safe to share by threads.
class THALWEG_API SeedState {
 public:
  /// `tf.random.set_seed`: starts the op seeds anew and forgets all streams. No seed returns to unpredictable ones.
  void set_global_seed(std::optional<int64_t> seed);
  std::optional<int64_t> global_seed() const;

  /// Counts the seeds that were set: streams of an earlier one start anew.
  uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

  /// The attributes `seed` and `seed2` of the next op: those of the graph that is being traced, else of this state.
  /// (0, 0) asks for an unpredictable stream.
  std::pair<int64_t, int64_t> next_op_seed(std::optional<int64_t> op_seed = {});

  /// Where the stream of this op, its other attributes (hashed by the caller) and its seeds stands, or the stream of
  /// the running step of a function; it then moves on by `blocks`.
  PhiloxState reserve(std::string_view op_name, uint64_t attrs_hash, int64_t seed, int64_t seed2, uint64_t blocks);

 private:
  struct StreamKey {
    uint64_t op = 0;
    int64_t seed = 0, seed2 = 0;
    bool operator==(const StreamKey&) const = default;
  };
  struct StreamHash {
    size_t operator()(const StreamKey& key) const;
  };

  mutable std::mutex mutex_;
  std::optional<int64_t> global_seed_;
  std::atomic<uint64_t> generation_{0};
  PythonRandom op_seeds_{0};
  std::unordered_map<StreamKey, PhiloxState, StreamHash> streams_;
};

/// The state that eager calls of this process share.
THALWEG_API SeedState& seed_state();

/// Bytes from the operating system's source of randomness.
THALWEG_API void fill_unpredictable(void* out, size_t bytes);
/// 64 bits of them.
THALWEG_API uint64_t unpredictable_bits();

}  // namespace thalweg
