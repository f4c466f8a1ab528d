// Runs of traced functions: how they are stopped, bounded and measured.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "thalweg/graph/function_body.h"
#include "thalweg/graph/run_state.h"
#include "thalweg/ops/apply.h"
#include "thalweg/thalweg.h"

namespace thalweg {
namespace {

auto endless_loop() {
  return function([](const Tensor& x) {
    return while_loop([](const Tensor&) { return Tensor(true); }, [](const Tensor& y) { return y + 1.0f; }, x);
  });
}

TEST(Cancellation, EndsALoopFromAnotherThread) {
  auto f = endless_loop();
  CancellationManager manager;
  EXPECT_FALSE(manager.is_cancelled());
  std::thread stopper([manager] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    manager.start_cancel();
  });
  auto cancelable = manager.get_cancelable_function(f);
  EXPECT_THROW(cancelable(Tensor(1.0f)), errors::CancelledError);
  stopper.join();
  EXPECT_TRUE(manager.is_cancelled());
  EXPECT_THROW(cancelable(Tensor(1.0f)), errors::CancelledError);  // for good
}

TEST(Cancellation, HoldsForItsScopeAndThread) {
  auto f = function([](const Tensor& x) { return reduce_sum(cumsum(x)) + 1.0f; });
  CancellationManager outer, inner;
  {
    CancellationScope scope(outer);
    CancellationScope inside(inner);
    EXPECT_EQ(f(ones({3})).item<float>(), 7);
    outer.start_cancel();
    EXPECT_THROW(f(ones({3})), errors::CancelledError);
    std::thread([&] { EXPECT_EQ(f(ones({3})).item<float>(), 7); }).join();
  }
  EXPECT_EQ(f(ones({3})).item<float>(), 7);
  EXPECT_EQ(inner.get_cancelable_function(f)(ones({3})).item<float>(), 7);
}

TEST(Cancellation, EndsALoopThatATapeFollows) {
  auto f = endless_loop();
  CancellationManager manager;
  std::thread stopper([manager] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    manager.start_cancel();
  });
  CancellationScope scope(manager);
  GradientTape tape;
  Tensor x = 1.0f;
  tape.watch(x);
  EXPECT_THROW(f(x), errors::CancelledError);
  stopper.join();
}

TEST(Cancellation, StopsBetweenEffects) {
  Variable count(0);
  CancellationManager manager;
  auto f = function([&] {
    return while_loop([](const Tensor& i) { return i < 1000000000; },
                      [&](const Tensor& i) {
                        count.assign_add(1);
                        return i + 1;
                      },
                      Tensor(0));
  });
  std::thread stopper([&] {
    while (count.value().item<int>() < 100) std::this_thread::yield();
    manager.start_cancel();
  });
  EXPECT_THROW(manager.get_cancelable_function(f)(), errors::CancelledError);
  stopper.join();
  EXPECT_GE(count.value().item<int>(), 100);
}

TEST(Interrupts, AreAskedForWhileLoopsRun) {
  static std::atomic<int> asked{0};
  graph::set_interrupt_check([] {
    if (++asked >= 30) throw RuntimeError("enough");
  });
  auto start = std::chrono::steady_clock::now();
  EXPECT_THROW(endless_loop()(Tensor(1.0f)), RuntimeError);
  graph::set_interrupt_check(nullptr);
  EXPECT_GT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(20));
}

TEST(Bounds, NestedCallsEndBeforeTheStackDoes) {
  FunctionAttr body =
      function([](const Tensor& x) { return x + 1.0f; }).get_concrete_function(TensorSpec(Shape{})).body();
  config::optimizer::set_experimental_options({{"function_optimization", false}});
  std::vector<FunctionAttr> held;
  for (int i = 0; i < 1200; ++i) {
    held.push_back(body);
    graph::GraphTracer tracer(nullptr);
    {
      graph::Tracing tracing(&tracer);
      Tensor x = tracer.argument(DType::float32, {});
      Tensor y = graph::call(body, std::vector<TensorRef>{x})[0];
      tracer.graph().results.push_back(tracer.value_of(y));
    }
    body = std::make_shared<FunctionBody>("f" + std::to_string(i), std::move(tracer.graph()));
  }
  Tensor x = 1.0f;
  EXPECT_EQ(graph::call(held[900], std::vector<TensorRef>{x})[0].item<float>(), 2);
  EXPECT_THROW(graph::call(body, std::vector<TensorRef>{x}), ResourceExhaustedError);
  EXPECT_EQ(graph::call(held[900], std::vector<TensorRef>{x})[0].item<float>(), 2);
  config::optimizer::set_experimental_options({{"function_optimization", true}});
}

TEST(Bounds, MemoryOfARunIsAskedForBeforeItsFirstStep) {
  Variable runs(0);
  auto f = function([&](const Tensor& x) {
    runs.assign_add(1);
    return reduce_sum(cumsum(x) * cumsum(-x));
  });
  const Tensor x = ones({1'000'000});
  const float sum = f(x).item<float>();
  EXPECT_EQ(runs.read_value().item<int32_t>(), 1);
  set_memory_limit(0, memory_info(0).current + 1'000'000);
  EXPECT_THROW(f(x), ResourceExhaustedError);
  EXPECT_EQ(runs.read_value().item<int32_t>(), 1);
  set_memory_limit(0, 0);
  EXPECT_EQ(f(x).item<float>(), sum);
  EXPECT_EQ(runs.read_value().item<int32_t>(), 2);
}

TEST(Profile, SaysWhereTheTimeGoes) {
  Variable w(random::normal({64, 64}));
  auto f = function([&](const Tensor& x) {
    Tensor h = x;
    for (int i = 0; i < 5; ++i) h = nn::relu(matmul(h, w));
    return while_loop([](const Tensor& i, const Tensor&) { return i < 3; },
                      [](const Tensor& i, const Tensor& y) { return std::tuple(i + 1, cumsum(y)); },
                      std::tuple(Tensor(0), h));
  });
  Tensor x = random::normal({32, 64});
  Profile measured = profile([&] { f(x); });
  auto count = [&](const std::string& op) {
    for (const Profile::Row& row : measured.ops)
      if (row.op == op) return row.count;
    return int64_t{0};
  };
  EXPECT_EQ(count("MatMul"), 5);
  EXPECT_EQ(count("Cumsum"), 3);
  EXPECT_EQ(count("Less"), 4);
  EXPECT_LE(measured.kernels_nanoseconds, measured.total_nanoseconds);
  EXPECT_NE(measured.str().find("MatMul"), std::string::npos);
  EXPECT_GE(measured.nodes.size(), 8u);
  EXPECT_EQ(profile(f, x).ops.size(), measured.ops.size());
}

// Writes ones into the outputs that somebody reads, and nothing into the others.
std::vector<int> written;
const Op& TestWriteRead = define_op({
    .name = "TestWriteRead",
    .signature = "x: T -> a: T, b: T, c: T",
    .infer =
        [](InferCall& c) {
          for (int i = 0; i < 3; ++i) c.output(i, c.shape(0));
        },
    .kernel = {[](const KernelCall& c) {
                 for (int i = 0; i < 3; ++i)
                   if (c.is_read(i)) {
                     std::fill_n(c.output<float>(i), c.count(0), 1.0f);
                     written.push_back(i);
                   }
               },
               nullptr, types(DType::float32)},
});

TEST(Outputs, ThatNobodyReadsNeedNotBeComputed) {
  const Tensor x = ones({1000});
  auto one = function([](const Tensor& t) { return apply_n<3>(TestWriteRead, {t})[1]; });
  EXPECT_EQ(reduce_sum(one(x)).item<float>(), 1000);
  EXPECT_EQ(written, std::vector<int>({1}));
  written.clear();
  auto others = function([](const Tensor& t) {
    auto [a, b, c] = apply_n<3>(TestWriteRead, {t});
    return std::tuple(reduce_sum(a), c);
  });
  EXPECT_EQ(get<0>(others(x)).item<float>(), 1000);
  EXPECT_EQ(written, std::vector<int>({0, 2}));
  written.clear();
  apply_n<3>(TestWriteRead, {x});
  EXPECT_EQ(written, std::vector<int>({0, 1, 2}));
  written.clear();
  debugging::enable_check_numerics();  // looks at all of them
  EXPECT_EQ(reduce_sum(one(x)).item<float>(), 1000);
  debugging::disable_check_numerics();
  EXPECT_EQ(written, std::vector<int>({0, 1, 2}));
}

}  // namespace
}  // namespace thalweg
