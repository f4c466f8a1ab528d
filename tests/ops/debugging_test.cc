#include "thalweg/ops/debugging.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/ops/outcome.h"
#include "thalweg/core/error.h"
#include "thalweg/ops/creation.h"

namespace thalweg {
namespace {

TEST(Debugging, PassesWhatHolds) {
  Tensor x = {1, 2, 3};
  debugging::assert_equal(x, {1, 2, 3});
  debugging::assert_none_equal(x, 0);
  debugging::assert_less(x, 4);
  debugging::assert_greater_equal(x, 1);
  debugging::assert_positive(x);
  debugging::assert_near(Tensor(1.0f), 1.00000012f);
  debugging::assert_rank(x, 1);
  debugging::assert_rank_in(x, {0, 1});
  debugging::assert_scalar(Tensor(1));
  debugging::assert_integer(x);
  debugging::assert_equal(zeros({0}), Tensor(1.0f));  // nothing is equal to everything
}

TEST(Debugging, SaysWhereValuesDiffer) {
  Tensor x = {1, 2, 3, 4, 5}, y = {1, 3, 3, 5, 6};
  EXPECT_EQ(outcome([&] { debugging::assert_equal(x, y, {.message = "labels"}); }),
            "InvalidArgumentError: labels\nCondition x == y did not hold.\nIndices of first 3 different "
            "values:\n[[1]\n [3]\n [4]]\nCorresponding x values:\n[2 4 5]\nCorresponding y values:\n[3 5 6]\nFirst 3 "
            "elements of x:\n[1 2 3]\nFirst 3 elements of y:\n[1 3 3]");
  EXPECT_EQ(outcome([&] { debugging::assert_less(x, 3, {.summarize = 1}); }),
            "InvalidArgumentError: Condition x < y did not hold.\nFirst 1 elements of x:\n[1]\nFirst 1 elements of "
            "y:\n[3]");
  EXPECT_EQ(outcome([&] { debugging::assert_equal(x, y, {.summarize = 0}); }),
            "InvalidArgumentError: Condition x == y did not hold.");
  EXPECT_EQ(outcome([&] { debugging::assert_negative(Tensor({1.0f, 0.0f}), {.message = "loss"}); }),
            "InvalidArgumentError: loss.  \nCondition x < 0 did not hold element-wise:\nx (shape=(2,) dtype=float32) = "
            "\n[1. 0.]");
  EXPECT_EQ(outcome([&] { debugging::assert_near(Tensor(1.0f), 1.5f, {.rtol = 0, .atol = 0.25}); }),
            "InvalidArgumentError: \nx and y not equal to tolerance rtol = 0.0, atol = 0.25\nx (shape=() "
            "dtype=float32) = \n[1.]\ny (shape=() dtype=float32) = \n[1.5]");
}

TEST(Debugging, AssertShowsItsData) {
  auto text = [](std::vector<Tensor> data, int64_t summarize) {
    return outcome([&] { debugging::Assert(false, data, {.summarize = summarize}); });
  };
  EXPECT_EQ(text({Tensor({1.5, 2, 3, 4}), Tensor({"a", "b"}), Tensor(3)}, 2),
            "InvalidArgumentError: assertion failed: [1.5 2...] [a b] [3]");
  EXPECT_EQ(text({Tensor({{1.5, 2, 3, 4}, {1, 2, 3, 4}})}, 3),
            "InvalidArgumentError: assertion failed: [[1.5 2 3...]...]");
  EXPECT_EQ(text({Tensor({{1.5, 2, 3, 4}, {1, 2, 3, 4}})}, -1),
            "InvalidArgumentError: assertion failed: [[1.5 2 3 4][1 2 3 4]]");
  EXPECT_EQ(text({zeros({int64_t{1} << 40, 0})}, -1), "InvalidArgumentError: assertion failed: []");
}

TEST(Debugging, NamesRanksAndTypes) {
  Tensor x = zeros({30, 10});
  EXPECT_EQ(outcome([&] { debugging::assert_rank(x, 3); }),
            "ValueError: Tensor  must have rank 3.  Received rank 2, shape (30, 10)");
  EXPECT_EQ(outcome([&] { debugging::assert_rank_at_least(x, 3, {.message = "words"}); }),
            "ValueError: words.  Tensor  must have rank at least 3.  Received rank 2, shape (30, 10)");
  EXPECT_EQ(outcome([&] { debugging::assert_type(x, int32); }), "TypeError: tensor must be of type int32; got float32");
  EXPECT_EQ(debugging::assert_same_float_dtype(std::vector<Tensor>{x, Tensor()}), float32);
  EXPECT_TRUE(debugging::is_numeric_tensor(x));
  EXPECT_FALSE(debugging::is_numeric_tensor(Tensor("text")));
}

TEST(Debugging, ShapesFitTogether) {
  Tensor logits = zeros({30, 10}), labels = zeros({30});
  debugging::assert_shapes({{logits, {"N", 10}}, {labels, {"N"}}, {logits, {"...", 10}}, {Tensor(1), {}}});
  EXPECT_EQ(outcome([&] { debugging::assert_shapes({{logits, {"N", 10}}, {zeros({31}), {"N"}}}); }),
            "ValueError: Specified by tensor shape=(30, 10) dtype=float32 dimension 0.  Tensor shape=(31,) "
            "dtype=float32 dimension 0 must have size 30.  Received size 31, shape (31,)");
  EXPECT_EQ(outcome([&] { debugging::assert_shapes({{logits, {".", 11}}}, {.message = "words"}); }),
            "ValueError: words.  Specified explicitly.  Tensor shape=(30, 10) dtype=float32 dimension 1 must have size "
            "11.  Received size 10, shape (30, 10)");
}

}  // namespace
}  // namespace thalweg
