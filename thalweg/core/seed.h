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
// Inside a traced function the op seed that stands for "none" is a number counted per graph from 0 (`combine_seeds`
// serves there), and streams belong to the function instance.
#pragma once
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

/// The global seed, the op seeds that follow from it, and the streams of stateful random ops. Safe to share by threads.
class THALWEG_API SeedState {
 public:
  /// `tf.random.set_seed`: starts the op seeds anew and forgets all streams. No seed returns to unpredictable ones.
  void set_global_seed(std::optional<int64_t> seed);
  std::optional<int64_t> global_seed() const;

  /// The attributes `seed` and `seed2` of the next op called outside a graph. (0, 0) asks for an unpredictable stream.
  std::pair<int64_t, int64_t> next_op_seed(std::optional<int64_t> op_seed = {});

  /// Where the stream of this op, its other attributes (hashed by the caller) and its seeds stands; the stream then
  /// moves on by `blocks`.
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
