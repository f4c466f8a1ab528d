// Local response normalization. Rows of channels are laid side by side with margins of zeros, so that the sums over the
// channels around each are sums of shifted copies of one long vector, however few channels there are.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "thalweg/core/convert.h"
#include "thalweg/core/threads.h"
#include "thalweg/kernels/isa.h"
#include "thalweg/kernels/norm.h"
#include "thalweg/kernels/scalar_exponential.h"
#include "thalweg/kernels/strided_copy.h"

namespace thalweg::kernels {
namespace {

constexpr int64_t block_size = 2048;  // floats, margins included

using Lanes [[gnu::vector_size(32)]] = float;
constexpr int64_t num_lanes = 8;

/// Vectors in memory begin at any float.
[[gnu::always_inline]] inline void load(Lanes& to, const float* from) { std::memcpy(&to, from, sizeof to); }

/// sums[i] = x[i] + ... + x[i + width - 1]; four vectors of them are added up in registers.
[[gnu::always_inline]] inline void window_sums_body(const float* x, int64_t n, int64_t width, float* sums) {
  constexpr int64_t num_vectors = 4, step = num_vectors * num_lanes;
  int64_t i = 0;
  for (; i + step <= n; i += step) {
    Lanes total[num_vectors] = {}, next;
    for (int64_t k = 0; k < width; ++k)
      for (int64_t v = 0; v < num_vectors; ++v) {
        load(next, x + i + k + v * num_lanes);
        total[v] += next;
      }
    std::memcpy(sums + i, total, sizeof total);
  }
  for (; i < n; ++i) {
    sums[i] = x[i];
    for (int64_t k = 1; k < width; ++k) sums[i] += x[i + k];
  }
}
/// powers = norms^-beta, where norms = bias + alpha sums replaces the sums. The two powers that networks use are roots.
[[gnu::always_inline]] inline void powers_body(const LrnOptions& o, int64_t n, float* sums, float* powers) {
  const float bias = o.bias, alpha = o.alpha, beta = o.beta;
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) sums[i] = bias + alpha * sums[i];
  if (beta == 0.5f) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) powers[i] = 1.0f / std::sqrt(sums[i]);
  } else if (beta == 0.75f) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) powers[i] = 1.0f / (std::sqrt(sums[i]) * std::sqrt(std::sqrt(sums[i])));
  } else {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      const double logarithm = scalar::log(static_cast<double>(sums[i]));
      powers[i] = static_cast<float>(scalar::exp(static_cast<double>(-beta) * logarithm));
    }
  }
}

struct Loops {
  void (*window_sums)(const float* x, int64_t n, int64_t width, float* sums);
  void (*powers)(const LrnOptions& o, int64_t n, float* sums, float* powers);
};
void window_sums_plain(const float* x, int64_t n, int64_t width, float* sums) { window_sums_body(x, n, width, sums); }
THALWEG_AVX2 void window_sums_avx2(const float* x, int64_t n, int64_t width, float* sums) {
  window_sums_body(x, n, width, sums);
}
void powers_plain(const LrnOptions& o, int64_t n, float* sums, float* powers) { powers_body(o, n, sums, powers); }
THALWEG_AVX2 void powers_avx2(const LrnOptions& o, int64_t n, float* sums, float* powers) {
  powers_body(o, n, sums, powers);
}
Loops loops() { return isa >= avx2 ? Loops{window_sums_avx2, powers_avx2} : Loops{window_sums_plain, powers_plain}; }

/// Elements of an array as floats: where they lie, or widened into the buffer.
const float* floats_at(DType dtype, const void* data, int64_t first, int64_t n, std::vector<float>& buffer) {
  if (dtype == DType::float32) return static_cast<const float*>(data) + first;
  buffer.resize(static_cast<size_t>(n));
  widen_halves(dtype, static_cast<const uint16_t*>(data) + first, buffer.data(), n);
  return buffer.data();
}

/// What a block of rows is computed in: vectors of rows with a margin of `radius` zeros on both sides.
struct Block {
  DType dtype;
  int64_t channels, radius, pitch;
  std::vector<float> padded, sums, powers, result, widened[3];

  Block(DType dtype_given, int64_t channels_given, int64_t radius_given)
      : dtype(dtype_given),
        channels(channels_given),
        radius(radius_given),
        pitch(std::max<int64_t>(1, channels + 2 * radius)) {
    const auto floats = static_cast<size_t>(rows() * pitch + 2 * radius);
    padded.assign(floats, 0.0f), sums.resize(floats), powers.resize(floats);
    result.resize(static_cast<size_t>(rows() * channels));
  }
  int64_t rows() const { return std::max<int64_t>(1, block_size / pitch); }
  int64_t sums_of(int64_t count) const { return (count - 1) * pitch + channels; }
  float* row(std::vector<float>& of, int64_t r) const { return of.data() + r * pitch; }
};

/// Calls `run(block, first, count, out)` for blocks of rows: the place of their first element, how many rows, and where
/// their floats go.
template <class Run>
void for_blocks(DType dtype, int64_t rows, int64_t channels, int64_t radius, void* out, const Run& run) {
  const double nanoseconds = static_cast<double>(channels) * (4.0 + 0.2 * static_cast<double>(radius));
  parallel_for(rows, nanoseconds, [&](int64_t begin, int64_t end) {
    Block block(dtype, channels, radius);
    for (int64_t first = begin; first < end; first += block.rows()) {
      const int64_t count = std::min(block.rows(), end - first), n = count * channels;
      void* to = element(dtype, out, first * channels);
      run(block, first * channels, count, dtype == DType::float32 ? static_cast<float*>(to) : block.result.data());
      if (dtype != DType::float32) narrow_halves(dtype, block.result.data(), static_cast<uint16_t*>(to), n);
    }
  });
}

/// The sums of squares around each channel, and from them the norms (in `sums`) and their powers.
void find_norms(const LrnOptions& o, const float* in, int64_t count, Block& b) {
  for (int64_t r = 0; r < count; ++r) {
    float* to = b.row(b.padded, r) + b.radius;
    for (int64_t c = 0; c < b.channels; ++c) to[c] = in[r * b.channels + c] * in[r * b.channels + c];
  }
  const int64_t n = b.sums_of(count);
  loops().window_sums(b.padded.data(), n, 2 * b.radius + 1, b.sums.data());
  loops().powers(o, n, b.sums.data(), b.powers.data());
}

}  // namespace

void lrn(DType dtype, int64_t rows, int64_t channels, const LrnOptions& o, const void* x, void* y) {
  for_blocks(dtype, rows, channels, o.radius, y, [&](Block& b, int64_t at, int64_t count, float* out) {
    const float* in = floats_at(dtype, x, at, count * channels, b.widened[0]);
    find_norms(o, in, count, b);
    for (int64_t r = 0; r < count; ++r) {
      const float* power = b.row(b.powers, r);
      for (int64_t c = 0; c < channels; ++c) out[r * channels + c] = in[r * channels + c] * power[c];
    }
  });
}

void lrn_grad(DType dtype, int64_t rows, int64_t channels, const LrnOptions& o, const void* y_grad, const void* x,
              const void* y, void* x_grad) {
  const float factor = 2 * o.alpha * o.beta;
  for_blocks(dtype, rows, channels, o.radius, x_grad, [&](Block& b, int64_t at, int64_t count, float* to) {
    const int64_t n = count * channels;
    const float *g = floats_at(dtype, y_grad, at, n, b.widened[0]), *in = floats_at(dtype, x, at, n, b.widened[1]);
    const float* out = floats_at(dtype, y, at, n, b.widened[2]);
    find_norms(o, in, count, b);
    for (int64_t r = 0; r < count; ++r) {
      float* ratio = b.row(b.padded, r) + b.radius;
      const float* norm = b.row(b.sums, r);
      for (int64_t c = 0; c < channels; ++c) ratio[c] = g[r * channels + c] * out[r * channels + c] / norm[c];
    }
    loops().window_sums(b.padded.data(), b.sums_of(count), 2 * b.radius + 1, b.sums.data());
    for (int64_t r = 0; r < count; ++r) {
      const float *power = b.row(b.powers, r), *sum = b.row(b.sums, r);
      for (int64_t c = 0; c < channels; ++c) {
        const int64_t i = r * channels + c;
        to[i] = g[i] * power[c] - factor * in[i] * sum[c];
      }
    }
  });
}

}  // namespace thalweg::kernels
