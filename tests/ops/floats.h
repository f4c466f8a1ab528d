// The elements of a float tensor, to compare with lists of numbers.
#pragma once
#include <vector>

#include "thalweg/core/tensor.h"

namespace thalweg {

using Floats = std::vector<float>;
inline Floats floats(const Tensor& t) {
  auto s = t.span<float>();
  return {s.begin(), s.end()};
}

}  // namespace thalweg
