// Which instruction set kernels use; chosen once, at run time.
#pragma once
#include "thalweg/core/export.h"

// Copies of a loop for AVX2 and AVX-512; the plain copy runs anywhere.
#define THALWEG_AVX2 [[gnu::target("avx2,fma,bmi2")]]
#define THALWEG_AVX512 [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi2,prefer-vector-width=512")]]

namespace thalweg::kernels {

enum Isa : int { baseline = 0, avx2 = 1, avx512 = 2 };
inline constexpr int num_isas = 3;

/// The best instruction set of this machine; THALWEG_ISA=0, 1 or 2 lowers it, for tests.
THALWEG_API extern const int isa;

}  // namespace thalweg::kernels
