// All special functions for element-wise kernels, with TensorFlow's edges; most are computed in double, right before
// fast. Those of scalar_inverse_error.h and the modified Bessel functions vectorise.
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
