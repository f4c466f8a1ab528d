// Conversion of arrays between stored and computed types, at vector speed where the machine can.
#pragma once
#include <cstdint>

#include "thalweg/core/dtype.h"

namespace thalweg::kernels {

void convert(const Half* from, float* to, int64_t count);
void convert(const float* from, Half* to, int64_t count);
void convert(const BFloat16* from, float* to, int64_t count);
void convert(const float* from, BFloat16* to, int64_t count);

/// Integers: widened, or cut to their low bits.
template <class From, class To> void convert(const From* from, To* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<To>(from[i]);
}

}  // namespace thalweg::kernels
