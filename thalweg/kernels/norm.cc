#include "thalweg/kernels/norm.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "thalweg/core/convert.h"
#include "thalweg/core/threads.h"
#include "thalweg/kernels/isa.h"

namespace thalweg::kernels {
namespace {

/// The loops over an array of rows of `channels` floats (channels last), or over one plane (channels first).
struct Loops {
  /// sum[c] += x[c] and square[c] += (x[c] - center[c])^2 over all rows.
  void (*moments)(const float* x, int64_t rows, int64_t channels, const float* center, float* sum, float* square);
  /// sum[c] += g[c] and product[c] += g[c] (x[c] - center[c]).
  void (*products)(const float* g, const float* x, int64_t rows, int64_t channels, const float* center, float* sum,
                   float* product);
  /// y = (x - m[c]) a[c] + b[c]; the difference first, so that a large mean costs no digits.
  void (*affine)(const float* x, int64_t rows, int64_t channels, const float* m, const float* a, const float* b,
                 float* y);
  /// y = g a[c] + (x - m[c]) b[c] + d[c].
  void (*combine)(const float* g, const float* x, int64_t rows, int64_t channels, const float* m, const float* a,
                  const float* b, const float* d, float* y);
};

[[gnu::always_inline]] inline void moments_body(const float* x, int64_t rows, int64_t channels, const float* center,
                                                float* sum, float* square) {
  if (channels == 1) {
    const float c = center[0];
    float s = 0, q = 0;
#pragma omp simd reduction(+ : s, q)
    for (int64_t i = 0; i < rows; ++i) {
      const float d = x[i] - c;
      s += d;
      q += d * d;
    }
    sum[0] += s;
    square[0] += q;
    return;
  }
  for (int64_t r = 0; r < rows; ++r, x += channels)
#pragma GCC ivdep
    for (int64_t c = 0; c < channels; ++c) {
      const float d = x[c] - center[c];
      sum[c] += d;
      square[c] += d * d;
    }
}

[[gnu::always_inline]] inline void products_body(const float* g, const float* x, int64_t rows, int64_t channels,
                                                 const float* center, float* sum, float* product) {
  if (channels == 1) {
    const float c = center[0];
    float s = 0, q = 0;
#pragma omp simd reduction(+ : s, q)
    for (int64_t i = 0; i < rows; ++i) {
      s += g[i];
      q += g[i] * (x[i] - c);
    }
    sum[0] += s;
    product[0] += q;
    return;
  }
  for (int64_t r = 0; r < rows; ++r, x += channels, g += channels)
#pragma GCC ivdep
    for (int64_t c = 0; c < channels; ++c) {
      sum[c] += g[c];
      product[c] += g[c] * (x[c] - center[c]);
    }
}

[[gnu::always_inline]] inline void affine_body(const float* x, int64_t rows, int64_t channels, const float* m,
                                               const float* a, const float* b, float* y) {
  if (channels == 1) {
    const float mean = m[0], scale = a[0], offset = b[0];
#pragma GCC ivdep
    for (int64_t i = 0; i < rows; ++i) y[i] = (x[i] - mean) * scale + offset;
    return;
  }
  for (int64_t r = 0; r < rows; ++r, x += channels, y += channels)
#pragma GCC ivdep
    for (int64_t c = 0; c < channels; ++c) y[c] = (x[c] - m[c]) * a[c] + b[c];
}

[[gnu::always_inline]] inline void combine_body(const float* g, const float* x, int64_t rows, int64_t channels,
                                                const float* m, const float* a, const float* b, const float* d,
                                                float* y) {
  if (channels == 1) {
    const float mean = m[0], fg = a[0], fx = b[0], offset = d[0];
#pragma GCC ivdep
    for (int64_t i = 0; i < rows; ++i) y[i] = g[i] * fg + (x[i] - mean) * fx + offset;
    return;
  }
  for (int64_t r = 0; r < rows; ++r, x += channels, g += channels, y += channels)
#pragma GCC ivdep
    for (int64_t c = 0; c < channels; ++c) y[c] = g[c] * a[c] + (x[c] - m[c]) * b[c] + d[c];
}

void moments_baseline(const float* x, int64_t r, int64_t n, const float* c, float* s, float* q) {
  moments_body(x, r, n, c, s, q);
}
void products_baseline(const float* g, const float* x, int64_t r, int64_t n, const float* c, float* s, float* p) {
  products_body(g, x, r, n, c, s, p);
}
void affine_baseline(const float* x, int64_t r, int64_t n, const float* m, const float* a, const float* b, float* y) {
  affine_body(x, r, n, m, a, b, y);
}
void combine_baseline(const float* g, const float* x, int64_t r, int64_t n, const float* m, const float* a,
                      const float* b, const float* d, float* y) {
  combine_body(g, x, r, n, m, a, b, d, y);
}
THALWEG_AVX2 void moments_avx2(const float* x, int64_t r, int64_t n, const float* c, float* s, float* q) {
  moments_body(x, r, n, c, s, q);
}
THALWEG_AVX2 void products_avx2(const float* g, const float* x, int64_t r, int64_t n, const float* c, float* s,
                                float* p) {
  products_body(g, x, r, n, c, s, p);
}
THALWEG_AVX2 void affine_avx2(const float* x, int64_t r, int64_t n, const float* m, const float* a, const float* b,
                              float* y) {
  affine_body(x, r, n, m, a, b, y);
}
THALWEG_AVX2 void combine_avx2(const float* g, const float* x, int64_t r, int64_t n, const float* m, const float* a,
                               const float* b, const float* d, float* y) {
  combine_body(g, x, r, n, m, a, b, d, y);
}

const Loops& loops() {
  static constexpr Loops baseline = {moments_baseline, products_baseline, affine_baseline, combine_baseline};
  static constexpr Loops wide = {moments_avx2, products_avx2, affine_avx2, combine_avx2};
  return isa >= avx2 ? wide : baseline;
}

/// A piece of the array: rows of all channels, or a part of one plane of one channel.
struct Piece {
  int64_t offset, rows, channels, first_channel;
};

// Pieces depend on the sizes alone; each has its own sums, which are added in order, in double.
struct Pieces {
  explicit Pieces(const NormShape& s) : shape(s) {
    if (s.channels_first) {
      count = s.batch * s.channels;
    } else {
      const int64_t total = s.batch * s.pixels;
      // Few enough that a float adds them without losing digits.
      rows = std::clamp<int64_t>(16'384 / std::max<int64_t>(1, s.channels), 1, 512);
      count = (total + rows - 1) / rows;
    }
  }
  Piece at(int64_t i) const {
    if (shape.channels_first) return {i * shape.pixels, shape.pixels, 1, i % shape.channels};
    const int64_t first = i * rows;
    return {first * shape.channels, std::min(rows, shape.batch * shape.pixels - first), shape.channels, 0};
  }
  double cost(double per_element) const {
    return per_element * static_cast<double>(shape.channels_first ? shape.pixels : rows * shape.channels);
  }
  NormShape shape;
  int64_t count = 0, rows = 0;
};

/// Two sums per channel over all pieces: run(piece, first sums, second sums).
template <class Run>
void sum_pieces(const Pieces& pieces, Run run, std::vector<double>& first, std::vector<double>& second) {
  const NormShape& s = pieces.shape;
  const int64_t width = s.channels_first ? 1 : s.channels;
  std::vector<float> sums(static_cast<size_t>(2 * width * pieces.count));
  parallel_for(pieces.count, pieces.cost(0.3), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      run(pieces.at(i), &sums[static_cast<size_t>(2 * width * i)], &sums[static_cast<size_t>(2 * width * i + width)]);
  });
  first.assign(static_cast<size_t>(s.channels), 0);
  second.assign(static_cast<size_t>(s.channels), 0);
  for (int64_t i = 0; i < pieces.count; ++i) {
    const int64_t channel = pieces.at(i).first_channel;
    for (int64_t c = 0; c < width; ++c) {
      first[static_cast<size_t>(channel + c)] += static_cast<double>(sums[static_cast<size_t>(2 * width * i + c)]);
      second[static_cast<size_t>(channel + c)] +=
          static_cast<double>(sums[static_cast<size_t>(2 * width * i + width + c)]);
    }
  }
}

void apply_affine(const NormShape& s, const float* x, const float* m, const float* a, const float* b, float* y) {
  const Pieces pieces(s);
  const auto affine = loops().affine;
  parallel_for(pieces.count, pieces.cost(0.25), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Piece p = pieces.at(i);
      affine(x + p.offset, p.rows, p.channels, m + p.first_channel, a + p.first_channel, b + p.first_channel,
             y + p.offset);
    }
  });
}

void infer(const NormShape& s, const float* x, const float* scale, const float* offset, const float* mean,
           const float* variance, float epsilon, float* y) {
  std::vector<float> a(static_cast<size_t>(s.channels));
  batch_norm_slopes(s.channels, scale, variance, epsilon, a.data());
  apply_affine(s, x, mean, a.data(), offset, y);
}

void train(const NormShape& s, const float* x, const float* scale, const float* offset, const float* old_mean,
           const float* old_variance, float epsilon, float factor, float* y, const BatchNormOutputs& out) {
  const int64_t count = s.batch * s.pixels;
  // Sums of distances from the first row: the squares of large means would drown the variance.
  std::vector<float> center(static_cast<size_t>(s.channels));
  for (int64_t c = 0; c < s.channels && count > 0; ++c)
    center[static_cast<size_t>(c)] = x[s.channels_first ? c * s.pixels : c];
  const Pieces pieces(s);
  std::vector<double> sum, square;
  const auto moments = loops().moments;
  sum_pieces(
      pieces,
      [&](const Piece& p, float* first, float* second) {
        moments(x + p.offset, p.rows, p.channels, center.data() + p.first_channel, first, second);
      },
      sum, square);
  const double n = static_cast<double>(count);
  std::vector<float> a(center.size()), means(center.size());
  for (size_t c = 0; c < center.size(); ++c) {
    const double shift = sum[c] / n, mean = static_cast<double>(center[c]) + shift;
    // NaN passes through the maximum this way round.
    const double biased = square[c] / n - shift * shift, variance = biased < 0 ? 0 : biased;
    const double unbiased = variance * n / (count > 1 ? n - 1 : 1);
    if (out.saved_mean) out.saved_mean[c] = static_cast<float>(mean);
    if (out.saved_variance) out.saved_variance[c] = static_cast<float>(variance);
    const float batch_mean = static_cast<float>(mean), batch_variance = static_cast<float>(unbiased);
    if (out.mean) out.mean[c] = factor == 1 ? batch_mean : (1 - factor) * old_mean[c] + factor * batch_mean;
    if (out.variance)
      out.variance[c] = factor == 1 ? batch_variance : (1 - factor) * old_variance[c] + factor * batch_variance;
    const double slope = static_cast<double>(scale[c]) / std::sqrt(variance + static_cast<double>(epsilon));
    a[c] = static_cast<float>(slope);
    means[c] = batch_mean;
  }
  apply_affine(s, x, means.data(), a.data(), offset, y);
}

void gradients(const NormShape& s, bool training, const float* g, const float* x, const float* scale, const float* mean,
               const float* variance, float epsilon, float* x_grad, float* scale_grad, float* offset_grad) {
  const Pieces pieces(s);
  std::vector<double> sum, product;
  const auto products = loops().products;
  sum_pieces(
      pieces,
      [&](const Piece& p, float* first, float* second) {
        products(g + p.offset, x + p.offset, p.rows, p.channels, mean + p.first_channel, first, second);
      },
      sum, product);
  const double n = static_cast<double>(s.batch * s.pixels);
  std::vector<float> a(static_cast<size_t>(s.channels)), b(a.size()), d(a.size());
  for (size_t c = 0; c < a.size(); ++c) {
    const double inverse = 1 / std::sqrt(static_cast<double>(variance[c]) + static_cast<double>(epsilon));
    const double slope = static_cast<double>(scale[c]) * inverse;
    scale_grad[c] = static_cast<float>(product[c] * inverse);
    offset_grad[c] = static_cast<float>(sum[c]);
    a[c] = static_cast<float>(slope);
    if (!training) continue;
    // x_grad = slope (g - mean(g) - (x - mean) inverse^2 mean(g (x - mean)))
    const double along = -slope * inverse * inverse * product[c] / n;
    b[c] = static_cast<float>(along);
    d[c] = static_cast<float>(-slope * sum[c] / n);
  }
  if (!training) return apply_affine(s, g, b.data(), a.data(), d.data(), x_grad);
  const auto combine = loops().combine;
  parallel_for(pieces.count, pieces.cost(0.4), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Piece p = pieces.at(i);
      combine(g + p.offset, x + p.offset, p.rows, p.channels, mean + p.first_channel, a.data() + p.first_channel,
              b.data() + p.first_channel, d.data() + p.first_channel, x_grad + p.offset);
    }
  });
}

// Runs `compute` on float arrays; halves are widened first and the last array narrowed after.
template <int count, class Compute>
void with_floats(DType dtype, int64_t size, const void* const (&given)[count], Compute compute) {
  float* p[count] = {};
  if (dtype == DType::float32) {
    for (int i = 0; i < count; ++i) p[i] = const_cast<float*>(static_cast<const float*>(given[i]));
    return compute(p);
  }
  auto wide = std::make_unique_for_overwrite<float[]>(static_cast<size_t>(count * size));
  for (int i = 0; i < count; ++i) {
    p[i] = wide.get() + i * size;
    if (i + 1 < count) convert_elements(dtype, given[i], DType::float32, p[i], size);
  }
  compute(p);
  convert_elements(DType::float32, p[count - 1], dtype, const_cast<void*>(given[count - 1]), size);
}

int64_t size_of_array(const NormShape& s) { return s.batch * s.pixels * s.channels; }
}  // namespace

void batch_norm_train(DType dtype, const NormShape& shape, const void* x, const float* scale, const float* offset,
                      const float* old_mean, const float* old_variance, float epsilon, float factor, void* y,
                      const BatchNormOutputs& outputs) {
  with_floats<2>(dtype, size_of_array(shape), {x, y}, [&](float** p) {
    train(shape, p[0], scale, offset, old_mean, old_variance, epsilon, factor, p[1], outputs);
  });
}

void batch_norm_slopes(int64_t channels, const float* scale, const float* variance, float epsilon, float* slope) {
  for (int64_t c = 0; c < channels; ++c) slope[c] = scale[c] / std::sqrt(variance[c] + epsilon);
}
void batch_norm_rows(const float* x, int64_t rows, int64_t channels, const float* mean, const float* slope,
                     const float* offset, float* y) {
  loops().affine(x, rows, channels, mean, slope, offset, y);
}
void batch_norm_infer(DType dtype, const NormShape& shape, const void* x, const float* scale, const float* offset,
                      const float* mean, const float* variance, float epsilon, void* y) {
  with_floats<2>(dtype, size_of_array(shape), {x, y},
                 [&](float** p) { infer(shape, p[0], scale, offset, mean, variance, epsilon, p[1]); });
}

void batch_norm_grad(DType dtype, const NormShape& shape, bool training, const void* y_grad, const void* x,
                     const float* scale, const float* mean, const float* variance, float epsilon, void* x_grad,
                     float* scale_grad, float* offset_grad) {
  with_floats<3>(dtype, size_of_array(shape), {y_grad, x, x_grad}, [&](float** p) {
    gradients(shape, training, p[0], p[1], scale, mean, variance, epsilon, p[2], scale_grad, offset_grad);
  });
}

}  // namespace thalweg::kernels
