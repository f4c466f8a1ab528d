// Models in many threads: one that all of them call, and one for each of them. Meant for the thread sanitizer.
#include <gtest/gtest.h>

#include <thread>

#include "thalweg/keras/keras.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_rounding.h"
#include "thalweg/ops/random_stateless.h"
#include "thalweg/ops/reduction.h"

namespace thalweg::keras {
namespace {

constexpr int num_threads = 8;

template <class F> void in_threads(const F& f) {
  std::vector<std::thread> threads;
  for (int i = 0; i < num_threads; ++i) threads.emplace_back([&f, i] { f(i); });
  for (std::thread& thread : threads) thread.join();
}
Sequential classifier(int64_t features) {
  return Sequential({layers::Dense(16, {.activation = "relu", .input_shape = {features}}), layers::BatchNormalization(),
                     layers::Dropout(0.5), layers::Dense(3, {.activation = "softmax"})});
}
bool is_same(const Tensor& a, const Tensor& b) { return reduce_all(equal(a, b)).item<bool>(); }

TEST(Threads, CallOneModel) {
  Sequential model = classifier(4);
  Tensor x = random::stateless_normal({5, 4}, Tensor({1, 2}));
  const Tensor expected = model(x);
  std::vector<Tensor> called(num_threads), predicted(num_threads), by_batch(num_threads);
  in_threads([&](int i) {  // nobody has predicted before: all of them trace, or wait for who does
    const auto at = static_cast<size_t>(i);
    for (int n = 0; n < 20; ++n) {
      called[at] = model(x);
      predicted[at] = model.predict(x, {.batch_size = 1 + i % 3});
      by_batch[at] = model.predict_on_batch(x).tensor();
    }
  });
  for (size_t i = 0; i < num_threads; ++i) {
    EXPECT_TRUE(is_same(called[i], expected)) << i;
    EXPECT_LT(reduce_max(abs(predicted[i] - expected)).item<float>(), 1e-6f) << i;
    EXPECT_LT(reduce_max(abs(by_batch[i] - expected)).item<float>(), 1e-6f) << i;
  }
}

TEST(Threads, CallOneGraphOfLayersWithMasks) {
  Tensor words = Input({unknown}, {.dtype = int32});
  Tensor h = layers::LSTM(4)(layers::Embedding(10, 3, {.mask_zero = true})(words));
  Model model(words, layers::Dense(2)(h) + 1.0f);
  Tensor x = Tensor({{1, 2, 0}, {4, 5, 6}});
  const Tensor expected = model(x);
  in_threads([&](int) {
    for (int n = 0; n < 20; ++n) EXPECT_TRUE(is_same(model(x), expected));
  });
}

TEST(Threads, TrainOneModelEach) {
  Tensor x = random::stateless_normal({64, 4}, Tensor({3, 4}));
  Tensor y = cast(x(all, 0) > 0.0f, int32);
  std::vector<double> losses(num_threads);
  in_threads([&](int i) {
    Sequential model(
        {layers::Dense(8, {.activation = "tanh", .kernel_initializer = initializers::GlorotUniform({.seed = 1})}),
         layers::Dense(2, {.activation = "softmax", .kernel_initializer = "ones"})});
    model.compile({.optimizer = "adam", .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
    History history = model.fit(x, y, {.batch_size = 8, .epochs = 3, .verbose = 0, .shuffle = false});
    losses[static_cast<size_t>(i)] = history["loss"].back();
  });
  for (double loss : losses) EXPECT_EQ(loss, losses[0]);
}

}  // namespace
}  // namespace thalweg::keras
