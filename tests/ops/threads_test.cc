// Threads may share tensors, variables, generators and everything the engine keeps between calls.
#include <gtest/gtest.h>

#include <functional>
#include <latch>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

#include "thalweg/core/variable_resource.h"
#include "thalweg/ops/op.h"
#include "thalweg/thalweg.h"

namespace thalweg {
namespace {

constexpr int num_callers = 8;

/// Calls `body(i)` on eight threads that set out together.
void on_all_threads(const std::function<void(int)>& body) {
  std::latch start(num_callers);
  std::vector<std::jthread> threads;
  for (int i = 0; i < num_callers; ++i)
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      body(i);
    });
}

bool same(const Tensor& a, const Tensor& b) { return reduce_all(equal(a, b)).item<bool>(); }

std::string printed(const Tensor& x) {
  std::ostringstream out;
  out << x;
  return out.str();
}

/// What all threads read. The large one keeps the pool busy, and those who find it busy compute alone.
struct SharedTensors {
  Tensor large = reshape(range(0.0f, 300.0f * 1000) / 1e5f, {300, 1000});
  Tensor image = reshape(range(0.0f, 16.0f * 16 * 8) / 1000.0f, {1, 16, 16, 8});
  Tensor filters = reshape(range(0.0f, 3.0f * 3 * 8 * 8) / 100.0f, {3, 3, 8, 8});
  Tensor matrix = reshape(range(0.0f, 64.0f * 64) / 64.0f, {64, 64}) + 64.0f * eye(64);
  Tensor words = Tensor(std::vector<std::string>{"the deepest line", "of a valley", "is called a thalweg"});
};

std::vector<Tensor> compute(const SharedTensors& shared) {
  const Tensor& m = shared.matrix;
  return {
      tanh(m) * m + exp(-m),
      reduce_sum(m, {.axis = 1}),
      nn::softmax(m),
      matmul(m, m, {.transpose_b = true}),
      nn::conv2d(shared.image, shared.filters, {.padding = "SAME"}),
      nn::max_pool2d(shared.image, {.ksize = 2, .strides = 2}),
      transpose(shared.image),
      linalg::det(m),
      linalg::solve(m, m),
      linalg::svd(m, {.compute_uv = false}).s,
      signal::rfft(m),
      sort(-m),
      unique(reshape(cast(m, DType::int32), {-1})).y,
      gather(m, {3, 1, 2}),
      einsum("ij,kj->ik", {m, m}),
      strings::regex_replace(shared.words, "[aeiou]+", "_"),
      strings::to_number(strings::as_string(m)),
      tanh(shared.large) + shared.large,
      reduce_mean(shared.large, {.axis = 0}),
      nn::softmax(shared.large),
      cumsum(shared.large, {.axis = 1}),
      transpose(shared.large),
      random::stateless_normal({300, 1000}, {1, 2}),
  };
}

TEST(Threads, ComputeTheSameFromSharedTensors) {
  const int before = num_threads();
  set_num_threads(3);
  const SharedTensors shared;
  std::vector<std::vector<Tensor>> results(num_callers);
  on_all_threads([&](int i) {
    for (int n = 0; n < 3; ++n) results[static_cast<size_t>(i)] = compute(shared);
  });
  set_num_threads(1);
  const std::vector<Tensor> expected = compute(shared);
  set_num_threads(before);
  for (const auto& found : results)
    for (size_t j = 0; j < expected.size(); ++j) EXPECT_TRUE(same(found[j], expected[j])) << "result " << j;
}

TEST(Threads, PrintTheSameTensor) {
  const Tensor x = linspace(-1.0f, 1.0f, 5000);
  const std::string expected = printed(x);
  on_all_threads([&](int) {
    for (int n = 0; n < 20; ++n) EXPECT_EQ(printed(x), expected);
  });
}

TEST(Threads, ReadWholeValuesOfAVariableThatOthersAssign) {
  VariableResource variable("shared", DType::float32, {256}, zeros({256}));
  on_all_threads([&](int i) {
    for (int n = 0; n < 100; ++n) {
      variable.assign(fill({256}, static_cast<float>(i)));
      const Tensor value = variable.read();
      EXPECT_TRUE(same(value, fill({256}, value.span<float>()[0])));  // never half of one and half of another
    }
  });
}

TEST(Threads, LoseNoUpdateOfAVariable) {
  VariableResource variable("count", DType::int64, {}, Tensor(int64_t{0}));
  on_all_threads([&](int) {
    for (int n = 0; n < 100; ++n) variable.update([](const Tensor& value) { return value + 1; });
  });
  EXPECT_EQ(variable.read().item<int64_t>(), 100 * num_callers);
}

TEST(Threads, DrawDifferentNumbersFromOneGenerator) {
  auto generator = random::Generator::from_seed(7);
  random::set_seed(7);
  std::vector<std::vector<int64_t>> drawn(num_callers);
  on_all_threads([&](int i) {
    auto& mine = drawn[static_cast<size_t>(i)];
    for (int n = 0; n < 20; ++n) {
      const Tensor numbers = generator.uniform_full_int({4}, DType::int64);
      mine.insert(mine.end(), numbers.span<int64_t>().begin(), numbers.span<int64_t>().end());
      const Tensor others = random::uniform({50}, {.seed = 3});
      EXPECT_LT(reduce_max(others).item<float>(), 1.0f);
    }
  });
  std::set<int64_t> all;
  for (const auto& mine : drawn) all.insert(mine.begin(), mine.end());
  EXPECT_EQ(all.size(), 4u * 20 * num_callers);  // each place of the stream was given once
}

TEST(Threads, SeeErrorsOfTheirOwnCallsAlone) {
  const Tensor x = ones({2, 3});
  on_all_threads([&](int i) {
    for (int n = 0; n < 20; ++n) {
      if (i % 2) EXPECT_THROW(matmul(x, x), InvalidArgumentError);
      else EXPECT_EQ(reduce_sum(x).item<float>(), 6.0f);
      EXPECT_NE(find_op("MatMul"), nullptr);
    }
  });
}

TEST(Threads, RunOnDevicesOfTheirOwnChoice) {
  on_all_threads([](int) {
    for (int n = 0; n < 20; ++n) {
      DeviceScope scope("/CPU:0");
      EXPECT_EQ((ones({3}) + 1.0f).device(), device_name(0));
    }
  });
}

}  // namespace
}  // namespace thalweg
