// The state variable of `tf.random.Generator`: int64[3], two words of Philox counter, then the key.
//
// What TensorFlow's methods do with it:
//   from_seed(n)                    `generator_state(n)`
//   from_state, from_key_counter    the three numbers as given
//   from_non_deterministic_state    three unpredictable int64 (NonDeterministicInts)
//   normal, uniform, ...(shape)     RngReadAndSkip by the number of elements (also 0), then the Stateless...V2 op with
//                                   the old counter and key; binomial alone passes the variable to its op
//   skip(n)                         RngReadAndSkip by n
//   make_seeds(count)               uniform_full_int([count], int64) over a row of zeros: shape [2, count]
//   split(count)                    uniform_full_int([count], int64); each number is the key of a new state [0, 0, key]
//   reset_from_seed, reset          assign what from_seed, from_state would hold
// Within a distribution strategy the key is replaced by the first uint64 drawn with that key and counter
// [replica id, 0].
#pragma once
#include <array>
#include <cstdint>

#include "thalweg/core/philox_state.h"

namespace thalweg::kernels {

/// The state that `Generator.from_seed(seed)` starts with: the words of the integer, sign extended.
constexpr std::array<int64_t, 3> generator_state(int64_t seed) {
  int64_t sign = seed < 0 ? -1 : 0;
  return {seed, sign, sign};
}

/// The stream a state stands for.
constexpr PhiloxState generator_stream(const int64_t* state) {
  return {static_cast<uint64_t>(state[2]), {static_cast<uint64_t>(state[0]), static_cast<uint64_t>(state[1])}};
}

/// RngSkip, RngReadAndSkip and the Stateful... ops: moves the state past `count` elements and returns where it stood.
constexpr PhiloxState generator_read_and_skip(int64_t* state, uint64_t count) {
  PhiloxState stream = generator_stream(state), moved = stream.after(count * 256);
  state[0] = static_cast<int64_t>(moved.counter[0]);
  state[1] = static_cast<int64_t>(moved.counter[1]);
  return stream;
}

}  // namespace thalweg::kernels
