// Functions over the rows of tensors: at once and traced.
#include "thalweg/graph/over_rows.h"

#include <gtest/gtest.h>

#include "thalweg/thalweg.h"

namespace thalweg {
namespace {

const Tensor rows = {{1.0f, 2.0f}, {3.0f, 4.0f}, {5.0f, 6.0f}};

void expect_equal(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.shape(), b.shape());
  ASSERT_EQ(a.dtype(), b.dtype());
  EXPECT_TRUE(static_cast<bool>(reduce_all(a == b))) << a << " and " << b;
}
/// Runs at once, traced, and traced without knowing how many rows there are.
template <class F> void expect_results(const F& f, const Tensor& x, const Tensor& expected) {
  expect_equal(f(x), expected);
  expect_equal(function([&](const Tensor& t) { return f(t); })(x), expected);
  FunctionOptions any_rows{.input_signature = {TensorSpec({unknown, 2}, x.dtype())}};
  expect_equal(function([&](const Tensor& t) { return f(t); }, any_rows)(x), expected);
}

TEST(OverRows, MapFn) {
  expect_results([](const Tensor& x) { return map_fn([](const Tensor& r) { return reduce_sum(r) * 2.0f; }, x); }, rows,
                 {6.0f, 14.0f, 22.0f});
  expect_results(
      [](const Tensor& x) {
        auto [whole, first] = map_fn([](const Tensor& r) { return std::tuple(r + 1.0f, cast(r(0), int32)); }, x);
        return whole * cast(expand_dims(first, 1), float32);
      },
      rows, {{2.0f, 3.0f}, {12.0f, 15.0f}, {30.0f, 35.0f}});
  expect_results(
      [](const Tensor& x) {
        return map_fn([](const std::pair<Tensor, Tensor>& p) { return p.first * p.second; }, std::pair(x, x));
      },
      rows, square(rows));
}

TEST(OverRows, NoRows) {
  Tensor none = zeros({0, 2});
  expect_results([](const Tensor& x) { return map_fn([](const Tensor& r) { return cast(r, int32); }, x); }, none,
                 zeros({0, 2}, {.dtype = int32}));
  expect_results(
      [](const Tensor& x) {
        return foldl([](const Tensor& a, const Tensor& r) { return a + r; }, x, Tensor({7.0f, 8.0f}));
      },
      none, {7.0f, 8.0f});
  EXPECT_THROW(foldl([](const Tensor& a, const Tensor& r) { return a + r; }, none), ValueError);
}

TEST(OverRows, Folds) {
  auto step = [](const Tensor& a, const Tensor& r) { return a * 2.0f + r; };
  expect_results([&](const Tensor& x) { return foldl(step, x); }, rows, {15.0f, 22.0f});
  expect_results([&](const Tensor& x) { return foldr(step, x); }, rows, {27.0f, 34.0f});
  expect_results([&](const Tensor& x) { return foldl(step, x, Tensor({1.0f, 0.0f})); }, rows, {23.0f, 22.0f});
  expect_results(
      [](const Tensor& x) {
        auto [sum, count] =
            foldr([](const std::tuple<Tensor, Tensor>& a,
                     const Tensor& r) { return std::tuple(std::get<0>(a) + reduce_sum(r), std::get<1>(a) + 1); },
                  x, std::tuple(Tensor(0.0f), Tensor(0)));
        return sum / cast(count, float32);
      },
      rows, 7.0f);
}

TEST(OverRows, Scans) {
  auto add = [](const Tensor& a, const Tensor& r) { return a + r; };
  expect_results([&](const Tensor& x) { return scan(add, x); }, rows, {{1.0f, 2.0f}, {4.0f, 6.0f}, {9.0f, 12.0f}});
  expect_results([&](const Tensor& x) { return scan(add, x, {.reverse = true}); }, rows,
                 {{9.0f, 12.0f}, {8.0f, 10.0f}, {5.0f, 6.0f}});
  expect_results([&](const Tensor& x) { return scan(add, x, Tensor({10.0f, 0.0f}), {.reverse = true}); }, rows,
                 {{19.0f, 12.0f}, {18.0f, 10.0f}, {15.0f, 6.0f}});
}

TEST(OverRows, GradientsOfFirstAndSecondOrder) {
  auto f = [](const Tensor& x) {
    Tensor mapped = map_fn([](const Tensor& r) { return r * r * r(0); }, x);
    Tensor scanned = scan([](const Tensor& a, const Tensor& r) { return a * r; }, mapped);
    return reduce_sum(foldl([](const Tensor& a, const Tensor& r) { return sin(a) * r; }, scanned));
  };
  auto derivatives = [&](const Tensor& x) {
    GradientTape outer;
    outer.watch(x);
    Tensor first;
    {
      GradientTape inner;
      inner.watch(x);
      Tensor y = f(x);
      first = inner.gradient(y, x);
    }
    return std::tuple(first, outer.gradient(first, x));
  };
  Tensor x = rows * 0.3f;
  auto [first, second] = derivatives(x);
  auto [traced_first, traced_second] = function(derivatives)(x);
  EXPECT_LT(reduce_max(abs(first - traced_first)).item<float>(), 1e-5f);
  EXPECT_LT(reduce_max(abs(second - traced_second)).item<float>(), 1e-4f);
}

TEST(OverRows, VariablesAreAssignedInside) {
  Variable total(0.0f);
  auto f = function([&](const Tensor& x) {
    return map_fn(
        [&](const Tensor& r) {
          total.assign_add(reduce_sum(r));
          return total.read_value();
        },
        x);
  });
  expect_equal(f(rows), {3.0f, 10.0f, 21.0f});
  expect_equal(f(rows), {24.0f, 31.0f, 42.0f});
}

TEST(OverRows, RefusesWhatDoesNotFit) {
  auto same = [](const Tensor& r) { return r; };
  EXPECT_THROW(map_fn(same, Tensor(1.0f)), ValueError);
  EXPECT_THROW(
      map_fn([](const std::pair<Tensor, Tensor>& p) { return p.first; }, std::pair(rows, Tensor({1.0f, 2.0f}))),
      ValueError);
  EXPECT_THROW(map_fn([](const std::vector<Tensor>& p) { return p[0]; }, std::vector<Tensor>{}), ValueError);
}

}  // namespace
}  // namespace thalweg
