#include "thalweg/kernels/random_multinomial.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "thalweg/core/threads.h"
#include "thalweg/kernels/philox.h"
#include "thalweg/kernels/random_bits.h"

namespace thalweg::kernels {
namespace {

template <class T> double widen(T value) {
  if constexpr (std::is_class_v<T>) return static_cast<double>(static_cast<float>(value));
  else return static_cast<double>(value);
}

// exp(x) for x <= 0 to within two units in the last place, 0 below -708; no calls, so that loops of it become vectors.
[[gnu::always_inline]] inline double exp_negative(double x) {
  double inside = x < -708.0 ? -708.0 : x;
  // Adding 1.5 * 2**52 rounds to an integer and leaves it in the lowest bits.
  double shifted = inside * 0x1.71547652b82fep+0 + 0x1.8p52, n = shifted - 0x1.8p52;
  double r = inside - n * 0x1.62e42fefa3800p-1 - n * 0x1.ef35793c76730p-45;
  double sum = 1.0 / 6227020800.0;
  sum = sum * r + 1.0 / 479001600.0;
  sum = sum * r + 1.0 / 39916800.0;
  sum = sum * r + 1.0 / 3628800.0;
  sum = sum * r + 1.0 / 362880.0;
  sum = sum * r + 1.0 / 40320.0;
  sum = sum * r + 1.0 / 5040.0;
  sum = sum * r + 1.0 / 720.0;
  sum = sum * r + 1.0 / 120.0;
  sum = sum * r + 1.0 / 24.0;
  sum = sum * r + 1.0 / 6.0;
  sum = sum * r + 0.5;
  sum = sum * r + 1.0;
  sum = sum * r + 1.0;
  double scale = std::bit_cast<double>((std::bit_cast<uint64_t>(shifted) << 52) + 0x3ff0000000000000u);
  return x < -708.0 ? 0.0 : sum * scale;
}

[[gnu::always_inline]] inline void weights_body(double* values, int64_t n, double largest) {
  for (int64_t i = 0; i < n; ++i) {
    bool finite = std::abs(values[i]) <= std::numeric_limits<double>::max();
    values[i] = exp_negative(finite ? values[i] - largest : -1000.0);
  }
}

void weights_baseline(double* values, int64_t n, double largest) { weights_body(values, n, largest); }

#if defined(__x86_64__)
[[gnu::target("avx2")]] void weights_avx2(double* values, int64_t n, double largest) {
  weights_body(values, n, largest);
}
#endif

// Replaces logits by exp(logit - largest), those that are not finite by 0.
void weights(double* values, int64_t n, double largest) {
#if defined(__x86_64__)
  static const bool avx2 = __builtin_cpu_supports("avx2");
  if (avx2) return weights_avx2(values, n, largest);
#endif
  weights_baseline(values, n, largest);
}

// The largest finite value; several at once, because each comparison waits for the last.
double largest_finite(const double* values, int64_t n) {
  constexpr double lowest = std::numeric_limits<double>::lowest();
  constexpr int num_lanes = 8;
  double largest[num_lanes];
  std::fill(largest, largest + num_lanes, lowest);
  auto offer = [&](int lane, double value) {
    double finite = value <= std::numeric_limits<double>::max() ? value : lowest;
    largest[lane] = finite > largest[lane] ? finite : largest[lane];
  };
  int64_t i = 0;
  for (; i + num_lanes <= n; i += num_lanes) {
    for (int lane = 0; lane < num_lanes; ++lane) offer(lane, values[i + lane]);
  }
  for (; i < n; ++i) offer(0, values[i]);
  return *std::max_element(largest, largest + num_lanes);
}

// Running sums of exp(logit - largest); not normalised. Returns the total.
template <class T> double cumulative(const T* logits, int64_t num_classes, double* sums) {
  for (int64_t i = 0; i < num_classes; ++i) sums[i] = widen(logits[i]);
  double largest = largest_finite(sums, num_classes);
  weights(sums, num_classes, largest);
  double total = 0;
  for (int64_t i = 0; i < num_classes; ++i) {
    total += sums[i];
    sums[i] = total;
  }
  return total;
}

template <class T, class U>
void draw_rows(const T* logits, int64_t num_classes, int64_t num_samples, const PhiloxState& state, int64_t begin,
               int64_t end, U* out) {
  std::vector<double> sums(static_cast<size_t>(num_classes));
  // A draw takes half a block: an odd draw starts in the middle of one.
  int64_t draw = begin * num_samples;
  PhiloxWords words(state.after(static_cast<uint64_t>(draw / 2)));
  if (draw % 2 != 0) {
    words();
    words();
  }
  for (int64_t row = begin; row < end; ++row) {
    double total = cumulative(logits + row * num_classes, num_classes, sums.data());
    for (int64_t i = 0; i < num_samples; ++i) {
      uint32_t high = words(), low = words();
      double target = unit_double(high, low) * total;
      out[row * num_samples + i] = static_cast<U>(std::upper_bound(sums.begin(), sums.end(), target) - sums.begin());
    }
  }
}

template <class T>
void run(const void* logits, int64_t batch_size, int64_t num_classes, int64_t num_samples, const PhiloxState& state,
         DType out_dtype, void* out) {
  double classes = static_cast<double>(num_classes);
  double nanoseconds = 4 * classes + static_cast<double>(num_samples) * (10 + 2 * std::log2(classes + 1));
  parallel_for(batch_size, nanoseconds, [&](int64_t begin, int64_t end) {
    const T* typed = static_cast<const T*>(logits);
    if (out_dtype == DType::int32) {
      draw_rows(typed, num_classes, num_samples, state, begin, end, static_cast<int32_t*>(out));
    } else {
      draw_rows(typed, num_classes, num_samples, state, begin, end, static_cast<int64_t*>(out));
    }
  });
}

}  // namespace

void multinomial(DType logits_dtype, const void* logits, int64_t batch_size, int64_t num_classes, int64_t num_samples,
                 const PhiloxState& state, DType out_dtype, void* out) {
  auto with = [&]<class T>(T) { run<T>(logits, batch_size, num_classes, num_samples, state, out_dtype, out); };
  switch (logits_dtype) {
    case DType::float16:
      return with(Half());
    case DType::bfloat16:
      return with(BFloat16());
    case DType::float32:
      return with(float());
    case DType::float64:
      return with(double());
    case DType::int8:
      return with(int8_t());
    case DType::int16:
      return with(int16_t());
    case DType::int32:
      return with(int32_t());
    case DType::int64:
      return with(int64_t());
    case DType::uint8:
      return with(uint8_t());
    case DType::uint16:
      return with(uint16_t());
    case DType::uint32:
      return with(uint32_t());
    case DType::uint64:
      return with(uint64_t());
    default:
      return;
  }
}

}  // namespace thalweg::kernels
