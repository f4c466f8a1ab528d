// The same seed gives the same bits: weights, masks and curves, at any number of threads; and steps are traced once.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/keras/cases.h"
#include "thalweg/core/sanitizer.h"
#include "thalweg/core/threads.h"
#include "thalweg/keras/keras.h"
#include "thalweg/keras/training.h"
#include "thalweg/keras/utils.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/random.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::keras {
namespace {

/// All bytes of tensors, one after the other.
std::string bits_of(const std::vector<Tensor>& tensors) {
  std::string bits;
  for (const Tensor& t : tensors) bits.append(static_cast<const char*>(t.mutable_data<const void>()), t.nbytes());
  return bits;
}

struct Outcome {
  std::string initial, masks, trained;
  std::vector<double> losses;
};

/// A training with layers of all kinds that draw, large enough for several threads.
Outcome run(int64_t seed, int threads) {
  backend::clear_session();
  set_num_threads(threads);
  utils::set_random_seed(seed);
  Sequential model({layers::Conv2D(8, 3, {.activation = "relu", .input_shape = {16, 16, 3}}),
                    layers::SpatialDropout2D(0.2), layers::BatchNormalization(), layers::Flatten(),
                    layers::Dense(128, {.activation = "relu", .kernel_initializer = "he_normal"}), layers::Dropout(0.3),
                    layers::GaussianNoise(0.1), layers::AlphaDropout(0.1), layers::GaussianDropout(0.1),
                    layers::Dense(10, {.activation = "softmax", .kernel_initializer = "orthogonal"})});
  Outcome made;
  made.initial = bits_of(model.get_weights());
  Tensor x = random::normal({192, 16, 16, 3}), y = random::uniform({192}, {.maxval = 10, .dtype = DType::int64});
  made.masks = bits_of({model(x, {.training = true})});
  model.compile({.optimizer = "adam", .loss = "sparse_categorical_crossentropy"});
  made.losses = model.fit(x, y, {.batch_size = 64, .epochs = 2, .verbose = 0}).at("loss");
  made.trained = bits_of(model.get_weights());
  set_num_threads(0);
  return made;
}

TEST(Reproducible, TheSameSeedGivesTheSameBitsAtAnyNumberOfThreads) {
  const Outcome first = run(11, 1);
  for (int threads : {1, 2, 4}) {
    const Outcome again = run(11, threads);
    EXPECT_EQ(again.initial == first.initial, true) << threads << " threads: initial weights";
    EXPECT_EQ(again.masks == first.masks, true) << threads << " threads: what training draws";
    EXPECT_EQ(again.trained == first.trained, true) << threads << " threads: weights after training";
    EXPECT_EQ(again.losses, first.losses) << threads << " threads";
  }
  const Outcome other = run(12, 2);
  EXPECT_NE(other.initial, first.initial);
  EXPECT_NE(other.losses, first.losses);
}

TEST(Reproducible, SeedsGiveTheWeightsOfKeras) {
  backend::clear_session();
  utils::set_random_seed(7);
  Sequential model({layers::Dense(3, {.input_shape = {2}}), layers::Dense(1, {.kernel_initializer = "he_normal"})});
  const std::vector<Tensor> weights = model.get_weights();
  EXPECT_EQ(testing::difference(weights[0],
                                Tensor({{-0.40001481771469116f, 0.5036206245422363f, 0.9944791793823242f},
                                        {-0.3734724521636963f, -0.24597936868667603f, 0.036820173263549805f}}),
                                0),
            "");
  EXPECT_EQ(testing::difference(weights[2],
                                Tensor({{-0.2460867315530777f}, {0.2594650685787201f}, {-0.5733720064163208f}}), 0),
            "");
}

TEST(Steps, AreTracedOnceAndOnceMoreForAPartialBatch) {
  Sequential model({layers::Dense(4, {.activation = "relu", .input_shape = {3}}), layers::Dense(1)});
  model.compile({.optimizer = "adam", .loss = "mse", .metrics = {"mae"}});
  Tensor x = ones({22, 3}), y = ones({22, 1});
  const FitOptions options{.batch_size = 8, .epochs = 2, .verbose = 0};
  model.fit(x, y, options);
  const Training& training = *model.get()->training;
  EXPECT_LE(training.train.tracing_count(), 2);
  model.evaluate(x, y, {.batch_size = 8, .verbose = 0});
  model.predict(x, {.batch_size = 8});
  EXPECT_LE(training.test.tracing_count(), 2);
  EXPECT_LE(training.predict.tracing_count(), 2);
  const int before[] = {training.train.tracing_count(), training.test.tracing_count(),
                        training.predict.tracing_count()};
  model.fit(x, y, options);
  model.fit(ones({15, 3}), ones({15, 1}), {.batch_size = 5, .verbose = 0, .validation_data = Nest::tuple({x, y})});
  model.evaluate(ones({9, 3}), ones({9, 1}), {.batch_size = 4, .verbose = 0});
  model.predict(ones({9, 3}), {.batch_size = 2});
  EXPECT_EQ(training.train.tracing_count(), before[0]);
  EXPECT_EQ(training.test.tracing_count(), before[1]);
  EXPECT_EQ(training.predict.tracing_count(), before[2]);
}

/// What this process holds in memory, in kB.
int64_t resident() {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  long pages = 0, held = 0;
  const int read = std::fscanf(file, "%ld %ld", &pages, &held);
  std::fclose(file);
  return read == 2 ? held * 4 : 0;
}

// A sanitizer keeps what was freed for a while, so this asks only that memory does not grow by what steps use.
constexpr int64_t kept_by_sanitizer = under_sanitizer ? 64 << 10 : 0;

TEST(Steps, LeaveNothingInMemory) {
  Sequential model({layers::Dense(64, {.activation = "relu", .input_shape = {32}}), layers::Dropout(0.5),
                    layers::Dense(10, {.activation = "softmax"})});
  model.compile({.optimizer = "adam", .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  Tensor x = ones({1600, 32}), y = zeros({1600}, {.dtype = DType::int64});
  const FitOptions options{.batch_size = 16, .epochs = 1, .verbose = 0};
  model.fit(x, y, options);  // 100 steps
  const int64_t before = resident();
  for (int i = 0; i < 20; ++i) model.fit(x, y, options);
  EXPECT_LE(resident(), before + std::max<int64_t>(before / 100, 512) + kept_by_sanitizer);
}

}  // namespace
}  // namespace thalweg::keras
