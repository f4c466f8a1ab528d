#include "thalweg/kernels/softmax.h"

#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <type_traits>

#include "thalweg/core/threads.h"
#include "thalweg/kernels/convert.h"
#include "thalweg/kernels/instruction_set.h"

namespace thalweg::kernels {
namespace {

// e^x for x <= 0: x = n ln 2 + r with |r| <= ln 2 / 2, the series of e^r, and n put into the exponent. Below the
// smallest normal number the result is 0, as the threads flush denormals anyway. Within 1 ulp; NaN stays NaN.
template <class T> [[gnu::always_inline]] inline T exponential(T x) {
  constexpr bool single = std::is_same_v<T, float>;
  using Bits = std::conditional_t<single, int32_t, int64_t>;
  constexpr T lowest = single ? T(-87.3) : T(-708.3);
  constexpr T rounder = single ? T(12582912) : T(6755399441055744.0);  // 1.5 * 2^(digits - 1): adds round to integers
  constexpr T high = single ? T(0.693359375) : T(6.93147180369123816490e-01);
  constexpr T low = single ? T(-2.12194440e-4) : T(1.90821492927058770002e-10);
  constexpr int mantissa = single ? 23 : 52, bias = single ? 127 : 1023;
  const T clamped = x < lowest ? lowest : x;
  const T shifted = clamped * T(1.4426950408889634) + rounder;
  const T n = shifted - rounder;
  const T r = (clamped - n * high) - n * low;
  T sum = single ? T(1.0 / 5040) : T(1.0 / 6227020800.0);
  if constexpr (!single) {
    constexpr double inverse[] = {1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800,
                                  1.0 / 362880,    1.0 / 40320,    1.0 / 5040};
    for (double c : inverse) sum = sum * r + c;
  }
  sum = sum * r + T(1.0 / 720);
  sum = sum * r + T(1.0 / 120);
  sum = sum * r + T(1.0 / 24);
  sum = sum * r + T(1.0 / 6);
  sum = sum * r + T(0.5);
  sum = sum * r + T(1);
  sum = sum * r + T(1);
  const Bits exponent = std::bit_cast<Bits>(shifted) - std::bit_cast<Bits>(rounder);
  const T power = std::bit_cast<T>(static_cast<Bits>((exponent + bias) << mantissa));
  const T value = sum * power;
  return x < lowest ? T(0) : x != x ? x : value;
}

template <class T> [[gnu::always_inline]] inline T largest(const T* x, int64_t count) {
  T best = -std::numeric_limits<T>::infinity();
#pragma omp simd reduction(max : best)
  for (int64_t i = 0; i < count; ++i) best = x[i] > best ? x[i] : best;
  return best;
}

/// out = exp(x - shift), returns the sum.
template <class T> [[gnu::always_inline]] inline T exponentials(const T* x, T shift, int64_t count, T* out) {
  T sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < count; ++i) {
    const T e = exponential(x[i] - shift);
    out[i] = e;
    sum += e;
  }
  return sum;
}

template <class T> [[gnu::always_inline]] inline void softmax_body(const T* x, int64_t count, T* out) {
  const T inverse = T(1) / exponentials(x, largest(x, count), count, out);
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) out[i] *= inverse;
}
template <class T> [[gnu::always_inline]] inline void log_softmax_body(const T* x, int64_t count, T* out) {
  const T shift = largest(x, count), total = std::log(exponentials(x, shift, count, out));
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) out[i] = (x[i] - shift) - total;
}
template <class T>
[[gnu::always_inline]] inline T cross_entropy_body(const T* x, const T* labels, int64_t count, T* out) {
  const T shift = largest(x, count), sum = exponentials(x, shift, count, out);
  const T total = std::log(sum), inverse = T(1) / sum;
  T loss = 0;
#pragma omp simd reduction(+ : loss)
  for (int64_t i = 0; i < count; ++i) {
    loss += labels[i] * (total - (x[i] - shift));
    out[i] = out[i] * inverse - labels[i];
  }
  return loss;
}
template <class T> [[gnu::always_inline]] inline T sparse_body(const T* x, int64_t label, int64_t count, T* out) {
  const T shift = largest(x, count), sum = exponentials(x, shift, count, out), inverse = T(1) / sum;
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) out[i] *= inverse;
  out[label] -= T(1);
  return std::log(sum) - (x[label] - shift);
}

template <class T> struct Rows {
  void (*softmax)(const T*, int64_t, T*);
  void (*log_softmax)(const T*, int64_t, T*);
  T (*cross_entropy)(const T*, const T*, int64_t, T*);
  T (*sparse)(const T*, int64_t, int64_t, T*);
};
template <class T> void softmax_baseline(const T* x, int64_t n, T* out) { softmax_body(x, n, out); }
template <class T> void log_softmax_baseline(const T* x, int64_t n, T* out) { log_softmax_body(x, n, out); }
template <class T> T cross_entropy_baseline(const T* x, const T* labels, int64_t n, T* out) {
  return cross_entropy_body(x, labels, n, out);
}
template <class T> T sparse_baseline(const T* x, int64_t label, int64_t n, T* out) {
  return sparse_body(x, label, n, out);
}
template <class T> THALWEG_TARGET_AVX2 void softmax_avx2(const T* x, int64_t n, T* out) { softmax_body(x, n, out); }
template <class T> THALWEG_TARGET_AVX2 void log_softmax_avx2(const T* x, int64_t n, T* out) {
  log_softmax_body(x, n, out);
}
template <class T> THALWEG_TARGET_AVX2 T cross_entropy_avx2(const T* x, const T* labels, int64_t n, T* out) {
  return cross_entropy_body(x, labels, n, out);
}
template <class T> THALWEG_TARGET_AVX2 T sparse_avx2(const T* x, int64_t label, int64_t n, T* out) {
  return sparse_body(x, label, n, out);
}
template <class T> Rows<T> row_loops() {
  if (instruction_set() >= InstructionSet::avx2)
    return {softmax_avx2<T>, log_softmax_avx2<T>, cross_entropy_avx2<T>, sparse_avx2<T>};
  return {softmax_baseline<T>, log_softmax_baseline<T>, cross_entropy_baseline<T>, sparse_baseline<T>};
}

template <class Row> void for_rows(int64_t rows, int64_t classes, Row row) {
  parallel_for(rows, 2.0 * static_cast<double>(classes) + 20, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) row(i);
  });
}

/// One array of a call: its elements, and whether it is written.
struct Array {
  const void* data;
  int64_t size;
  bool written;
};

// Calls compute(T** arrays) with the type that computes; halves are widened before and narrowed after.
template <int count, class Compute> void dispatch(DType dtype, const Array (&arrays)[count], Compute compute) {
  auto direct = [&]<class T>(T) {
    T* p[count];
    for (int i = 0; i < count; ++i) p[i] = static_cast<T*>(const_cast<void*>(arrays[i].data));
    compute(p);
  };
  auto widened = [&]<class T>(T) {
    std::unique_ptr<float[]> wide[count];
    float* p[count];
    for (int i = 0; i < count; ++i) {
      wide[i] = std::make_unique_for_overwrite<float[]>(static_cast<size_t>(arrays[i].size));
      p[i] = wide[i].get();
      if (!arrays[i].written) convert(static_cast<const T*>(arrays[i].data), p[i], arrays[i].size);
    }
    compute(p);
    for (int i = 0; i < count; ++i)
      if (arrays[i].written) convert(p[i], static_cast<T*>(const_cast<void*>(arrays[i].data)), arrays[i].size);
  };
  switch (dtype) {
    case DType::float32:
      return direct(float{});
    case DType::float64:
      return direct(double{});
    case DType::float16:
      return widened(Half{});
    case DType::bfloat16:
      return widened(BFloat16{});
    default:
      return;
  }
}
}  // namespace

void softmax(DType dtype, int64_t rows, int64_t classes, const void* logits, void* out) {
  const int64_t size = rows * classes;
  if (size <= 0) return;
  dispatch<2>(dtype, {{logits, size, false}, {out, size, true}}, [&]<class T>(T** p) {
    const auto row = row_loops<T>().softmax;
    for_rows(rows, classes, [&](int64_t i) { row(p[0] + i * classes, classes, p[1] + i * classes); });
  });
}

void log_softmax(DType dtype, int64_t rows, int64_t classes, const void* logits, void* out) {
  const int64_t size = rows * classes;
  if (size <= 0) return;
  dispatch<2>(dtype, {{logits, size, false}, {out, size, true}}, [&]<class T>(T** p) {
    const auto row = row_loops<T>().log_softmax;
    for_rows(rows, classes, [&](int64_t i) { row(p[0] + i * classes, classes, p[1] + i * classes); });
  });
}

void softmax_cross_entropy(DType dtype, int64_t rows, int64_t classes, const void* logits, const void* labels,
                           void* loss, void* backprop) {
  const int64_t size = rows * classes;
  if (rows <= 0) return;
  dispatch<4>(dtype, {{logits, size, false}, {labels, size, false}, {loss, rows, true}, {backprop, size, true}},
              [&]<class T>(T** p) {
                const auto row = row_loops<T>().cross_entropy;
                for_rows(rows, classes, [&](int64_t i) {
                  const int64_t at = i * classes;
                  p[2][i] = classes > 0 ? row(p[0] + at, p[1] + at, classes, p[3] + at) : T{};
                });
              });
}

void sparse_softmax_cross_entropy(DType dtype, DType label_dtype, int64_t rows, int64_t classes, const void* logits,
                                  const void* labels, void* loss, void* backprop) {
  const int64_t size = rows * classes;
  if (rows <= 0) return;
  dispatch<3>(dtype, {{logits, size, false}, {loss, rows, true}, {backprop, size, true}}, [&]<class T>(T** p) {
    const auto row = row_loops<T>().sparse;
    for_rows(rows, classes, [&](int64_t i) {
      const int64_t at = i * classes;
      const int64_t label =
          label_dtype == DType::int32 ? static_cast<const int32_t*>(labels)[i] : static_cast<const int64_t*>(labels)[i];
      if (label >= 0 && label < classes) {
        p[1][i] = row(p[0] + at, label, classes, p[2] + at);
      } else {
        p[1][i] = std::numeric_limits<T>::quiet_NaN();
        for (int64_t c = 0; c < classes; ++c) p[2][at + c] = std::numeric_limits<T>::quiet_NaN();
      }
    });
  });
}

}  // namespace thalweg::kernels
