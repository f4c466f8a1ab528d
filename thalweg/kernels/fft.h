// Discrete Fourier transforms of any length in O(n log n), in float or double.
#pragma once
#include <complex>
#include <cstdint>

namespace thalweg::kernels {

/// Transforms the middle axis of [outer, n, inner]; the inverse divides by n. `in` may be `out`.
template <class R>
void fft(int64_t outer, int64_t n, int64_t inner, bool inverse, const std::complex<R>* in, std::complex<R>* out);

/// Transforms rows of n real numbers, which lie `stride` apart, into rows of n / 2 + 1 complex ones.
template <class R> void real_fft(int64_t rows, int64_t n, int64_t stride, const R* in, std::complex<R>* out);

/// The way back: the first n / 2 + 1 numbers of rows that lie `stride` apart become n real ones. Imaginary parts that
/// no real signal has (of the first number, and of the last where n is even) count as 0.
template <class R> void inverse_real_fft(int64_t rows, int64_t n, int64_t stride, const std::complex<R>* in, R* out);

}  // namespace thalweg::kernels
