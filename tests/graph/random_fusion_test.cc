// Random small functions: with all passes they have the bits that they have without any.
#include <random>

#include "tests/graph/pass_testing.h"

namespace thalweg::graph {
namespace {

/// Writes a function op by op; every choice comes from one generator, so a seed names the function.
class Composer {
 public:
  explicit Composer(uint32_t seed) : random_(seed) {}

  int choose(int count) { return static_cast<int>(random_() % static_cast<uint32_t>(count)); }

  Tensor weights(const std::vector<int64_t>& shape) {
    return random::stateless_normal(shape, Tensor({choose(1000), 3}), {.stddev = 0.5f});
  }

  /// Some ops on images [batch, height, width, channels], then matrices, then a few numbers.
  std::vector<Tensor> compose(const std::vector<Tensor>& arguments) {
    std::vector<Tensor> images = {arguments[0]}, kept;
    for (int i = 0, count = 2 + choose(4); i < count; ++i) {
      const Tensor& x = images[static_cast<size_t>(choose(static_cast<int>(images.size())))];
      images.push_back(chain(image_op(x)));
      if (choose(4) == 0) kept.push_back(images.back());
    }
    Tensor pixels = reduce_mean(images.back(), {.axis = {1, 2}});
    Tensor matrix = concat({pixels, arguments[1]}, 1);
    for (int i = 0, count = 1 + choose(3); i < count; ++i) matrix = chain(dense(matrix));
    kept.push_back(matrix);
    kept.push_back(choose(2) ? reduce_sum(matrix, {.axis = choose(2)}) : nn::softmax(matrix));
    kept.push_back(reduce_max(images.back()));
    return kept;
  }

 private:
  // The last dimension is always known.
  static int64_t channels(const Tensor& x) { return x.shape()[-1]; }

  Tensor image_op(const Tensor& x) {
    int64_t in = channels(x), out = 1 + choose(choose(3) ? 9 : 40), size = 1 + choose(3);
    const char* padding = "SAME";
    switch (choose(5)) {
      case 0:
        return nn::max_pool2d(x, {.ksize = 2, .strides = 1, .padding = padding});
      case 1:
        return biased(nn::depthwise_conv2d(x, weights({size, size, in, 1}), {.strides = 1, .padding = padding}));
      case 2: {
        Tensor y = nn::conv2d(x, weights({size, size, in, out}), {.strides = 1, .padding = padding});
        return nn::fused_batch_norm(y, weights({out}), weights({out}),
                                    {.mean = weights({out}), .variance = abs(weights({out})), .is_training = false})
            .y;
      }
      default:
        return biased(nn::conv2d(x, weights({size, size, in, out}), {.strides = 1 + choose(2), .padding = padding}));
    }
  }
  Tensor dense(const Tensor& x) {
    int64_t out = 1 + choose(choose(2) ? 8 : 80);
    if (choose(3) == 0) return biased(matmul(x, weights({out, channels(x)}), {.transpose_b = true}));
    return biased(matmul(x, weights({channels(x), out})));
  }
  Tensor biased(const Tensor& x) {
    switch (choose(4)) {
      case 0:
        return x;
      case 1:
        return weights({channels(x)}) + x;
      default:
        return nn::bias_add(x, weights({channels(x)}));
    }
  }
  /// Up to five element-wise ops.
  Tensor chain(Tensor x) {
    Tensor first = x;
    for (int i = choose(6); i > 0; --i) switch (choose(12)) {
        case 0:
          x = nn::relu(x);
          break;
        case 1:
          x = nn::relu6(x);
          break;
        case 2:
          x = nn::elu(x);
          break;
        case 3:
          x = nn::leaky_relu(x, {.alpha = 0.3});
          break;
        case 4:
          x = tanh(x);
          break;
        case 5:
          x = sigmoid(x);
          break;
        case 6:
          x = x * 0.5f + first;
          break;
        case 7:
          x = x - weights({channels(x)});
          break;
        case 8:
          x = where(x > 0.1f, x, first);
          break;
        case 9:
          x = cast(x > first, DType::float32) * x;
          break;
        case 10:
          x = maximum(x, first * x) * 1.0f;
          break;
        default:
          x = square(x) / (1.0f + abs(first));
          break;
      }
    return x;
  }

  std::mt19937 random_;
};

TEST(RandomFunctions, HaveTheSameBitsWithAllPasses) {
  constexpr uint32_t count = 150;
  size_t before = 0, after = 0;
  for (uint32_t seed = 0; seed < count; ++seed) {
    Composer shapes(seed);
    int64_t batch = 1 + shapes.choose(4), size = 3 + shapes.choose(8), depth = 1 + shapes.choose(6);
    bool known = shapes.choose(2) == 0;
    Shape images{known ? batch : unknown, known ? size : unknown, size, depth}, rows{known ? batch : unknown, 5};
    auto f = trace({TensorSpec(images), TensorSpec(rows)}, [&](auto x) {
      Composer composer(seed);
      // With its gradient, every third time.
      if (seed % 3) return composer.compose(x);
      GradientTape tape;
      tape.watch(x[0]);
      std::vector<Tensor> results = composer.compose(x);
      Tensor loss = reduce_sum(results.back());
      results.push_back(tape.gradient(loss, x[0]));
      return results;
    });
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + f->optimized_graph().str());
    expect_same_bits(*f, {random::stateless_normal({batch, size, size, depth}, Tensor({1, 2})),
                          random::stateless_normal({batch, 5}, Tensor({3, 4}))});
    before += Plan(f->graph(), f->graph().arguments, f->graph().results).num_steps();
    after += f->plan().num_steps();
    if (::testing::Test::HasFailure()) break;
  }
  EXPECT_LT(after, before * 3 / 4) << "passes did nearly nothing";
}

}  // namespace
}  // namespace thalweg::graph
