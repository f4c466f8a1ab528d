#include "thalweg/kernels/random_gamma.h"

#include <cmath>
#include <limits>

#include "thalweg/core/threads.h"
#include "thalweg/kernels/philox.h"
#include "thalweg/kernels/random_bits.h"

namespace thalweg::kernels {
namespace {

// Numbers are used from the end of each block, and normal and uniform numbers come from blocks of their own.
class Draws {
 public:
  explicit Draws(const PhiloxState& state) : stream_(state) {}
  double uniform() {
    if (num_uniform_ == 0) {
      PhiloxBlock block = stream_();
      uniform_[0] = unit_double(block.words[0], block.words[1]);
      uniform_[1] = unit_double(block.words[2], block.words[3]);
      num_uniform_ = 2;
    }
    return uniform_[--num_uniform_];
  }
  double normal() {
    if (num_normal_ == 0) {
      PhiloxBlock block = stream_();
      NormalPair<double> pair = normal_doubles(block.words[0], block.words[1], block.words[2], block.words[3]);
      normal_[0] = pair.first;
      normal_[1] = pair.second;
      num_normal_ = 2;
    }
    return normal_[--num_normal_];
  }

 private:
  PhiloxStream stream_;
  double uniform_[2], normal_[2];
  int num_uniform_ = 0, num_normal_ = 0;
};

// TensorFlow computes with denormals flushed to zero; small alphas do reach them, and the caller's thread may keep
// them.
template <class T> T flushed(T value) { return std::abs(value) < std::numeric_limits<T>::min() ? T(0) : value; }

// Marsaglia and Tsang's transformation with rejection; below 1 the number of shape alpha + 1 is scaled down.
double sample_gamma(double alpha, Draws draws) {
  if (alpha == 1) return -std::log1p(-draws.uniform());
  bool small = alpha < 1;
  double d = alpha + (small ? 2.0 / 3 : -1.0 / 3);
  double c = 1.0 / 3 / std::sqrt(d);
  while (true) {
    double x = draws.normal();
    double v = 1 + c * x;
    if (v <= 0) continue;
    v = v * v * v;
    double u = draws.uniform();
    if (u < 1 - 0.0331 * (x * x) * (x * x) || std::log(u) < 0.5 * x * x + d * (1 - v + std::log(v))) {
      double result = d * v;
      if (small) result *= flushed(std::pow(draws.uniform(), 1 / alpha));
      return flushed(result);
    }
  }
}

template <class T> T narrow(double value) {
  // TensorFlow's 16-bit types take a double by way of float.
  if constexpr (sizeof(T) == 2) return T(static_cast<float>(value));
  else return flushed(static_cast<T>(value));
}

template <class T> double widen(T value) {
  if constexpr (sizeof(T) == 2) return static_cast<double>(static_cast<float>(value));
  else return static_cast<double>(value);
}

template <class T>
void fill(const PhiloxState& state, const void* alphas, int64_t num_alphas, int64_t samples_per_alpha, void* out) {
  parallel_for(num_alphas * samples_per_alpha, 100, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t alpha = i / samples_per_alpha, sample = i % samples_per_alpha;
      double value =
          sample_gamma(widen(static_cast<const T*>(alphas)[alpha]), Draws(state.after(static_cast<uint64_t>(i) * 256)));
      static_cast<T*>(out)[sample * num_alphas + alpha] = narrow<T>(value);
    }
  });
}

}  // namespace

void fill_gamma(DType dtype, const PhiloxState& state, const void* alphas, int64_t num_alphas,
                int64_t samples_per_alpha, void* out) {
  if (dtype == DType::float32) fill<float>(state, alphas, num_alphas, samples_per_alpha, out);
  if (dtype == DType::float64) fill<double>(state, alphas, num_alphas, samples_per_alpha, out);
  if (dtype == DType::float16) fill<Half>(state, alphas, num_alphas, samples_per_alpha, out);
  if (dtype == DType::bfloat16) fill<BFloat16>(state, alphas, num_alphas, samples_per_alpha, out);
}

}  // namespace thalweg::kernels
