// Tapes of eight threads at once, on variables that they share.
#include <gtest/gtest.h>

#include <thread>

#include "thalweg/thalweg.h"

namespace thalweg {
namespace {

TEST(Threads, TapesDoNotSeeEachOther) {
  Variable w({1.0f, 2.0f, 3.0f}), total(0.0f);
  constexpr int num_threads = 8, steps = 200;
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < num_threads; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < steps; ++i) {
        GradientTape outer;
        Tensor d;
        {
          GradientTape inner;
          Tensor y = reduce_sum(w * w * w * static_cast<float>(t + 1));
          d = inner.gradient(y, w);
        }
        Tensor second = outer.gradient(reduce_sum(d), w);
        for (int k = 0; k < 3; ++k)
          wrong += second(k).item<float>() != 6.0f * static_cast<float>(k + 1) * static_cast<float>(t + 1);
        total.assign_add(1.0f);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(total.item<float>(), static_cast<float>(num_threads * steps));
}

// A tape that one thread made may die in another.
TEST(Threads, ATapeMayDieElsewhere) {
  Variable w(3.0f);
  for (int i = 0; i < 50; ++i) {
    auto tape = std::make_unique<autodiff::Tape>(TapeOptions{.persistent = true});
    tape->start();
    Tensor y = w * w;
    tape->stop();
    std::thread([dying = std::move(tape)]() mutable { dying.reset(); }).join();
    GradientTape next;
    Tensor z = w * 2;
    EXPECT_EQ(next.gradient(z, w).item<float>(), 2.0f);
  }
}

}  // namespace
}  // namespace thalweg
