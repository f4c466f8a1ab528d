#include "thalweg/kernels/pool.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "thalweg/core/threads.h"

namespace thalweg::kernels {
namespace {

struct Case {
  int64_t batch, channels, d, h, w, kd, kh, kw, stride, pad;
};
const Case cases[] = {
    {2, 3, 1, 7, 9, 1, 2, 2, 2, 0},    {1, 1, 1, 5, 5, 1, 3, 3, 1, 1},   {3, 17, 1, 8, 8, 1, 3, 2, 2, 1},
    {2, 64, 1, 12, 12, 1, 2, 2, 2, 0}, {2, 5, 4, 5, 6, 2, 3, 2, 2, 1},   {1, 8, 3, 3, 3, 3, 3, 3, 1, 0},
    {0, 3, 1, 4, 4, 1, 2, 2, 1, 0},    {2, 9, 1, 10, 10, 1, 5, 5, 1, 2}, {1, 33, 1, 6, 6, 1, 6, 6, 1, 0}};

PoolShape shape_of(const Case& c, bool channels_first) {
  PoolShape s{.batch = c.batch, .channels = c.channels, .channels_first = channels_first};
  const int64_t in[3] = {c.d, c.h, c.w}, window[3] = {c.kd, c.kh, c.kw};
  for (int axis = 0; axis < 3; ++axis) {
    const bool used = axis > 0 || c.d > 1;
    s.in[axis] = in[axis];
    s.window[axis] = window[axis];
    s.strides[axis] = used ? c.stride : 1;
    s.pads_before[axis] = used ? c.pad : 0;
    s.out[axis] = (in[axis] + 2 * s.pads_before[axis] - window[axis]) / s.strides[axis] + 1;
  }
  return s;
}

/// Calls use(out index, indices of the inputs in its window) for every output.
template <class Use> void for_windows(const PoolShape& s, Use use) {
  auto place = [&](int64_t n, int64_t c, const int64_t* sizes, int64_t z, int64_t y, int64_t x) {
    const int64_t pixel = (z * sizes[1] + y) * sizes[2] + x, pixels = sizes[0] * sizes[1] * sizes[2];
    return static_cast<size_t>(s.channels_first ? (n * s.channels + c) * pixels + pixel
                                                : (n * pixels + pixel) * s.channels + c);
  };
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t c = 0; c < s.channels; ++c)
      for (int64_t z = 0; z < s.out[0]; ++z)
        for (int64_t y = 0; y < s.out[1]; ++y)
          for (int64_t x = 0; x < s.out[2]; ++x) {
            std::vector<size_t> inside;
            for (int64_t d = 0; d < s.window[0]; ++d)
              for (int64_t h = 0; h < s.window[1]; ++h)
                for (int64_t w = 0; w < s.window[2]; ++w) {
                  const int64_t iz = z * s.strides[0] - s.pads_before[0] + d;
                  const int64_t iy = y * s.strides[1] - s.pads_before[1] + h;
                  const int64_t ix = x * s.strides[2] - s.pads_before[2] + w;
                  if (iz >= 0 && iz < s.in[0] && iy >= 0 && iy < s.in[1] && ix >= 0 && ix < s.in[2])
                    inside.push_back(place(n, c, s.in, iz, iy, ix));
                }
            use(place(n, c, s.out, z, y, x), inside);
          }
}

template <class T> std::vector<T> values(int64_t count, uint32_t seed, int range) {
  std::mt19937 random(seed);
  std::vector<T> v(static_cast<size_t>(count));
  for (T& x : v) x = T(static_cast<float>(random() % static_cast<uint32_t>(range)));
  return v;
}
template <class T> double real(T x) { return static_cast<double>(static_cast<float>(x)); }

template <class T> void check_max() {
  for (const Case& c : cases)
    for (bool channels_first : {false, true}) {
      const PoolShape s = shape_of(c, channels_first);
      const int64_t in_size = s.batch * s.in_pixels() * s.channels, out_size = s.batch * s.out_pixels() * s.channels;
      auto in = values<T>(in_size, 1, 9);  // few values, so that maxima repeat
      auto grad = values<T>(out_size, 2, 3), second = values<T>(in_size, 3, 100);
      std::vector<T> out(grad.size()), in_grad(in.size()), all_grad(in.size()), picked(grad.size());
      std::vector<double> in_want(in.size()), all_want(in.size());
      max_pool(dtype_of<T>, s, true, in.data(), out.data());
      max_pool_grad(dtype_of<T>, s, Ties::first, in.data(), grad.data(), in_grad.data());
      max_pool_grad(dtype_of<T>, s, Ties::all, in.data(), grad.data(), all_grad.data());
      max_pool_grad_grad(dtype_of<T>, s, in.data(), second.data(), picked.data());
      for_windows(s, [&](size_t o, const std::vector<size_t>& inside) {
        size_t best = inside[0];
        for (size_t i : inside)
          if (real(in[i]) > real(in[best])) best = i;
        ASSERT_EQ(real(out[o]), real(in[best]));
        ASSERT_EQ(real(picked[o]), real(second[best]));
        in_want[best] += real(grad[o]);
        for (size_t i : inside)
          if (real(in[i]) == real(in[best])) all_want[i] += real(grad[o]);
      });
      for (size_t i = 0; i < in.size(); ++i) ASSERT_EQ(real(in_grad[i]), in_want[i]);
      for (size_t i = 0; i < in.size(); ++i) ASSERT_EQ(real(all_grad[i]), all_want[i]);
      if (channels_first) continue;
      std::vector<int64_t> argmax(grad.size());
      max_pool_with_argmax(dtype_of<T>, s, true, int64, in.data(), out.data(), argmax.data());
      for (size_t o = 0; o < out.size(); ++o) ASSERT_EQ(real(in[static_cast<size_t>(argmax[o])]), real(out[o]));
      max_pool_grad_with_argmax(dtype_of<T>, s, true, int64, grad.data(), argmax.data(), in_grad.data());
      for (size_t i = 0; i < in.size(); ++i) ASSERT_EQ(real(in_grad[i]), in_want[i]);
      std::vector<int32_t> short_argmax(grad.size());
      max_pool_with_argmax(dtype_of<T>, s, false, int32, in.data(), out.data(), short_argmax.data());
      max_pool_grad_with_argmax(dtype_of<T>, s, false, int32, grad.data(), short_argmax.data(), in_grad.data());
      for (size_t i = 0; i < in.size(); ++i) ASSERT_EQ(real(in_grad[i]), in_want[i]);
    }
}

TEST(Pool, MaxOfFloatingTypes) {
  check_max<float>();
  check_max<double>();
  check_max<Half>();
  check_max<BFloat16>();
}
TEST(Pool, MaxOfIntegers) {
  check_max<int8_t>();
  check_max<uint8_t>();
  check_max<int16_t>();
  check_max<uint16_t>();
  check_max<int32_t>();
  check_max<int64_t>();
  check_max<uint32_t>();
  check_max<uint64_t>();
}

TEST(Pool, MaxTreatsNotANumberAsTensorFlow) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float in[] = {nan, 1, 1, nan, nan, nan};
  PoolShape s{.batch = 1, .channels = 1};
  s.in[2] = 6;
  s.window[2] = s.strides[2] = 2;
  s.out[2] = 3;
  float out[3];
  max_pool(float32, s, true, in, out);
  EXPECT_EQ(out[0], 1);
  EXPECT_EQ(out[1], 1);
  EXPECT_EQ(out[2], std::numeric_limits<float>::lowest());
}

template <class T> void check_average(double tolerance) {
  for (const Case& c : cases)
    for (bool channels_first : {false, true}) {
      const PoolShape s = shape_of(c, channels_first);
      auto in = values<T>(s.batch * s.in_pixels() * s.channels, 1, 9);
      auto grad = values<T>(s.batch * s.out_pixels() * s.channels, 2, 9);
      std::vector<T> out(grad.size()), in_grad(in.size());
      std::vector<double> in_want(in.size());
      average_pool(dtype_of<T>, s, in.data(), out.data());
      average_pool_grad(dtype_of<T>, s, grad.data(), in_grad.data());
      for_windows(s, [&](size_t o, const std::vector<size_t>& inside) {
        double sum = 0;
        for (size_t i : inside) {
          sum += real(in[i]);
          in_want[i] += real(grad[o]) / static_cast<double>(inside.size());
        }
        ASSERT_NEAR(real(out[o]), sum / static_cast<double>(inside.size()), tolerance * 10);
      });
      for (size_t i = 0; i < in.size(); ++i) ASSERT_NEAR(real(in_grad[i]), in_want[i], tolerance * 10);
    }
}

TEST(Pool, Average) {
  check_average<float>(1e-6);
  check_average<double>(1e-7);
  check_average<Half>(1e-3);
  check_average<BFloat16>(1e-2);
}

TEST(Pool, SameBitsAtAnyNumberOfThreads) {
  const PoolShape s = shape_of({4, 32, 1, 60, 60, 1, 3, 3, 2, 1}, false);
  auto in = values<float>(s.batch * s.in_pixels() * s.channels, 1, 1000);
  std::vector<float> results[2];
  for (int threads : {1, 2}) {
    set_num_threads(threads);
    std::vector<float> out(static_cast<size_t>(s.batch * s.out_pixels() * s.channels)), a(in.size()), b(in.size());
    average_pool(float32, s, in.data(), out.data());
    average_pool_grad(float32, s, out.data(), a.data());
    max_pool_grad(float32, s, Ties::first, in.data(), out.data(), b.data());
    results[threads - 1] = a;
    results[threads - 1].insert(results[threads - 1].end(), b.begin(), b.end());
  }
  set_num_threads(0);
  EXPECT_EQ(results[0], results[1]);
}

}  // namespace
}  // namespace thalweg::kernels
