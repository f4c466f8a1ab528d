// The passes of a Fourier transform of one length, with their twiddle factors.
#pragma once
#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

namespace thalweg::kernels {

/// The largest prime factor that gets a pass of its own; lengths with larger ones go through a convolution.
inline constexpr int max_radix = 23;

struct FftPass {
  int radix;
  int64_t m, s;             // what is left after it, and what was done before it
  int64_t twiddles, roots;  // where its factors begin: m rows of radix - 1, and the roots of unity of its radix
};

template <class R> struct FftPlan {
  int64_t n = 0;
  std::vector<FftPass> passes;
  std::vector<std::complex<R>> twiddles, roots;
  // Bluestein: multiply by the chirp, convolve with its conjugate (whose transform is `filter`), multiply again.
  std::shared_ptr<const FftPlan> convolution;
  std::vector<std::complex<R>> chirp, filter;

  /// Elements of each of the two buffers that a transform works in.
  int64_t buffer_size() const { return convolution ? convolution->n : n; }
};

/// exp(-2 pi i k / n), to the last digit.
std::complex<double> root_of_unity(int64_t k, int64_t n);

/// A plan for n >= 1; those of moderate length are kept.
template <class R> std::shared_ptr<const FftPlan<R>> fft_plan(int64_t n);

/// exp(-2 pi i v k / n) at [v - 1, k], for v = 1 to `multiples` and k < count; kept like plans.
template <class R>
std::shared_ptr<const std::vector<std::complex<R>>> fft_roots(int64_t n, int multiples, int64_t count);

/// Runs the passes over `Lanes` interleaved transforms: element j is `Lanes` real parts, then `Lanes` imaginary ones.
/// The result is in one of the two buffers, which is returned.
template <class R, int Lanes> R* run_passes(const FftPlan<R>& plan, R* data, R* other);

}  // namespace thalweg::kernels
