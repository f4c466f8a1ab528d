#include "thalweg/kernels/random_poisson.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "thalweg/core/threads.h"
#include "thalweg/kernels/philox.h"
#include "thalweg/kernels/random_bits.h"

namespace thalweg::kernels {
namespace {

// Uniform doubles, used from the end of each block.
class Uniforms {
 public:
  explicit Uniforms(const PhiloxState& state) : stream_(state) {}
  double operator()() {
    if (remaining_ == 0) {
      PhiloxBlock block = stream_();
      values_[0] = unit_double(block.words[0], block.words[1]);
      values_[1] = unit_double(block.words[2], block.words[3]);
      remaining_ = 2;
    }
    return values_[--remaining_];
  }

 private:
  PhiloxStream stream_;
  double values_[2];
  int remaining_ = 0;
};

// The logarithm of the gamma function, without the global sign of std::lgamma that threads would share.
double log_gamma(double x) {
  int sign;
  return lgamma_r(x, &sign);
}

// Knuth's product of uniform numbers.
double sample_small(double exp_negative_rate, double highest, Uniforms uniform) {
  double product = 1;
  for (double x = 0; x <= highest; x += 1) {
    product *= uniform();
    if (product <= exp_negative_rate) return x;
  }
  return highest;
}

// Hormann's transformed rejection (The transformed rejection method for generating Poisson random variables, PTRS).
struct Rejection {
  double rate, highest;
  double log_rate = std::log(rate);
  double b = 0.931 + 2.53 * std::sqrt(rate);
  double a = -0.059 + 0.02483 * b;
  double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);

  double sample(Uniforms uniform) const {
    // A value too large is drawn again. No rate within the type gives this many in a row.
    for (int num_too_large = 0; num_too_large < 1000;) {
      double u = uniform() - 0.5;
      double v = uniform();
      double shifted = 0.5 - std::abs(u);
      double k = std::floor((2 * a / shifted + b) * u + rate + 0.43);
      if (k > highest) {
        ++num_too_large;
        continue;
      }
      if (shifted >= 0.07 && v <= 0.9277 - 3.6224 / (b - 2)) return k;
      if (k < 0 || (shifted < 0.013 && v > shifted)) continue;
      double s = std::log(v * inverse_alpha / (a / (shifted * shifted) + b));
      double t = -rate + k * log_rate - log_gamma(k + 1);
      if (s <= t) return k;
    }
    return highest;
  }
};

template <class U> double highest_of() {
  if constexpr (std::is_same_v<U, Half>) return 65504;
  else return static_cast<double>(std::numeric_limits<U>::max());
}

template <class U> U to_output(double value) {
  if constexpr (std::is_same_v<U, Half>) {
    return Half(static_cast<float>(value));
  } else if constexpr (std::is_integral_v<U>) {
    if (!std::isfinite(value)) return 0;
    // The largest int64 is not a double: its neighbour 2**63 is out of range.
    return value >= highest_of<U>() ? std::numeric_limits<U>::max() : static_cast<U>(value);
  } else {
    return static_cast<U>(value);
  }
}

template <class R, class U>
void fill(const PhiloxState& state, const R* rates, int64_t num_rates, int64_t samples_per_rate, U* out) {
  parallel_for(num_rates * samples_per_rate, 120, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end;) {
      int64_t index = i / samples_per_rate, limit = std::min(end, (index + 1) * samples_per_rate);
      double rate;
      if constexpr (std::is_same_v<R, Half>) rate = static_cast<double>(static_cast<float>(rates[index]));
      else rate = static_cast<double>(rates[index]);
      auto each = [&](const auto& sample) {
        for (; i < limit; ++i) {
          Uniforms uniform(state.after(static_cast<uint64_t>(i) * 256));
          out[i % samples_per_rate * num_rates + index] = to_output<U>(sample(uniform));
        }
      };
      double highest = highest_of<U>();
      if (rate < 10) {
        double exp_negative_rate = std::exp(-rate);
        each([&](const Uniforms& uniform) { return sample_small(exp_negative_rate, highest, uniform); });
      } else if (std::isfinite(rate)) {
        Rejection rejection{rate, highest};
        each([&](const Uniforms& uniform) { return rejection.sample(uniform); });
      } else {
        each([&](const Uniforms&) { return rate; });
      }
    }
  });
}

template <class R>
void fill_from(DType dtype, const PhiloxState& state, const R* rates, int64_t num_rates, int64_t samples_per_rate,
               void* out) {
  if (dtype == DType::float16) fill(state, rates, num_rates, samples_per_rate, static_cast<Half*>(out));
  if (dtype == DType::float32) fill(state, rates, num_rates, samples_per_rate, static_cast<float*>(out));
  if (dtype == DType::float64) fill(state, rates, num_rates, samples_per_rate, static_cast<double*>(out));
  if (dtype == DType::int32) fill(state, rates, num_rates, samples_per_rate, static_cast<int32_t*>(out));
  if (dtype == DType::int64) fill(state, rates, num_rates, samples_per_rate, static_cast<int64_t*>(out));
}

}  // namespace

void fill_poisson(DType rate_dtype, DType dtype, const PhiloxState& state, const void* rates, int64_t num_rates,
                  int64_t samples_per_rate, void* out) {
  auto run = [&](auto* typed) { fill_from(dtype, state, typed, num_rates, samples_per_rate, out); };
  if (rate_dtype == DType::float16) run(static_cast<const Half*>(rates));
  if (rate_dtype == DType::float32) run(static_cast<const float*>(rates));
  if (rate_dtype == DType::float64) run(static_cast<const double*>(rates));
  if (rate_dtype == DType::int32) run(static_cast<const int32_t*>(rates));
  if (rate_dtype == DType::int64) run(static_cast<const int64_t*>(rates));
}

}  // namespace thalweg::kernels
