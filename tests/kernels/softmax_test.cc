#include "thalweg/kernels/softmax.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "thalweg/core/threads.h"

namespace thalweg::kernels {
namespace {

template <class T> double real(T x) {
  if constexpr (std::is_same_v<T, double>) return x;
  else return static_cast<double>(static_cast<float>(x));
}

template <class T> void check(int64_t rows, int64_t classes, double tolerance) {
  std::mt19937 random(4);
  std::vector<T> x(static_cast<size_t>(rows * classes)), labels(x.size()), soft(x.size()), logs(x.size()),
      back(x.size()), sparse_back(x.size()), loss(static_cast<size_t>(rows)), sparse_loss(loss.size());
  std::vector<int32_t> picks(loss.size());
  for (T& v : x) v = T(static_cast<float>(static_cast<int>(random() % 4001) - 2000) / 100.0f);
  for (T& v : labels) v = T(static_cast<float>(random() % 100) / 100.0f);
  for (int32_t& v : picks) v = static_cast<int32_t>(random() % static_cast<uint32_t>(classes));
  softmax(dtype_of<T>, rows, classes, x.data(), soft.data());
  log_softmax(dtype_of<T>, rows, classes, x.data(), logs.data());
  softmax_cross_entropy(dtype_of<T>, rows, classes, x.data(), labels.data(), loss.data(), back.data());
  sparse_softmax_cross_entropy(dtype_of<T>, int32, rows, classes, x.data(), picks.data(), sparse_loss.data(),
                               sparse_back.data());
  for (int64_t r = 0; r < rows; ++r) {
    double top = -INFINITY, sum = 0, total = 0;
    for (int64_t c = 0; c < classes; ++c) top = std::max(top, real(x[static_cast<size_t>(r * classes + c)]));
    for (int64_t c = 0; c < classes; ++c) sum += std::exp(real(x[static_cast<size_t>(r * classes + c)]) - top);
    for (int64_t c = 0; c < classes; ++c) {
      const size_t i = static_cast<size_t>(r * classes + c);
      const double p = std::exp(real(x[i]) - top) / sum, log = real(x[i]) - top - std::log(sum);
      const bool picked = picks[static_cast<size_t>(r)] == c;
      ASSERT_NEAR(real(soft[i]), p, tolerance * (p + 1e-3));
      ASSERT_NEAR(real(logs[i]), log, tolerance * (std::abs(log) + 1));
      ASSERT_NEAR(real(back[i]), p - real(labels[i]), tolerance * 2);
      ASSERT_NEAR(real(sparse_back[i]), p - picked, tolerance * 2);
      total -= real(labels[i]) * log;
      if (picked) {
        ASSERT_NEAR(real(sparse_loss[static_cast<size_t>(r)]), -log, tolerance * (std::abs(log) + 1));
      }
    }
    ASSERT_NEAR(real(loss[static_cast<size_t>(r)]), total, tolerance * (std::abs(total) + 1));
  }
}

TEST(Softmax, AllTypes) {
  for (auto [rows, classes] : {std::pair<int64_t, int64_t>{1, 1}, {3, 2}, {32, 10}, {5, 1000}, {100, 37}, {7, 16}}) {
    check<float>(rows, classes, 2e-6);
    check<double>(rows, classes, 1e-14);
    check<Half>(rows, classes, 1.5e-3);
    check<BFloat16>(rows, classes, 1e-2);
  }
}

TEST(Softmax, EmptyRowsAndClasses) {
  float loss[2] = {9, 9};
  softmax(float32, 0, 5, nullptr, nullptr);
  softmax(float32, 5, 0, nullptr, nullptr);
  softmax_cross_entropy(float32, 2, 0, nullptr, nullptr, loss, nullptr);
  EXPECT_EQ(loss[0], 0);
}

TEST(Softmax, InfinitiesAsTensorFlow) {
  const float inf = std::numeric_limits<float>::infinity();
  const float x[] = {inf, 1, -inf, -inf, 1e30f, 0, -inf, 0, NAN, 1};
  float out[10];
  softmax(float32, 5, 2, x, out);
  for (int i : {0, 1, 2, 3, 8, 9}) EXPECT_TRUE(std::isnan(out[i])) << i;
  EXPECT_EQ(out[4], 1);
  EXPECT_EQ(out[5], 0);
  EXPECT_EQ(out[6], 0);
  EXPECT_EQ(out[7], 1);
}

}  // namespace
}  // namespace thalweg::kernels
