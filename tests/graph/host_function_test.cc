// Host functions: when they are called, with what, and how gradients and errors come back.
#include "thalweg/graph/host_function.h"

#include <gtest/gtest.h>

#include <thread>

#include "thalweg/io/graph_def.h"
#include "thalweg/thalweg.h"

namespace thalweg {
namespace {

using graph::HostFunction;

std::vector<float> floats(const Tensor& t) { return {t.mutable_data<float>(), t.mutable_data<float>() + t.size()}; }

TEST(HostFunction, RunsOncePerCallWithValues) {
  int calls = 0;
  auto f = function([&](const Tensor& x) {
    return host_function(
        [&](const Tensor& v) {
          ++calls;
          EXPECT_FALSE(v.is_symbolic());
          return v * 2.0f;
        },
        {x}, float32);
  });
  EXPECT_EQ(floats(f({1.0f, 2.0f})), (std::vector<float>{2, 4}));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(floats(f({5.0f, 6.0f})), (std::vector<float>{10, 12}));
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(f.experimental_get_tracing_count(), 1);
  EXPECT_EQ(host_function([](const Tensor& v) { return v + 1.0f; }, {3.0f}, float32).item<float>(), 4);
}

TEST(HostFunction, TakesAndGivesStructures) {
  auto twice = [](std::span<const Tensor> in) { return std::tuple(in[0] + in[1], cast(in[0], int32)); };
  auto f = function([&](const Tensor& x) { return host_function(twice, {x, 2.0f}, {float32, int32}); });
  std::vector<Tensor> results = f(3.0f);
  EXPECT_EQ(results[0].item<float>(), 5);
  EXPECT_EQ(results[1].item<int>(), 3);
  EXPECT_TRUE(host_function([](const Tensor&) {}, {1.0f}, std::vector<DType>{}).empty());
}

TEST(HostFunction, EffectsKeepProgramOrder) {
  std::vector<int> order;
  Variable v(0.0f);
  auto note = [&](int n) {
    host_function([&order, n](std::span<const Tensor>) { order.push_back(n); }, {}, std::vector<DType>{});
  };
  auto f = function([&](const Tensor& x) {
    note(1);
    v.assign_add(x);
    host_function([&](const Tensor& seen) { order.push_back(static_cast<int>(seen.item<float>())); }, {v.value()},
                  std::vector<DType>{});
    v.assign_add(10.0f);
    note(2);
    host_function([&](std::span<const Tensor>) { v.assign_sub(1.0f); }, {}, std::vector<DType>{});
    return v.value();
  });
  EXPECT_EQ(f(5.0f).item<float>(), 14);
  EXPECT_EQ(order, (std::vector<int>{1, 5, 2}));
}

TEST(HostFunction, StatelessOnesArePruned) {
  int calls = 0;
  auto count = [&](const Tensor& v) { return ++calls, v; };
  auto f = function([&](const Tensor& x) {
    host_function(count, {x}, float32, {.stateful = false});
    host_function(count, {x}, float32, {.differentiable = false});
    return x;
  });
  f(1.0f);
  EXPECT_EQ(calls, 1);
}

TEST(HostFunction, ErrorsKeepTheirType) {
  struct Own {
    int code;
  };
  auto f = function(
      [](const Tensor& x) { return host_function([](const Tensor&) -> Tensor { throw Own{7}; }, {x}, float32); });
  for (int i = 0; i < 2; ++i) {
    try {
      f(1.0f);
      FAIL();
    } catch (const Own& e) {
      EXPECT_EQ(e.code, 7);
    }
  }
  auto g = function([](const Tensor& x) {
    return host_function([](const Tensor&) -> Tensor { throw NotFoundError("nowhere"); }, {x}, float32);
  });
  EXPECT_THROW(g(1.0f), NotFoundError);
}

template <class F> std::string refusal(const F& call) {
  try {
    call();
  } catch (const Error& e) {
    return std::string(e.type()) + ": " + e.what();
  }
  return "";
}

TEST(HostFunction, ChecksWhatComesBack) {
  auto wrong_type = [] { return host_function([](const Tensor& v) { return v; }, {1.0f}, int32); };
  EXPECT_NE(refusal(wrong_type).find("is float32, but expects int32"), std::string::npos) << refusal(wrong_type);
  auto wrong_count = [] { return host_function([](const Tensor& v) { return v; }, {1.0f}, {float32, float32}); };
  EXPECT_NE(refusal(wrong_count).find("returns 1 values, but expects to see 2"), std::string::npos);
  auto wrong_inputs = [] { return host_function([](const Tensor& v) { return v; }, {1.0f, 2.0f}, float32); };
  EXPECT_NE(refusal(wrong_inputs).find("takes 1 tensors, got 2"), std::string::npos);
  auto undefined = [] { return host_function([](const Tensor&) { return Tensor(); }, {1.0f}, float32); };
  EXPECT_NE(refusal(undefined).find("is None"), std::string::npos);
}

// x^2 y + 3 x
Tensor polynomial(const Tensor& x, const Tensor& y) {
  return host_function([](const Tensor& a, const Tensor& b) { return a * a * b + 3.0f * a; }, {x, y}, float32);
}

TEST(HostFunction, GradientsGoBackThroughTheOpsInside) {
  Tensor x(2.0f), y(5.0f);
  auto gradients = [](const Tensor& a, const Tensor& b) {
    GradientTape tape;
    tape.watch(a);
    tape.watch(b);
    Tensor z = polynomial(a, b) * 2.0f;
    auto [da, db] = tape.gradient(z, std::tuple(a, b));
    return std::vector<Tensor>{da, db};
  };
  auto eager = gradients(x, y), traced = function(gradients)(x, y);
  for (const auto& got : {eager, traced}) {
    EXPECT_EQ(got[0].item<float>(), 46);
    EXPECT_EQ(got[1].item<float>(), 8);
  }
  auto f = function(polynomial);
  GradientTape tape;
  tape.watch(x);
  Tensor z = f(x, y);
  EXPECT_EQ(tape.gradient(z, x).item<float>(), 23);
}

TEST(HostFunction, OneInputInTwoPlaces) {
  Tensor x(3.0f);
  GradientTape tape;
  tape.watch(x);
  Tensor z = polynomial(x, x);
  EXPECT_EQ(tape.gradient(z, x).item<float>(), 30);
}

TEST(HostFunction, WorksInBranchesAndLoops) {
  int calls = 0;
  auto square = [&](const Tensor& v) { return ++calls, v * v; };
  auto f = function([&](const Tensor& x, const Tensor& n) {
    GradientTape tape;
    tape.watch(x);
    Tensor y = cond(x > 0.0f, [&] { return host_function(square, {x}, float32); }, [&] { return x; });
    auto [i, z] = while_loop([&](const Tensor& k, const Tensor&) { return k < n; },
                             [&](const Tensor& k, const Tensor& v) {
                               Tensor next = ensure_shape(host_function(square, {v}, float32), Shape{});
                               return std::tuple(k + 1, next);
                             },
                             std::tuple(Tensor(0), ensure_shape(y, Shape{})));
    return std::vector<Tensor>{z, tape.gradient(z, x)};
  });
  auto got = f(2.0f, 2);
  EXPECT_EQ(got[0].item<float>(), 256);
  EXPECT_EQ(got[1].item<float>(), 8 * 128);
  EXPECT_EQ(calls, 3);
  got = f(-2.0f, 1);
  EXPECT_EQ(got[1].item<float>(), -4);
  EXPECT_EQ(calls, 4);
}

TEST(HostFunction, ManyGradientsAtOnce) {  // more than one thread may have tapes
  auto square = [](const Tensor& v) { return v * v; };
  auto f = function([&](const Tensor& x, const Tensor& n) {
    return while_loop([&](const Tensor& k, const Tensor&) { return k < n; },
                      [&](const Tensor& k, const Tensor& v) {
                        Tensor one = ensure_shape(host_function(square, {v}, float32), Shape{});
                        return std::tuple(k + 1, one * 0.5f);
                      },
                      std::tuple(Tensor(0), x));
  });
  Tensor x(2.0f);
  GradientTape tape;
  tape.watch(x);
  auto [k, y] = f(x, 200);  // 2 is where it stays, and 2^200 the derivative: too large
  EXPECT_EQ(y.item<float>(), 2);
  EXPECT_GT(tape.gradient(y, x).item<float>(), 1e30f);
}

TEST(HostFunction, LivesAsLongAsItsGraph) {
  auto alive = std::make_shared<int>(0);
  std::weak_ptr<int> watched = alive;
  {
    auto f =
        function([&](const Tensor& x) { return host_function([alive](const Tensor& v) { return v; }, {x}, float32); });
    f(1.0f);
    GradientTape tape;
    Tensor x(1.0f);
    tape.watch(x);
    EXPECT_EQ(tape.gradient(f(x), x).item<float>(), 1);
    alive.reset();
    EXPECT_FALSE(watched.expired());
    EXPECT_EQ(f(4.0f).item<float>(), 4);
  }
  EXPECT_TRUE(watched.expired());
}

TEST(HostFunction, IsFoundByItsTokenInGraphDefs) {
  FunctionAttr again;
  {
    auto f = function(
        [&](const Tensor& x) { return host_function([](const Tensor& v) { return v * 3.0f; }, {x}, float32); });
    io::GraphExport made = io::to_graph_def(*f.get_concrete_function(TensorSpec({2}, float32)).body());
    ASSERT_EQ(made.graph.node.back().op, "EagerPyFunc");
    again = io::from_graph_def(made.graph, {.inputs = made.arguments, .outputs = made.results});
    for (auto& node : made.graph.node)
      if (node.op == "EagerPyFunc") node.attr["token"].value = std::string("pyfunc_of_somebody");
    FunctionAttr lost = io::from_graph_def(made.graph, {.inputs = made.arguments, .outputs = made.results});
    EXPECT_NE(refusal([&] { ConcreteFunction{lost}({Tensor({1.0f, 2.0f})}); }).find("callback pyfunc_of_somebody"),
              std::string::npos);
  }
  EXPECT_EQ(floats(ConcreteFunction(again)({Tensor({1.0f, 2.0f})})[0]), (std::vector<float>{3, 6}));
}

TEST(HostFunction, ThreadsCallOneFunction) {
  std::atomic<int> calls = 0;
  auto f = function(
      [&](const Tensor& x) { return host_function([&](const Tensor& v) { return ++calls, v * v; }, {x}, float32); });
  f(1.0f);
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        Tensor x(static_cast<float>(t + i));
        GradientTape tape;
        tape.watch(x);
        Tensor y = f(x);
        if (tape.gradient(y, x).item<float>() == 2.0f * static_cast<float>(t + i)) ++right;
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(right, 200);
  EXPECT_EQ(calls, 201);
}

TEST(InitScope, LeavesTheFunction) {
  Variable v(1.0f);
  auto f = function([&](const Tensor& x) {
    {
      auto scope = init_scope();
      v.assign_add(1.0f);
      EXPECT_EQ(v.value().item<float>(), 2);
    }
    return x * v.value();
  });
  EXPECT_EQ(f(3.0f).item<float>(), 6);
  EXPECT_EQ(f(4.0f).item<float>(), 8);
}

}  // namespace
}  // namespace thalweg
