// Fourier transforms of every kind of length against the sum that defines them.
#include "thalweg/kernels/fft.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <vector>

namespace thalweg::kernels {
namespace {

template <class R> using Numbers = std::vector<std::complex<R>>;

template <class R> Numbers<R> random_numbers(int64_t count) {
  std::mt19937 random(static_cast<unsigned>(count));
  std::normal_distribution<double> normal;
  Numbers<R> x;
  for (int64_t i = 0; i < count; ++i) x.emplace_back(static_cast<R>(normal(random)), static_cast<R>(normal(random)));
  return x;
}

// The sum itself, over one transform whose elements lie `stride` apart.
template <class R> Numbers<double> direct(const std::complex<R>* x, int64_t n, int64_t stride, int sign) {
  Numbers<double> roots, y(static_cast<size_t>(n));
  for (int64_t k = 0; k < n; ++k)
    roots.push_back(std::polar(1.0, sign * 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n)));
  for (int64_t k = 0; k < n; ++k)
    for (int64_t j = 0; j < n; ++j)
      y[static_cast<size_t>(k)] += std::complex<double>(x[j * stride]) * roots[static_cast<size_t>(j * k % n)];
  return y;
}

template <class R> double relative_error(const Numbers<double>& expected, const std::complex<R>* got, int64_t stride) {
  double error = 0, size = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    error += std::norm(expected[i] - std::complex<double>(got[static_cast<int64_t>(i) * stride]));
    size += std::norm(expected[i]);
  }
  return std::sqrt(error / size);
}

template <class R> void check_lengths(double tolerance) {
  std::vector<int64_t> lengths = {97, 101, 121, 128, 243, 256, 289, 360, 500, 512, 529, 625, 997, 1000, 1024, 1155};
  for (int64_t n = 1; n <= 64; ++n) lengths.push_back(n);
  for (int64_t n : lengths)
    for (auto [outer, inner] : std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {3, 1}, {1, 11}, {2, 3}}) {
      auto x = random_numbers<R>(outer * n * inner);
      Numbers<R> y(x.size()), back(x.size());
      fft<R>(outer, n, inner, false, x.data(), y.data());
      fft<R>(outer, n, inner, true, y.data(), back.data());
      for (int64_t o = 0; o < outer; ++o)
        for (int64_t i = 0; i < inner; ++i) {
          const int64_t at = o * n * inner + i;
          EXPECT_LT(relative_error(direct(x.data() + at, n, inner, -1), y.data() + at, inner), tolerance)
              << n << " of " << outer << ", " << inner;
        }
      for (size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(std::abs(x[i] - back[i]), 0, 20 * tolerance) << n;
    }
}

TEST(Fft, EqualsItsSumInFloat) { check_lengths<float>(1e-6); }
TEST(Fft, EqualsItsSumInDouble) { check_lengths<double>(2e-15); }

template <class R> void check_real(double tolerance) {
  for (int64_t n : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 22, 31, 58, 64, 74, 100, 127, 128, 254, 1000})
    for (int64_t rows : {1, 3, 8, 13}) {
      const int64_t half = n / 2 + 1;
      auto random = random_numbers<R>(rows * (n + 2));
      std::vector<R> x;
      for (const auto& z : random) x.push_back(z.real());
      Numbers<R> y(static_cast<size_t>(rows * half));
      real_fft<R>(rows, n, n + 2, x.data(), y.data());
      std::vector<R> back(static_cast<size_t>(rows * n));
      inverse_real_fft<R>(rows, n, half, y.data(), back.data());
      for (int64_t row = 0; row < rows; ++row) {
        Numbers<R> line(x.begin() + row * (n + 2), x.begin() + row * (n + 2) + n);
        auto expected = direct(line.data(), n, 1, -1);
        expected.resize(static_cast<size_t>(half));
        EXPECT_LT(relative_error(expected, y.data() + row * half, 1), tolerance) << n;
        for (int64_t j = 0; j < n; ++j)
          EXPECT_NEAR(back[static_cast<size_t>(row * n + j)], line[static_cast<size_t>(j)].real(), 20 * tolerance) << n;
      }
    }
}

TEST(Fft, OfRealNumbersIsHalfTheWhole) {
  check_real<float>(1e-6);
  check_real<double>(2e-15);
}

TEST(Fft, InverseIgnoresWhatNoRealSignalHas) {
  const Numbers<double> x = {{1, 2}, {3, 1}, {2, 5}};
  std::vector<double> y(4), odd(5);
  inverse_real_fft<double>(1, 4, 3, x.data(), y.data());
  EXPECT_EQ(y, (std::vector<double>{2.25, -0.75, -0.75, 0.25}));
}

TEST(Fft, LongPrimesStayAccurateAndQuick) {
  // A single frequency has one number in its spectrum.
  for (int64_t n : {100003, 1 << 17}) {
    Numbers<float> x, y(static_cast<size_t>(n));
    for (int64_t j = 0; j < n; ++j)
      x.emplace_back(
          std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(j * 12345 % n) / static_cast<double>(n)));
    fft<float>(1, n, 1, false, x.data(), y.data());
    EXPECT_NEAR(y[12345].real() / static_cast<float>(n), 1, 1e-6) << n;
    double rest = 0;
    for (int64_t k = 0; k < n; ++k)
      if (k != 12345) rest += std::norm(std::complex<double>(y[static_cast<size_t>(k)]));
    EXPECT_LT(std::sqrt(rest) / static_cast<double>(n), 1e-6) << n;
  }
}

}  // namespace
}  // namespace thalweg::kernels
