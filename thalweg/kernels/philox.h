// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3), the counter-based generator
// behind TensorFlow's random ops: block i of a stream depends on the key and on counter + i alone.
#pragma once
#include <cstdint>

#include "thalweg/core/philox_state.h"

namespace thalweg::kernels {

/// What one step of the counter yields.
struct PhiloxBlock {
  uint32_t words[4];
};

inline constexpr uint32_t philox_key_step[2] = {0x9e3779b9u, 0xbb67ae85u};
inline constexpr uint32_t philox_multiplier[2] = {0xd2511f53u, 0xcd9e8d57u};
inline constexpr int philox_rounds = 10;

/// The block at `state`.
inline PhiloxBlock philox_block(const PhiloxState& state) {
  uint32_t key0 = static_cast<uint32_t>(state.key), key1 = static_cast<uint32_t>(state.key >> 32);
  uint32_t a = static_cast<uint32_t>(state.counter[0]), b = static_cast<uint32_t>(state.counter[0] >> 32);
  uint32_t c = static_cast<uint32_t>(state.counter[1]), d = static_cast<uint32_t>(state.counter[1] >> 32);
  for (int round = 0; round < philox_rounds; ++round) {
    uint64_t first = uint64_t{philox_multiplier[0]} * a, second = uint64_t{philox_multiplier[1]} * c;
    a = static_cast<uint32_t>(second >> 32) ^ b ^ key0;
    b = static_cast<uint32_t>(second);
    c = static_cast<uint32_t>(first >> 32) ^ d ^ key1;
    d = static_cast<uint32_t>(first);
    key0 += philox_key_step[0];
    key1 += philox_key_step[1];
  }
  return {{a, b, c, d}};
}

/// Writes the words of `num_blocks` blocks, in order, `stride` steps of the counter apart.
void philox_words(const PhiloxState& first, int64_t num_blocks, uint32_t* words, uint64_t stride = 1);

/// Blocks one after the other.
class PhiloxStream {
 public:
  explicit PhiloxStream(const PhiloxState& start) : state_(start) {}
  PhiloxBlock operator()() {
    PhiloxBlock block = philox_block(state_);
    state_.skip(1);
    return block;
  }

 private:
  PhiloxState state_;
};

/// The words of consecutive blocks one by one, first word first.
class PhiloxWords {
 public:
  explicit PhiloxWords(const PhiloxState& start) : stream_(start) {}
  uint32_t operator()() {
    if (used_ == 4) {
      block_ = stream_();
      used_ = 0;
    }
    return block_.words[used_++];
  }

 private:
  PhiloxStream stream_;
  PhiloxBlock block_ = {};
  int used_ = 4;
};

}  // namespace thalweg::kernels
