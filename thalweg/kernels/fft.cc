#include "thalweg/kernels/fft.h"

#include <algorithm>

#include "thalweg/core/allocator.h"
#include "thalweg/core/threads.h"
#include "thalweg/kernels/fft_plan.h"

namespace thalweg::kernels {
namespace {

// A vector of AVX2. Wider ones, which GCC would have to split, it takes apart into single numbers.
template <class R> constexpr int wide_lanes = 32 / sizeof(R);

// Two buffers for `Lanes` transforms side by side. Element j has `Lanes` real parts, then `Lanes` imaginary ones, so
// that every step works on whole vectors.
template <class R, int Lanes> class LaneBuffer {
 public:
  explicit LaneBuffer(int64_t size)
      : memory_(Buffer::make(static_cast<size_t>(4 * size * Lanes) * sizeof(R), DType::invalid, 0)),
        data_(static_cast<R*>(memory_->data)),
        other_(data_ + 2 * size * Lanes) {}
  LaneBuffer(const LaneBuffer&) = delete;
  LaneBuffer& operator=(const LaneBuffer&) = delete;
  ~LaneBuffer() { memory_->drop(); }

  R* re(int64_t j) const { return data_ + 2 * j * Lanes; }
  R* im(int64_t j) const { return data_ + (2 * j + 1) * Lanes; }

  // Exchanging real and imaginary parts before and after makes a transform the inverse one, times n.
  void transform(const FftPlan<R>& plan) {
    if (!plan.convolution) return run(plan);
    const FftPlan<R>& inner = *plan.convolution;
    for (int64_t j = 0; j < plan.n; ++j) multiply(j, plan.chirp[static_cast<size_t>(j)]);
    std::fill(re(plan.n), re(inner.n), R{0});
    run(inner);
    for (int64_t j = 0; j < inner.n; ++j) multiply(j, plan.filter[static_cast<size_t>(j)]), exchange(j);
    run(inner);
    for (int64_t j = 0; j < plan.n; ++j) exchange(j), multiply(j, plan.chirp[static_cast<size_t>(j)]);
  }
  void exchange(int64_t j) { std::swap_ranges(re(j), re(j) + Lanes, im(j)); }
  void multiply(int64_t j, std::complex<R> w) {
    R *a = re(j), *b = im(j);
    for (int v = 0; v < Lanes; ++v) {
      R x = a[v] * w.real() - b[v] * w.imag();
      b[v] = a[v] * w.imag() + b[v] * w.real();
      a[v] = x;
    }
  }

 private:
  void run(const FftPlan<R>& plan) {
    R* result = run_passes<R, Lanes>(plan, data_, other_);
    if (result != data_) std::swap(data_, other_);
  }

  Buffer* memory_;
  R *data_, *other_;
};

// Where each of up to `Lanes` transforms begins; lanes past `count` repeat the first one.
template <int Lanes> struct Starts {
  int64_t at[Lanes];
  bool adjacent = true;
};
template <int Lanes> Starts<Lanes> starts(int64_t first, int64_t count, int64_t n, int64_t inner) {
  Starts<Lanes> s;
  for (int v = 0; v < Lanes; ++v) {
    int64_t t = v < count ? first + v : first;
    s.at[v] = t / inner * n * inner + t % inner;
    s.adjacent &= s.at[v] == s.at[0] + v;
  }
  return s;
}

double nanoseconds(int64_t n) {
  double size = static_cast<double>(n), levels = 1;
  for (; n > 1; n /= 2) levels += 1;
  return size * levels * 0.6;
}

// Real and imaginary parts are exchanged on the way in and out of an inverse transform.
template <class R, int Lanes>
void load(const Starts<Lanes>& s, int64_t n, int64_t inner, bool inverse, const std::complex<R>* in,
          const LaneBuffer<R, Lanes>& lanes) {
  for (int64_t j = 0; j < n; ++j) {
    R *re = inverse ? lanes.im(j) : lanes.re(j), *im = inverse ? lanes.re(j) : lanes.im(j);
    const std::complex<R>* from = in + j * inner;
    if (s.adjacent)
      for (int v = 0; v < Lanes; ++v) re[v] = from[s.at[0] + v].real(), im[v] = from[s.at[0] + v].imag();
    else
      for (int v = 0; v < Lanes; ++v) re[v] = from[s.at[v]].real(), im[v] = from[s.at[v]].imag();
  }
}
template <class R, int Lanes>
void store(const Starts<Lanes>& s, int64_t count, int64_t n, int64_t inner, bool inverse,
           const LaneBuffer<R, Lanes>& lanes, std::complex<R>* out) {
  const R scale = inverse ? R{1} / static_cast<R>(n) : R{1};
  for (int64_t j = 0; j < n; ++j) {
    const R *re = inverse ? lanes.im(j) : lanes.re(j), *im = inverse ? lanes.re(j) : lanes.im(j);
    std::complex<R>* to = out + j * inner;
    if (s.adjacent && count == Lanes)
      for (int v = 0; v < Lanes; ++v) to[s.at[0] + v] = {re[v] * scale, im[v] * scale};
    else
      for (int v = 0; v < count; ++v) to[s.at[v]] = {re[v] * scale, im[v] * scale};
  }
}

// One long transform, n = lanes * rows: transforms of every lanes-th element side by side, twiddles, then transforms
// across the lanes, `lanes` of them side by side again.
template <class R> void long_transform(int64_t n, bool inverse, const std::complex<R>* in, std::complex<R>* out) {
  constexpr int L = wide_lanes<R>;
  const int64_t rows = n / L;
  auto plan = fft_plan<R>(rows);
  auto across = fft_plan<R>(L);
  LaneBuffer<R, L> lanes(plan->buffer_size());
  load(starts<L>(0, L, rows, L), rows, L, inverse, in, lanes);
  lanes.transform(*plan);
  auto roots = fft_roots<R>(n, L - 1, rows);
  const R scale = inverse ? R{1} / static_cast<R>(n) : R{1};
  LaneBuffer<R, L> block(L);
  for (int64_t first = 0; first < rows; first += L) {
    const int64_t count = std::min<int64_t>(L, rows - first);
    for (int v = 0; v < L; ++v)
      for (int64_t k = 0; k < L; ++k) {
        const int64_t row = first + std::min<int64_t>(k, count - 1);
        block.re(v)[k] = lanes.re(row)[v];
        block.im(v)[k] = lanes.im(row)[v];
      }
    for (int v = 1; v < L; ++v) {
      R *re = block.re(v), *im = block.im(v);
      const std::complex<R>* w = roots->data() + (v - 1) * rows + first;
      for (int64_t k = 0; k < count; ++k) {
        const R x = re[k] * w[k].real() - im[k] * w[k].imag();
        im[k] = re[k] * w[k].imag() + im[k] * w[k].real();
        re[k] = x;
      }
    }
    block.transform(*across);
    for (int j = 0; j < L; ++j) {
      const R *re = inverse ? block.im(j) : block.re(j), *im = inverse ? block.re(j) : block.im(j);
      for (int64_t k = 0; k < count; ++k) out[j * rows + first + k] = {re[k] * scale, im[k] * scale};
    }
  }
}

// Calls `group(lanes, first, count)` over all transforms: a vector of them at a time, or one where there is only one.
template <class R, class Group> void for_groups(int64_t transforms, const FftPlan<R>& plan, const Group& group) {
  if (transforms == 1) {
    LaneBuffer<R, 1> lanes(plan.buffer_size());
    return group(lanes, 0, 1);
  }
  constexpr int lanes_at_once = wide_lanes<R>;
  const int64_t groups = (transforms + lanes_at_once - 1) / lanes_at_once;
  parallel_for(groups, nanoseconds(plan.buffer_size()) * 4, [&](int64_t begin, int64_t end) {
    LaneBuffer<R, lanes_at_once> lanes(plan.buffer_size());
    for (int64_t g = begin; g < end; ++g)
      group(lanes, g * lanes_at_once, std::min<int64_t>(lanes_at_once, transforms - g * lanes_at_once));
  });
}

template <class R>
void even_real(const FftPlan<R>& plan, int64_t rows, int64_t stride, const R* in, std::complex<R>* out) {
  // Even and odd elements are the parts of half as many complex numbers, and are told apart afterwards.
  const int64_t half = plan.n, n = 2 * half;
  auto roots = fft_roots<R>(n, 1, half + 1);
  for_groups<R>(rows, plan, [&]<int L>(LaneBuffer<R, L>& lanes, int64_t first, int64_t count) {
    auto row = [&](int v) { return first + (v < count ? v : 0); };
    for (int64_t j = 0; j < half; ++j)
      for (int v = 0; v < L; ++v)
        lanes.re(j)[v] = in[row(v) * stride + 2 * j], lanes.im(j)[v] = in[row(v) * stride + 2 * j + 1];
    lanes.transform(plan);
    for (int64_t k = 0; k <= half; ++k) {
      const int64_t a = k % half, b = (half - k) % half;
      const R *ar = lanes.re(a), *ai = lanes.im(a), *br = lanes.re(b), *bi = lanes.im(b);
      const R c = (*roots)[static_cast<size_t>(k)].real(), d = (*roots)[static_cast<size_t>(k)].imag();
      for (int v = 0; v < count; ++v) {
        const R er = (ar[v] + br[v]) / 2, ei = (ai[v] - bi[v]) / 2, dr = (ar[v] - br[v]) / 2, di = (ai[v] + bi[v]) / 2;
        // e - i w d
        out[(first + v) * (half + 1) + k] = {er + c * di + d * dr, ei + d * di - c * dr};
        if (a == 0) out[(first + v) * (half + 1) + k].imag(0);  // real, whatever NaN and infinity make of it
      }
    }
  });
}

template <class R>
void even_inverse(const FftPlan<R>& plan, int64_t rows, int64_t stride, const std::complex<R>* in, R* out) {
  const int64_t half = plan.n, n = 2 * half;
  auto roots = fft_roots<R>(n, 1, half + 1);
  const R scale = R{1} / static_cast<R>(n);
  for_groups<R>(rows, plan, [&]<int L>(LaneBuffer<R, L>& lanes, int64_t first, int64_t count) {
    for (int64_t k = 0; k < half; ++k) {
      const R c = (*roots)[static_cast<size_t>(k)].real(), d = -(*roots)[static_cast<size_t>(k)].imag();
      R *re = lanes.im(k), *im = lanes.re(k);  // exchanged: the inverse
      for (int v = 0; v < L; ++v) {
        const std::complex<R>* x = in + (first + (v < count ? v : 0)) * stride;
        const R ar = x[k].real(), br = x[half - k].real(), ai = k == 0 ? R{0} : x[k].imag(),
                bi = k == 0 ? R{0} : x[half - k].imag();
        const R er = ar + br, ei = ai - bi, dr = ar - br, di = ai + bi;
        // e + i w d
        re[v] = er - (c * di + d * dr);
        im[v] = ei + (c * dr - d * di);
      }
    }
    lanes.transform(plan);
    for (int64_t j = 0; j < half; ++j)
      for (int v = 0; v < count; ++v) {
        out[(first + v) * n + 2 * j] = lanes.im(j)[v] * scale;
        out[(first + v) * n + 2 * j + 1] = lanes.re(j)[v] * scale;
      }
  });
}

}  // namespace

template <class R>
void fft(int64_t outer, int64_t n, int64_t inner, bool inverse, const std::complex<R>* in, std::complex<R>* out) {
  const int64_t transforms = outer * inner;
  if (transforms == 0 || n == 0) return;
  if (transforms == 1 && n % wide_lanes<R> == 0 && n >= 16 * wide_lanes<R>) return long_transform(n, inverse, in, out);
  auto plan = fft_plan<R>(n);
  for_groups<R>(transforms, *plan, [&]<int L>(LaneBuffer<R, L>& lanes, int64_t first, int64_t count) {
    const auto s = starts<L>(first, count, n, inner);
    load(s, n, inner, inverse, in, lanes);
    lanes.transform(*plan);
    store(s, count, n, inner, inverse, lanes, out);
  });
}

template <class R> void real_fft(int64_t rows, int64_t n, int64_t stride, const R* in, std::complex<R>* out) {
  if (rows == 0 || n == 0) return;
  if (n % 2 == 0) return even_real(*fft_plan<R>(n / 2), rows, stride, in, out);
  auto plan = fft_plan<R>(n);
  for_groups<R>(rows, *plan, [&]<int L>(LaneBuffer<R, L>& lanes, int64_t first, int64_t count) {
    for (int64_t j = 0; j < n; ++j)
      for (int v = 0; v < L; ++v) lanes.re(j)[v] = in[(first + (v < count ? v : 0)) * stride + j], lanes.im(j)[v] = 0;
    lanes.transform(*plan);
    for (int64_t k = 0; k <= n / 2; ++k)
      for (int v = 0; v < count; ++v)
        out[(first + v) * (n / 2 + 1) + k] = {lanes.re(k)[v], k == 0 ? R{0} : lanes.im(k)[v]};
  });
}

template <class R> void inverse_real_fft(int64_t rows, int64_t n, int64_t stride, const std::complex<R>* in, R* out) {
  if (rows == 0 || n == 0) return;
  if (n % 2 == 0) return even_inverse(*fft_plan<R>(n / 2), rows, stride, in, out);
  auto plan = fft_plan<R>(n);
  const R scale = R{1} / static_cast<R>(n);
  for_groups<R>(rows, *plan, [&]<int L>(LaneBuffer<R, L>& lanes, int64_t first, int64_t count) {
    for (int64_t k = 0; k <= n / 2; ++k)
      for (int v = 0; v < L; ++v) {
        const std::complex<R> x = in[(first + (v < count ? v : 0)) * stride + k];
        lanes.im(k)[v] = x.real();  // exchanged: the inverse
        lanes.re(k)[v] = k == 0 ? R{0} : x.imag();
        if (k > 0) lanes.im(n - k)[v] = x.real(), lanes.re(n - k)[v] = -x.imag();
      }
    lanes.transform(*plan);
    for (int64_t j = 0; j < n; ++j)
      for (int v = 0; v < count; ++v) out[(first + v) * n + j] = lanes.im(j)[v] * scale;
  });
}

#define THALWEG_INSTANTIATE(R)                                                                  \
  template void fft(int64_t, int64_t, int64_t, bool, const std::complex<R>*, std::complex<R>*); \
  template void real_fft(int64_t, int64_t, int64_t, const R*, std::complex<R>*);                \
  template void inverse_real_fft(int64_t, int64_t, int64_t, const std::complex<R>*, R*);
THALWEG_INSTANTIATE(float)
THALWEG_INSTANTIATE(double)
#undef THALWEG_INSTANTIATE

}  // namespace thalweg::kernels
