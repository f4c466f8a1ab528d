// Random functions against what TensorFlow 2.15.1 draws for the same seeds and the same order of calls.
#include "thalweg/ops/random.h"

#include <gtest/gtest.h>

#include <thread>

#include "thalweg/core/error.h"
#include "thalweg/ops/dropout.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/random_generator.h"
#include "thalweg/ops/random_stateless.h"

namespace thalweg::random {
namespace {

template <class T> void expect_same(const Tensor& actual, const std::vector<T>& expected) {
  ASSERT_EQ(actual.dtype(), dtype_of<T>);
  ASSERT_EQ(actual.size(), static_cast<int64_t>(expected.size()));
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(actual.span<T>()[i], expected[i]) << "element " << i;
}
// Doubles pass through the C library's logarithm, which may differ in the last place.
template <class T> void expect_close(const Tensor& actual, const std::vector<T>& expected) {
  ASSERT_EQ(actual.size(), static_cast<int64_t>(expected.size()));
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_DOUBLE_EQ(actual.span<T>()[i], expected[i]) << "element " << i;
}

const Tensor seed = {3, 9};

TEST(Random, SequenceAfterSetSeed) {
  set_seed(1234);
  expect_same<float>(uniform({3}), {0x1.1379e4p-1f, 0x1.755e98p-2f, 0x1.29cb6cp-1f});
  expect_same<float>(uniform({3}), {0x1.4d2c68p-2f, 0x1.1c0f1p-3f, 0x1.4bcd2p-1f});
  expect_same<float>(uniform({3}, {.seed = 7}), {0x1.9813dp-1f, 0x1.eb3f4p-5f, 0x1.614698p-2f});
  expect_same<float>(uniform({2}, {.seed = 7}), {0x1.a13e1cp-1f, 0x1.30699cp-1f});
  expect_same<float>(normal({2, 2}, {.mean = {1.0, 2.0}, .stddev = 0.5}),
                     {0x1.7abb04p+0f, 0x1.d56e02p+0f, 0x1.efb6b6p-1f, 0x1.018f86p+1f});
  expect_close<double>(truncated_normal({3}, {.mean = 0.1, .stddev = 0.3, .dtype = float64}),
                       {-0x1.5b34eed1df741p-3, -0x1.2f399310e3bc6p-2, 0x1.8fbc8f6a9564ap-2});
  expect_same<int64_t>(uniform({4}, {.minval = -5, .maxval = 5, .dtype = int64}), {4, 2, -3, 1});
  expect_same<double>(uniform({2}, {.minval = -0.1, .maxval = 0.1, .dtype = float64}),
                      {-0x1.8549f4e757c6p-4, 0x1.20c73ecaa3228p-5});
  expect_same<int32_t>(shuffle({0, 1, 2, 3, 4, 5, 6, 7}), {3, 4, 5, 1, 7, 0, 6, 2});
  expect_same<int32_t>(shuffle({0, 1, 2}), {1, 0, 2});
  Tensor logits = {{-1.60943791f, -1.2039728f, -0.693147181f}};
  expect_same<int64_t>(categorical(logits, 6), {1, 0, 2, 0, 2, 1});
  expect_same<float>(gamma({2}, {0.5, 2.0}, {.beta = 2.0}),
                     {0x1.d06cecp-3f, 0x1.901c3cp+1f, 0x1.72d2a8p-7f, 0x1.e24eacp-1f});
  expect_same<float>(poisson({3}, {1.5, 20.0}), {0x1p+1f, 0x1.7p+4f, 0x1.8p+1f, 0x1.6p+4f, 0x1p+1f, 0x1.2p+4f});
  expect_same<float>(nn::dropout(Tensor(std::vector<float>(8, 1.0f)), 0.4),
                     {0x0p+0f, 0x1.aaaaaap+0f, 0x1.aaaaaap+0f, 0x1.aaaaaap+0f, 0x1.aaaaaap+0f, 0x1.aaaaaap+0f, 0x0p+0f,
                      0x1.aaaaaap+0f});
  expect_same<float>(
      nn::dropout(Tensor(std::vector<float>(8, 1.0f), Shape{2, 4}), 0.5, {.noise_shape = Shape{2, 1}, .seed = 3}),
      {0x1p+1f, 0x1p+1f, 0x1p+1f, 0x1p+1f, 0x1p+1f, 0x1p+1f, 0x1p+1f, 0x1p+1f});
  nn::dropout({1.0, 1.0}, 0.0);
  expect_same<float>(uniform({2}), {0x1.7ce0b8p-2f, 0x1.b8f3e8p-1f});
  set_seed(1234);
  expect_same<float>(uniform({3}), {0x1.1379e4p-1f, 0x1.755e98p-2f, 0x1.29cb6cp-1f});
  set_seed(-3);
  expect_same<float>(uniform({2}), {0x1.5a4e3cp-1f, 0x1.321f5p-3f});
}

TEST(Random, StatelessFunctions) {
  expect_same<float>(stateless_uniform({3}, seed), {0x1.63121p-2f, 0x1.a81e8p-5f, 0x1.0603e8p-2f});
  expect_same<int32_t>(stateless_uniform({4}, seed, {.minval = -5, .maxval = 5, .dtype = int32}), {-5, -5, 2, 3});
  expect_same<uint32_t>(stateless_uniform({2}, seed, {.minval = {}, .dtype = uint32}), {2678874690u, 2173083770u});
  expect_same<float>(stateless_normal({3}, seed, {.mean = 1.0, .stddev = 2.0, .alg = "philox"}),
                     {0x1.ee272cp+0f, 0x1.e10d8ep+1f, 0x1.ba490ap+0f});
  expect_same<float>(stateless_truncated_normal({3}, seed), {0x1.dc4e56p-2f, 0x1.610d8ep+0f, 0x1.749214p-2f});
  Tensor logits = {{-1.60943791f, -1.2039728f, -0.693147181f}, {-0.693147181f, -0.916290732f, -2.30258509f}};
  expect_same<int64_t>(stateless_categorical(logits, 4, seed), {2, 0, 0, 0, 2, 1, 1, 0});
  expect_same<int32_t>(random::split(seed, {.num = 3}),
                       {-1616092606, -2121883526, -1012875139, -360413508, 56737002, 791281375});
  expect_same<int64_t>(random::split(Tensor(std::vector<int64_t>{3, 9})),
                       {-9113420347412291006, -1547964226614542211, 3398527627615649002, -2158551286322971936});
  expect_same<int32_t>(fold_in(seed, 12), {-1616092606, 12});
  expect_same<int32_t>(experimental::stateless_shuffle({0, 1, 2, 3, 4, 5}, seed), {0, 1, 3, 4, 2, 5});
  expect_same<float>(nn::experimental::stateless_dropout(Tensor(std::vector<float>(6, 1.0f)), 0.5, seed),
                     {0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x1p+1f, 0x0p+0f});
}

TEST(Random, GeneratorSequence) {
  Generator g = Generator::from_seed(42);
  expect_same<int64_t>(g.state(), {42, 0, 0});
  expect_same<float>(g.normal({3}), {-0x1.835e7ep-1f, -0x1.18c4c2p-4f, 0x1.37179ep-4f});
  expect_same<float>(g.uniform({3}, {.maxval = 3.0}), {0x1.21ae32p+0f, 0x1.3c8998p+1f, 0x1.59cdf2p+0f});
  expect_same<int64_t>(g.uniform({3}, {.minval = 0, .maxval = 100, .dtype = int64}), {20, 24, 26});
  expect_same<uint64_t>(g.uniform_full_int({2}), {13656804100028158515u, 2570673694274762114u});
  expect_same<float>(g.truncated_normal({2}, {.mean = 5.0}), {0x1.8df50ap+2f, 0x1.308c0cp+2f});
  Tensor seeds = g.make_seeds(2);
  EXPECT_EQ(seeds.shape(), Shape({2, 2}));
  expect_same<int64_t>(seeds, {-5614241431150945180, -4307393661214897747, 0, 0});
  std::vector<Generator> parts = g.split(2);
  expect_same<float>(parts[1].normal({2}), {0x1.ab8ae4p-1f, 0x1.b18648p-1f});
  expect_same<int64_t>(g.state(), {4394, 0, 0});
  expect_same<int64_t>(g.skip(10), {4394, 0, 0});
  expect_same<int64_t>(g.state(), {6954, 0, 0});
  EXPECT_EQ(g.key().item<int64_t>(), 0);
  g.reset_from_seed(-7);
  expect_same<int64_t>(g.state(), {-7, -1, -1});
  g.reset_from_key_counter(5, {1, 2});
  expect_same<int64_t>(g.state(), {1, 2, 5});
  g.reset({7, 8, 9});
  expect_same<int64_t>(g.state(), {7, 8, 9});
  expect_same<float>(g.normal({2}), {0x1.a38bb6p-1f, 0x1.9317a6p-4f});
}

TEST(Random, CreateRngState) {
  expect_same<int64_t>(create_rng_state({1, 2}, "philox"), {0, 1, 2});
  expect_same<int64_t>(create_rng_state(Tensor(5), "philox"), {0, 0, 5});
  expect_same<int64_t>(create_rng_state(5, "Philox"), {5, 0, 0});
}

TEST(Random, GlobalGenerator) {
  set_global_generator(Generator::from_seed(42));
  expect_same<float>(get_global_generator().normal({3}), {-0x1.835e7ep-1f, -0x1.18c4c2p-4f, 0x1.37179ep-4f});
  EXPECT_NE(get_global_generator().state()[0].item<int64_t>(), 42);
}

TEST(Random, StringsAndEmptyTensorsAreShuffled) {
  set_seed(1);
  Tensor words = shuffle({"a", "b", "c", "d"});
  std::string joined;
  for (const std::string& word : words.span<std::string>()) joined += word;
  std::sort(joined.begin(), joined.end());
  EXPECT_EQ(joined, "abcd");
  EXPECT_EQ(shuffle(Tensor::empty(float32, {0, 3})).shape(), Shape({0, 3}));
  EXPECT_EQ(uniform({0, 2}).size(), 0);
  EXPECT_EQ(uniform({}).rank(), 0);
}

TEST(Random, BadCallsAreRefused) {
  EXPECT_THROW(uniform({2}, {.dtype = int32}), ValueError);
  EXPECT_THROW(uniform({2}, {.minval = 5, .maxval = 5, .dtype = int32}), InvalidArgumentError);
  EXPECT_THROW(uniform({2}, {.maxval = 1.5, .dtype = int32}), TypeError);
  EXPECT_THROW(uniform({2}, {.dtype = string}), ValueError);
  EXPECT_THROW(uniform({-1}), InvalidArgumentError);
  EXPECT_THROW(uniform({int64_t{1} << 40, int64_t{1} << 40}), Error);
  EXPECT_THROW(stateless_uniform({2}, {1, 2, 3}), InvalidArgumentError);
  EXPECT_THROW(stateless_uniform({2}, seed, {.alg = "threefry"}), InvalidArgumentError);
  EXPECT_THROW(stateless_uniform({2}, seed, {.alg = "dice"}), ValueError);
  EXPECT_THROW(stateless_uniform({2}, seed, {.dtype = int32}), ValueError);
  EXPECT_THROW(categorical({1.0, 2.0}, 3), InvalidArgumentError);
  EXPECT_THROW(categorical({{1.0, 2.0}}, -3), InvalidArgumentError);
  EXPECT_THROW(nn::dropout({1.0}, 1.0), ValueError);
  EXPECT_THROW(nn::dropout({1}, 0.5), ValueError);
  EXPECT_THROW(Generator::from_state({1, 2}, "philox"), ValueError);
  EXPECT_THROW(Generator::from_state({1, 2}, "threefry").normal({1}), UnimplementedError);
}

TEST(Random, ThreadsShareAGenerator) {
  Generator g = Generator::from_seed(1);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int step = 0; step < 100; ++step) g.normal({10});
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(g.state()[0].item<int64_t>(), 1 + 4 * 100 * 10 * 256);
}

}  // namespace
}  // namespace thalweg::random
