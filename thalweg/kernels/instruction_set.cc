#include "thalweg/kernels/instruction_set.h"

#include <algorithm>
#include <cstdlib>

namespace thalweg::kernels {
namespace {
int detect() {
  int level = 0;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")) level = 1;
  if (level == 1 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    level = 2;
  if (const char* text = std::getenv("THALWEG_INSTRUCTION_SET"); text && *text >= '0' && *text <= '2')
    level = std::min(level, *text - '0');
  return level;
}
}  // namespace

InstructionSet instruction_set() {
  static const InstructionSet found = static_cast<InstructionSet>(detect());
  return found;
}

}  // namespace thalweg::kernels
