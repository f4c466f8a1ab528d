#include "thalweg/ops/tensor_array.h"

#include <gtest/gtest.h>

#include "tests/ops/floats.h"
#include "tests/ops/outcome.h"
#include "thalweg/autodiff/gradient_tape.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_elementary.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/tensor_list.h"
#include "thalweg/ops/variable.h"

namespace thalweg {
namespace {

TEST(TensorArray, WritesReadsAndStacks) {
  TensorArray array(float32, 3);
  for (int i = 0; i < 3; ++i) array = array.write(i, i + 1);
  EXPECT_EQ(array.read(1).item<float>(), 2.0f);
  EXPECT_EQ(TensorArray(float32, 3).unstack({4.0f, 5.0f, 6.0f}).read(2).item<float>(), 6.0f);
  EXPECT_EQ(array.size().item<int>(), 3);
  EXPECT_EQ(array.dtype(), float32);
  EXPECT_EQ(array.element_shape(), Shape{});
  EXPECT_FALSE(array.dynamic_size());
  EXPECT_FALSE(array.handle().defined());
  EXPECT_EQ(TensorArray::from_flow(float32, array.flow()).size().item<int>(), 3);
}

TEST(TensorArray, IsAValue) {
  TensorArray before = TensorArray(float32, 2).unstack({1.0f, 2.0f}), after = before.write(0, 5.0f);
  EXPECT_EQ(floats(before.stack()), (Floats{1, 2}));
  EXPECT_EQ(floats(after.stack()), (Floats{5, 2}));
}

TEST(TensorArray, ClearsWhatWasRead) {
  TensorArray array = TensorArray(float32, 2).unstack({1.0f, 2.0f});
  EXPECT_EQ(array.read(0).item<float>(), 1.0f);
  EXPECT_EQ(outcome([&] { array.read(0); }),
            "InvalidArgumentError: Could not read index 0 twice because it was cleared after a previous read (perhaps "
            "try setting clear_after_read = false?)");
  EXPECT_EQ(floats(array.stack()), (Floats{0, 2}));
  array = array.write(0, 7.0f);
  EXPECT_EQ(array.read(0).item<float>(), 7.0f);
  TensorArray kept = TensorArray(float32, 1, {.clear_after_read = false}).unstack({1.0f});
  EXPECT_EQ(kept.read(0).item<float>() + kept.read(0).item<float>(), 2.0f);
}

TEST(TensorArray, GrowsWhereItMay) {
  TensorArray array(float32, 0, {.dynamic_size = true});
  array = array.write(2, 3.0f).scatter({4, 0}, {5.0f, 1.0f});
  EXPECT_EQ(floats(array.stack()), (Floats{1, 0, 3, 0, 5}));
  EXPECT_EQ(outcome([] { (void)TensorArray(float32, 2).write(2, 1.0f); }),
            "OutOfRangeError: Tried to write to index 2 but array is not resizeable and size is: 2");
  EXPECT_EQ(outcome([] { (void)TensorArray(float32, 1).scatter({0, 2}, {1.0f, 2.0f}); }),
            "OutOfRangeError: Tried to write to index 2 but array is not resizeable and size is: 1");
  EXPECT_EQ(outcome([] { (void)TensorArray(float32, 1).unstack({1.0f, 2.0f}); }),
            "ValueError: Cannot unstack 2 tensors into a TensorArray of static size 1");
}

TEST(TensorArray, RefusesBadCalls) {
  TensorArray array(float32, 3);
  EXPECT_EQ(outcome([&] { array.read(-1); }),
            "OutOfRangeError: Reading from negative indices (index -1) is not allowed.");
  EXPECT_EQ(outcome([&] { array.read(9); }), "OutOfRangeError: Tried to read from index 9 but array size is: 3");
  EXPECT_EQ(outcome([&] { (void)array.write(-1, 1.0f); }),
            "OutOfRangeError: Writing to negative indices (index -1) is not allowed.");
  EXPECT_EQ(outcome([&] { (void)array.write(0, Tensor(1)); }),
            "InvalidArgumentError: TensorArray dtype is float32 but Op is trying to write dtype int32");
  EXPECT_EQ(outcome([&] { (void)array.write(0, 1.0f).write(1, {1.0f, 2.0f}); }),
            "ValueError: Incompatible shape for value ((2,)), expected (())");
  EXPECT_NE(outcome([&] { (void)array.write(Tensor(1.0f), 1.0f); }), "passes");
  EXPECT_NE(outcome([&] { (void)array.write(Tensor(int64_t{1} << 32), 1.0f); }), "passes");
  EXPECT_NE(outcome([&] { (void)array.write({0, 1}, 1.0f); }), "passes");
  EXPECT_NE(outcome([&] { array.read(0); }), "passes");  // of unknown shape
  EXPECT_NE(outcome([&] { array.gather({9}); }), "passes");
  EXPECT_NE(outcome([&] { (void)array.unstack(1.0f); }), "passes");
  EXPECT_NE(outcome([&] { array.grad("gradients"); }), "passes");
  EXPECT_NE(outcome([] { TensorArray(float32, -3); }), "passes");
  EXPECT_EQ(outcome([] { TensorArray::from_flow(float32, Tensor(1.0f)); }),
            "TypeError: Expected `flow` to be a variant tensor, but received `float32` instead.");
}

TEST(TensorArray, JoinsAndSplits) {
  TensorArray array(float32, 2, {.infer_shape = false});
  array = array.write(0, {1.0f}).write(1, {2.0f, 3.0f});
  EXPECT_EQ(floats(array.concat()), (Floats{1, 2, 3}));
  TensorArray pieces = TensorArray(float32, 2, {.infer_shape = false}).split({1.0f, 2.0f, 3.0f}, {1, 2});
  EXPECT_EQ(floats(pieces.read(1)), (Floats{2, 3}));
  EXPECT_NE(outcome([] { (void)TensorArray(float32, 3).split({1.0f, 2.0f, 3.0f}, {1, 2}); }), "passes");
  EXPECT_NE(outcome([] { (void)TensorArray(float32, 2).split({1.0f, 2.0f, 3.0f}, 3); }), "passes");
  EXPECT_EQ(floats(TensorArray(float32, 2, {.element_shape = {2}}).concat()), Floats(4));
  EXPECT_EQ(floats(TensorArray(float32, 2, {.element_shape = {2}}).read(1)), Floats(2));
}

TEST(TensorArray, StacksNothing) {
  EXPECT_EQ(TensorArray(float32, 0).stack().shape(), Shape{0});
  EXPECT_EQ(TensorArray(float32, 0, {.element_shape = {2}}).stack().shape(), (Shape{0, 2}));
  TensorArray array = TensorArray(float32, 2).unstack({1.0f, 2.0f});
  array.close();
  EXPECT_EQ(array.size().item<int>(), 0);
}

TEST(TensorArray, CanBeDifferentiatedThrough) {
  Variable x({1.0f, 2.0f});
  GradientTape outer;
  Tensor first;
  {
    GradientTape inner;
    Tensor value = x, power = value;
    TensorArray array(float32, 3, {.clear_after_read = false});
    for (int i = 0; i < 3; ++i) {
      array = array.write(i, power);
      power = power * value;
    }
    Tensor loss = reduce_sum(array.gather({0, 0, 2})) + reduce_sum(array.read(1) * array.read(2));
    first = inner.gradient(loss, x);
  }
  // 2 x + x^3 + x^5: its derivative is 2 + 3 x^2 + 5 x^4, that one's 6 x + 20 x^3.
  EXPECT_EQ(floats(first), (Floats{10, 94}));
  EXPECT_EQ(floats(outer.gradient(first, x)), (Floats{26, 172}));
}

TEST(TensorArray, ClearingLosesNoGradient) {
  Variable x(3.0f);
  GradientTape tape;
  TensorArray array = TensorArray(float32, 2).write(0, x * x).write(1, 2.0f * x);
  Tensor y = array.read(0) * array.read(1);
  EXPECT_EQ(tape.gradient(y + reduce_sum(array.stack()), x).item<float>(), 54.0f);
}

}  // namespace
}  // namespace thalweg
