#include "thalweg/kernels/cast.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "thalweg/core/convert.h"

namespace thalweg::kernels {
namespace {

constexpr DType all_plain[] = {DType::float16, DType::bfloat16, DType::float32, DType::float64,   DType::int8,
                               DType::int16,   DType::int32,    DType::int64,   DType::uint8,     DType::uint16,
                               DType::uint32,  DType::uint64,   DType::bool_,   DType::complex64, DType::complex128};

// Numbers at the ends of ranges, between them and between neighbours, with a sign, as elements of a dtype.
std::vector<std::byte> edges(DType dtype) {
  std::vector<double> numbers = {0.0,  -0.0, 0.5, -0.5,       0.999,     -0.999, 1.0,
                                 -1.0, 1.5,  2.5, 1.00390625, 65519.999, 65520.0};
  for (int bits : {7, 8, 11, 15, 16, 24, 31, 32, 53, 62, 63, 64, 65, 130, 1000})
    for (double near : {-1.0, -0.75, 0.0, 0.75, 1.0})
      for (double sign : {-1.0, 1.0}) numbers.push_back(sign * (std::ldexp(1.0, bits) + near));
  if (is_floating(dtype) || is_complex(dtype)) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    numbers.insert(numbers.end(), {infinity, -infinity, std::numeric_limits<double>::quiet_NaN(), 6e-8, 2.98e-8, 1e39});
  }
  std::vector<std::byte> result(numbers.size() * size_of(dtype));
  convert_elements(DType::float64, numbers.data(), dtype, result.data(), static_cast<int64_t>(numbers.size()));
  return result;
}

TEST(Cast, HasTheBitsOfSingleConversions) {
  for (DType from : all_plain)
    for (DType to : all_plain) {
      const std::vector<std::byte> in = edges(from);
      const auto count = static_cast<int64_t>(in.size() / size_of(from));
      // Several times over, so that whole vectors, their rest and more than a tile occur.
      std::vector<std::byte> many;
      for (int i = 0; i < 7; ++i) many.insert(many.end(), in.begin(), in.end());
      std::vector<std::byte> expected(static_cast<size_t>(7 * count) * size_of(to)), got(expected.size());
      for (int64_t i = 0; i < 7 * count; ++i)
        convert_elements(from, many.data() + static_cast<size_t>(i) * size_of(from), to,
                         expected.data() + static_cast<size_t>(i) * size_of(to), 1);
      cast(from, many.data(), to, got.data(), 7 * count);
      EXPECT_EQ(got, expected) << name_of(from) << " to " << name_of(to);
      for (int64_t i = 0; i < count; ++i) {
        std::vector<std::byte> one(size_of(to));
        cast(from, in.data() + static_cast<size_t>(i) * size_of(from), to, one.data(), 1);
        EXPECT_EQ(0, std::memcmp(one.data(), expected.data() + static_cast<size_t>(i) * size_of(to), one.size()))
            << name_of(from) << " to " << name_of(to) << ", element " << i;
      }
    }
}

TEST(Cast, HasALoopForPlainPairs) {
  EXPECT_NE(cast_loop(DType::float32, DType::int8), nullptr);
  EXPECT_NE(cast_loop(DType::bool_, DType::float64), nullptr);
  EXPECT_EQ(cast_loop(DType::float32, DType::float16), nullptr);
}

}  // namespace
}  // namespace thalweg::kernels
