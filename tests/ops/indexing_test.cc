// The brackets of a tensor, and what tables cannot say of shaping: shared memory, large copies, convenience.
#include <gtest/gtest.h>

#include "thalweg/core/error.h"
#include "thalweg/core/index.h"
#include "thalweg/ops/broadcasting.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/ranges.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/slicing.h"
#include "thalweg/ops/splitting.h"
#include "thalweg/ops/transposing.h"

namespace thalweg {
namespace {

std::vector<int32_t> list(const Tensor& t) {
  auto s = t.span<int32_t>();
  return {s.begin(), s.end()};
}
using Ints = std::vector<int32_t>;
/// Where the elements lie, to be compared with where others do.
const float* memory(const Tensor& t) { return t.data<float>(); }

TEST(Indexing, TakesNumbersSlicesNewAxesAndEllipses) {
  Tensor x = reshape(range(24), {2, 3, 4});
  EXPECT_EQ(list(x(1, 2)), (Ints{20, 21, 22, 23}));
  EXPECT_EQ(x(1, 2, 3).item<int32_t>(), 23);
  EXPECT_EQ(list(x(-1, 0, slice(1, -1))), (Ints{13, 14}));
  EXPECT_EQ(list(x(ellipsis, 0)), (Ints{0, 4, 8, 12, 16, 20}));
  EXPECT_EQ(x(ellipsis, newaxis).shape(), (Shape{2, 3, 4, 1}));
  EXPECT_EQ(x(newaxis, all, 1).shape(), (Shape{1, 2, 4}));
  EXPECT_EQ(list(x(0, 0, Slice{.step = -1})), (Ints{3, 2, 1, 0}));
  EXPECT_EQ(list(x(0, slice_from(2))), (Ints{8, 9, 10, 11}));
  EXPECT_EQ(list(x(Tensor(1), 0)), (Ints{12, 13, 14, 15}));
}

TEST(Indexing, RefusesWhatIsOutOfReach) {
  Tensor x = range(5);
  EXPECT_THROW(x(5), InvalidArgumentError);
  EXPECT_THROW(x(-6), InvalidArgumentError);
  EXPECT_THROW(x(0, 0), InvalidArgumentError);
  EXPECT_THROW(x(ellipsis, ellipsis), InvalidArgumentError);
  EXPECT_THROW(x(Slice{.step = 0}), InvalidArgumentError);
  EXPECT_THROW(x(Tensor(1.5f)), TypeError);
  EXPECT_THROW(x(Tensor{0, 1}), TypeError);
  EXPECT_THROW(Tensor(1).begin(), TypeError);
}

TEST(Indexing, TakesMasks) {
  Tensor x = reshape(range(6), {3, 2});
  EXPECT_EQ(list(x(Tensor{true, false, true})), (Ints{0, 1, 4, 5}));
  EXPECT_EQ(list(x(Tensor{{true, false}, {false, false}, {true, true}})), (Ints{0, 4, 5}));
}

TEST(Indexing, WalksTheFirstAxis) {
  Tensor x = reshape(range(6), {3, 2});
  int32_t sum = 0, rows = 0;
  for (Tensor row : x) {
    sum += row[1].item<int32_t>();
    ++rows;
  }
  EXPECT_EQ(rows, 3);
  EXPECT_EQ(sum, 1 + 3 + 5);
}

// Numbers alone take a short way where nobody follows; it gives what the op gives.
TEST(Indexing, NumbersAloneAreCheapAndTheSame) {
  Tensor x = reshape(range(24), {2, 3, 4});
  static_cast<void>(x + 0);
  EXPECT_EQ(list(x[1]), list(x(slice(1, 2))));
  EXPECT_EQ(x[1].shape(), (Shape{3, 4}));
  EXPECT_EQ(x[-1](0, -1).item<int32_t>(), 15);
  EXPECT_EQ(x(1, 2, 3).shape(), Shape());
  EXPECT_EQ(list(x(0, -1)), (Ints{8, 9, 10, 11}));
  EXPECT_THROW(x[2], InvalidArgumentError);
  EXPECT_THROW(x(0, 3), InvalidArgumentError);
  EXPECT_THROW(x(0, 0, 0, 0), InvalidArgumentError);
  EXPECT_THROW(Tensor(1)[0], InvalidArgumentError);
  EXPECT_EQ(Tensor({"a", "b"})[1].item<std::string>(), "b");
  Tensor large = zeros({2, 10'000});
  Tensor row = large[1];
  EXPECT_EQ(memory(row), memory(large) + 10'000);  // no copy of a long row
  large = Tensor();
  EXPECT_EQ(row[9'999].item<float>(), 0.0f);
}

TEST(Shaping, SharesMemory) {
  Tensor x = zeros({100, 10});
  EXPECT_EQ(memory(reshape(x, {1000})), x.data<float>());
  EXPECT_EQ(reshape(x, {-1, 5}).shape(), (Shape{200, 5}));
  EXPECT_EQ(memory(expand_dims(x, 0)), x.data<float>());
  EXPECT_EQ(memory(squeeze(expand_dims(x, -1))), x.data<float>());
  EXPECT_EQ(memory(cast(x, float32)), x.data<float>());
  EXPECT_EQ(memory(x(all, all)), x.data<float>());
  EXPECT_EQ(reshape(Tensor{7}, {}).shape(), Shape());
}

// Every size from a few elements to several tiles, for each width of element.
TEST(Shaping, TransposesAllSizes) {
  for (DType dtype : {uint8, int16, int32, int64, complex128})
    for (int64_t rows : {1, 3, 4, 15, 16, 17, 33, 70})
      for (int64_t columns : {1, 2, 5, 16, 31, 48}) {
        Tensor x = reshape(range(2 * rows * columns), std::vector<int64_t>{2, rows, columns});
        Tensor back = cast(transpose(cast(cast(x, dtype), dtype), {.perm = {0, 2, 1}}), int32);
        Tensor same = cast(cast(x, dtype), int32);
        for (int32_t b = 0; b < 2; ++b)
          for (int64_t r = 0; r < rows; ++r)
            for (int64_t c = 0; c < columns; ++c)
              ASSERT_EQ(back.data<int32_t>()[(b * columns + c) * rows + r],
                        same.data<int32_t>()[(b * rows + r) * columns + c])
                  << name_of(dtype) << ' ' << rows << 'x' << columns;
      }
}

TEST(Shaping, JoinsAndSplits) {
  Tensor x = reshape(range(6), {2, 3});
  EXPECT_EQ(list(concat({x, x}, 1)), (Ints{0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5}));
  EXPECT_EQ(list(concat(split(x, {1, 2}, {.axis = 1}), -1)), list(x));
  EXPECT_EQ(list(stack(unstack(x, {.axis = 1}), {.axis = 1})), list(x));
  EXPECT_EQ(split(x, 3, {.axis = 1}).size(), 3u);
  EXPECT_THROW(split(x, 2, {.axis = 1}), InvalidArgumentError);
}

TEST(Creation, FollowsOptions) {
  EXPECT_EQ(constant({1, 2}, {.dtype = float64}).dtype(), float64);
  EXPECT_EQ(constant(3, {.shape = Shape{2, 2}}).shape(), (Shape{2, 2}));
  EXPECT_EQ(list(range(2, 10, 3)), (Ints{2, 5, 8}));
  EXPECT_EQ(range(1, 2, 0.25).dtype(), float32);
  EXPECT_EQ(eye(2, {.num_columns = 3, .batch_shape = {4}}).shape(), (Shape{4, 2, 3}));
  EXPECT_EQ(linspace({0.0f, 1.0f}, {1.0f, 3.0f}, 5).shape(), (Shape{5, 2}));
  EXPECT_EQ(meshgrid({range(3), range(2)})[0].shape(), (Shape{2, 3}));
  EXPECT_THROW(range(0, 5, 0), InvalidArgumentError);
}

}  // namespace
}  // namespace thalweg
