// Options by position (docs/decisions/0013): f(required, option), f(required, option, {others}) and
// f(required, {.option = ...}) mean the same, for every function that has the first form.
#include <gtest/gtest.h>

#include "thalweg/thalweg.h"

namespace thalweg {
namespace {

std::string text(const Tensor& t) { return t.repr(); }
std::string text(const std::vector<Tensor>& list) {
  std::string all;
  for (const Tensor& t : list) all += t.repr() + "\n";
  return all;
}
template <class T> std::string text(const T& record) {
  return std::apply([](const auto*... member) { return (text(*member) + ...); }, reflect::members(record));
}

// Both expressions give the same tensors.
#define EXPECT_SAME(by_position, in_options) EXPECT_EQ(text(by_position), text(in_options)) << #by_position

const Tensor& small_matrix() {
  static const Tensor x = {{3.0f, -1.0f, 2.0f}, {0.0f, 5.0f, -4.0f}};
  return x;
}
const Tensor& image() {
  static const Tensor x = reshape(range(0.0f, 32.0f), {1, 4, 4, 2});
  return x;
}

TEST(Positions, AllFormsMeanTheSame) {
  const Tensor& x = small_matrix();
  const Tensor expected = reduce_sum(x, {.axis = 1});
  const std::vector<int64_t> axes = {0, 1};
  EXPECT_SAME(reduce_sum(x, 1), expected);
  EXPECT_SAME(reduce_sum(x, {1}), expected);
  EXPECT_SAME(reduce_sum(x, int64_t{1}), expected);
  EXPECT_SAME(reduce_sum(x, {0, 1}), reduce_sum(x));
  EXPECT_SAME(reduce_sum(x, axes), reduce_sum(x));
  EXPECT_SAME(reduce_sum(x, {}), reduce_sum(x));
  EXPECT_SAME(reduce_sum(x, 1, {.keepdims = true}), reduce_sum(x, {.axis = 1, .keepdims = true}));
  EXPECT_SAME(reduce_sum(x, {0, 1}, {.keepdims = true}), reduce_sum(x, {.keepdims = true}));
}

TEST(Positions, Reductions) {
  const Tensor& x = small_matrix();
  const Tensor b = x > 0.0f;
  EXPECT_SAME(reduce_mean(x, 0), reduce_mean(x, {.axis = 0}));
  EXPECT_SAME(reduce_prod(x, 0), reduce_prod(x, {.axis = 0}));
  EXPECT_SAME(reduce_max(x, -1), reduce_max(x, {.axis = -1}));
  EXPECT_SAME(reduce_min(x, {0}), reduce_min(x, {.axis = 0}));
  EXPECT_SAME(reduce_all(b, 0), reduce_all(b, {.axis = 0}));
  EXPECT_SAME(reduce_any(b, 0), reduce_any(b, {.axis = 0}));
  EXPECT_SAME(reduce_logsumexp(x, 1), reduce_logsumexp(x, {.axis = 1}));
  EXPECT_SAME(argmax(x, 1), argmax(x, {.axis = 1}));
  EXPECT_SAME(argmax(x, 1, {.output_type = int32}), argmax(x, {.axis = 1, .output_type = int32}));
  EXPECT_SAME(argmin(x, 1), argmin(x, {.axis = 1}));
  EXPECT_SAME(math::reduce_variance(x, 0), math::reduce_variance(x, {.axis = 0}));
  EXPECT_SAME(math::reduce_std(x, 0), math::reduce_std(x, {.axis = 0}));
  EXPECT_SAME(math::reduce_euclidean_norm(x, 0), math::reduce_euclidean_norm(x, {.axis = 0}));
  EXPECT_SAME(math::count_nonzero(x, 1), math::count_nonzero(x, {.axis = 1}));
  EXPECT_SAME(cumsum(x, 1), cumsum(x, {.axis = 1}));
  EXPECT_SAME(cumsum(x, 1, {.reverse = true}), cumsum(x, {.axis = 1, .reverse = true}));
  EXPECT_SAME(math::cumprod(x, 1), math::cumprod(x, {.axis = 1}));
  EXPECT_SAME(math::cumulative_logsumexp(x, 1), math::cumulative_logsumexp(x, {.axis = 1}));
  EXPECT_SAME(norm(x, 1), norm(x, {.ord = 1}));
  EXPECT_SAME(norm(x, "fro", {.axis = {0, 1}}), norm(x, {.ord = "fro", .axis = {0, 1}}));
  EXPECT_SAME(linalg::normalize(x, 2), linalg::normalize(x, {.ord = 2}));
  EXPECT_SAME(math::l2_normalize(x, 1), math::l2_normalize(x, {.axis = 1}));
}

TEST(Positions, Creation) {
  EXPECT_SAME(zeros({2}, float64), zeros({2}, {.dtype = float64}));
  EXPECT_SAME(ones({2, 3}, int32), ones({2, 3}, {.dtype = int32}));
  EXPECT_SAME(zeros({}, int32), zeros({}, {.dtype = int32}));
  EXPECT_SAME(zeros({2}, {}), zeros({2}));
  EXPECT_SAME(zeros_like(small_matrix(), int32), zeros_like(small_matrix(), {.dtype = int32}));
  EXPECT_SAME(ones_like(small_matrix(), int32), ones_like(small_matrix(), {.dtype = int32}));
  EXPECT_SAME(constant({1, 2}, int64), constant({1, 2}, {.dtype = int64}));
  EXPECT_SAME(constant(0.5, float64, {.shape = Shape{2}}), constant(0.5, {.dtype = float64, .shape = Shape{2}}));
  EXPECT_SAME(constant(std::vector<int32_t>{1, 2}, int64), constant(std::vector<int32_t>{1, 2}, {.dtype = int64}));
  EXPECT_SAME(convert_to_tensor(3, float64), convert_to_tensor(3, {.dtype = float64}));
  EXPECT_SAME(eye(2, 3), eye(2, {.num_columns = 3}));
  EXPECT_SAME(eye(2, 3, {.dtype = int32}), eye(2, {.num_columns = 3, .dtype = int32}));
  EXPECT_SAME(one_hot({0, 1}, 3, 5.0f, -1.0f), one_hot({0, 1}, 3, {.on_value = 5.0f, .off_value = -1.0f}));
  EXPECT_SAME(sequence_mask({1, 2}, 4), sequence_mask({1, 2}, {.maxlen = 4}));
  EXPECT_SAME(range(2, 10, 3), range(2, {.limit = 10, .delta = 3}));
}

TEST(Positions, Shapes) {
  const Tensor& x = small_matrix();
  EXPECT_SAME(stack({x, x}, 1), stack({x, x}, {.axis = 1}));
  EXPECT_SAME(unstack(x, 2), unstack(x, {.num = 2}));
  EXPECT_SAME(unstack(x, 3, {.axis = 1}), unstack(x, {.num = 3, .axis = 1}));
  EXPECT_SAME(split(x, 3, 1), split(x, 3, {.axis = 1}));
  EXPECT_SAME(split(x, {1, 2}, 1), split(x, {1, 2}, {.axis = 1}));
  EXPECT_SAME(squeeze(expand_dims(x, 0), 0), squeeze(expand_dims(x, 0), {.axis = 0}));
  EXPECT_SAME(transpose(x, {1, 0}), transpose(x, {.perm = {1, 0}}));
  EXPECT_SAME(shape(x, int64), shape(x, {.out_type = int64}));
  EXPECT_SAME(shape_n({x, x}, int64), shape_n({x, x}, {.out_type = int64}));
  EXPECT_SAME(size(x, int64), size(x, {.out_type = int64}));
  EXPECT_SAME(repeat(x, 2, 1), repeat(x, 2, {.axis = 1}));
  EXPECT_SAME(boolean_mask(x, {true, false, true}, 1), boolean_mask(x, {true, false, true}, {.axis = 1}));
  EXPECT_SAME(gather_nd(x, {{0}, {1}}, 1), gather_nd(x, {{0}, {1}}, {.batch_dims = 1}));
  EXPECT_SAME(pad(x, {{1, 1}, {0, 0}}, "REFLECT"), pad(x, {{1, 1}, {0, 0}}, {.mode = "REFLECT"}));
  EXPECT_SAME(clip_by_norm(x, 1.0, 1), clip_by_norm(x, 1.0, {.axes = 1}));
}

TEST(Positions, OrderAndCounts) {
  const Tensor& x = small_matrix();
  EXPECT_SAME(sort(x, 0), sort(x, {.axis = 0}));
  EXPECT_SAME(sort(x, 0, {.direction = "DESCENDING"}), sort(x, {.axis = 0, .direction = "DESCENDING"}));
  EXPECT_SAME(argsort(x, 0), argsort(x, {.axis = 0}));
  EXPECT_SAME(searchsorted({1.0f, 2.0f}, {2.0f}, "right"), searchsorted({1.0f, 2.0f}, {2.0f}, {.side = "right"}));
  EXPECT_SAME(math::top_k(x, 2), math::top_k(x, {.k = 2}));
  EXPECT_SAME(nn::top_k(x, 2, {.sorted = true}), math::top_k(x, {.k = 2}));
  EXPECT_SAME(math::bincount({0, 1, 1}, Tensor({1.0f, 2.0f, 3.0f})),
              math::bincount({0, 1, 1}, {.weights = {1.0f, 2.0f, 3.0f}}));
  EXPECT_SAME(math::confusion_matrix({0, 1}, {1, 1}, 3), math::confusion_matrix({0, 1}, {1, 1}, {.num_classes = 3}));
  EXPECT_SAME(histogram_fixed_width(x, {-5.0f, 5.0f}, 4), histogram_fixed_width(x, {-5.0f, 5.0f}, {.nbins = 4}));
  EXPECT_SAME(histogram_fixed_width_bins(x, {-5.0f, 5.0f}, 4),
              histogram_fixed_width_bins(x, {-5.0f, 5.0f}, {.nbins = 4}));
  EXPECT_SAME(unique({1, 1, 2}, int64), unique({1, 1, 2}, {.out_idx = int64}));
  EXPECT_SAME(unique_with_counts({1, 1, 2}, int64), unique_with_counts({1, 1, 2}, {.out_idx = int64}));
  EXPECT_SAME(setdiff1d({1, 2}, {2}, int64), setdiff1d({1, 2}, {2}, {.index_dtype = int64}));
  EXPECT_SAME(math::approximate_equal(x, x + 0.1f, 0.2), math::approximate_equal(x, x + 0.1f, {.tolerance = 0.2}));
}

TEST(Positions, NeuralNetworks) {
  const Tensor& x = image();
  const Tensor line = reshape(x, {1, 16, 2}), volume = reshape(x, {1, 4, 2, 2, 2}), filters = ones({2, 2, 2, 3});
  EXPECT_SAME(nn::softmax(small_matrix(), 0), nn::softmax(small_matrix(), {.axis = 0}));
  EXPECT_SAME(nn::log_softmax(small_matrix(), 0), nn::log_softmax(small_matrix(), {.axis = 0}));
  EXPECT_SAME(nn::leaky_relu(small_matrix(), 0.5), nn::leaky_relu(small_matrix(), {.alpha = 0.5}));
  EXPECT_SAME(nn::local_response_normalization(x, 1), nn::local_response_normalization(x, {.depth_radius = 1}));
  EXPECT_SAME(nn::max_pool2d(x, 2, 1, "SAME"), nn::max_pool2d(x, {.ksize = 2, .strides = 1, .padding = "SAME"}));
  EXPECT_SAME(nn::avg_pool2d(x, {2, 1}, 2, "VALID"), nn::avg_pool2d(x, {.ksize = {2, 1}, .strides = 2}));
  EXPECT_SAME(nn::max_pool(x, 2, 2, "VALID"), nn::max_pool(x, {.ksize = 2, .strides = 2}));
  EXPECT_SAME(nn::avg_pool(x, 2, 2, "VALID"), nn::avg_pool(x, {.ksize = 2, .strides = 2}));
  EXPECT_SAME(nn::max_pool1d(line, 2, 2, "VALID"), nn::max_pool1d(line, {.ksize = 2, .strides = 2}));
  EXPECT_SAME(nn::avg_pool1d(line, 2, 2, "VALID"), nn::avg_pool1d(line, {.ksize = 2, .strides = 2}));
  EXPECT_SAME(nn::max_pool3d(volume, 2, 2, "VALID"), nn::max_pool3d(volume, {.ksize = 2, .strides = 2}));
  EXPECT_SAME(nn::avg_pool3d(volume, 2, 2, "VALID"), nn::avg_pool3d(volume, {.ksize = 2, .strides = 2}));
  EXPECT_SAME(nn::max_pool_with_argmax(x, 2, 2, "SAME"), nn::max_pool_with_argmax(x, {.padding = "SAME"}));
  EXPECT_SAME(nn::conv2d(x, filters, 2, "SAME"), nn::conv2d(x, filters, {.strides = 2, .padding = "SAME"}));
  EXPECT_SAME(nn::conv1d(line, ones({2, 2, 3}), 2, "SAME"),
              nn::conv1d(line, ones({2, 2, 3}), {.stride = 2, .padding = "SAME"}));
  EXPECT_SAME(nn::conv3d(volume, ones({1, 1, 1, 2, 3}), 1, "SAME"), nn::conv3d(volume, ones({1, 1, 1, 2, 3})));
  EXPECT_SAME(nn::convolution(x, filters, 2, "SAME"), nn::convolution(x, filters, {.strides = 2, .padding = "SAME"}));
  EXPECT_SAME(nn::depthwise_conv2d(x, filters, {1, 1, 1, 1}, "SAME"),
              nn::depthwise_conv2d(x, filters, {.strides = {1, 1, 1, 1}, .padding = "SAME"}));
  EXPECT_SAME(nn::separable_conv2d(x, filters, ones({1, 1, 6, 1}), {1, 1, 1, 1}, "SAME"),
              nn::separable_conv2d(x, filters, ones({1, 1, 6, 1}), {.strides = {1, 1, 1, 1}, .padding = "SAME"}));
  EXPECT_SAME(nn::conv2d_transpose(x, ones({2, 2, 3, 2}), {1, 8, 8, 3}, 2),
              nn::conv2d_transpose(x, ones({2, 2, 3, 2}), {1, 8, 8, 3}, {.strides = 2}));
  EXPECT_SAME(nn::conv1d_transpose(line, ones({2, 3, 2}), {1, 32, 3}, 2),
              nn::conv1d_transpose(line, ones({2, 3, 2}), {1, 32, 3}, {.strides = 2}));
  EXPECT_SAME(nn::conv3d_transpose(volume, ones({1, 1, 1, 3, 2}), {1, 4, 2, 2, 3}, 1),
              nn::conv3d_transpose(volume, ones({1, 1, 1, 3, 2}), {1, 4, 2, 2, 3}, {.strides = 1}));
  EXPECT_SAME(nn::conv_transpose(x, ones({2, 2, 3, 2}), {1, 8, 8, 3}, 2),
              nn::conv_transpose(x, ones({2, 2, 3, 2}), {1, 8, 8, 3}, {.strides = 2}));
}

// Seeds make each call the same.
TEST(Positions, RandomNumbers) {
  auto seeded = [](auto f) {
    random::set_seed(7);
    return f();
  };
  EXPECT_SAME(seeded([] { return random::uniform({3}, 0, 10, {.dtype = int32}); }),
              seeded([] { return random::uniform({3}, {.minval = 0, .maxval = 10, .dtype = int32}); }));
  EXPECT_SAME(seeded([] { return random::normal({3}, 5.0, 2.0); }),
              seeded([] { return random::normal({3}, {.mean = 5.0, .stddev = 2.0}); }));
  EXPECT_SAME(seeded([] { return random::truncated_normal({3}, 5.0, 2.0); }),
              seeded([] { return random::truncated_normal({3}, {.mean = 5.0, .stddev = 2.0}); }));
  EXPECT_SAME(seeded([] { return random::shuffle(range(5), 3); }),
              seeded([] { return random::shuffle(range(5), {.seed = 3}); }));
  EXPECT_SAME(seeded([] { return random::categorical(small_matrix(), 4, int32); }),
              seeded([] { return random::categorical(small_matrix(), 4, {.dtype = int32}); }));
  EXPECT_SAME(random::stateless_uniform({3}, {1, 2}, -1.0, 1.0),
              random::stateless_uniform({3}, {1, 2}, {.minval = -1.0, .maxval = 1.0}));
  EXPECT_SAME(random::stateless_normal({3}, {1, 2}, 5.0, 2.0),
              random::stateless_normal({3}, {1, 2}, {.mean = 5.0, .stddev = 2.0}));
  EXPECT_SAME(random::stateless_truncated_normal({3}, {1, 2}, 5.0, 2.0),
              random::stateless_truncated_normal({3}, {1, 2}, {.mean = 5.0, .stddev = 2.0}));
  EXPECT_SAME(random::stateless_categorical(small_matrix(), 4, {1, 2}, int32),
              random::stateless_categorical(small_matrix(), 4, {1, 2}, {.dtype = int32}));
  EXPECT_SAME(random::split({1, 2}, 3), random::split({1, 2}, {.num = 3}));
}

TEST(Positions, Strings) {
  const Tensor words = {"ab cd", "ef"};
  EXPECT_SAME(strings::join({words, words}, "-"), strings::join({words, words}, {.separator = "-"}));
  EXPECT_SAME(strings::substr(words, 0, 1, "UTF8_CHAR"), strings::substr(words, 0, 1, {.unit = "UTF8_CHAR"}));
  EXPECT_SAME(strings::length(words, "UTF8_CHAR"), strings::length(words, {.unit = "UTF8_CHAR"}));
  EXPECT_SAME(strings::lower(words, "utf-8"), strings::lower(words, {.encoding = "utf-8"}));
  EXPECT_SAME(strings::upper(words, "utf-8"), strings::upper(words, {.encoding = "utf-8"}));
  EXPECT_SAME(strings::split("a,b", ","), strings::split("a,b", {.sep = ","}));
  EXPECT_SAME(strings::split_v2({"a,b"}, ","), strings::split_v2({"a,b"}, {.sep = ","}));
  EXPECT_SAME(strings::ngrams(words, {2}, "|"), strings::ngrams(words, {2}, {.separator = "|"}));
  EXPECT_SAME(strings::to_number("3", int32), strings::to_number("3", {.out_type = int32}));
  EXPECT_SAME(strings::as_string(1.5f, 3), strings::as_string(1.5f, {.precision = 3}));
  EXPECT_SAME(strings::reduce_join(words, 0), strings::reduce_join(words, {.axis = 0}));
  EXPECT_SAME(strings::unsorted_segment_join(words, {0, 0}, 1, "+"),
              strings::unsorted_segment_join(words, {0, 0}, 1, {.separator = "+"}));
}

TEST(Positions, Signals) {
  const Tensor x = range(0.0f, 8.0f), square = reshape(range(0.0f, 16.0f), {4, 4}),
               cube = reshape(range(0.0f, 64.0f), {4, 4, 4});
  EXPECT_SAME(signal::rfft(x, {4}), signal::rfft(x, {.fft_length = {4}}));
  EXPECT_SAME(signal::irfft(signal::rfft(x), {8}), signal::irfft(signal::rfft(x), {.fft_length = {8}}));
  EXPECT_SAME(signal::rfft2d(square, {4, 2}), signal::rfft2d(square, {.fft_length = {4, 2}}));
  EXPECT_SAME(signal::irfft2d(signal::rfft2d(square), {4, 4}), signal::irfft2d(signal::rfft2d(square)));
  EXPECT_SAME(signal::rfft3d(cube, {4, 4, 2}), signal::rfft3d(cube, {.fft_length = {4, 4, 2}}));
  EXPECT_SAME(signal::irfft3d(signal::rfft3d(cube), {4, 4, 4}), signal::irfft3d(signal::rfft3d(cube)));
  EXPECT_SAME(signal::fftshift(square, 1), signal::fftshift(square, {.axes = 1}));
  EXPECT_SAME(signal::ifftshift(square, 1), signal::ifftshift(square, {.axes = 1}));
  EXPECT_SAME(linalg::lstsq(square, square, 0.5), linalg::lstsq(square, square, {.l2_regularizer = 0.5}));
}

template <class F> std::string message_of(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}
TEST(Positions, Assertions) {
  using namespace debugging;
  const Tensor one = 1, half = 0.5f;
  auto says = [](auto f) { return message_of(f).find("my words") != std::string::npos; };
  EXPECT_TRUE(says([&] { assert_equal(one, 2, "my words"); }));
  EXPECT_TRUE(says([&] { assert_less(one, 1, "my words"); }));
  EXPECT_TRUE(says([&] { assert_less_equal(one, 0, "my words"); }));
  EXPECT_TRUE(says([&] { assert_greater(one, 1, "my words"); }));
  EXPECT_TRUE(says([&] { assert_greater_equal(one, 2, "my words"); }));
  EXPECT_TRUE(says([&] { assert_positive(-one, "my words"); }));
  EXPECT_TRUE(says([&] { assert_negative(one, "my words"); }));
  EXPECT_TRUE(says([&] { assert_non_negative(-one, "my words"); }));
  EXPECT_TRUE(says([&] { assert_non_positive(one, "my words"); }));
  EXPECT_TRUE(says([&] { assert_rank(one, 1, "my words"); }));
  EXPECT_TRUE(says([&] { assert_rank_at_least(one, 1, "my words"); }));
  EXPECT_TRUE(says([&] { assert_rank_in(one, {1, 2}, "my words"); }));
  EXPECT_TRUE(says([&] { assert_scalar(small_matrix(), "my words"); }));
  EXPECT_TRUE(says([&] { assert_type(one, float32, "my words"); }));
  EXPECT_TRUE(says([&] { assert_integer(half, "my words"); }));
}

}  // namespace
}  // namespace thalweg
