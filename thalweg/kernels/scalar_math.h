// The scalar functions that element-wise kernels call, for float and double: all elementary ones.
// Special functions are in scalar_special.h and scalar_bessel.h, complex overloads in scalar_complex.h.
// Everything here is branch-free for float: a loop `y[i] = scalar::f(x[i])` vectorises for SSE2, AVX2 and AVX-512, and
// an element has the same bits wherever in the loop it stands. The bits may differ between instruction sets (fused
// multiply-add). In double exp, expm1, log, log1p, tanh, cosh, sigmoid, softplus, erf, atan and atan2 vectorise too;
// the rest is the C library's.
#pragma once
#include "thalweg/kernels/scalar_error_function.h"
#include "thalweg/kernels/scalar_exponential.h"
#include "thalweg/kernels/scalar_hyperbolic.h"
#include "thalweg/kernels/scalar_rounding.h"
#include "thalweg/kernels/scalar_trigonometric.h"
