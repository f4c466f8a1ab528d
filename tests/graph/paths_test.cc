// Plain C++ control flow inside of traced functions.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <thread>

#include "thalweg/thalweg.h"

namespace tf = thalweg;
using tf::Tensor;

namespace {

int collatz_steps(int n) {
  int steps = 0;
  for (; n != 1; ++steps) n = n % 2 == 0 ? n / 2 : 3 * n + 1;
  return steps;
}

auto make_collatz() {
  return tf::function([](Tensor n) {
    Tensor steps = 0;
    while (n != 1) {
      if (n % 2 == 0) n = n / 2;
      else n = 3 * n + 1;
      steps = steps + 1;
    }
    return steps;
  });
}

TEST(Paths, LoopsAndBranchesOnValues) {
  auto collatz = make_collatz();
  for (int n : {1, 2, 6, 7, 6, 12, 7}) EXPECT_EQ(collatz(Tensor(double(n))).item<int>(), collatz_steps(n)) << n;
  EXPECT_EQ(collatz.experimental_get_tracing_count(), 1);
  EXPECT_NE(collatz.pretty_printed_concrete_signatures().find("segments"), std::string::npos);
}

TEST(Paths, RunsWhatIsKnownWithoutCallingTheFunction) {
  int calls = 0;
  auto f = tf::function([&](const Tensor& x) {
    ++calls;
    if (tf::reduce_sum(x) > 0.0f) return x * 2.0f;
    return x - 1.0f;
  });
  Tensor up = {1.0f, 2.0f}, down = {-1.0f, -2.0f};
  EXPECT_EQ(tf::reduce_sum(f(up)).item<float>(), 6);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(tf::reduce_sum(f(up)).item<float>(), 6);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(tf::reduce_sum(f(down)).item<float>(), -5);
  EXPECT_EQ(calls, 2);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(tf::reduce_sum(f(down)).item<float>(), -5);
    EXPECT_EQ(tf::reduce_sum(f(up)).item<float>(), 6);
  }
  EXPECT_EQ(calls, 2);
}

TEST(Paths, NeverRepeatsEffects) {
  tf::Variable count(0), other(0);
  auto f = tf::function([&](const Tensor& x) {
    count.assign_add(1);
    if (x > 0.0f) {
      other.assign_add(10);
      if (x > 10.0f) other.assign_add(100);
    }
    count.assign_add(1);
    return count.read_value() + other.read_value();
  });
  int expected_count = 0, expected_other = 0;
  for (float x : {-1.0f, 1.0f, 20.0f, -2.0f, 3.0f, 30.0f, 1.0f}) {
    expected_count += 2;
    expected_other += x > 10 ? 110 : x > 0 ? 10 : 0;
    EXPECT_EQ(f(Tensor(x)).item<int>(), expected_count + expected_other) << x;
    EXPECT_EQ(count.value().item<int>(), expected_count);
    EXPECT_EQ(other.value().item<int>(), expected_other);
  }
}

TEST(Paths, RandomNumbersAreDrawnOnce) {
  auto f = tf::function([](const Tensor& x) {
    Tensor noise = tf::random::uniform({1000});
    Tensor before = tf::reduce_sum(noise);
    if (x > 0.0f) return before - tf::reduce_sum(noise);
    if (x < -10.0f) return tf::reduce_sum(noise) - before + 1.0f;
    return (before - tf::reduce_sum(noise)) * 2.0f;
  });
  for (float x : {1.0f, -1.0f, -20.0f, 1.0f, -1.0f, -20.0f})
    EXPECT_EQ(f(Tensor(x)).item<float>(), x < -10 ? 1 : 0) << x;
}

TEST(Paths, ItemAsksForTheWholeValue) {
  auto f = tf::function([](const Tensor& n, const Tensor& x) {
    Tensor y = x;
    for (int i = 0; i < n.item<int>(); ++i) y = y * x;
    return y;
  });
  for (int n : {0, 3, 1, 3}) EXPECT_EQ(f(Tensor(n), Tensor(2.0f)).item<float>(), std::pow(2.0f, n + 1));
}

TEST(Paths, DifferentPathsMayReturnDifferentStructures) {
  auto f = tf::function([](const Tensor& x) {
    std::vector<Tensor> all;
    for (Tensor y = x; y > 1.0f; y = y / 2.0f) all.push_back(y);
    return all;
  });
  EXPECT_EQ(f(Tensor(9.0f)).size(), 4u);
  EXPECT_EQ(f(Tensor(0.5f)).size(), 0u);
  EXPECT_EQ(f(Tensor(9.0f))[3].item<float>(), 9.0f / 8);
}

Tensor bent(const Tensor& x) {
  Tensor y = x * x;
  while (y < 10.0f) y = y * y + x;
  if (x > 2.0f) return y * x;
  return y;
}

TEST(Paths, GradientsGoThroughThem) {
  auto f = tf::function(bent);
  auto gradient = [](const auto& g, float at) {
    Tensor x = at;
    tf::GradientTape tape;
    tape.watch(x);
    Tensor y = g(x);
    return tape.gradient(y, x).template item<float>();
  };
  for (int round = 0; round < 2; ++round)  // traced, then from the segments
    for (float at : {1.1f, 1.7f, 2.5f, 4.0f, 1.1f}) EXPECT_FLOAT_EQ(gradient(f, at), gradient(bent, at)) << at;
}

TEST(Paths, TapesInsideGoThroughThem) {
  auto derivative = [](const Tensor& x) {
    tf::GradientTape tape;
    tape.watch(x);
    Tensor y = bent(x);
    return tape.gradient(y, x);
  };
  auto f = tf::function(derivative);
  for (int round = 0; round < 2; ++round)
    for (float at : {1.1f, 1.7f, 2.5f, 4.0f})
      EXPECT_FLOAT_EQ(f(Tensor(at)).item<float>(), derivative(Tensor(at)).item<float>());
}

TEST(Paths, SecondDerivatives) {
  auto second = [](const auto& g, float at) {
    Tensor x = at;
    tf::GradientTape outer;
    outer.watch(x);
    Tensor first;
    {
      tf::GradientTape inner;
      inner.watch(x);
      Tensor y = g(x);
      first = inner.gradient(y, x);
    }
    return outer.gradient(first, x).template item<float>();
  };
  auto f = tf::function(bent);
  for (int round = 0; round < 2; ++round)
    for (float at : {1.1f, 2.5f}) EXPECT_FLOAT_EQ(second(f, at), second(bent, at)) << at;
}

TEST(Paths, GrowingWithoutEndFallsBackToEager) {
  auto f = tf::function([](Tensor n) {
    Tensor sum = 0.0f;
    while (n > 0.0f) {
      sum = sum + n;
      n = n - 1.0f;
    }
    return sum;
  });
  EXPECT_EQ(f(Tensor(3.0f)).item<float>(), 6);
  testing::internal::CaptureStderr();
  EXPECT_EQ(f(Tensor(3000.0f)).item<float>(), 3000 * 3001 / 2);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("tf::while_loop"), std::string::npos);
  EXPECT_EQ(f(Tensor(2000.0f)).item<float>(), 2000 * 2001 / 2);
  EXPECT_EQ(f(Tensor(4.0f)).item<float>(), 10);
}

TEST(Paths, GrowingWithATapeInsideFallsBackToo) {
  auto count_down = [](Tensor x) {
    tf::GradientTape tape;
    tape.watch(x);
    Tensor y = x * x, n = x;
    while (n > 0.0f) {
      y = y + x;
      n = n - 1.0f;
    }
    return tape.gradient(y, x);
  };
  auto f = tf::function(count_down);
  testing::internal::CaptureStderr();
  EXPECT_EQ(f(Tensor(1500.0f)).item<float>(), 3000 + 1500);
  testing::internal::GetCapturedStderr();
  auto g = tf::function(count_down);
  Tensor x = 1200.0f;
  tf::GradientTape tape;
  tape.watch(x);
  testing::internal::CaptureStderr();
  Tensor first = g(x);
  testing::internal::GetCapturedStderr();
  EXPECT_EQ(first.item<float>(), 2400 + 1200);
  EXPECT_EQ(tape.gradient(first, x).item<float>(), 2);
}

TEST(Paths, FunctionsThatCallThem) {
  auto inner = tf::function([](const Tensor& x) {
    if (x > 0.0f) return x * 2.0f;
    return x - 1.0f;
  });
  auto outer = tf::function([&](const Tensor& x) { return inner(x) + inner(x - 5.0f); });
  for (int round = 0; round < 2; ++round)
    for (float at : {7.0f, 3.0f, -1.0f})
      EXPECT_EQ(outer(Tensor(at)).item<float>(), (at > 0 ? 2 * at : at - 1) + (at > 5 ? 2 * (at - 5) : at - 6));
  EXPECT_EQ(inner(Tensor(4.0f)).item<float>(), 8);
}

TEST(Paths, WhereNoValueWillComeTheErrorSaysWhatToDo) {
  auto f = tf::function([](const Tensor& x) {
    if (x > 0.0f) return x;
    return -x;
  });
  EXPECT_THROW(f.get_concrete_function(tf::TensorSpec({}, tf::float32)), tf::TypeError);
  auto in_cond = tf::function(
      [](const Tensor& x) { return tf::cond(x > 0.0f, [&] { return x < 5.0f ? x : -x; }, [&] { return x; }); });
  try {
    in_cond(Tensor(1.0f));
    FAIL();
  } catch (const tf::TypeError& e) {
    EXPECT_NE(std::string(e.what()).find("tf::cond"), std::string::npos) << e.what();
  }
}

TEST(Paths, VariablesMadeInTheFirstCall) {
  tf::Variable v;
  auto f = tf::function([&](const Tensor& x) {
    if (!v.defined()) v = tf::Variable(10.0f);
    if (x > 0.0f) v.assign_add(x);
    return v.read_value();
  });
  EXPECT_EQ(f(Tensor(1.0f)).item<float>(), 11);
  EXPECT_EQ(f(Tensor(-1.0f)).item<float>(), 11);
  EXPECT_EQ(f(Tensor(2.0f)).item<float>(), 13);
  EXPECT_EQ(f(Tensor(-1.0f)).item<float>(), 13);
}

TEST(Paths, ExceptionsLeaveNothingBehind) {
  bool throws = true;
  auto f = tf::function([&](const Tensor& x) {
    if (x > 0.0f) {
      if (throws) throw std::logic_error("not now");
      return x;
    }
    return -x;
  });
  EXPECT_THROW(f(Tensor(1.0f)), std::logic_error);
  EXPECT_EQ(f(Tensor(-2.0f)).item<float>(), 2);
  EXPECT_THROW(f(Tensor(1.0f)), std::logic_error);
  throws = false;
  EXPECT_EQ(f(Tensor(1.0f)).item<float>(), 1);
  EXPECT_EQ((Tensor(1.0f) + 1.0f).item<float>(), 2);
}

TEST(Paths, ThreadsShareThem) {
  auto collatz = make_collatz();
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 3; ++round)
        for (int n = 1; n < 12; ++n) {
          int m = (n + t) % 11 + 1;
          wrong += collatz(Tensor(double(m))).item<int>() != collatz_steps(m);
        }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
