#include "thalweg/kernels/convert.h"

#include <immintrin.h>

#include <cstring>

#include "thalweg/kernels/instruction_set.h"

namespace thalweg::kernels {
namespace {
THALWEG_TARGET_AVX2 int64_t widen_avx2(const Half* from, float* to, int64_t count) {
  int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
  return i;
}
THALWEG_TARGET_AVX2 int64_t narrow_avx2(const float* from, Half* to, int64_t count) {
  int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  return i;
}
}  // namespace

void convert(const Half* from, float* to, int64_t count) {
  int64_t i = instruction_set() >= InstructionSet::avx2 ? widen_avx2(from, to, count) : 0;
  for (; i < count; ++i) to[i] = static_cast<float>(from[i]);
}

void convert(const float* from, Half* to, int64_t count) {
  int64_t i = instruction_set() >= InstructionSet::avx2 ? narrow_avx2(from, to, count) : 0;
  for (; i < count; ++i) to[i] = Half(from[i]);
}

void convert(const BFloat16* from, float* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t bits = static_cast<uint32_t>(from[i].bits) << 16;
    std::memcpy(to + i, &bits, sizeof(bits));
  }
}

void convert(const float* from, BFloat16* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] = BFloat16(from[i]);
}

}  // namespace thalweg::kernels
