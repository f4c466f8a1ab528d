#include "thalweg/kernels/isa.h"

#include <algorithm>
#include <cstdlib>

namespace thalweg::kernels {

const int isa = [] {
  __builtin_cpu_init();
  int best = baseline;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")) best = avx2;
  if (best == avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    best = avx512;
  if (const char* lowered = std::getenv("THALWEG_ISA")) best = std::clamp(std::atoi(lowered), 0, best);
  return best;
}();

}  // namespace thalweg::kernels
