// Which vector instructions the machine has, and the two function targets that loops are copied for.
#pragma once

namespace thalweg::kernels {

/// What a kernel may use; every level includes the ones before it.
enum class InstructionSet { baseline = 0, avx2 = 1, avx512 = 2 };

/// The level of this machine, looked up once; the environment variable THALWEG_INSTRUCTION_SET (0, 1, 2) lowers it.
InstructionSet instruction_set();

}  // namespace thalweg::kernels

#define THALWEG_TARGET_AVX2 [[gnu::target("avx2,fma,bmi2,f16c")]]
#define THALWEG_TARGET_AVX512 \
  [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi2,f16c,prefer-vector-width=512")]]
