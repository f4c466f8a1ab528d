#include "thalweg/kernels/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "thalweg/core/convert.h"
#include "thalweg/core/threads.h"
#include "thalweg/kernels/isa.h"
#include "thalweg/kernels/scalar_exponential.h"

namespace thalweg::kernels {
namespace {

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
    const T e = scalar::exp(x[i] - shift);
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
template <class T> THALWEG_AVX2 void softmax_avx2(const T* x, int64_t n, T* out) { softmax_body(x, n, out); }
template <class T> THALWEG_AVX2 void log_softmax_avx2(const T* x, int64_t n, T* out) { log_softmax_body(x, n, out); }
template <class T> THALWEG_AVX2 T cross_entropy_avx2(const T* x, const T* labels, int64_t n, T* out) {
  return cross_entropy_body(x, labels, n, out);
}
template <class T> THALWEG_AVX2 T sparse_avx2(const T* x, int64_t label, int64_t n, T* out) {
  return sparse_body(x, label, n, out);
}
template <class T> Rows<T> row_loops() {
  if (isa >= avx2) return {softmax_avx2<T>, log_softmax_avx2<T>, cross_entropy_avx2<T>, sparse_avx2<T>};
  return {softmax_baseline<T>, log_softmax_baseline<T>, cross_entropy_baseline<T>, sparse_baseline<T>};
}

/// One array of a call: its elements, how many a row has, and whether it is written.
struct Array {
  const void* data;
  int64_t per_row;
  bool written;
};

// Calls row(T** arrays, i) for each row, with the type that computes and the arrays from that row on; halves are
// widened before and narrowed after, in memory that stays in the cache.
template <int count, class Row>
void for_rows(DType dtype, int64_t rows, int64_t classes, const Array (&arrays)[count], Row row) {
  auto direct = [&]<class T>(int64_t begin, int64_t end, T) {
    for (int64_t i = begin; i < end; ++i) {
      T* p[count];
      for (int k = 0; k < count; ++k)
        p[k] = const_cast<T*>(static_cast<const T*>(arrays[k].data)) + i * arrays[k].per_row;
      row(p, i);
    }
  };
  auto widened = [&](int64_t begin, int64_t end) {
    std::vector<float> wide[count];
    for (int k = 0; k < count; ++k) wide[k].resize(static_cast<size_t>(arrays[k].per_row));
    for (int64_t i = begin; i < end; ++i) {
      float* p[count];
      auto half = [&](int k) {
        return const_cast<uint16_t*>(static_cast<const uint16_t*>(arrays[k].data)) + i * arrays[k].per_row;
      };
      for (int k = 0; k < count; ++k) {
        p[k] = wide[k].data();
        if (!arrays[k].written) widen_halves(dtype, half(k), p[k], arrays[k].per_row);
      }
      row(p, i);
      for (int k = 0; k < count; ++k)
        if (arrays[k].written) narrow_halves(dtype, p[k], half(k), arrays[k].per_row);
    }
  };
  parallel_for(rows, 2.0 * static_cast<double>(classes) + 20, [&](int64_t begin, int64_t end) {
    if (dtype == DType::float32) direct(begin, end, float{});
    else if (dtype == DType::float64) direct(begin, end, double{});
    else widened(begin, end);
  });
}
}  // namespace

void softmax(DType dtype, int64_t rows, int64_t classes, const void* logits, void* out) {
  if (rows * classes <= 0) return;
  for_rows<2>(dtype, rows, classes, {{logits, classes, false}, {out, classes, true}},
              [&]<class T>(T** p, int64_t) { row_loops<T>().softmax(p[0], classes, p[1]); });
}

void log_softmax(DType dtype, int64_t rows, int64_t classes, const void* logits, void* out) {
  if (rows * classes <= 0) return;
  for_rows<2>(dtype, rows, classes, {{logits, classes, false}, {out, classes, true}},
              [&]<class T>(T** p, int64_t) { row_loops<T>().log_softmax(p[0], classes, p[1]); });
}

void softmax_cross_entropy(DType dtype, int64_t rows, int64_t classes, const void* logits, const void* labels,
                           void* loss, void* backprop) {
  if (rows <= 0) return;
  for_rows<4>(dtype, rows, classes,
              {{logits, classes, false}, {labels, classes, false}, {loss, 1, true}, {backprop, classes, true}},
              [&]<class T>(T** p, int64_t) {
                *p[2] = classes > 0 ? row_loops<T>().cross_entropy(p[0], p[1], classes, p[3]) : T{};
              });
}

void sparse_softmax_cross_entropy(DType dtype, DType label_dtype, int64_t rows, int64_t classes, const void* logits,
                                  const void* labels, void* loss, void* backprop) {
  if (rows <= 0) return;
  for_rows<3>(dtype, rows, classes, {{logits, classes, false}, {loss, 1, true}, {backprop, classes, true}},
              [&]<class T>(T** p, int64_t i) {
                const int64_t label = label_dtype == DType::int32 ? static_cast<const int32_t*>(labels)[i]
                                                                  : static_cast<const int64_t*>(labels)[i];
                if (label >= 0 && label < classes) {
                  *p[1] = row_loops<T>().sparse(p[0], label, classes, p[2]);
                } else {
                  *p[1] = std::numeric_limits<T>::quiet_NaN();
                  std::fill_n(p[2], classes, std::numeric_limits<T>::quiet_NaN());
                }
              });
}

}  // namespace thalweg::kernels
