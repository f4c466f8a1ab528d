#include "thalweg/ops/tensor_list.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <thread>

#include "tests/ops/floats.h"
#include "tests/ops/outcome.h"
#include "thalweg/autodiff/gradient_tape.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_elementary.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/shaping.h"

namespace thalweg {
namespace {

const Tensor any = Tensor(-1);
const Tensor scalars = element_shape_tensor({});
Tensor rows() { return {{1.0f, 2.0f}, {3.0f, 4.0f}, {5.0f, 6.0f}}; }
Tensor list_of_rows() { return tensor_list_from_tensor(rows(), {2}); }
Tensor unset(int size, const Tensor& shape = any) { return tensor_list_reserve(shape, size, float32); }
Tensor stacked(const Tensor& list) { return tensor_list_stack(list, any, float32); }

TEST(TensorList, KeepsItsValueWhenOthersAreMadeOfIt) {
  Tensor list = list_of_rows();
  Tensor longer = tensor_list_push_back(list, Tensor({7.0f, 8.0f}));
  Tensor other = tensor_list_push_back(list, Tensor({9.0f, 9.0f}));
  Tensor changed = tensor_list_set_item(list, 1, Tensor({0.5f, 0.5f}));
  auto [shorter, last] = tensor_list_pop_back(list, any, float32);
  EXPECT_EQ(floats(stacked(list)), (Floats{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(floats(stacked(longer)), (Floats{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(floats(stacked(other)), (Floats{1, 2, 3, 4, 5, 6, 9, 9}));
  EXPECT_EQ(floats(stacked(changed)), (Floats{1, 2, 0.5, 0.5, 5, 6}));
  EXPECT_EQ(floats(stacked(shorter)), (Floats{1, 2, 3, 4}));
  EXPECT_EQ(floats(last), (Floats{5, 6}));
  EXPECT_EQ(tensor_list_length(longer).item<int>(), 4);
}

TEST(TensorList, ReadsZerosWhereNothingIsSet) {
  EXPECT_EQ(floats(tensor_list_get_item(unset(3), 1, {3}, float32)), (Floats{0, 0, 0}));
  EXPECT_EQ(floats(stacked(tensor_list_set_item(unset(3), 1, Tensor({1.0f, 2.0f})))), (Floats{0, 0, 1, 2, 0, 0}));
  EXPECT_EQ(floats(tensor_list_gather(unset(3, {2}), {1, 2}, any, float32)), (Floats{0, 0, 0, 0}));
  Tensor leading = Tensor(std::vector<int64_t>{1, 0, 2});
  auto [joined, lengths] = tensor_list_concat(unset(3), {-1, 2}, leading, float32);
  EXPECT_EQ(floats(joined), Floats(6));
  EXPECT_EQ(lengths.span<int64_t>()[2], 2);
}

TEST(TensorList, RefusesWhatTensorFlowRefuses) {
  const Tensor list = list_of_rows(), mixed = tensor_list_push_back(tensor_list_push_back(unset(0), 1.0f), {2.0f});
  auto says = [](auto call, const std::string& text) {
    std::string found = outcome(call);
    EXPECT_TRUE(found.starts_with("InvalidArgumentError: TensorList")) << found;
    EXPECT_NE(found.find(text), found.npos) << found;
  };
  says([&] { tensor_list_get_item(list, 5, any, float32); }, "Trying to access element 5 in a list with 3 elements");
  says([&] { tensor_list_get_item(list, -1, any, float32); }, "Trying to access element -1 in a list with 3 elements");
  says([&] { tensor_list_get_item(list, 1, any, int32); },
       "Invalid data types; op elements int32 but list elements float32");
  says([&] { tensor_list_get_item(unset(3), 1, any, float32); }, "element_shape is not fully defined");
  says([&] { tensor_list_get_item(unset(3, {2}), 1, {3}, float32); }, "Incompatible shapes during merge: [3] vs. [2]");
  says([&] { tensor_list_get_item(list, 1, Tensor(3), float32); }, "element_shape must be a vector or the scalar -1");
  says([&] { tensor_list_get_item(list, 1, {-2}, float32); }, "element_shape has the dimension -2");
  says([&] { tensor_list_pop_back(unset(0), any, float32); }, "Trying to pop from an empty list");
  says([&] { tensor_list_push_back(list, 1.0f); }, "Op element shape: [] list shape: [2]");
  says([&] { tensor_list_push_back(list, {1, 2}); }, "Invalid data types; op elements int32");
  says([&] { tensor_list_set_item(list, 1, 1.0f); }, "Item element shape: [] list shape: [2]");
  says([&] { tensor_list_set_item(list, 7, {1.0f, 2.0f}); }, "Trying to modify element 7 in a list with 3 elements");
  says([&] { tensor_list_set_item(list, -1, {1.0f, 2.0f}, true); }, "negative");
  says([&] { unset(-1); }, "The num_elements to reserve must be a non negative number, but got -1");
  says([&] { stacked(unset(3)); }, "only contains uninitialized tensors");
  says([&] { stacked(unset(0)); }, "Tried to stack elements of an empty list");
  says([&] { stacked(mixed); }, "Incompatible shapes during merge: [] vs. [1]");
  says([&] { tensor_list_stack(list, any, float32, 5); }, "expected a list with 5 elements but got a list with 3");
  says([&] { tensor_list_from_tensor(1.0f, any); }, "Tensor must be at least a vector, but saw shape: []");
  says([&] { tensor_list_from_tensor(rows(), {3}); }, "list with shape [3] from a tensor with shape [2]");
  says([&] { tensor_list_gather(list, {0, 9}, any, float32); }, "Index 9 out of range; list only has 3 elements");
  says([&] { tensor_list_gather(list, {-1}, any, float32); }, "Index -1 out of range");
  says([&] { tensor_list_gather(unset(2), {1}, any, float32); }, "Tried to gather uninitialized tensors");
  says([&] { tensor_list_resize(list, -1); }, "must not be negative");
  says([&] { tensor_list_scatter(list, rows(), {0, 1}); },
       "Invalid number of rows in input tensor. Expected: 2 Actual: 3");
  says([&] { tensor_list_scatter(list, rows(), {0, -1, 2}); }, "negative");
  const Tensor none = Tensor::empty(int64, {0});
  says([&] { tensor_list_concat(mixed, any, none, float32); }, "Concat saw a scalar shape at index 0");
  says([&] { tensor_list_concat(unset(2), {-1, 2}, none, float32); }, "leading_dims is empty");
  says([&] { tensor_list_concat(unset(2), {-1, 2}, std::vector<int64_t>{1}, float32); }, "at index 1");
  says([&] { tensor_list_concat(unset(2), {-1, 2}, std::vector<int64_t>{1, -4}, float32); }, "at index 1");
  says([&] { tensor_list_concat(unset(2), {-1, 2}, std::vector<int64_t>{INT64_MAX, INT64_MAX}, float32); },
       "at index 1");
  says([&] { tensor_list_split(rows(), any, std::vector<int64_t>{2}); }, "Unused values in tensor");
  says([&] { tensor_list_split(rows(), any, std::vector<int64_t>{2, 7}); }, "Attempting to slice 7 rows");
  says([&] { tensor_list_split(rows(), any, std::vector<int64_t>{-1, 4}); }, "Invalid value in lengths: -1");
  says([&] { tensor_list_length(Tensor::empty(DType::variant, {})); }, "leads to no list: it is empty");
}

TEST(TensorList, AddsAndZeroes) {
  Tensor list = list_of_rows();
  EXPECT_EQ(floats(stacked(add_n(std::vector{list, list, unset(3, {2})}))), (Floats{2, 4, 6, 8, 10, 12}));
  EXPECT_EQ(floats(stacked(zeros_like(list))), Floats(6));
  EXPECT_EQ(tensor_list_length(zeros_like(unset(3))).item<int>(), 3);
  EXPECT_NE(outcome([&] { add_n(std::vector{list, unset(2)}); }).find("different lengths"), std::string::npos);
  EXPECT_NE(outcome([&] { add_n(std::vector{list, unset(3, {3})}); }).find("incompatible element shapes"),
            std::string::npos);
}

// Random changes to many versions of a list, compared with vectors that are copied.
TEST(TensorList, EveryVersionIsAValue) {
  std::mt19937 random(7);
  std::vector<std::pair<std::shared_ptr<const TensorListResource>, std::vector<int>>> versions;
  versions.emplace_back(std::make_shared<TensorListResource>(int32, Shape{}), std::vector<int>{});
  for (int step = 0; step < 20000; ++step) {
    bool newest = random() % 4 != 0;
    auto [from, values] = newest ? versions.back() : versions[random() % versions.size()];
    auto list = std::make_shared<TensorListResource>(*from);
    unsigned what = random() % 16;
    if (what < 9) {
      list->append(Tensor(step));
      values.push_back(step);
    } else if (what < 12 && !values.empty()) {
      size_t i = random() % values.size();
      list->set(static_cast<int64_t>(i), Tensor(step));
      values[i] = step;
    } else if (what < 15 && !values.empty()) {
      list->resize(list->size() - 1);
      values.pop_back();
    } else if (what == 15) {
      size_t size = random() % 7 == 0 ? random() % 900 : values.size() + random() % 40;
      list->resize(static_cast<int64_t>(size));
      values.resize(size, -1);
    }
    versions.emplace_back(std::move(list), std::move(values));
    if (versions.size() > 40) versions.erase(versions.begin() + random() % 20);
    if (step % 50 == 0)
      for (const auto& [made, expected] : versions) {
        ASSERT_EQ(made->size(), static_cast<int64_t>(expected.size()));
        std::vector<int> seen(expected.size(), -1);
        made->for_each([&](int64_t i, const Tensor& t) { seen[static_cast<size_t>(i)] = t.item<int>(); });
        ASSERT_EQ(seen, expected) << step;
        for (size_t i = 0; i < expected.size(); i += 7) {
          Tensor t = made->at(static_cast<int64_t>(i));
          ASSERT_EQ(t.defined() ? t.item<int>() : -1, expected[i]);
        }
      }
  }
}

double seconds_to_push(int count, bool keep) {
  auto start = std::chrono::steady_clock::now();
  Tensor list = empty_tensor_list(any, float32), element = 1.0f;
  std::vector<Tensor> kept;
  for (int i = 0; i < count; ++i) {
    list = tensor_list_push_back(list, element);
    if (keep) kept.push_back(list);
  }
  for (int i = 0; i < count; ++i) list = tensor_list_set_item(list, count - 1 - i, element);
  for (int i = 0; i < count; ++i) list = tensor_list_pop_back(list, any, float32).list;
  EXPECT_EQ(tensor_list_length(list).item<int>(), 0);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}
TEST(TensorList, CostsTheSameHoweverLongItIs) {
  for (bool keep : {false, true}) {
    seconds_to_push(1000, keep);
    double few = seconds_to_push(10000, keep), many = seconds_to_push(100000, keep);
    EXPECT_LT(many, 30 * few + 0.05) << "ten times as many elements should take about ten times as long";
    RecordProperty(keep ? "microseconds_kept" : "microseconds", std::to_string(many / 0.3));
  }
}

TEST(TensorList, HugeListsOfNothingTakeNoRoom) {
  Tensor list = unset(INT32_MAX);
  list = tensor_list_set_item(list, INT32_MAX - 1, Tensor(2.0f));
  EXPECT_EQ(tensor_list_get_item(list, INT32_MAX - 1, any, float32).item<float>(), 2.0f);
  EXPECT_EQ(tensor_list_get_item(list, 12345678, scalars, float32).item<float>(), 0.0f);
  Tensor sum = add_n(std::vector{list, list});
  EXPECT_EQ(tensor_list_get_item(sum, INT32_MAX - 1, any, float32).item<float>(), 4.0f);
  EXPECT_EQ(tensor_list_length(tensor_list_resize(list, 3)).item<int>(), 3);
  EXPECT_NE(outcome([&] { tensor_list_push_back(list, Tensor(1.0f)); }), "passes");
  EXPECT_NE(outcome([&] { tensor_list_stack(list, {1 << 30}, float32); }), "passes");
}

TEST(TensorList, NestsButNotWithoutEnd) {
  Tensor list = list_of_rows();
  auto nest = [&](int depth) {
    for (int i = 0; i < depth; ++i) list = tensor_list_push_back(empty_tensor_list(any, DType::variant), list);
  };
  nest(3);
  Tensor zeros = zeros_like(list), sum = add_n(std::vector{list, list});
  for (int i = 0; i < 3; ++i) sum = tensor_list_pop_back(sum, any, DType::variant).tensor;
  EXPECT_EQ(floats(stacked(sum)), (Floats{2, 4, 6, 8, 10, 12}));
  for (int i = 0; i < 3; ++i) zeros = tensor_list_pop_back(zeros, any, DType::variant).tensor;
  EXPECT_EQ(floats(stacked(zeros)), Floats(6));
  EXPECT_NE(outcome([&] { nest(100000); }), "passes");
}

TEST(TensorList, VersionsMayGrowInSeveralThreads) {
  Tensor list = list_of_rows();
  std::vector<std::thread> threads;
  std::vector<Floats> found(4);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      Tensor own = list;
      auto number = static_cast<float>(t);
      for (int i = 0; i < 500; ++i) own = tensor_list_push_back(own, Tensor({number, number}));
      found[static_cast<size_t>(t)] = floats(stacked(own));
    });
  for (std::thread& t : threads) t.join();
  for (int t = 0; t < 4; ++t) {
    const Floats& got = found[static_cast<size_t>(t)];
    ASSERT_EQ(got.size(), 1006u);
    EXPECT_TRUE(std::all_of(got.begin() + 6, got.end(), [&](float x) { return x == static_cast<float>(t); }));
  }
}

// The gradient of a weighted sum of what `f` makes of x, and the gradient of that gradient's square.
std::pair<Floats, Floats> gradients(const Tensor& x, Tensor (*f)(const Tensor&)) {
  GradientTape outer;
  outer.watch(x);
  Tensor first;
  {
    GradientTape inner;
    inner.watch(x);
    first = inner.gradient(f(x), x);
  }
  Tensor second = outer.gradient(reduce_sum(square(first)), x);
  return {floats(first), second.defined() ? floats(second) : Floats{}};
}
// Both must be those of the same function without a list.
void expect_same_gradients(const Tensor& x, Tensor (*with_list)(const Tensor&), Tensor (*without)(const Tensor&)) {
  EXPECT_EQ(gradients(x, with_list), gradients(x, without));
}

TEST(TensorListGradients, OfPushAndPop) {
  expect_same_gradients(
      Tensor({1.0f, 2.0f}),
      [](const Tensor& x) {
        Tensor list = tensor_list_push_back(empty_tensor_list(any, float32), x * x);
        list = tensor_list_push_back(list, x * x * x);
        auto [rest, last] = tensor_list_pop_back(list, any, float32);
        return reduce_sum(last * x) + reduce_sum(stacked(rest) * x);
      },
      [](const Tensor& x) { return reduce_sum(x * x * x * x) + reduce_sum(x * x * x); });
}

TEST(TensorListGradients, OfAPoppedElementAlone) {
  expect_same_gradients(
      Tensor({1.0f, 2.0f}),
      [](const Tensor& x) {
        Tensor list = tensor_list_from_tensor(stack({x, x * x, x * x * x}), {2});
        return reduce_sum(tensor_list_pop_back(list, any, float32).tensor);
      },
      [](const Tensor& x) { return reduce_sum(x * x * x); });
}

TEST(TensorListGradients, OfItems) {
  expect_same_gradients(
      Tensor({1.0f, 2.0f}),
      [](const Tensor& x) {
        Tensor list = tensor_list_from_tensor(stack({x, x * x, x * x * x}), any);
        list = tensor_list_set_item(list, 1, 3.0f * x);             // the element before has no gradient
        list = tensor_list_set_item(list, 4, square(x) * x, true);  // grows
        Tensor twice = tensor_list_get_item(list, 2, any, float32) * tensor_list_get_item(list, 2, any, float32);
        return reduce_sum(twice) + reduce_sum(tensor_list_get_item(list, 1, any, float32)) +
               reduce_sum(tensor_list_get_item(list, 4, any, float32)) +
               reduce_sum(stacked(tensor_list_resize(list, 1)));
      },
      [](const Tensor& x) {
        Tensor cube = x * x * x;
        return reduce_sum(cube * cube) + reduce_sum(3.0f * x) + reduce_sum(square(x) * x) + reduce_sum(x);
      });
}

TEST(TensorListGradients, OfGatherAndScatter) {
  expect_same_gradients(
      Tensor({1.0f, 2.0f}),
      [](const Tensor& x) {
        Tensor list = tensor_list_scatter(unset(2), stack({x, x * x}), {3, 0});
        Tensor all = tensor_list_gather(list, {0, 3, 0}, any, float32);  // one element twice
        return reduce_sum(all * all);
      },
      [](const Tensor& x) {
        Tensor all = stack({x * x, x, x * x});
        return reduce_sum(all * all);
      });
}

TEST(TensorListGradients, OfConcatAndSplit) {
  expect_same_gradients(
      Tensor({1.0f, 2.0f, 3.0f}),
      [](const Tensor& x) {
        Tensor list = tensor_list_split(x * x, any, Tensor(std::vector<int64_t>{2, 0, 1}));
        Tensor joined = tensor_list_concat(list, any, Tensor::empty(int64, {0}), float32).tensor;
        return reduce_sum(joined * joined);
      },
      [](const Tensor& x) { return reduce_sum(x * x * x * x); });
}

TEST(TensorListGradients, OfManyReadsAreAddedUpQuickly) {
  constexpr int count = 20000;
  Tensor x = ones({count});
  GradientTape tape;
  tape.watch(x);
  Tensor list = tensor_list_from_tensor(x, scalars), sum = 0.0f;
  for (int i = 0; i < count; ++i) sum = sum + tensor_list_get_item(list, i, scalars, float32);
  auto start = std::chrono::steady_clock::now();
  Tensor gradient = tape.gradient(sum, x);
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
            10.0);  // not a square of the count
  EXPECT_EQ(floats(gradient), Floats(count, 1.0f));
}

}  // namespace
}  // namespace thalweg
