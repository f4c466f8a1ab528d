// How much memory a step of fit asks for; this program counts every `new`.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "thalweg/keras/keras.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/division.h"
#include "thalweg/ops/random.h"
#include "thalweg/ops/ranges.h"

namespace {
std::atomic<int64_t> asked = 0;
}

// Not inlined: where one of a pair is and the other is not, compilers warn of a mismatch.
[[gnu::noinline]] void* operator new(size_t bytes) {
  ++asked;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace thalweg::keras {
namespace {

/// How often memory was asked for in each step.
struct Count {
  std::shared_ptr<std::vector<int64_t>> steps = std::make_shared<std::vector<int64_t>>();
  void on_train_batch_end(int64_t) {
    steps->push_back(asked);
    if (steps->capacity() < 1000) steps->reserve(1000);
  }
};

TEST(Allocations, AStepOfFitNeedsNextToNone) {
  Model model = Sequential({
      layers::Dense(64, {.activation = "relu", .input_shape = {32}}),
      layers::Dropout(0.5),
      layers::Dense(10, {.activation = "softmax"}),
  });
  model.compile({.optimizer = "adam", .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  const Tensor x = random::uniform({640, 32}), y = cast(range(640) % 10, DType::int32);
  Count count;
  auto steps = count.steps;
  model.fit(x, y, {.batch_size = 32, .epochs = 2, .verbose = 0, .callbacks = {std::move(count)}});
  ASSERT_EQ(steps->size(), 40u);
  // What is left are lists of axes inside of reductions.
  for (size_t i = 30; i < 40; ++i) EXPECT_LE((*steps)[i] - (*steps)[i - 1], 8) << "in step " << i;
}

}  // namespace
}  // namespace thalweg::keras
