#include "thalweg/kernels/random_truncated.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "thalweg/kernels/philox.h"
#include "thalweg/kernels/random_bits.h"
#include "thalweg/kernels/random_normal.h"

namespace thalweg::kernels {
namespace {

// A half that rounds after every operation, as TensorFlow's does.
struct RoundedHalf {
  float value = 0;
  RoundedHalf() = default;
  explicit RoundedHalf(double x) : value(static_cast<float>(Half(static_cast<float>(x)))) {}
  explicit RoundedHalf(Half x) : value(static_cast<float>(x)) {}
  friend RoundedHalf operator+(RoundedHalf x, RoundedHalf y) { return RoundedHalf(Half(x.value + y.value)); }
  friend RoundedHalf operator-(RoundedHalf x, RoundedHalf y) { return RoundedHalf(Half(x.value - y.value)); }
  friend RoundedHalf operator*(RoundedHalf x, RoundedHalf y) { return RoundedHalf(Half(x.value * y.value)); }
  friend RoundedHalf operator/(RoundedHalf x, RoundedHalf y) { return RoundedHalf(Half(x.value / y.value)); }
  RoundedHalf operator-() const { return RoundedHalf(Half(-value)); }
  auto operator<=>(const RoundedHalf&) const = default;
};
RoundedHalf exp(RoundedHalf x) { return RoundedHalf(Half(std::exp(x.value))); }
RoundedHalf log(RoundedHalf x) { return RoundedHalf(Half(std::log(x.value))); }
RoundedHalf sqrt(RoundedHalf x) { return RoundedHalf(Half(std::sqrt(x.value))); }
bool isinf(RoundedHalf x) { return std::isinf(x.value); }
bool isfinite(RoundedHalf x) { return std::isfinite(x.value); }

// The elements one block gives: two doubles, or four of the others.
template <class T> struct Group {
  static constexpr int size = sizeof(T) == 8 ? 2 : 4;
  T values[size];
};

template <class T> Group<T> uniform_group(PhiloxStream& stream) {
  PhiloxBlock block = stream();
  Group<T> group;
  for (int i = 0; i < Group<T>::size; ++i) {
    if constexpr (sizeof(T) == 8) group.values[i] = unit_double(block.words[2 * i], block.words[2 * i + 1]);
    else if constexpr (std::is_same_v<T, float>) group.values[i] = unit_float(block.words[i]);
    else group.values[i] = RoundedHalf(Half(unit_half(block.words[i])));
  }
  return group;
}

template <class T> Group<T> normal_group(PhiloxStream& stream) {
  PhiloxBlock block = stream();
  const uint32_t* words = block.words;
  if constexpr (sizeof(T) == 8) {
    NormalPair<double> pair = normal_doubles(words[0], words[1], words[2], words[3]);
    return {{pair.first, pair.second}};
  } else {
    float normals[4];
    normal_floats(words, 2, normals);
    Group<T> group;
    for (int i = 0; i < 4; ++i) {
      if constexpr (std::is_same_v<T, float>) group.values[i] = normals[i];
      else group.values[i] = T(Half(normals[i]));
    }
    return group;
  }
}

constexpr int max_iterations = 1000;

// Where accepted numbers of one batch go, scaled back from the standard normal.
template <class T, class Stored> struct Batch {
  Stored *next, *end;
  T mean, stddev, low, high;

  bool full() const { return next >= end; }
  void accept(T standard) {
    T value = standard * stddev + mean;
    if constexpr (std::is_same_v<Stored, Half>) *next++ = Half(value.value);
    else *next++ = value;
  }
};

// Most of the normal distribution lies within the bounds.
template <class T, class Stored> TruncatedNormalStatus draw_normal(PhiloxStream& stream, Batch<T, Stored>& batch) {
  int num_rejected = 0;
  while (!batch.full()) {
    for (T candidate : normal_group<T>(stream).values) {
      if (candidate >= batch.low && candidate <= batch.high) {
        batch.accept(candidate);
        if (batch.full()) break;
        num_rejected = 0;
      } else if (++num_rejected > max_iterations) {
        return TruncatedNormalStatus::normal_rejected;
      }
    }
  }
  return TruncatedNormalStatus::ok;
}

// Bounds close to each other: uniform candidates.
template <class T, class Stored> TruncatedNormalStatus draw_uniform(PhiloxStream& stream, Batch<T, Stored>& batch) {
  using std::exp;
  T width = batch.high - batch.low, plus = batch.low < T(0) ? T(0) : batch.low * batch.low;
  int num_rejected = 0;
  while (!batch.full()) {
    Group<T> candidates = uniform_group<T>(stream), chances = uniform_group<T>(stream);
    for (int i = 0; i < Group<T>::size; ++i) {
      T z = candidates.values[i] * width + batch.low;
      T g = (plus - z * z) / T(2);
      if (chances.values[i] <= exp(g)) {
        batch.accept(z);
        if (batch.full()) break;
        num_rejected = 0;
      } else if (++num_rejected >= max_iterations) {
        return TruncatedNormalStatus::uniform_rejected;
      }
    }
  }
  return TruncatedNormalStatus::ok;
}

// A tail: exponential candidates (Robert: Simulation of truncated normal variables).
template <class T, class Stored> TruncatedNormalStatus draw_exponential(PhiloxStream& stream, Batch<T, Stored>& batch) {
  using std::exp, std::log, std::sqrt;
  T alpha = (batch.low + sqrt(batch.low * batch.low + T(4))) / T(2);
  int num_rejected = 0;
  while (!batch.full()) {
    Group<T> group = uniform_group<T>(stream);
    for (int i = 0; i < Group<T>::size; i += 2) {
      T z = -log(group.values[i]) / alpha + batch.low;
      T x = batch.low < alpha ? alpha - z : batch.low - alpha;
      T g = exp(-x * x / T(2));
      if (group.values[i + 1] <= g && z < batch.high) {
        batch.accept(z);
        if (batch.full()) break;
        num_rejected = 0;
      } else if (++num_rejected >= max_iterations) {
        return TruncatedNormalStatus::exponential_rejected;
      }
    }
  }
  return TruncatedNormalStatus::ok;
}

template <class T, class Stored>
TruncatedNormalStatus draw_batch(PhiloxStream& stream, T mean, T stddev, T minval, T maxval, Stored* begin,
                                 Stored* end) {
  using std::exp, std::isfinite, std::isinf, std::sqrt;
  if (!(stddev > T(0) && minval < maxval && (isfinite(minval) || isfinite(maxval)))) {
    return TruncatedNormalStatus::invalid_parameters;
  }
  // Mirrored where that makes the finite bound the lower one, or both bounds positive.
  if ((isinf(minval) && minval < T(0)) || maxval < mean) {
    std::swap(minval, maxval);
    stddev = -stddev;
  }
  T low = (minval - mean) / stddev, high = (maxval - mean) / stddev;
  Batch<T, Stored> batch{begin, end, mean, stddev, low, high};
  const T enough = T(1.3);
  if ((low < -enough && high >= T(0)) || (high > enough && low <= T(0))) return draw_normal(stream, batch);
  T root = sqrt(low * low + T(4));
  T cutoff = T(2) * exp(T(0.5) + (low * (low - root)) / T(4)) / (low + root);
  if (high - low < cutoff) return draw_uniform(stream, batch);
  return draw_exponential(stream, batch);
}

template <class T, class Stored>
TruncatedNormalStatus fill(const PhiloxState& state, const TruncatedNormalBatches& batches, Stored* out) {
  PhiloxStream stream(state);
  for (int64_t i = 0; i < batches.num_batches; ++i) {
    auto value = [i](const BatchParameter& parameter) {
      return T(static_cast<const Stored*>(parameter.values)[parameter.per_batch ? i : 0]);
    };
    int64_t begin = i * batches.samples_per_batch;
    int64_t end = std::min(begin + batches.samples_per_batch, batches.num_elements);
    TruncatedNormalStatus status = draw_batch(stream, value(batches.mean), value(batches.stddev), value(batches.minval),
                                              value(batches.maxval), out + begin, out + end);
    if (status != TruncatedNormalStatus::ok) return status;
  }
  return TruncatedNormalStatus::ok;
}

}  // namespace

TruncatedNormalStatus fill_parameterized_truncated_normal(DType dtype, const PhiloxState& state,
                                                          const TruncatedNormalBatches& batches, void* out) {
  if (dtype == DType::float32) return fill<float>(state, batches, static_cast<float*>(out));
  if (dtype == DType::float64) return fill<double>(state, batches, static_cast<double*>(out));
  return fill<RoundedHalf>(state, batches, static_cast<Half*>(out));
}

}  // namespace thalweg::kernels
