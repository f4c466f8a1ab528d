// vectorized_map: the same results as row by row, without a loop.
#include "thalweg/graph/vectorize.h"

#include <gtest/gtest.h>

#include <random>

#include "thalweg/core/warning.h"
#include "thalweg/thalweg.h"

namespace thalweg {
namespace {

using Random = std::minstd_rand;
using RowFunction = std::function<Tensor(const Tensor&)>;

Tensor row_by_row(const RowFunction& f, const Tensor& x) {
  std::vector<Tensor> rows;
  for (int64_t i = 0; i < x.shape()[0]; ++i) rows.push_back(f(gather(x, Tensor(i), {.axis = 0})));
  return stack(rows);
}
void expect_same(const Tensor& got, const Tensor& expected, const std::string& what) {
  ASSERT_EQ(got.dtype(), expected.dtype()) << what;
  ASSERT_TRUE(got.shape() == expected.shape())
      << what << ": " << got.shape().str() << " and " << expected.shape().str();
  Tensor a = cast(got, float64), b = cast(expected, float64);
  for (int64_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a.mutable_data<double>()[i], b.mutable_data<double>()[i],
                1e-4 * (1 + std::abs(b.mutable_data<double>()[i])))
        << what;
}
// Throws where an op has no rule.
const VectorizedMapOptions strict{.fallback_to_while_loop = false};

void expect_vectorized(const char* what, const RowFunction& f, const Tensor& x) {
  SCOPED_TRACE(what);
  const Tensor expected = row_by_row(f, x);
  expect_same(vectorized_map(f, x, strict), expected, what);
  auto traced = function([&](const Tensor& v) { return vectorized_map(f, v, strict); });
  expect_same(traced(x), expected, "traced");
  std::vector<int64_t> dims(x.shape().dims().begin(), x.shape().dims().end());
  dims[0] = -1;
  auto any_count = function([&](const Tensor& v) { return vectorized_map(f, v, strict); },
                            {.input_signature = {TensorSpec(Shape(dims), x.dtype())}});
  expect_same(any_count(x), expected, "any number of rows");
}

TEST(VectorizedMap, EveryRuleOnMatrices) {
  const Tensor x = random::stateless_uniform({4, 2, 3}, {1, 2}, {.minval = 0.1f, .maxval = 1.0f});
  const Tensor w = random::stateless_uniform({3, 5}, {3, 4}), bias = random::stateless_uniform({3}, {5, 6});
  auto check = [&](const char* what, const RowFunction& f) { expect_vectorized(what, f, x); };
  check("unary", [](const Tensor& r) { return exp(r) + sqrt(r); });
  check("broadcast", [&](const Tensor& r) { return r * bias + reduce_sum(r) - reduce_max(r, {.axis = 0}); });
  check("compare", [](const Tensor& r) { return where(r > 0.5f, r, -r); });
  check("cast", [](const Tensor& r) { return cast(r * 10.0f, int32); });
  check("matmul", [&](const Tensor& r) { return matmul(r, w); });
  check("matmul of rows", [](const Tensor& r) { return matmul(r, r, {.transpose_b = true}); });
  check("matmul on the right",
        [&](const Tensor& r) { return matmul(w, r, {.transpose_a = true, .transpose_b = true}); });
  check("einsum", [&](const Tensor& r) { return einsum("ij,jk->ki", {r, w}); });
  check("bias", [&](const Tensor& r) { return nn::bias_add(r, bias); });
  check("bias of the row", [&](const Tensor& r) { return nn::bias_add(r, reduce_sum(r, {.axis = 0})); });
  check("softmax", [](const Tensor& r) { return nn::softmax(r) + nn::log_softmax(r, {.axis = 0}); });
  check("reductions", [](const Tensor& r) { return reduce_mean(r, {.axis = -1}) + reduce_prod(r, {.axis = {0, 1}}); });
  check("kept", [](const Tensor& r) { return reduce_min(r, {.axis = 1, .keepdims = true}); });
  check("argmax", [](const Tensor& r) { return argmax(r, {.axis = 0}); });
  check("cumsum", [](const Tensor& r) { return cumsum(r, {.axis = 1}); });
  check("reverse", [](const Tensor& r) { return reverse(r, {0}); });
  check("reshape", [](const Tensor& r) { return reshape(r, {3, -1}); });
  check("transpose", [](const Tensor& r) { return transpose(r); });
  check("expand", [](const Tensor& r) { return squeeze(expand_dims(expand_dims(r, 0), -1)); });
  check("concat", [&](const Tensor& r) { return concat({r, reshape(bias, {1, 3}), r * 2.0f}, 0); });
  check("stack", [](const Tensor& r) { return stack({r, r + 1.0f}, {.axis = 1}); });
  check("unstack", [](const Tensor& r) { return unstack(r, {.axis = 1})[2]; });
  check("split", [](const Tensor& r) { return split(r, 3, {.axis = 1})[1]; });
  check("slice", [](const Tensor& r) { return slice(r, {0, 1}, {2, 2}); });
  check("subscript", [](const Tensor& r) { return r[1]; });
  check("tile", [](const Tensor& r) { return tile(r, {2, 1}); });
  check("pad", [](const Tensor& r) { return pad(r, {{1, 0}, {0, 2}}); });
  check("broadcast_to", [](const Tensor& r) { return broadcast_to(reduce_sum(r, {.axis = 0}), {4, 3}); });
  check("gather", [](const Tensor& r) { return gather(r, Tensor({2, 0}), {.axis = 1}); });
  check("gather by row", [&](const Tensor& r) { return gather(w, argmax(r, {.axis = 1})); });
  check("gather of row by row", [](const Tensor& r) { return gather(r, argmax(r, {.axis = 1}), {.axis = 1}); });
  check("one_hot", [](const Tensor& r) { return one_hot(argmax(r, {.axis = 1}), 4); });
  check("shared", [&](const Tensor&) { return exp(w); });
  check("shape", [](const Tensor& r) { return r / cast(size(r), float32) + zeros_like(r); });
  check("inverse", [](const Tensor& r) { return linalg::inv(matmul(r, r, {.transpose_b = true}) + eye(2)); });
  auto inner = function([](const Tensor& v) { return tanh(v); });
  check("call", [&](const Tensor& r) { return inner(r) + r; });
}

TEST(VectorizedMap, Images) {
  const Tensor x = random::stateless_uniform({3, 2, 6, 6, 2}, {1, 2}), filter = ones({3, 3, 2, 4});
  expect_vectorized("conv", [&](const Tensor& r) { return nn::max_pool2d(nn::conv2d(r, filter)); }, x);
}

TEST(VectorizedMap, RandomCompositions) {
  const std::vector<RowFunction> steps = {
      [](const Tensor& r) { return tanh(r); },
      [](const Tensor& r) { return r + reduce_mean(r, {.axis = 0}); },
      [](const Tensor& r) { return transpose(r); },
      [](const Tensor& r) { return matmul(r, r, {.transpose_b = true}); },
      [](const Tensor& r) { return concat({r, sigmoid(r)}, 1); },
      [](const Tensor& r) { return nn::softmax(r); },
      [](const Tensor& r) { return expand_dims(reduce_max(r, {.axis = 1}), 1) * r; },
      [](const Tensor& r) { return where(r > 0.3f, r, zeros_like(r)); },
      [](const Tensor& r) { return stack({r[0], r[1]}); },
      [](const Tensor& r) { return reshape(r, {2, -1}); },
      [](const Tensor& r) { return gather(r, Tensor({1, 0})); },
      [](const Tensor& r) { return cast(cast(r * 8.0f, int32), float32) * 0.1f; },
  };
  Random random(7);
  for (int k = 0; k < 100; ++k) {
    std::vector<size_t> chosen;
    for (int i = 0; i < 5; ++i) chosen.push_back(random() % steps.size());
    std::string what;
    for (size_t i : chosen) what += std::to_string(i) + " ";
    auto f = [&](const Tensor& row) {
      Tensor r = row;
      for (size_t i : chosen) r = steps[i](r);
      return r;
    };
    const Tensor x = random::stateless_uniform({3, 2, 4}, {k, 1});
    expect_same(vectorized_map(f, x, strict), row_by_row(f, x), what);
  }
}

TEST(VectorizedMap, GradientsAndCaptures) {
  Variable w(Tensor({1.0f, 2.0f, 3.0f}));
  const Tensor x = reshape(range(12.0f), {4, 3});
  auto loss = [&](const Tensor& v) {
    return reduce_sum(square(vectorized_map([&](const Tensor& r) { return reduce_sum(r * w.value()); }, v, strict)));
  };
  auto expected = [&](const Tensor& v) { return reduce_sum(square(reduce_sum(v * w.value(), {.axis = 1}))); };
  auto gradients = [&](const auto& f) {
    GradientTape tape;
    tape.watch(x);
    Tensor y = f(x);
    auto [dx, dw] = tape.gradient(y, std::tuple(x, w));
    return std::vector<Tensor>{dx, dw};
  };
  auto want = gradients(expected), eager = gradients(loss), traced = gradients(function(loss));
  for (size_t i = 0; i < 2; ++i) {
    expect_same(eager[i], want[i], "eager");
    expect_same(traced[i], want[i], "traced");
  }
  auto outer = function([&](const Tensor& v, const Tensor& scale) {
    return vectorized_map([&](const Tensor& r) { return r * scale; }, v, strict);
  });
  expect_same(outer(x, 2.0f), x * 2.0f, "capture");
}

TEST(VectorizedMap, StructuresOfRows) {
  const Tensor x = reshape(range(6.0f), {3, 2}), y = Tensor({1.0f, 2.0f, 3.0f});
  auto [sums, products] = vectorized_map(
      [](const std::tuple<Tensor, Tensor>& row) {
        const auto& [a, b] = row;
        return std::tuple(a + b, a * b);
      },
      std::tuple(x, y), strict);
  expect_same(sums, x + expand_dims(y, 1), "sums");
  expect_same(products, x * expand_dims(y, 1), "products");
}

std::string heard;

TEST(VectorizedMap, FallsBackToALoop) {
  Variable calls(0.0f);
  auto noisy = [&](const Tensor& r) {
    calls.assign_add(1.0f);
    return r * 2.0f;
  };
  const Tensor x = reshape(range(6.0f), {3, 2});
  EXPECT_THROW(vectorized_map(noisy, x, strict), ValueError);
  EXPECT_EQ(calls.value().item<float>(), 0);
  WarningHandler before = set_warning_handler([](const char* text) { heard += text; });
  expect_same(vectorized_map(noisy, x), x * 2.0f, "eager");
  EXPECT_EQ(calls.value().item<float>(), 3);
  EXPECT_NE(heard.find("Using a while_loop for converting AssignAddVariableOp"), std::string::npos) << heard;
  heard.clear();
  auto traced = function([&](const Tensor& v) { return vectorized_map(noisy, v, {.warn = false}); });
  expect_same(traced(x), x * 2.0f, "traced");
  set_warning_handler(before);
  EXPECT_EQ(calls.value().item<float>(), 6);
  EXPECT_EQ(heard, "");
  auto branches = [](const Tensor& r) { return cond(reduce_sum(r) > 2.0f, [&] { return r; }, [&] { return -r; }); };
  expect_same(vectorized_map(branches, x, {.warn = false}), row_by_row(branches, x), "cond");
  Tensor drawn = vectorized_map([](const Tensor&) { return random::normal({2}); }, x, {.warn = false});
  EXPECT_TRUE(drawn.shape() == Shape({3, 2}));
  EXPECT_NE(drawn.mutable_data<float>()[0], drawn.mutable_data<float>()[2]);
}

TEST(VectorizedMap, RefusesWhatHasNoRows) {
  EXPECT_THROW(vectorized_map([](const Tensor& r) { return r; }, Tensor(1.0f)), ValueError);
  auto both = [](const std::tuple<Tensor, Tensor>& r) { return std::get<0>(r); };
  EXPECT_THROW(vectorized_map(both, std::tuple(ones({2}), ones({3}))), ValueError);
}

}  // namespace
}  // namespace thalweg
