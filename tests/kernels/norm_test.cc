#include "thalweg/kernels/norm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "thalweg/core/threads.h"

namespace thalweg::kernels {
namespace {

std::vector<float> values(int64_t count, uint32_t seed, float offset = 0) {
  std::mt19937 random(seed);
  std::vector<float> v(static_cast<size_t>(count));
  for (float& x : v) x = static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 500.0f + offset;
  return v;
}

void check(const NormShape& s, float offset_of_x, double tolerance) {
  const int64_t n = s.batch * s.pixels;
  const size_t channels = static_cast<size_t>(s.channels);
  auto x = values(n * s.channels, 1, offset_of_x), g = values(n * s.channels, 2);
  auto scale = values(s.channels, 3), offset = values(s.channels, 4), old_mean = values(s.channels, 5),
       old_variance = values(s.channels, 6, 3);
  std::vector<float> y(x.size()), x_grad(x.size()), fixed_grad(x.size()), inferred(x.size());
  std::vector<float> mean(channels), variance(channels), saved_mean(channels), saved_variance(channels),
      scale_grad(channels), offset_grad(channels);
  const float epsilon = 1e-3f, factor = 0.25f;
  batch_norm_train(float32, s, x.data(), scale.data(), offset.data(), old_mean.data(), old_variance.data(), epsilon,
                   factor, y.data(), {mean.data(), variance.data(), saved_mean.data(), saved_variance.data()});
  batch_norm_grad(float32, s, true, g.data(), x.data(), scale.data(), saved_mean.data(), saved_variance.data(), epsilon,
                  x_grad.data(), scale_grad.data(), offset_grad.data());
  batch_norm_grad(float32, s, false, g.data(), x.data(), scale.data(), saved_mean.data(), saved_variance.data(),
                  epsilon, fixed_grad.data(), scale_grad.data(), offset_grad.data());
  batch_norm_infer(float32, s, x.data(), scale.data(), offset.data(), old_mean.data(), old_variance.data(), epsilon,
                   inferred.data());
  auto at = [&](int64_t b, int64_t p, size_t c) {
    return s.channels_first
               ? (static_cast<size_t>(b) * channels + c) * static_cast<size_t>(s.pixels) + static_cast<size_t>(p)
               : static_cast<size_t>(b * s.pixels + p) * channels + c;
  };
  for (size_t c = 0; c < channels; ++c) {
    double sum = 0, square = 0, sum_g = 0, product = 0;
    auto each = [&](auto use) {
      for (int64_t b = 0; b < s.batch; ++b)
        for (int64_t p = 0; p < s.pixels; ++p) use(at(b, p, c));
    };
    each([&](size_t i) { sum += double(x[i]); });
    const double m = sum / double(n);
    each([&](size_t i) { square += (double(x[i]) - m) * (double(x[i]) - m); });
    const double v = square / double(n), inverse = 1 / std::sqrt(v + 1e-3),
                 unbiased = n > 1 ? square / double(n - 1) : 0;
    each([&](size_t i) {
      sum_g += double(g[i]);
      product += double(g[i]) * (double(x[i]) - m);
    });
    ASSERT_NEAR(saved_mean[c], m, tolerance * (std::abs(m) + 1));
    ASSERT_NEAR(saved_variance[c], v, tolerance * (v + 1));
    ASSERT_NEAR(mean[c], 0.75 * double(old_mean[c]) + 0.25 * m, tolerance * (std::abs(m) + 1));
    ASSERT_NEAR(variance[c], 0.75 * double(old_variance[c]) + 0.25 * unbiased, tolerance * (v + 1));
    ASSERT_NEAR(offset_grad[c], sum_g, tolerance * (std::abs(sum_g) + double(n)));
    ASSERT_NEAR(scale_grad[c], product * inverse, tolerance * (std::abs(product * inverse) + double(n)));
    each([&](size_t i) {
      const double k = double(scale[c]) * inverse;
      ASSERT_NEAR(y[i], (double(x[i]) - m) * k + double(offset[c]), 20 * tolerance);
      ASSERT_NEAR(fixed_grad[i], double(g[i]) * k, 20 * tolerance * (1 + std::abs(k)));
      ASSERT_NEAR(x_grad[i],
                  k * (double(g[i]) - sum_g / double(n) - (double(x[i]) - m) * inverse * inverse * product / double(n)),
                  20 * tolerance * (1 + std::abs(k)));
      ASSERT_NEAR(inferred[i],
                  (double(x[i]) - double(old_mean[c])) * double(scale[c]) / std::sqrt(double(old_variance[c]) + 1e-3) +
                      double(offset[c]),
                  20 * tolerance * (1 + std::abs(double(x[i]))));
    });
  }
}

TEST(BatchNorm, MatchesDouble) {
  for (bool channels_first : {false, true})
    for (auto [batch, pixels, channels] : {std::tuple<int64_t, int64_t, int64_t>{2, 6, 2},
                                           {1, 1, 3},
                                           {4, 49, 64},
                                           {3, 100, 17},
                                           {8, 1000, 5},
                                           {2, 7, 1},
                                           {16, 1, 130}})
      check({batch, pixels, channels, channels_first}, 0, 3e-6);
}

TEST(BatchNorm, KeepsDigitsOfAVarianceFarFromZero) { check({4, 64, 8, false}, 1000, 2e-4); }

TEST(BatchNorm, EmptyBatchGivesNotANumber) {
  float scale[2] = {1, 1}, offset[2] = {}, mean[2], variance[2], a[2], b[2];
  batch_norm_train(float32, {0, 4, 2, false}, nullptr, scale, offset, nullptr, nullptr, 1e-3f, 1, nullptr,
                   {mean, variance, a, b});
  EXPECT_TRUE(std::isnan(mean[0]));
  EXPECT_TRUE(std::isnan(variance[1]));
}

TEST(BatchNorm, HalfComputesInFloat) {
  const NormShape s{2, 5, 3, false};
  auto wide = values(30, 1), scale = values(3, 2), offset = values(3, 3);
  std::vector<Half> x(30), y(30);
  for (size_t i = 0; i < 30; ++i) wide[i] = static_cast<float>(x[i] = Half(wide[i]));
  std::vector<float> want(30);
  batch_norm_train(float16, s, x.data(), scale.data(), offset.data(), nullptr, nullptr, 1e-3f, 1, y.data(), {});
  batch_norm_train(float32, s, wide.data(), scale.data(), offset.data(), nullptr, nullptr, 1e-3f, 1, want.data(), {});
  for (size_t i = 0; i < 30; ++i) EXPECT_EQ(y[i], Half(want[i]));
}

TEST(BatchNorm, SameBitsAtAnyNumberOfThreads) {
  for (bool channels_first : {false, true}) {
    const NormShape s{8, 900, 48, channels_first};
    auto x = values(8 * 900 * 48, 1, 2), scale = values(48, 2), offset = values(48, 3);
    std::vector<float> results[2], mean(48), variance(48);
    for (int threads : {1, 2}) {
      set_num_threads(threads);
      auto& y = results[threads - 1];
      y.resize(2 * x.size());
      batch_norm_train(float32, s, x.data(), scale.data(), offset.data(), nullptr, nullptr, 1e-3f, 1, y.data(),
                       {nullptr, nullptr, mean.data(), variance.data()});
      std::vector<float> a(48), b(48);
      batch_norm_grad(float32, s, true, y.data(), x.data(), scale.data(), mean.data(), variance.data(), 1e-3f,
                      y.data() + x.size(), a.data(), b.data());
    }
    set_num_threads(0);
    EXPECT_EQ(results[0], results[1]);
  }
}

TEST(Lrn, MatchesTensorFlow) {
  const float x[] = {2.269754648208618f, -1.4543657302856445f, 0.04575851559638977f, -0.18718385696411133f,
                     1.5327792167663574f};
  const float y_want[] = {0.7187009453773499f, -0.4604361355304718f, 0.02645617164671421f, -0.10386017709970474f,
                          0.8507769703865051f};
  const float grad_want[] = {0.3908427655696869f, 0.6273322105407715f, 1.7465157508850098f, 2.4706153869628906f,
                             0.7623240351676941f};
  const float g[] = {1, 2, 3, 4, 5};
  const LrnOptions options{.radius = 1, .bias = 1, .alpha = 0.5f, .beta = 0.75f};
  float y[5], grad[5];
  lrn(float32, 1, 5, options, x, y);
  lrn_grad(float32, 1, 5, options, g, x, y, grad);
  for (int i = 0; i < 5; ++i) {
    EXPECT_NEAR(y[i], y_want[i], 1e-6);
    EXPECT_NEAR(grad[i], grad_want[i], 3e-6);
  }
}

TEST(Lrn, RowsDoNotSeeTheirNeighbours) {
  for (float beta : {0.5f, 0.6f, 0.75f})
    for (int64_t channels : {1, 3, 40}) {
      const int64_t rows = 3000 / channels;  // more than a block of them
      const LrnOptions options{.radius = std::min<int64_t>(2, channels), .bias = 1, .alpha = 0.5f, .beta = beta};
      std::vector<float> x(static_cast<size_t>(rows * channels)), y(x.size()), grad(x.size()), one(x.size());
      for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 37 % 101) * 0.05f - 2.0f;
      lrn(float32, rows, channels, options, x.data(), y.data());
      lrn_grad(float32, rows, channels, options, x.data(), x.data(), y.data(), grad.data());
      for (int64_t r = 0; r < rows; ++r) {
        const float *in = x.data() + r * channels, *out = y.data() + r * channels;
        for (int64_t c = 0; c < channels; ++c) {
          double sum = 0;
          for (int64_t k = std::max<int64_t>(0, c - 2); k < std::min(channels, c + 3); ++k)
            sum += static_cast<double>(in[k]) * static_cast<double>(in[k]);
          EXPECT_NEAR(static_cast<double>(out[c]),
                      static_cast<double>(in[c]) * std::pow(1 + 0.5 * sum, -static_cast<double>(beta)), 1e-6);
        }
        lrn_grad(float32, 1, channels, options, in, in, out, one.data());
        for (int64_t c = 0; c < channels; ++c)
          ASSERT_EQ(grad[static_cast<size_t>(r * channels + c)], one[static_cast<size_t>(c)]);
      }
    }
  lrn(float32, 4, 0, {.radius = 0, .bias = 1, .alpha = 1, .beta = 0.5f}, nullptr, nullptr);
}

}  // namespace
}  // namespace thalweg::kernels
