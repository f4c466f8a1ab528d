// What ops do with inputs that are longer than a table shows: tables that grow, words, blocks, borders on several axes.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "thalweg/ops/apply.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/losses.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/ordering.h"
#include "thalweg/ops/padding.h"
#include "thalweg/ops/ranges.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/sorting.h"
#include "thalweg/ops/splitting.h"
#include "thalweg/ops/unique.h"

namespace thalweg {
namespace {

template <class T> std::vector<T> elements(const Tensor& t) {
  auto s = t.span<T>();
  return {s.begin(), s.end()};
}
/// Numbers below `limit` that look drawn.
std::vector<int64_t> scattered(size_t count, uint64_t limit) {
  std::vector<int64_t> values(count);
  uint64_t state = 1;
  for (int64_t& v : values) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    v = static_cast<int64_t>((state >> 33) % limit);
  }
  return values;
}

template <class T> void expect_distinct(const std::vector<T>& x) {
  std::vector<T> first;
  std::map<T, int64_t> number;
  std::vector<int64_t> places;
  for (const T& v : x) {
    auto [found, is_new] = number.try_emplace(v, static_cast<int64_t>(first.size()));
    if (is_new) first.push_back(v);
    places.push_back(found->second);
  }
  auto [y, idx] = unique(Tensor(x), {.out_idx = DType::int64});
  EXPECT_EQ(elements<T>(y), first);
  EXPECT_EQ(elements<int64_t>(idx), places);
}
TEST(LongInputs, DistinctElementsAreNumberedPastTheFirstTable) {
  const std::vector<int64_t> numbers = scattered(5000, 1500);
  expect_distinct(numbers);
  expect_distinct(std::vector<int32_t>(numbers.begin(), numbers.end()));
  std::vector<std::string> words;
  for (int64_t n : numbers) words.push_back("word number " + std::to_string(n));
  expect_distinct(words);
  std::vector<int64_t> aligned;  // that differ in upper bits alone
  for (int64_t n : numbers) aligned.push_back(n << 40);
  expect_distinct(aligned);
}

TEST(LongInputs, BytesAreReversedByWordsAndTheRest) {
  for (int64_t n : {7, 8, 9, 16, 29}) {
    std::vector<uint8_t> x(static_cast<size_t>(2 * n));
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint8_t>(3 * i);
    std::vector<uint8_t> expected = x;
    std::reverse(expected.begin(), expected.begin() + n);
    std::reverse(expected.begin() + n, expected.end());
    EXPECT_EQ(elements<uint8_t>(reverse(Tensor(x, Shape{2, n}), Tensor{1})), expected) << n;
  }
}

TEST(LongInputs, SequencesAreReversedAlongEitherAxis) {
  constexpr int64_t steps = 5, middle = 2, batch = 3, row = 4;
  const std::vector<int32_t> lengths = {0, 5, 3};
  const Tensor x = reshape(range(static_cast<int>(steps * middle * batch * row)), {steps, middle, batch, row});
  const auto in = elements<int32_t>(x);
  const auto out =
      elements<int32_t>(reverse_sequence(x, Tensor(lengths), {.seq_axis = int64_t{0}, .batch_axis = int64_t{2}}));
  const Tensor turned = reshape(x, {batch, middle, steps, row});
  const auto other =
      elements<int32_t>(reverse_sequence(turned, Tensor(lengths), {.seq_axis = int64_t{2}, .batch_axis = int64_t{0}}));
  for (int64_t s = 0; s < steps; ++s)
    for (int64_t m = 0; m < middle; ++m)
      for (int64_t b = 0; b < batch; ++b) {
        const int64_t length = lengths[static_cast<size_t>(b)], from = s < length ? length - 1 - s : s;
        for (int64_t k = 0; k < row; ++k) {
          auto at = [&](int64_t step) { return static_cast<size_t>(((step * middle + m) * batch + b) * row + k); };
          auto at_turned = [&](int64_t step) {
            return static_cast<size_t>(((b * middle + m) * steps + step) * row + k);
          };
          EXPECT_EQ(out[at(s)], in[at(from)]);
          EXPECT_EQ(other[at_turned(s)], in[at_turned(from)]);
        }
      }
}

// The gradient of a mirror adds up all that shows the same element.
TEST(LongInputs, MirroredBordersOfSeveralAxesFoldBack) {
  const Tensor pads = {{2, 1}, {0, 3}, {1, 0}};
  const Op& op = *find_op("MirrorPadGrad");
  for (const char* mode : {"REFLECT", "SYMMETRIC"}) {
    const Tensor x = cast(reshape(range(4 * 5 * 3), {4, 5, 3}), DType::int64), padded = pad(x, pads, {.mode = mode});
    const std::vector<int64_t> shown = elements<int64_t>(padded), numbers = scattered(shown.size(), 100);
    std::vector<int64_t> expected(60);
    for (size_t i = 0; i < shown.size(); ++i) expected[static_cast<size_t>(shown[i])] += numbers[i];
    Attrs attrs(*op.attrs);
    ASSERT_TRUE(op.attrs->set(attrs.get(), op.attrs->find("mode"), std::string(mode)));
    for (DType dtype : {DType::int64, DType::float32, DType::float16}) {
      const Tensor folded = apply1(op, {cast(Tensor(numbers, padded.shape()), dtype), pads}, attrs);
      EXPECT_EQ(elements<int64_t>(cast(folded, DType::int64)), expected) << mode << name_of(dtype);
    }
  }
}

TEST(LongInputs, BordersOfSeveralAxesAreFilledOnce) {
  const Tensor x = reshape(range(1, 7), {1, 2, 3});
  const auto out = elements<int32_t>(pad(x, {{1, 0}, {0, 1}, {2, 1}}, {.constant_values = Tensor(-1)}));
  const std::vector<int32_t> expected = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
                                         -1, -1, 1,  2,  3,  -1, -1, -1, 4,  5,  6,  -1, -1, -1, -1, -1, -1, -1};
  EXPECT_EQ(out, expected);
}

TEST(LongInputs, BoundsAreThoseOfTheStandardLibrary) {
  for (size_t n : {1, 2, 3, 7, 64, 100}) {
    std::vector<int64_t> sorted = scattered(n, 50), values = scattered(60, 52);
    std::sort(sorted.begin(), sorted.end());
    std::vector<int32_t> lower, upper;
    for (int64_t v : values) {
      lower.push_back(static_cast<int32_t>(std::lower_bound(sorted.begin(), sorted.end(), v) - sorted.begin()));
      upper.push_back(static_cast<int32_t>(std::upper_bound(sorted.begin(), sorted.end(), v) - sorted.begin()));
    }
    for (DType dtype : {DType::int64, DType::float32, DType::float16, DType::bfloat16}) {
      const Tensor row = cast(Tensor(sorted), dtype), wanted = cast(Tensor(values), dtype);
      EXPECT_EQ(elements<int32_t>(searchsorted(row, wanted)), lower) << n << name_of(dtype);
      EXPECT_EQ(elements<int32_t>(searchsorted(row, wanted, {.side = "right"})), upper) << n << name_of(dtype);
      // One value: a row of halves is not widened for it.
      EXPECT_EQ(elements<int32_t>(searchsorted(row, cast(Tensor(std::vector<int64_t>{values[0]}), dtype)))[0],
                lower[0]);
    }
  }
}

TEST(LongInputs, PairsAreTakenApart) {
  for (DType dtype : {DType::uint8, DType::int32, DType::float64}) {
    const std::vector<Tensor> parts = unstack(cast(reshape(range(200), {100, 2}), dtype), {.axis = 1});
    EXPECT_EQ(elements<int32_t>(cast(parts[0], DType::int32)), elements<int32_t>(range(0, 200, 2)));
    EXPECT_EQ(elements<int32_t>(cast(parts[1], DType::int32)), elements<int32_t>(range(1, 200, 2)));
  }
}

TEST(LongInputs, SumsOfSeveralTensorsAreThoseOfAdditions) {
  for (DType dtype : {DType::float32, DType::bfloat16, DType::int64, DType::complex64}) {
    const Tensor a = cast(Tensor(scattered(3 * 16384 + 5, 1000)), dtype), b = a + a, c = a * b;
    EXPECT_EQ(elements<double>(cast(add_n({a, b, c}), DType::float64)),
              elements<double>(cast(a + b + c, DType::float64)))
        << name_of(dtype);
  }
}

TEST(LongInputs, SoftmaxOfHalvesIsThatOfFloats) {
  const Tensor x = cast(reshape(Tensor(scattered(33 * 17, 9)), {33, 17}), DType::float32);
  for (DType dtype : {DType::float16, DType::bfloat16})
    EXPECT_EQ(elements<float>(cast(nn::softmax(cast(x, dtype)), DType::float32)),
              elements<float>(cast(cast(nn::softmax(x), dtype), DType::float32)));
}

}  // namespace
}  // namespace thalweg
