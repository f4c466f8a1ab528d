#include "thalweg/kernels/gemm.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "thalweg/core/complex.h"
#include "thalweg/core/threads.h"

namespace thalweg::kernels {
namespace {

template <class T> T sample(std::mt19937& random) {
  if constexpr (dtype_of<T> == complex64 || dtype_of<T> == complex128) {
    using R = typename T::value_type;
    return {static_cast<R>(static_cast<int>(random() % 2001) - 1000) / R(500), static_cast<R>(random() % 100) / R(50)};
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(random());
  } else {
    return T(static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 500.0f);
  }
}

template <class T> auto exact(T x) {
  if constexpr (dtype_of<T> == complex64 || dtype_of<T> == complex128) return std::complex<double>(x);
  else if constexpr (std::is_integral_v<T>) return static_cast<uint64_t>(x);
  else if constexpr (std::is_same_v<T, double>) return x;
  else return static_cast<double>(static_cast<float>(x));
}

template <class T> auto conjugate(T x) {
  if constexpr (std::is_same_v<T, std::complex<double>>) return std::conj(x);
  else return x;
}

template <class T> void check(const GemmShape& s, double tolerance) {
  std::mt19937 random(7);
  std::vector<T> a(static_cast<size_t>(s.m * s.k)), b(static_cast<size_t>(s.k * s.n)),
      c(static_cast<size_t>(s.m * s.n) + 1);
  for (T& x : a) x = sample<T>(random);
  for (T& x : b) x = sample<T>(random);
  gemm(dtype_of<T>, s, a.data(), b.data(), c.data());
  for (int64_t i = 0; i < s.m; ++i)
    for (int64_t j = 0; j < s.n; ++j) {
      decltype(exact(T{})) sum{};
      for (int64_t p = 0; p < s.k; ++p) {
        auto x =
            exact(s.a == Operand::plain ? a[static_cast<size_t>(i * s.k + p)] : a[static_cast<size_t>(p * s.m + i)]);
        auto y =
            exact(s.b == Operand::plain ? b[static_cast<size_t>(p * s.n + j)] : b[static_cast<size_t>(j * s.k + p)]);
        if (s.a == Operand::adjoint) x = conjugate(x);
        if (s.b == Operand::adjoint) y = conjugate(y);
        sum += x * y;
      }
      const T got = c[static_cast<size_t>(i * s.n + j)];
      if constexpr (std::is_integral_v<T>) {
        ASSERT_EQ(got, static_cast<T>(sum)) << s.m << " " << s.n << " " << s.k << " at " << i << "," << j;
      } else {
        ASSERT_LE(std::abs(exact(got) - sum), tolerance * (std::abs(sum) + static_cast<double>(s.k) + 1))
            << s.m << " " << s.n << " " << s.k << " at " << i << "," << j;
      }
    }
}

template <class T> void check_all(double tolerance) {
  const int64_t sizes[][3] = {{1, 1, 1},   {2, 3, 4},     {10, 10, 10}, {7, 17, 5},    {6, 16, 32},  {13, 33, 65},
                              {0, 4, 3},   {4, 0, 3},     {4, 3, 0},    {1, 100, 50},  {100, 1, 50}, {65, 31, 400},
                              {70, 9, 40}, {32, 10, 128}, {5, 200, 3},  {110, 130, 97}};
  for (auto& size : sizes)
    for (Operand x : {Operand::plain, Operand::transposed, Operand::adjoint})
      for (Operand y : {Operand::plain, Operand::transposed, Operand::adjoint})
        check<T>({size[0], size[1], size[2], x, y}, tolerance);
}

TEST(Gemm, Float32) { check_all<float>(2e-6); }
TEST(Gemm, Float64) { check_all<double>(1e-14); }
TEST(Gemm, Float16) { check_all<Half>(1e-3); }
TEST(Gemm, BFloat16) { check_all<BFloat16>(8e-3); }
TEST(Gemm, Integers) {
  check_all<int8_t>(0);
  check_all<uint8_t>(0);
  check_all<int16_t>(0);
  check_all<uint16_t>(0);
  check_all<int32_t>(0);
  check_all<uint32_t>(0);
  check_all<int64_t>(0);
  check_all<uint64_t>(0);
}
TEST(Gemm, Complex) {
  check_all<std::complex<float>>(2e-6);
  check_all<std::complex<double>>(1e-14);
}

TEST(Gemm, SameBitsAtAnyNumberOfThreads) {
  const int64_t sizes[][3] = {{300, 300, 300}, {32, 128, 784}, {32, 2000, 128}, {1000, 17, 500}, {129, 513, 385}};
  std::mt19937 random(3);
  for (auto& size : sizes)
    for (int flags = 0; flags < 4; ++flags) {
      std::vector<float> a(static_cast<size_t>(size[0] * size[2])), b(static_cast<size_t>(size[1] * size[2]));
      std::vector<float> one(static_cast<size_t>(size[0] * size[1])), two = one;
      for (float& x : a) x = sample<float>(random);
      for (float& x : b) x = sample<float>(random);
      set_num_threads(1);
      gemm(float32, flags & 1, flags & 2, size[0], size[1], size[2], a.data(), b.data(), one.data());
      set_num_threads(2);
      gemm(float32, flags & 1, flags & 2, size[0], size[1], size[2], a.data(), b.data(), two.data());
      EXPECT_EQ(0, std::memcmp(one.data(), two.data(), one.size() * 4));
      set_num_threads(0);
    }
}

TEST(Gemm, BatchesEqualSingleProducts) {
  std::mt19937 random(5);
  for (int64_t batch : {0, 1, 3, 40}) {
    const GemmShape s{9, 21, 30, Operand::plain, Operand::transposed};
    std::vector<float> a(static_cast<size_t>(batch * s.m * s.k) + 1), b(static_cast<size_t>(s.k * s.n));
    std::vector<float> c(static_cast<size_t>(batch * s.m * s.n) + 1), d = c;
    for (float& x : a) x = sample<float>(random);
    for (float& x : b) x = sample<float>(random);
    batch_gemm(float32, s, batch, a.data(), s.m * s.k, b.data(), 0, c.data(), s.m * s.n);
    for (int64_t i = 0; i < batch; ++i) gemm(float32, s, a.data() + i * s.m * s.k, b.data(), d.data() + i * s.m * s.n);
    EXPECT_EQ(c, d);
  }
}

}  // namespace
}  // namespace thalweg::kernels
