#include "thalweg/core/threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "thalweg/core/error.h"

namespace thalweg {
namespace {

/// Gives the pool its size back, whatever a test did to it.
struct Threads : testing::Test {
  int before = num_threads();
  void TearDown() override { set_num_threads(before); }
};

// True when every index of [0, size) was visited exactly once.
bool covers(int64_t size, int64_t chunk) {
  std::vector<std::atomic<int>> visits(static_cast<size_t>(size));
  parallel_chunks(size, chunk, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) ++visits[static_cast<size_t>(i)];
  });
  for (auto& v : visits)
    if (v != 1) return false;
  return true;
}

TEST_F(Threads, VisitEveryIndexOnce) {
  for (int count : {1, 2, 4}) {
    set_num_threads(count);
    for (int64_t size : {0, 1, 7, 64, 1000, 1001})
      for (int64_t chunk : {1, 3, 64, 5000}) EXPECT_TRUE(covers(size, chunk)) << size << " by " << chunk;
  }
}

TEST_F(Threads, CutByTheChunkAlone) {
  auto sum = [](int64_t size) {
    std::vector<float> parts(static_cast<size_t>((size + 99) / 100));
    parallel_chunks(size, 100, [&](int64_t begin, int64_t end) {
      float part = 0;
      for (int64_t i = begin; i < end; ++i) part += 1.0f / static_cast<float>(i + 1);
      parts[static_cast<size_t>(begin / 100)] = part;
    });
    float all = 0;
    for (float part : parts) all += part;
    return all;
  };
  set_num_threads(1);
  float alone = sum(100'000);
  for (int count : {2, 3, 5}) {
    set_num_threads(count);
    for (int n = 0; n < 20; ++n) EXPECT_EQ(sum(100'000), alone);
  }
}

TEST_F(Threads, ThrowTheFirstExceptionAgain) {
  for (int count : {1, 4}) {
    set_num_threads(count);
    for (int n = 0; n < 50; ++n) {
      EXPECT_THROW(parallel_chunks(100, 1,
                                   [](int64_t begin, int64_t) {
                                     if (begin == 37) throw std::out_of_range("37");
                                   }),
                   std::out_of_range);
      EXPECT_THROW(parallel_chunks(100, 1, [](int64_t, int64_t) { throw InvalidArgumentError("all"); }),
                   InvalidArgumentError);
      EXPECT_TRUE(covers(100, 1));
    }
  }
}

TEST_F(Threads, RunNestedCallsSerially) {
  set_num_threads(4);
  std::atomic<int64_t> total{0};
  parallel_chunks(20, 1, [&](int64_t, int64_t) {
    auto here = std::this_thread::get_id();
    parallel_chunks(50, 1, [&](int64_t begin, int64_t end) {
      EXPECT_EQ(std::this_thread::get_id(), here);
      total += end - begin;
    });
  });
  EXPECT_EQ(total, 1000);
}

TEST_F(Threads, ServeSeveralCallersAtOnce) {
  set_num_threads(3);
  std::vector<std::jthread> callers;
  for (int i = 0; i < 4; ++i)
    callers.emplace_back([] {
      for (int n = 0; n < 100; ++n) EXPECT_TRUE(covers(200, 3));
    });
}

TEST_F(Threads, ChangeInNumberWhileOthersCompute) {
  std::jthread caller([] {
    for (int n = 0; n < 200; ++n) EXPECT_TRUE(covers(100, 3));
  });
  for (int n = 0; n < 40; ++n) {
    set_num_threads(1 + n % 4);
    EXPECT_EQ(num_threads(), 1 + n % 4);
  }
  set_num_threads(0);
  EXPECT_EQ(num_threads(), static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
}

TEST_F(Threads, RefuseToChangeInNumberFromInside) {
  set_num_threads(2);
  std::atomic<int> refused{0};
  parallel_chunks(10, 1, [&](int64_t, int64_t) {
    try {
      set_num_threads(3);
    } catch (const RuntimeError&) {
      ++refused;
    }
  });
  EXPECT_EQ(refused, 10);
  EXPECT_EQ(num_threads(), 2);
}

TEST_F(Threads, ChooseChunksByTheWork) {
  int calls = 0;
  parallel_for(1000, 1.0, [&](int64_t begin, int64_t end) {
    ++calls;
    EXPECT_EQ(end - begin, 1000);
  });
  EXPECT_EQ(calls, 1);  // too little to hand over
  std::atomic<int64_t> seen{0};
  parallel_for(100, 1e9, [&](int64_t begin, int64_t end) {
    EXPECT_EQ(end - begin, 1);
    ++seen;
  });
  EXPECT_EQ(seen, 100);
}

}  // namespace
}  // namespace thalweg
