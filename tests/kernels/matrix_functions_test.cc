// Square roots of matrices, squared: those with pairs of complex eigenvalues, which real Schur forms have in blocks,
// symmetric ones, and those that have no real root.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <mutex>
#include <random>
#include <type_traits>
#include <vector>

#include "thalweg/kernels/lapack.h"

namespace thalweg::kernels {
namespace {

template <class T> std::vector<T> square_root(int64_t n, const std::vector<T>& a) {
  std::vector<T> root(a.size());
  std::lock_guard lock(lapack_mutex());
  matrix_square_root<T>(n, a.data(), root.data());
  return root;
}

template <class T> std::vector<T> product(int64_t n, const std::vector<T>& a, const std::vector<T>& b) {
  std::vector<T> c(a.size());
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < n; ++k)
      for (int64_t j = 0; j < n; ++j)
        c[static_cast<size_t>(i * n + j)] += a[static_cast<size_t>(i * n + k)] * b[static_cast<size_t>(k * n + j)];
  return c;
}

template <class T> void expect_root(int64_t n, const std::vector<T>& a, double tolerance) {
  const std::vector<T> root = square_root(n, a), squared = product(n, root, root);
  double largest = 0, error = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, static_cast<double>(std::abs(a[i])));
    error = std::max(error, static_cast<double>(std::abs(squared[i] - a[i])));
  }
  EXPECT_LE(error, tolerance * largest) << n;
}

template <class T> std::vector<T> random_matrix(int64_t n, double shift) {
  std::mt19937 generator(static_cast<unsigned>(n));
  std::normal_distribution<double> normal;
  std::vector<T> a(static_cast<size_t>(n * n));
  for (T& x : a) {
    if constexpr (std::is_floating_point_v<T>) x = static_cast<T>(normal(generator));
    else
      x = T(static_cast<typename T::value_type>(normal(generator)),
            static_cast<typename T::value_type>(normal(generator)));
  }
  for (int64_t i = 0; i < n; ++i) a[static_cast<size_t>(i * n + i)] += T(static_cast<float>(shift));
  return a;
}

TEST(MatrixSquareRoot, SquaresToTheMatrix) {
  for (int64_t n : {1, 2, 3, 4, 5, 8, 17, 60}) {
    const double shift = 3 * std::sqrt(static_cast<double>(n)) + 1;
    expect_root(n, random_matrix<double>(n, shift), 1e-12);
    expect_root(n, random_matrix<float>(n, shift), 1e-4);
    expect_root(n, random_matrix<std::complex<double>>(n, shift), 1e-12);
    expect_root(n, random_matrix<std::complex<float>>(n, shift), 1e-4);
  }
}

TEST(MatrixSquareRoot, OfSymmetricMatrices) {
  for (int64_t n : {2, 5, 40}) {
    std::vector<double> a = random_matrix<double>(n, 0), transposed(a.size());
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j) transposed[static_cast<size_t>(j * n + i)] = a[static_cast<size_t>(i * n + j)];
    std::vector<double> definite = product(n, a, transposed);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < i; ++j)
        definite[static_cast<size_t>(i * n + j)] = definite[static_cast<size_t>(j * n + i)];
    expect_root(n, definite, 1e-12);
  }
}

TEST(MatrixSquareRoot, TurnsByHalfTheAngle) {
  const std::vector<double> root = square_root<double>(2, {0, -1, 1, 0});
  const double half = std::sqrt(0.5);
  EXPECT_NEAR(root[0], half, 1e-15);
  EXPECT_NEAR(root[1], -half, 1e-15);
  EXPECT_NEAR(root[2], half, 1e-15);
  EXPECT_NEAR(root[3], half, 1e-15);
}

TEST(MatrixSquareRoot, IsNanWhereNoRealOneExists) {
  EXPECT_TRUE(std::isnan(square_root<double>(2, {-1, 0, 0, 1})[0]));      // symmetric
  EXPECT_TRUE(std::isnan(square_root<double>(2, {-1, 0.5, 0, 1})[0]));    // triangular
  const auto root = square_root<std::complex<double>>(1, {{-4.0, 0.0}});  // complex matrices have one
  EXPECT_NEAR(root[0].imag(), 2.0, 1e-15);
}

}  // namespace
}  // namespace thalweg::kernels
