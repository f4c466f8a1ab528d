// All special functions for element-wise kernels; each is computed in double, right before fast, with TensorFlow's
// edges.
#pragma once
#include <cmath>

#include "thalweg/kernels/scalar_bessel.h"
#include "thalweg/kernels/scalar_gamma.h"
#include "thalweg/kernels/scalar_integrals.h"
#include "thalweg/kernels/scalar_inverse_error.h"

namespace thalweg::kernels::scalar {
/// The number next to x in the direction of y.
template <class T> [[gnu::always_inline]] inline T nextafter(T x, T y) { return std::nextafter(x, y); }
}  // namespace thalweg::kernels::scalar
