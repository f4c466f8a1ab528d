#include "thalweg/kernels/philox.h"

#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace thalweg::kernels {
namespace {

void words_baseline(PhiloxState state, int64_t num_blocks, uint64_t stride, uint32_t* words) {
  for (; num_blocks > 0; --num_blocks, words += 4) {
    PhiloxBlock block = philox_block(state);
    std::memcpy(words, block.words, sizeof block.words);
    state.skip(stride);
  }
}

#if defined(__x86_64__)
// Four blocks to a vector, each word in the lower half of a 64-bit lane, where the widening product takes it from; what
// is above does not matter. Several vectors at once hide the latency of the product. Written out because the compiler
// makes many shuffles of the plain loop.
[[gnu::target("avx2")]] void words_avx2(PhiloxState state, int64_t num_blocks, uint64_t stride, uint32_t* words) {
  constexpr int num_vectors = 3, num_lanes = 4 * num_vectors;
  const __m256i multiplier0 = _mm256_set1_epi64x(philox_multiplier[0]);
  const __m256i multiplier1 = _mm256_set1_epi64x(philox_multiplier[1]);
  const int64_t step = static_cast<int64_t>(stride);
  const __m256i offsets = _mm256_set_epi64x(3 * step, 2 * step, step, 0);
  for (; num_blocks >= num_lanes; num_blocks -= num_lanes, words += 4 * num_lanes) {
    __m256i a[num_vectors], b[num_vectors], c[num_vectors], d[num_vectors];
    if (state.counter[0] + (num_lanes - 1) * stride < state.counter[0]) {
      words_baseline(state, num_lanes, stride, words);  // a carry within the vectors
      state.skip(num_lanes * stride);
      continue;
    }
    for (int i = 0; i < num_vectors; ++i) {
      uint64_t start = state.counter[0] + static_cast<uint64_t>(4 * i) * stride;
      a[i] = _mm256_add_epi64(_mm256_set1_epi64x(static_cast<int64_t>(start)), offsets);
      c[i] = _mm256_set1_epi64x(static_cast<int64_t>(state.counter[1]));
      b[i] = _mm256_srli_epi64(a[i], 32);
      d[i] = _mm256_srli_epi64(c[i], 32);
    }
    uint32_t key0 = static_cast<uint32_t>(state.key), key1 = static_cast<uint32_t>(state.key >> 32);
    for (int round = 0; round < philox_rounds; ++round) {
      const __m256i keys0 = _mm256_set1_epi64x(key0), keys1 = _mm256_set1_epi64x(key1);
      for (int i = 0; i < num_vectors; ++i) {
        __m256i first = _mm256_mul_epu32(a[i], multiplier0), second = _mm256_mul_epu32(c[i], multiplier1);
        a[i] = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(second, 32), b[i]), keys0);
        c[i] = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(first, 32), d[i]), keys1);
        b[i] = second;
        d[i] = first;
      }
      key0 += philox_key_step[0];
      key1 += philox_key_step[1];
    }
    for (int i = 0; i < num_vectors; ++i) {
      __m256i ab = _mm256_blend_epi32(a[i], _mm256_slli_epi64(b[i], 32), 0xaa);
      __m256i cd = _mm256_blend_epi32(c[i], _mm256_slli_epi64(d[i], 32), 0xaa);
      __m256i even = _mm256_unpacklo_epi64(ab, cd), odd = _mm256_unpackhi_epi64(ab, cd);
      __m256i* to = reinterpret_cast<__m256i*>(words + 16 * i);
      _mm256_storeu_si256(to, _mm256_permute2x128_si256(even, odd, 0x20));
      _mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(even, odd, 0x31));
    }
    state.skip(num_lanes * stride);
  }
  words_baseline(state, num_blocks, stride, words);
}
#endif

using WordsFunction = void (*)(PhiloxState, int64_t, uint64_t, uint32_t*);

WordsFunction choose_words() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return words_avx2;
#endif
  return words_baseline;
}

}  // namespace

void philox_words(const PhiloxState& first, int64_t num_blocks, uint32_t* words, uint64_t stride) {
  static const WordsFunction run = choose_words();
  run(first, num_blocks, stride, words);
}

}  // namespace thalweg::kernels
