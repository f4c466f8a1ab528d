#include "thalweg/kernels/random_multinomial.h"

#include <algorithm>
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

// Running sums of exp(logit - largest); not normalised. Returns the total.
template <class T> double cumulative(const T* logits, int64_t num_classes, double* sums) {
  double largest = -std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < num_classes; ++i) {
    double logit = widen(logits[i]);
    if (std::isfinite(logit)) largest = std::max(largest, logit);
  }
  double total = 0;
  for (int64_t i = 0; i < num_classes; ++i) {
    double logit = widen(logits[i]);
    if (std::isfinite(logit)) total += std::exp(logit - largest);
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
  double nanoseconds = 8 * classes + static_cast<double>(num_samples) * (10 + 2 * std::log2(classes + 1));
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
