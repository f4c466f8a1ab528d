#include "thalweg/kernels/philox.h"

#include <cstring>

namespace thalweg::kernels {
namespace {

constexpr int num_lanes = 32;

// Runs the rounds over lanes side by side, which the compiler turns into vector instructions.
[[gnu::always_inline]] inline void lanes_of_words(const PhiloxState& first, uint32_t* __restrict words) {
  uint32_t a[num_lanes], b[num_lanes], c[num_lanes], d[num_lanes];
  for (int i = 0; i < num_lanes; ++i) {
    uint64_t low = first.counter[0] + static_cast<uint64_t>(i);
    uint64_t high = first.counter[1] + (low < first.counter[0] ? 1 : 0);
    a[i] = static_cast<uint32_t>(low);
    b[i] = static_cast<uint32_t>(low >> 32);
    c[i] = static_cast<uint32_t>(high);
    d[i] = static_cast<uint32_t>(high >> 32);
  }
  uint32_t key0 = static_cast<uint32_t>(first.key), key1 = static_cast<uint32_t>(first.key >> 32);
  for (int round = 0; round < philox_rounds; ++round) {
    for (int i = 0; i < num_lanes; ++i) {
      uint64_t one = uint64_t{philox_multiplier[0]} * a[i], two = uint64_t{philox_multiplier[1]} * c[i];
      a[i] = static_cast<uint32_t>(two >> 32) ^ b[i] ^ key0;
      b[i] = static_cast<uint32_t>(two);
      c[i] = static_cast<uint32_t>(one >> 32) ^ d[i] ^ key1;
      d[i] = static_cast<uint32_t>(one);
    }
    key0 += philox_key_step[0];
    key1 += philox_key_step[1];
  }
  for (int i = 0; i < num_lanes; ++i) {
    words[4 * i] = a[i];
    words[4 * i + 1] = b[i];
    words[4 * i + 2] = c[i];
    words[4 * i + 3] = d[i];
  }
}

[[gnu::always_inline]] inline void words_body(PhiloxState state, int64_t num_blocks, uint32_t* words) {
  for (; num_blocks >= num_lanes; num_blocks -= num_lanes, words += 4 * num_lanes) {
    lanes_of_words(state, words);
    state.skip(num_lanes);
  }
  for (; num_blocks > 0; --num_blocks, words += 4) {
    PhiloxBlock block = philox_block(state);
    std::memcpy(words, block.words, sizeof block.words);
    state.skip(1);
  }
}

void words_baseline(const PhiloxState& first, int64_t num_blocks, uint32_t* words) {
  words_body(first, num_blocks, words);
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] void words_avx2(const PhiloxState& first, int64_t num_blocks, uint32_t* words) {
  words_body(first, num_blocks, words);
}
[[gnu::target("avx512f,avx512vl,avx512dq,avx512bw,prefer-vector-width=512")]] void words_avx512(
    const PhiloxState& first, int64_t num_blocks, uint32_t* words) {
  words_body(first, num_blocks, words);
}
#endif

using WordsFunction = void (*)(const PhiloxState&, int64_t, uint32_t*);

WordsFunction choose_words() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw")) {
    return words_avx512;
  }
  if (__builtin_cpu_supports("avx2")) return words_avx2;
#endif
  return words_baseline;
}

}  // namespace

void philox_words(const PhiloxState& first, int64_t num_blocks, uint32_t* words) {
  static const WordsFunction run = choose_words();
  run(first, num_blocks, words);
}

}  // namespace thalweg::kernels
