#include "thalweg/core/tensor.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <sstream>
#include <thread>

#include "thalweg/core/complex.h"
#include "thalweg/core/error.h"
#include "thalweg/ops/math.h"

namespace thalweg {
namespace {

template <class T> std::vector<T> values(const Tensor& tensor) {
  auto span = tensor.span<T>();
  return {span.begin(), span.end()};
}

TEST(Tensor, TakesTheDtypeOfScalars) {
  EXPECT_EQ(Tensor(1).dtype(), DType::int32);
  EXPECT_EQ(Tensor(1.5).dtype(), DType::float32);  // a bare literal, as in TensorFlow
  EXPECT_EQ(Tensor(1.5f).dtype(), DType::float32);
  EXPECT_EQ(Tensor(int64_t{1}).dtype(), DType::int64);
  EXPECT_EQ(Tensor(true).dtype(), DType::bool_);
  EXPECT_EQ(Tensor(Half(1)).dtype(), DType::float16);
  EXPECT_EQ(Tensor("text").dtype(), DType::string);
  EXPECT_EQ(Tensor(std::complex<float>(1, 2)).dtype(), DType::complex64);
  EXPECT_EQ(Tensor(uint8_t{200}).item<int>(), 200);
  EXPECT_EQ(Tensor(1).shape(), Shape{});
  EXPECT_EQ(Tensor(1).rank(), 0);
  EXPECT_EQ(Tensor(1).size(), 1);
}

TEST(Tensor, ReadsNestedLists) {
  Tensor x = {{1, 2, 3}, {4, 5, 6}};
  EXPECT_EQ(x.dtype(), DType::int32);
  EXPECT_EQ(x.shape(), Shape({2, 3}));
  EXPECT_EQ(values<int32_t>(x), (std::vector<int32_t>{1, 2, 3, 4, 5, 6}));
  Tensor mixed = {1, 2.5};
  EXPECT_EQ(values<float>(mixed), (std::vector<float>{1, 2.5}));
  Tensor deep = {{{1.0f}}, {{2.0f}}};
  EXPECT_EQ(deep.shape(), Shape({2, 1, 1}));
  Tensor text = {"a", "bc"};
  EXPECT_EQ(values<std::string>(text), (std::vector<std::string>{"a", "bc"}));
  EXPECT_EQ((Tensor{{1, 2}, {int64_t{1} << 40, 3}}).dtype(), DType::int64);
  EXPECT_EQ((Tensor{{true, false}}).dtype(), DType::bool_);
}

TEST(Tensor, RefusesRaggedAndMixedLists) {
  EXPECT_THROW((Tensor{{1, 2}, {3}}), ValueError);
  EXPECT_THROW((Tensor{{1, 2}, 3}), ValueError);
  EXPECT_THROW((Tensor{3, {1, 2}}), ValueError);
  EXPECT_THROW((Tensor{{1}, {{2}}}), ValueError);
  EXPECT_THROW((Tensor{1, "two"}), TypeError);
  EXPECT_THROW((Tensor{true, 2}), TypeError);
}

TEST(Tensor, CopiesVectorsAndSpans) {
  std::vector<double> doubles = {0.1, 0.2, 0.3, 0.4};
  EXPECT_EQ(values<double>(Tensor(doubles)), doubles);  // a vector keeps float64
  EXPECT_EQ(Tensor(doubles, {2, 2}).shape(), Shape({2, 2}));
  EXPECT_THROW(Tensor(doubles, {3}), ValueError);
  EXPECT_THROW(Tensor(doubles, {unknown}), ValueError);
  EXPECT_EQ(values<bool>(Tensor(std::vector<bool>{true, false})), (std::vector<bool>{true, false}));
  std::vector<std::string> many(100, "a string that is too long to lie inside its object");
  EXPECT_EQ(values<std::string>(Tensor(many)), many);
  EXPECT_EQ(values<double>(Tensor(std::span<const double>(doubles))), doubles);
  EXPECT_EQ(Tensor(std::span<const double>(doubles), {4, 1}).shape(), Shape({4, 1}));
  EXPECT_EQ(Tensor(std::vector<float>{}).shape(), Shape{0});
}

TEST(Tensor, ConvertsItems) {
  EXPECT_EQ(Tensor(2.75f).item<int>(), 2);
  EXPECT_EQ(Tensor(7).item<double>(), 7.0);
  EXPECT_EQ(Tensor({{5}}).item<int64_t>(), 5);
  EXPECT_EQ(Tensor("abc").item<std::string>(), "abc");
  EXPECT_THROW((Tensor{1, 2}).item<int>(), ValueError);
  EXPECT_THROW(Tensor("1").item<int>(), TypeError);
  EXPECT_THROW(Tensor(1).item<std::string>(), TypeError);
  EXPECT_TRUE(static_cast<bool>(Tensor(0.5f)));
  EXPECT_FALSE(static_cast<bool>(Tensor(0)));
  EXPECT_THROW(static_cast<void>(static_cast<bool>(Tensor({1, 2}))), ValueError);
}

TEST(Tensor, RefusesTheWrongElementType) {
  Tensor x = {1, 2};
  EXPECT_THROW(x.span<float>(), TypeError);
  EXPECT_THROW(x.data<int64_t>(), TypeError);
  EXPECT_EQ(x.span<int32_t>().size(), 2u);
}

TEST(Tensor, IsUndefinedUntilGiven) {
  Tensor none;
  EXPECT_FALSE(none.defined());
  EXPECT_THROW(none.dtype(), ValueError);
  EXPECT_THROW(none.shape(), ValueError);
  EXPECT_THROW(none.span<float>(), ValueError);
  EXPECT_THROW(none.str(), ValueError);
  std::ostringstream out;
  out << none;
  EXPECT_EQ(out.str(), "None");
}

TEST(Tensor, SharesCopies) {
  Tensor x = {1.0f, 2.0f};
  Tensor y = x, z;
  z = y;
  EXPECT_EQ(x.data<float>(), z.data<float>());
  Tensor moved = std::move(y);
  EXPECT_FALSE(y.defined());  // NOLINT: what a moved tensor is, is promised
  z = *&z;
  EXPECT_EQ(z.get(), moved.get());
  x = {3};
  EXPECT_EQ(values<float>(z), (std::vector<float>{1, 2}));
}

TEST(Tensor, ViewsMemoryOfOthers) {
  std::vector<float> memory = {1, 2, 3, 4};
  int released = 0;
  {
    Tensor x = Tensor::view(
        DType::float32, {2, 2}, memory.data(), [](void* count) { ++*static_cast<int*>(count); }, &released);
    Tensor y = x;
    x = Tensor();
    EXPECT_EQ(released, 0);
    EXPECT_EQ(y.data<float>(), memory.data());
  }
  EXPECT_EQ(released, 1);
  const Tensor seen = Tensor::view(std::span(memory), {4});
  EXPECT_EQ(seen.data<float>(), memory.data());
  const std::vector<int32_t> fixed = {1, 2};
  EXPECT_EQ(values<int32_t>(Tensor::view(std::span(fixed), {2, 1})), fixed);
  EXPECT_THROW(Tensor::view(std::span(memory), {5}), ValueError);
}

TEST(Tensor, CountsAndLimitsMemory) {
  int64_t before = memory_info(0).current;
  {
    Tensor x = Tensor::empty(DType::float32, {1000});
    EXPECT_EQ(memory_info(0).current - before, 4000);
    reset_peak_memory(0);
    { Tensor y = Tensor::empty(DType::float32, {2000}); }
    EXPECT_EQ(memory_info(0).peak - before, 12000);
    EXPECT_EQ(memory_info(0).current - before, 4000);
  }
  EXPECT_EQ(memory_info(0).current, before);
  set_memory_limit(0, before + 10'000);
  EXPECT_THROW(Tensor::empty(DType::float32, {5000}), ResourceExhaustedError);
  EXPECT_EQ(memory_info(0).current, before);
  EXPECT_EQ(Tensor::empty(DType::float32, {2000}).size(), 2000);  // what fits still works
  set_memory_limit(0, 0);
  EXPECT_EQ(Tensor::empty(DType::float32, {5000}).size(), 5000);
  EXPECT_THROW(memory_info(-1), InvalidArgumentError);
  EXPECT_THROW(set_memory_limit(64, 1), InvalidArgumentError);
}

TEST(Tensor, RefusesShapesPastAllMemory) {
  constexpr int64_t huge = int64_t{1} << 62;
  EXPECT_THROW(Tensor::empty(DType::float32, {huge, 4}), ResourceExhaustedError);
  EXPECT_THROW(Tensor::empty(DType::float32, {huge}), ResourceExhaustedError);
  EXPECT_THROW(Tensor::empty(DType::float64, {1 << 20, 1 << 20, 1 << 10}), ResourceExhaustedError);
  EXPECT_THROW(Tensor::empty(DType::float32, {unknown}), ResourceExhaustedError);
  // No elements, but the products of dimensions that kernels compute would overflow.
  EXPECT_THROW(Tensor::empty(DType::float32, {huge, 4, 0}), ResourceExhaustedError);
  EXPECT_THROW(Tensor::empty(DType::float32, {0, huge, 4}), ResourceExhaustedError);
  EXPECT_EQ(Tensor::empty(DType::float32, {0, huge}).size(), 0);
  EXPECT_THROW(Tensor::empty(DType::invalid, {1}), TypeError);
}

TEST(Tensor, KeepsLiteralsExactUntilTheirDtypeIsKnown) {
  EXPECT_EQ(TensorLike(0.1).as(DType::float64).item<double>(), 0.1);
  EXPECT_EQ(TensorLike(0.1).own().dtype(), DType::float32);
  const Tensor exact = TensorLike({0.1, 0.2}).as(DType::float64);
  EXPECT_EQ(exact.span<double>()[1], 0.2);
  EXPECT_EQ(TensorLike(3).as(DType::float16).item<float>(), 3.0f);
  EXPECT_THROW(TensorLike(1.5).as(DType::int32), TypeError);
  EXPECT_THROW(TensorLike("a").tensor().item<int>(), TypeError);
  Tensor x(std::vector<double>{1.0});
  EXPECT_EQ((x + 0.1).item<double>(), 1.0 + 0.1);
  EXPECT_EQ((x + 0.1).dtype(), DType::float64);
  EXPECT_EQ((Tensor(std::vector<Half>{Half(1)}) + 1).dtype(), DType::float16);
}

TEST(Tensor, RefusesIntegersThatDoNotFit) {
  EXPECT_THROW(TensorLike(300).as(DType::uint8), ValueError);
  EXPECT_THROW(TensorLike(int64_t{1} << 40).as(DType::int32), ValueError);
  EXPECT_THROW(TensorLike(std::numeric_limits<uint64_t>::max()).as(DType::int64), ValueError);
  EXPECT_EQ(TensorLike(255).as(DType::uint8).item<int>(), 255);
  EXPECT_EQ(TensorLike(-1).as(DType::int64).item<int64_t>(), -1);
  EXPECT_EQ(TensorLike(uint64_t{1} << 63).as(DType::uint64).item<uint64_t>(), uint64_t{1} << 63);
}

TEST(DTypes, HaveNamesAndSizes) {
  EXPECT_EQ(name_of(DType::float32), "float32");
  EXPECT_EQ(dtype_named("double"), DType::float64);
  EXPECT_EQ(dtype_named("nonsense"), DType::invalid);
  EXPECT_EQ(dtype_named(""), DType::invalid);
  EXPECT_EQ(size_of(DType::complex128), 16u);
  EXPECT_EQ(to_string(types(DType::int32, DType::float32)), "float32, int32");
  for (int i = 1; i < num_dtypes; ++i) {
    auto t = static_cast<DType>(i);
    if (all_types.has(t)) {
      EXPECT_EQ(dtype_named(name_of(t)), t);
    }
  }
}

TEST(Shapes, MergeBroadcastAndPrint) {
  EXPECT_EQ(Shape({2, unknown}).str(), "(2, None)");
  EXPECT_EQ(Shape({3}).str(), "(3,)");
  EXPECT_EQ(Shape({2, unknown}).brackets(), "[2, ?]");
  EXPECT_EQ(Shape({2, unknown}).merge_with({unknown, 3}), Shape({2, 3}));
  EXPECT_THROW(Shape({2}).merge_with({3}), ValueError);
  EXPECT_TRUE(Shape::unknown_rank().is_compatible_with({1, 2}));
  Shape result;
  EXPECT_TRUE(broadcast_shapes({2, 1}, {3}, result));
  EXPECT_EQ(result, Shape({2, 3}));
  EXPECT_FALSE(broadcast_shapes({2}, {3}, result));
  EXPECT_TRUE(broadcast_shapes({0}, {1}, result));
  EXPECT_EQ(result, Shape({0}));
  EXPECT_EQ(Shape({2, 3})[-1], 3);
  EXPECT_EQ(Shape({2, unknown}).num_elements(), -1);
  EXPECT_THROW(Shape(std::vector<int64_t>(13, 1)), InvalidArgumentError);
  Shape full(std::vector<int64_t>(12, 1));
  EXPECT_THROW(full.push_back(1), InvalidArgumentError);
}

TEST(HalfTypes, RoundToNearestEven) {
  EXPECT_EQ(Half(1.0f).bits, 0x3c00);
  EXPECT_EQ(Half(65504.0f).bits, 0x7bff);
  EXPECT_EQ(Half(65520.0f).bits, 0x7c00);         // halfway to the next: infinity
  EXPECT_EQ(Half(1.0f + 0x1p-11f).bits, 0x3c00);  // ties go to even
  EXPECT_EQ(Half(1.0f + 0x3p-11f).bits, 0x3c02);
  EXPECT_EQ(Half(0x1p-24f).bits, 0x0001);  // the smallest denormal
  EXPECT_EQ(Half(-0.0f).bits, 0x8000);
  EXPECT_EQ(BFloat16(1.0f).bits, 0x3f80);
  EXPECT_EQ(BFloat16(1.0f + 0x1p-8f).bits, 0x3f80);
  EXPECT_EQ(BFloat16(1.0f + 0x3p-8f).bits, 0x3f82);
  EXPECT_EQ(BFloat16(std::numeric_limits<float>::max()).bits, 0x7f80);
  EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(std::bit_cast<float>(0x7f800001)))));
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {  // every value survives the way to float and back
    Half h;
    h.bits = static_cast<uint16_t>(bits);
    auto f = static_cast<float>(h);
    if (!std::isnan(f)) {
      ASSERT_EQ(Half(f).bits, bits);
    }
    BFloat16 b;
    b.bits = static_cast<uint16_t>(bits);
    f = static_cast<float>(b);
    if (!std::isnan(f)) {
      ASSERT_EQ(BFloat16(f).bits, bits);
    }
  }
}

TEST(Tensor, MayBeMadeAndDroppedOnManyThreads) {
  int64_t before = memory_info(0).current;
  {
    Tensor shared(std::vector<std::string>(50, "shared by all threads, long enough for the heap"));
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([shared, i] {
        Tensor kept;
        for (int n = 0; n < 500; ++n) {
          Tensor copy = shared;
          Tensor fresh(std::vector<int>(static_cast<size_t>(n), i));
          kept = n % 2 ? copy : fresh;
          EXPECT_EQ(fresh.size(), n);
        }
      });
  }
  EXPECT_EQ(memory_info(0).current, before);
}

TEST(Tensor, MayBeDroppedOnAnotherThreadThanItsMaker) {
  std::vector<Tensor> made;
  std::jthread([&] {
    for (int i = 0; i < 500; ++i) made.emplace_back(std::vector<float>(static_cast<size_t>(i), 1.0f));
  }).join();
  for (const Tensor& t : made)
    if (t.size()) {
      EXPECT_EQ(t.span<float>()[0], 1.0f);
    }
  std::jthread([&] { made.clear(); }).join();
}

struct Matrix {  // of another library
  const double* data() const { return numbers; }
  long size() const { return 2; }
  double numbers[2] = {1.5, 2.5};
};

TEST(Tensor, TakesListsOfOthers) {
  float numbers[] = {1, 2, 3};
  EXPECT_EQ(values<float>(Tensor(numbers)), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(values<float>(Tensor(std::span<float>(numbers))), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(Tensor(std::span<const float>(numbers), {3, 1}).shape(), (Shape{3, 1}));
  const Tensor array = std::array<int64_t, 2>{4, 5};
  EXPECT_EQ(array.dtype(), int64);
  EXPECT_EQ(Tensor(Matrix()).dtype(), float64);
  const std::vector<std::vector<float>> rows = {{1, 2}, {3, 4}, {5, 6}};
  const Tensor nested = rows;
  EXPECT_EQ(nested.shape(), (Shape{3, 2}));
  EXPECT_EQ(values<float>(nested), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  const int table[2][2][1] = {{{1}, {2}}, {{3}, {4}}};
  EXPECT_EQ(Tensor(table).shape(), (Shape{2, 2, 1}));
  EXPECT_EQ(Tensor(std::vector<std::array<double, 3>>{}).shape(), (Shape{0, 0}));
  EXPECT_EQ(TensorLike(rows).own().shape(), (Shape{3, 2}));
  EXPECT_EQ(values<bool>(Tensor(std::vector<bool>{true, false})), (std::vector<bool>{true, false}));
  const std::vector<std::vector<float>> ragged = {{1, 2}, {3}};
  try {
    static_cast<void>(Tensor(ragged));
    FAIL();
  } catch (const ValueError& error) {
    EXPECT_NE(std::string(error.what()).find("different lengths, 2 and 1"), std::string::npos);
  }
}

TEST(Tensor, DoublesAreFloat64WhereAProgramSaysSo) {
  set_double_literals(float64);
  EXPECT_EQ(Tensor(0.1).dtype(), float64);
  EXPECT_EQ(Tensor(0.1).item<double>(), 0.1);
  EXPECT_EQ(Tensor({0.1, 0.2}).dtype(), float64);
  EXPECT_EQ(TensorLike(0.1).own().dtype(), float64);
  EXPECT_EQ(TensorLike({0.1, 1}).own().dtype(), float64);
  EXPECT_EQ(TensorLike(0.1).as(float32).dtype(), float32);
  EXPECT_EQ(Tensor(0.1f).dtype(), float32);
  EXPECT_EQ(TensorLike(0.1f).own().dtype(), float32);
  set_double_literals(float32);
  EXPECT_EQ(Tensor(0.1).dtype(), float32);
  EXPECT_EQ(Tensor({0.1, 0.2}).dtype(), float32);
  EXPECT_EQ(TensorLike(0.1).own().dtype(), float32);
  EXPECT_THROW(set_double_literals(int32), ValueError);
}

}  // namespace
}  // namespace thalweg
