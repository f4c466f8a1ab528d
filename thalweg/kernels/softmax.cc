#include "thalweg/kernels/softmax.h"

#include <cmath>
#include <limits>
#include <memory>

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
    for (int i = 0; i < count; ++i) p[i] = const_cast<T*>(static_cast<const T*>(arrays[i].data));
    compute(p);
  };
  auto widened = [&] {
    std::unique_ptr<float[]> wide[count];
    float* p[count];
    for (int i = 0; i < count; ++i) {
      wide[i] = std::make_unique_for_overwrite<float[]>(static_cast<size_t>(arrays[i].size));
      p[i] = wide[i].get();
      if (!arrays[i].written) convert_elements(dtype, arrays[i].data, DType::float32, p[i], arrays[i].size);
    }
    compute(p);
    for (int i = 0; i < count; ++i)
      if (arrays[i].written)
        convert_elements(DType::float32, p[i], dtype, const_cast<void*>(arrays[i].data), arrays[i].size);
  };
  switch (dtype) {
    case DType::float32:
      return direct(float{});
    case DType::float64:
      return direct(double{});
    case DType::float16:
    case DType::bfloat16:
      return widened();
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
