#include "thalweg/ops/variable.h"

#include <gtest/gtest.h>

#include <sstream>
#include <thread>

#include "tests/ops/floats.h"
#include "tests/ops/outcome.h"
#include "thalweg/autodiff/gradient_tape.h"
#include "thalweg/core/error.h"
#include "thalweg/core/index.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/fixed_variable.h"
#include "thalweg/ops/indexed_slices.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_elementary.h"
#include "thalweg/ops/matmul.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/shaping.h"

namespace thalweg {
namespace {

IndexedSlices slices(const TensorLike& indices, const TensorLike& values) {
  return {values.as(DType::float32), indices.as(DType::int32), {}};
}

template <class F> std::string type_of(F call) {
  std::string text = outcome(call);
  return text.substr(0, text.find(':'));
}

TEST(Variable, TakesAnythingThatMakesATensor) {
  EXPECT_EQ(Variable(5.0f).dtype(), DType::float32);
  EXPECT_EQ(Variable(5.0f).shape(), Shape{});
  EXPECT_EQ(Variable({1, 2, 3}).dtype(), DType::int32);
  EXPECT_EQ(Variable({1, 2, 3}).shape(), Shape{3});
  EXPECT_EQ(Variable({{1.0f, 2.0f}, {3.0f, 4.0f}}).shape(), (Shape{2, 2}));
  EXPECT_EQ(Variable(zeros({2, 0})).shape(), (Shape{2, 0}));
  EXPECT_EQ(Variable("text").dtype(), DType::string);
  EXPECT_FALSE(Variable().defined());
}

TEST(Variable, KeepsItsOptions) {
  Variable w(1, {.trainable = false, .name = "w", .dtype = DType::float64});
  EXPECT_EQ(w.dtype(), DType::float64);
  EXPECT_EQ(w.item<double>(), 1.0);
  EXPECT_EQ(w.name(), "w:0");
  EXPECT_FALSE(w.trainable());
  EXPECT_TRUE(w.is_initialized());
  EXPECT_EQ(Variable(Tensor({1, 2}), {.dtype = DType::float16}).dtype(), DType::float16);
  EXPECT_EQ(type_of([] { Variable({1.0f, 2.0f}, {.shape = Shape{3}}); }), "InvalidArgumentError");
}

TEST(Variable, MayLeaveDimensionsUnknown) {
  Variable w(zeros({2, 3}), {.shape = Shape{-1, 3}});
  EXPECT_EQ(w.shape(), (Shape{-1, 3}));
  w.assign(ones({5, 3}));
  EXPECT_EQ(w.value().shape(), (Shape{5, 3}));
  EXPECT_EQ(type_of([&] { w.assign(ones({5, 4})); }), "InvalidArgumentError");
  EXPECT_EQ(type_of([&] { w.assign_add(ones({2, 3})); }), "InvalidArgumentError");  // it has five rows now
  EXPECT_EQ(w.value().shape(), (Shape{5, 3}));
  w.scatter_add(slices({4}, ones({1, 3})));
  EXPECT_EQ(w.value()(4, 0).item<float>(), 2.0f);
  Variable any(1.0f, {.shape = Shape::unknown_rank()});
  any.assign({1.0f, 2.0f});
  EXPECT_EQ(any.value().shape(), Shape{2});
}

TEST(Variable, ReadsAreSnapshots) {
  Variable w(zeros({1000}));
  Tensor before = w.value();
  w.assign_add(ones({1000}));
  Tensor between = w;
  w.scatter_update(slices({0}, {7.0f}));
  w.assign_at({1}, 8.0f);
  EXPECT_EQ(before[0].item<float>(), 0.0f);
  EXPECT_EQ(between[0].item<float>(), 1.0f);
  EXPECT_EQ(between[1].item<float>(), 1.0f);
  EXPECT_EQ(w[0].item<float>(), 7.0f);
  EXPECT_EQ(w[1].item<float>(), 8.0f);
  Tensor initial = zeros({3});
  Variable shared(initial);
  shared.assign_add({1.0f, 1.0f, 1.0f});
  EXPECT_EQ(floats(initial), (Floats{0, 0, 0}));
}

TEST(Variable, CopiesAreTheSameVariable) {
  Variable w(1.0f), same = w, other(1.0f);
  w.assign(3.0f).assign_add(2.0f).assign_sub(1.0f);
  EXPECT_EQ(same.item<float>(), 4.0f);
  EXPECT_TRUE(is_same(w, same));
  EXPECT_FALSE(is_same(w, other));
  EXPECT_EQ(Variable::from_handle(w.handle()).item<float>(), 4.0f);
}

TEST(Variable, WrongValuesChangeNothing) {
  Variable w({1.0f, 2.0f, 3.0f});
  EXPECT_EQ(type_of([&] { w.assign({1.0f, 2.0f}); }), "InvalidArgumentError");
  EXPECT_EQ(type_of([&] { w.assign(Tensor({1, 2, 3})); }), "InvalidArgumentError");
  EXPECT_EQ(type_of([&] { w.assign_add(1.0f); }), "InvalidArgumentError");
  EXPECT_EQ(type_of([&] { w.assign_sub(cast(w, DType::float64)); }), "InvalidArgumentError");
  EXPECT_EQ(type_of([&] { w.scatter_add(slices({0, 3}, {1.0f, 1.0f})); }), "InvalidArgumentError");
  EXPECT_EQ(type_of([&] { w.scatter_nd_update({{0}, {-1}}, {1.0f, 1.0f}); }), "InvalidArgumentError");
  EXPECT_EQ(type_of([&] { w.scatter_div(slices({0, 1}, {2.0f, 0.0f})); }), "InvalidArgumentError");
  EXPECT_EQ(type_of([&] { w.scatter_add({}); }), "ValueError");
  EXPECT_EQ(type_of([&] { w.assign_at({slice(0, 2)}, {1.0f, 2.0f, 3.0f}); }), "InvalidArgumentError");
  EXPECT_EQ(type_of([&] { w.assign_at({3}, 1.0f); }), "InvalidArgumentError");
  EXPECT_EQ(type_of([&] { w.assign_at({Tensor({true, false, true})}, 1.0f); }), "TypeError");
  EXPECT_EQ(floats(w), (Floats{1, 2, 3}));
}

TEST(Variable, SaysWhatIsWrong) {
  EXPECT_EQ(outcome([] { Variable().assign(1.0f); }),
            "ValueError: this variable does not exist yet: it was default-constructed");
  Variable w({1.0f, 2.0f}, {.name = "w"});
  EXPECT_EQ(outcome([&] { w.assign({1.0f, 2.0f, 3.0f}); }),
            "InvalidArgumentError: AssignVariableOp: Cannot assign a value of shape (3,) to variable \"w\", float32[2] "
            "(inputs: "
            "resource[], float32[3])");
  EXPECT_EQ(type_of([] { Variable::from_handle(Tensor(1.0f)); }), "InvalidArgumentError");
}

TEST(Variable, PrintsAsTensorFlow) {
  auto text = [](const Variable& v) {
    std::ostringstream out;
    out << v;
    return out.str();
  };
  EXPECT_EQ(text(Variable(5.0f)), "<tf.Variable 'Variable:0' shape=() dtype=float32, numpy=5.0>");
  EXPECT_EQ(text(Variable({1, 2, 3}, {.name = "w"})),
            "<tf.Variable 'w:0' shape=(3,) dtype=int32, numpy=array([1, 2, 3], dtype=int32)>");
  EXPECT_EQ(text(Variable({{1.0, 2.0}, {3.0, 4.0}}, {.dtype = DType::float64, .shape = Shape{-1, 2}})),
            "<tf.Variable 'Variable:0' shape=(None, 2) dtype=float64, numpy=\narray([[1., 2.],\n       [3., 4.]])>");
  EXPECT_EQ(text(Variable()), "None");
}

TEST(Variable, GoesWhereTensorsGo) {
  Variable w({{1.0f, 2.0f}, {3.0f, 4.0f}}), b({10.0f, 20.0f});
  EXPECT_EQ(floats(w * 2.0f + b), (Floats{12, 24, 16, 28}));
  EXPECT_EQ(floats(2.0f - w), (Floats{1, 0, -1, -2}));
  EXPECT_EQ(floats(-w), (Floats{-1, -2, -3, -4}));
  EXPECT_EQ(floats(matmul(w, w)), (Floats{7, 10, 15, 22}));
  EXPECT_EQ(reduce_sum(w).item<float>(), 10.0f);
  EXPECT_EQ(floats(w(all, 1)), (Floats{2, 4}));
  EXPECT_EQ(floats(w[1]), (Floats{3, 4}));
  EXPECT_EQ(floats(w.sparse_read({1, 1})), (Floats{3, 4, 3, 4}));
  EXPECT_EQ(floats(w.gather_nd({{0, 1}, {1, 0}})), (Floats{2, 3}));
  EXPECT_EQ(type_of([&] { w.gather_nd({{0, 2}}); }), "InvalidArgumentError");
}

TEST(Variable, GradientsReachGatheredSlices) {
  Variable w({{1.0f, 2.0f}, {3.0f, 4.0f}});
  GradientTape rows_tape;
  Tensor rows = reduce_sum(square(w.gather_nd({{1}, {1}})));
  Tensor rows_grad = rows_tape.gradient(rows, w);
  EXPECT_TRUE(is_indexed_slices(rows_grad));
  EXPECT_EQ(floats(to_array(rows_grad)), (Floats{0, 0, 12, 16}));
  GradientTape tape;
  Tensor elements = reduce_sum(square(w.gather_nd({{0, 1}, {0, 1}, {1, 0}})));
  EXPECT_EQ(floats(to_array(tape.gradient(elements, w))), (Floats{0, 8, 6, 0}));
}

TEST(Variable, ScattersRows) {
  Variable w({{1.0f, 2.0f}, {3.0f, 4.0f}, {5.0f, 6.0f}});
  w.scatter_add(slices({0, 2, 0}, {{1.0f, 1.0f}, {2.0f, 2.0f}, {3.0f, 3.0f}}));
  EXPECT_EQ(floats(w), (Floats{5, 6, 3, 4, 7, 8}));
  w.scatter_sub(slices({1}, {{3.0f, 4.0f}})).scatter_mul(slices({2}, {{2.0f, 3.0f}}));
  EXPECT_EQ(floats(w), (Floats{5, 6, 0, 0, 14, 24}));
  w.scatter_div(slices({2}, {{7.0f, 2.0f}})).scatter_min(slices({0}, {{4.0f, 9.0f}}));
  EXPECT_EQ(floats(w), (Floats{4, 6, 0, 0, 2, 12}));
  w.scatter_max(slices({1}, {{-1.0f, 1.0f}})).scatter_update(slices({0, 0}, {{1.0f, 1.0f}, {2.0f, 3.0f}}));
  EXPECT_EQ(floats(w), (Floats{2, 3, 0, 1, 2, 12}));
}

TEST(Variable, ScattersSlices) {
  Variable w({{1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 6.0f}});
  w.scatter_nd_add({{0, 1}, {0, 1}}, {10.0f, 20.0f}).scatter_nd_sub({{1}}, {{1.0f, 1.0f, 1.0f}});
  EXPECT_EQ(floats(w), (Floats{1, 32, 3, 3, 4, 5}));
  w.scatter_nd_max({{0, 0}, {0, 1}}, {9.0f, 9.0f})
      .scatter_nd_min({{1, 0}}, {-1.0f})
      .scatter_nd_update({{1, 2}}, {0.5f});
  EXPECT_EQ(floats(w), (Floats{9, 32, 3, -1, 4, 0.5}));
  w.batch_scatter_update(slices({{0, 1}, {2, 0}}, {{1.0f, 2.0f}, {3.0f, 4.0f}}));
  EXPECT_EQ(floats(w), (Floats{1, 2, 3, 4, 4, 3}));
}

TEST(Variable, AssignsToSlices) {
  Variable w(zeros({3, 4}));
  w.assign_at({1}, 1.0f).assign_at({all, slice(1, 3)}, {5.0f, 6.0f}).assign_at({-1, -1}, 9.0f);
  EXPECT_EQ(floats(w), (Floats{0, 5, 6, 0, 1, 5, 6, 1, 0, 5, 6, 9}));
  w.assign_at({ellipsis, Slice{.step = -2}}, 2.0f);
  EXPECT_EQ(floats(w), (Floats{0, 2, 6, 2, 1, 2, 6, 2, 0, 2, 6, 2}));
  w.assign_at({Tensor(0), 0}, w.value()(2, 2));
  EXPECT_EQ(w(0, 0).item<float>(), 6.0f);
}

TEST(Variable, MayStandForATensor) {
  Variable w({1.0f, 2.0f});
  GradientTape tape;
  const Variable fixed = fixed_variable(w.value() * 3.0f);
  const Tensor y = fixed * 2.0f + fixed.sparse_read(Tensor({1, 1}));
  EXPECT_EQ(floats(tape.gradient(y, w)), (Floats{6, 12}));
  EXPECT_EQ(floats(y), (Floats{12, 18}));
  EXPECT_FALSE(fixed.trainable());
  EXPECT_FALSE(fixed_value(w.handle()).has_value());
}

TEST(Variable, ThreadsNeverSeeHalfAValue) {
  constexpr int64_t size = 4096;
  Variable w(zeros({size}));
  auto assign = [&](float first) {
    Tensor one = ones({size});
    for (int i = 0; i < 200; ++i) {
      w.assign(fill({size}, first + static_cast<float>(i)));
      w.assign_add(one);
    }
  };
  std::thread a(assign, 0.0f), b(assign, 1000.0f);
  bool torn = false;
  for (int i = 0; i < 400; ++i) {
    Tensor now = w;
    for (float x : now.span<float>()) torn |= x != *now.data<float>();
  }
  a.join();
  b.join();
  EXPECT_FALSE(torn);
}

TEST(Variable, AssignsToParts) {
  Variable v({{1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 6.0f}});
  v(0).assign({7.0f, 8.0f, 9.0f});
  EXPECT_EQ(floats(v), (Floats{7, 8, 9, 4, 5, 6}));
  v(all, slice(1, 3)).assign_add(1.0f);
  EXPECT_EQ(floats(v), (Floats{7, 9, 10, 4, 6, 7}));
  v[1].assign_sub(v[0]);
  EXPECT_EQ(floats(v), (Floats{7, 9, 10, -3, -3, -3}));
  v(1, 1).assign(0);
  v(ellipsis, -1) += 0.5f;
  v(0, 0) -= 7;
  EXPECT_EQ(floats(v), (Floats{0, 9, 10.5, -3, 0, -2.5}));
  Tensor part = v(0);  // what was read keeps its bits
  v(0).assign(0.0f);
  EXPECT_EQ(floats(part), (Floats{0, 9, 10.5}));
  EXPECT_EQ(floats(v(0) + v[1]), (Floats{-3, 0, -2.5}));
  EXPECT_THROW(v(0).assign({1.0f, 2.0f}), Error);
}

TEST(Variable, CompoundAssignmentsAssign) {
  Variable v({1.0f, 2.0f});
  Variable same = v;
  v += {1.0f, 1.0f};
  v *= 3;
  v -= {1.0f, 2.0f};
  v /= 2;
  EXPECT_EQ(floats(same), (Floats{2.5, 3.5}));
  Tensor x = {1.0f, 2.0f};
  Tensor before = x;
  x += v;
  x *= 2;
  x -= 1;
  x /= {2.0f, 4.0f};
  EXPECT_EQ(floats(x), (Floats{3, 2.5}));
  EXPECT_EQ(floats(before), (Floats{1, 2}));
  Tensor whole = 7;
  whole += 1;
  EXPECT_EQ(whole.dtype(), int32);
}

TEST(Variable, RefusesWhatIsUndefined) {
  Variable v(1.0f);
  EXPECT_NE(outcome([&] { v.assign(Tensor()); }).find("undefined (None)"), std::string::npos);
  EXPECT_NE(outcome([&] { v.assign_add(Tensor()); }).find("undefined (None)"), std::string::npos);
  EXPECT_NE(outcome([&] { Variable made{Tensor()}; }).find("undefined (None)"), std::string::npos);
  EXPECT_NE(outcome([&] { Variable().assign(1.0f); }).find("does not exist yet"), std::string::npos);
  EXPECT_NE(outcome([&] { v += Tensor(); }).find("undefined (None)"), std::string::npos);
}

}  // namespace
}  // namespace thalweg
