#include "thalweg/kernels/conv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "thalweg/core/threads.h"

namespace thalweg::kernels {
namespace {

/// Calls use(in index, filter index, out index) for every product of the convolution.
template <class Use> void for_products(const ConvShape& s, Use use) {
  const int64_t group_in = s.group_in(), group_out = s.group_out();
  auto place = [&](int64_t n, int64_t c, int64_t channels, const int64_t* sizes, int64_t z, int64_t y, int64_t x) {
    const int64_t pixel = (z * sizes[1] + y) * sizes[2] + x, pixels = sizes[0] * sizes[1] * sizes[2];
    return static_cast<size_t>(s.channels_first ? (n * channels + c) * pixels + pixel
                                                : (n * pixels + pixel) * channels + c);
  };
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t z = 0; z < s.out[0]; ++z)
      for (int64_t y = 0; y < s.out[1]; ++y)
        for (int64_t x = 0; x < s.out[2]; ++x)
          for (int64_t d = 0; d < s.filter[0]; ++d)
            for (int64_t h = 0; h < s.filter[1]; ++h)
              for (int64_t w = 0; w < s.filter[2]; ++w) {
                const int64_t iz = z * s.strides[0] - s.pads_before[0] + d * s.dilations[0];
                const int64_t iy = y * s.strides[1] - s.pads_before[1] + h * s.dilations[1];
                const int64_t ix = x * s.strides[2] - s.pads_before[2] + w * s.dilations[2];
                if (iz < 0 || iz >= s.in[0] || iy < 0 || iy >= s.in[1] || ix < 0 || ix >= s.in[2]) continue;
                for (int64_t o = 0; o < s.out_channels; ++o)
                  for (int64_t i = 0; i < group_in; ++i)
                    use(place(n, o / group_out * group_in + i, s.in_channels, s.in, iz, iy, ix),
                        static_cast<size_t>(
                            ((((d * s.filter[1] + h) * s.filter[2] + w) * group_in) + i) * s.out_channels + o),
                        place(n, o, s.out_channels, s.out, z, y, x));
              }
}

struct Case {
  int64_t batch, in_channels, out_channels, groups, d, h, w, kd, kh, kw, stride, dilation, before, after;
};

ConvShape shape_of(const Case& c, bool channels_first) {
  ConvShape s{.batch = c.batch, .in_channels = c.in_channels, .out_channels = c.out_channels, .groups = c.groups};
  const int64_t in[3] = {c.d, c.h, c.w}, filter[3] = {c.kd, c.kh, c.kw};
  for (int axis = 0; axis < 3; ++axis) {
    const bool used = in[axis] > 1 || filter[axis] > 1 || axis > 0;
    s.in[axis] = in[axis];
    s.filter[axis] = filter[axis];
    s.strides[axis] = used ? c.stride : 1;
    s.dilations[axis] = used ? c.dilation : 1;
    s.pads_before[axis] = used ? c.before : 0;
    const int64_t span =
        s.in[axis] + s.pads_before[axis] + (used ? c.after : 0) - (filter[axis] - 1) * s.dilations[axis] - 1;
    s.out[axis] = span < 0 ? 0 : span / s.strides[axis] + 1;
  }
  s.channels_first = channels_first;
  return s;
}

const Case cases[] = {{2, 1, 32, 1, 1, 28, 28, 1, 3, 3, 1, 1, 0, 0},  {3, 32, 64, 1, 1, 13, 11, 1, 3, 3, 1, 1, 0, 0},
                      {1, 3, 64, 1, 1, 30, 30, 1, 7, 7, 2, 1, 3, 2},  {2, 16, 24, 1, 1, 9, 9, 1, 3, 3, 1, 1, 1, 1},
                      {2, 64, 64, 1, 1, 14, 14, 1, 3, 3, 1, 1, 1, 1}, {1, 64, 128, 1, 1, 30, 31, 1, 3, 3, 1, 1, 1, 1},
                      {2, 5, 7, 1, 1, 8, 9, 1, 2, 3, 2, 1, 0, 1},     {2, 8, 8, 1, 1, 12, 12, 1, 3, 3, 1, 2, 2, 2},
                      {2, 8, 12, 4, 1, 7, 7, 1, 3, 3, 1, 1, 1, 1},    {2, 32, 32, 2, 1, 7, 7, 1, 3, 3, 1, 1, 1, 1},
                      {3, 16, 48, 1, 1, 6, 5, 1, 1, 1, 1, 1, 0, 0},   {2, 16, 32, 1, 1, 8, 8, 1, 1, 1, 2, 1, 0, 0},
                      {2, 6, 6, 6, 1, 8, 8, 1, 3, 3, 1, 1, 1, 1},     {2, 4, 8, 1, 5, 6, 7, 3, 3, 3, 1, 1, 1, 1},
                      {1, 16, 16, 1, 5, 6, 7, 2, 3, 2, 2, 1, 0, 0},   {40, 32, 32, 1, 1, 8, 8, 1, 3, 3, 1, 1, 0, 0},
                      {2, 8, 16, 8, 1, 9, 7, 1, 3, 3, 2, 1, 1, 0},    {2, 40, 40, 40, 1, 9, 7, 1, 3, 3, 2, 1, 0, 1},
                      {1, 37, 37, 37, 1, 9, 8, 1, 5, 3, 1, 2, 2, 2},  {1, 3, 4, 1, 1, 2, 2, 1, 3, 3, 1, 1, 2, 2},
                      {0, 3, 4, 1, 1, 4, 4, 1, 3, 3, 1, 1, 0, 0},     {2, 3, 4, 1, 1, 2, 2, 1, 3, 3, 1, 1, 0, 0},
                      {2, 3, 0, 1, 1, 4, 4, 1, 3, 3, 1, 1, 0, 0}};

template <class T> std::vector<T> random_values(int64_t count, std::mt19937& random) {
  std::vector<T> values(static_cast<size_t>(count));
  for (T& v : values)
    v = T(static_cast<float>(static_cast<int>(random() % 17) - 8) / (std::is_integral_v<T> ? 1.0f : 8.0f));
  return values;
}
template <class T> double real(T x) {
  if constexpr (std::is_same_v<T, double>) return x;
  else return static_cast<double>(static_cast<float>(x));
}

template <class T>
void expect_near(const std::vector<T>& got, const std::vector<double>& want, double tolerance, const char* what,
                 size_t index) {
  for (size_t i = 0; i < want.size(); ++i)
    ASSERT_NEAR(real(got[i]), want[i], tolerance * (std::abs(want[i]) + 4)) << what << " case " << index << " at " << i;
}

template <class T> void check_all(double tolerance, bool gradients) {
  std::mt19937 random(11);
  for (size_t index = 0; index < std::size(cases); ++index)
    for (bool channels_first : {false, true}) {
      const ConvShape s = shape_of(cases[index], channels_first);
      auto in = random_values<T>(s.batch * s.in_pixels() * s.in_channels, random);
      auto filter = random_values<T>(s.filter_size(), random);
      auto out_grad = random_values<T>(s.batch * s.out_pixels() * s.out_channels, random);
      std::vector<double> out_want(out_grad.size()), in_want(in.size()), filter_want(filter.size());
      for_products(s, [&](size_t i, size_t f, size_t o) {
        out_want[o] += real(in[i]) * real(filter[f]);
        in_want[i] += real(out_grad[o]) * real(filter[f]);
        filter_want[f] += real(in[i]) * real(out_grad[o]);
      });
      std::vector<T> out(out_want.size(), T(9.0f)), in_grad(in.size(), T(9.0f)), filter_grad(filter.size(), T(9.0f));
      conv_forward(dtype_of<T>, s, in.data(), filter.data(), out.data());
      expect_near(out, out_want, tolerance, "forward", index);
      if (!gradients) continue;
      conv_backward_input(dtype_of<T>, s, filter.data(), out_grad.data(), in_grad.data());
      expect_near(in_grad, in_want, tolerance, "backward input", index);
      conv_backward_filter(dtype_of<T>, s, in.data(), out_grad.data(), filter_grad.data());
      expect_near(filter_grad, filter_want, tolerance, "backward filter", index);
    }
}

TEST(Conv, Float32) {
  allow_winograd(false);
  check_all<float>(2e-5, true);
  allow_winograd(true);
  check_all<float>(1e-4, true);
}
TEST(Conv, Float64) { check_all<double>(1e-13, true); }
TEST(Conv, Float16) { check_all<Half>(2e-3, true); }
TEST(Conv, BFloat16) { check_all<BFloat16>(1e-2, true); }
TEST(Conv, Int32) { check_all<int32_t>(0, true); }

TEST(Conv, WinogradStaysCloseToDirect) {
  std::mt19937 random(8);
  for (const Case& c :
       {Case{2, 64, 40, 1, 1, 30, 27, 1, 3, 3, 1, 1, 1, 1}, Case{3, 32, 64, 1, 1, 26, 26, 1, 3, 3, 1, 1, 0, 0},
        Case{9, 128, 128, 1, 1, 9, 11, 1, 3, 3, 1, 1, 2, 1}, Case{1, 48, 72, 1, 1, 14, 15, 1, 3, 3, 1, 1, 1, 1}}) {
    const ConvShape s = shape_of(c, false);
    auto in = random_values<float>(s.batch * s.in_pixels() * s.in_channels, random);
    auto filter = random_values<float>(s.filter_size(), random);
    auto out_grad = random_values<float>(s.batch * s.out_pixels() * s.out_channels, random);
    std::vector<float> results[2];
    for (bool winograd : {false, true}) {
      allow_winograd(winograd);
      std::vector<float> out(out_grad.size()), in_grad(in.size()), filter_grad(filter.size());
      conv_forward(float32, s, in.data(), filter.data(), out.data());
      conv_backward_input(float32, s, filter.data(), out_grad.data(), in_grad.data());
      conv_backward_filter(float32, s, in.data(), out_grad.data(), filter_grad.data());
      for (auto* part : {&out, &in_grad, &filter_grad})
        results[winograd].insert(results[winograd].end(), part->begin(), part->end());
    }
    double error = 0, size = 0;
    for (size_t i = 0; i < results[0].size(); ++i) {
      error += std::pow(double(results[0][i]) - double(results[1][i]), 2);
      size += std::pow(double(results[0][i]), 2);
    }
    EXPECT_LT(std::sqrt(error / size), 5e-6);
  }
}

TEST(Conv, SameBitsAtAnyNumberOfThreads) {
  std::mt19937 random(2);
  const Case some[] = {cases[0],
                       cases[1],
                       cases[2],
                       cases[4],
                       cases[5],
                       cases[7],
                       cases[10],
                       cases[13],
                       cases[15],
                       {1, 64, 64, 1, 1, 56, 56, 1, 3, 3, 1, 1, 1, 1},
                       {17, 64, 64, 1, 1, 14, 14, 1, 3, 3, 1, 1, 1, 1},
                       {1, 96, 64, 1, 1, 14, 14, 1, 3, 3, 1, 1, 1, 1},
                       {2, 64, 96, 1, 1, 7, 7, 1, 3, 3, 1, 1, 1, 1},
                       {3, 64, 96, 1, 1, 14, 14, 1, 1, 1, 2, 2, 0, 0}};
  for (const Case& c : some) {
    const ConvShape s = shape_of(c, false);
    auto in = random_values<float>(s.batch * s.in_pixels() * s.in_channels, random);
    auto filter = random_values<float>(s.filter_size(), random);
    for (float& x : in) x *= 1.001f;
    for (float& x : filter) x *= 0.999f;
    std::vector<float> results[2];
    for (int threads : {1, 2}) {
      set_num_threads(threads);
      std::vector<float> out(static_cast<size_t>(s.batch * s.out_pixels() * s.out_channels)), in_grad(in.size()),
          filter_grad(filter.size());
      conv_forward(float32, s, in.data(), filter.data(), out.data());
      conv_backward_input(float32, s, filter.data(), out.data(), in_grad.data());
      conv_backward_filter(float32, s, in.data(), out.data(), filter_grad.data());
      auto& all = results[threads - 1];
      for (auto* part : {&out, &in_grad, &filter_grad}) all.insert(all.end(), part->begin(), part->end());
    }
    set_num_threads(0);
    EXPECT_EQ(0, std::memcmp(results[0].data(), results[1].data(), results[0].size() * 4));
  }
}

}  // namespace
}  // namespace thalweg::kernels
