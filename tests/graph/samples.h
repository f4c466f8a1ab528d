// Functions with control flow inside, for several tests.
#pragma once
#include "thalweg/graph/control_flow.h"
#include "thalweg/thalweg.h"

namespace thalweg::samples {

inline Tensor choose(const Tensor& x) {
  return cond(x > 0.0f, [&] { return x * x; }, [&] { return x - 1.0f; });
}
/// x to the power of 2^n, by squaring in a loop.
inline Tensor square_often(const Tensor& x, const Tensor& n) {
  return std::get<1>(while_loop([&](const Tensor& i, const Tensor&) { return i < n; },
                                [](const Tensor& i, const Tensor& y) { return std::tuple(i + 1, y * y); },
                                std::tuple(Tensor(0), x)));
}

}  // namespace thalweg::samples
