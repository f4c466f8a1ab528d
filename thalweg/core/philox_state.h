// Where a Philox stream stands: 64 bits of key, 128 bits of counter.
#pragma once
#include <cstdint>

namespace thalweg {

/// A position in a Philox stream. One step of the counter is a block of four 32-bit words.
struct PhiloxState {
  uint64_t key = 0;
  uint64_t counter[2] = {0, 0};

  /// The start of the stream that TensorFlow's `seed` and `seed2` attributes name.
  static constexpr PhiloxState from_seeds(int64_t seed, int64_t seed2) {
    return {static_cast<uint64_t>(seed), {0, static_cast<uint64_t>(seed2)}};
  }

  /// Moves `blocks` blocks forward.
  constexpr void skip(uint64_t blocks) {
    uint64_t low = static_cast<uint32_t>(counter[0]) + (blocks & 0xffffffffu);
    // TensorFlow adds in 32-bit words and loses this carry when the upper word of `blocks` is all ones (a negative
    // skip); saved generator states agree only if ours is lost too.
    uint32_t upper = static_cast<uint32_t>((blocks >> 32) + (low >> 32));
    uint64_t high = (counter[0] >> 32) + upper;
    counter[1] += high >> 32;
    counter[0] = high << 32 | static_cast<uint32_t>(low);
  }

  /// The position `blocks` blocks further on.
  constexpr PhiloxState after(uint64_t blocks) const {
    PhiloxState moved = *this;
    moved.skip(blocks);
    return moved;
  }

  bool operator==(const PhiloxState&) const = default;
};

}  // namespace thalweg
