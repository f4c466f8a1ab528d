// Contractions with their epilogues, kept filters, loops and jit_compile: graphs before and after, and equal bits.
#include <thread>

#include "tests/graph/pass_testing.h"

namespace thalweg::graph {
namespace {

Tensor normal(const Shape& shape, int seed, DType dtype = DType::float32) {
  std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
  return cast(random::stateless_normal(dims, Tensor({seed, 7})), dtype);
}

TEST(Fusion, FuseAMatrixProductItsBiasAndItsActivation) {
  auto f = trace({TensorSpec({unknown, 5}), TensorSpec({5, 3}), TensorSpec({3})},
                 [](auto x) { return std::vector{nn::relu(matmul(x[0], x[1]) + x[2])}; });
  std::string arguments =
      "%0 = Placeholder 'x'() {dtype: float32, shape: [?, 5]}: float32 (None, 5)\n"
      "%1 = Placeholder 'x_1'() {dtype: float32, shape: [5, 3]}: float32 (5, 3)\n"
      "%2 = Placeholder 'x_2'() {dtype: float32, shape: [3]}: float32 (3,)\n";
  EXPECT_EQ(f->graph().str(), arguments +
                                  "%3 = MatMul(%0, %1): float32 (None, 3)\n"
                                  "%4 = AddV2(%3, %2): float32 (None, 3)\n"
                                  "%5 = Relu(%4): float32 (None, 3)\n"
                                  "return %5\n");
  EXPECT_EQ(after(f->graph(), {&fuse_contractions, &prune}),
            arguments +
                "%3 = _FusedMatMul 'Relu'(%0, %1, %2) {fused_ops: [\"BiasAdd\", \"Relu\"]}: float32 (None, 3)\n"
                "return %3\n");
}

TEST(Fusion, FuseAConvolutionItsBatchNormalisationAndItsActivation) {
  auto f = trace({TensorSpec({1, 6, 6, 2}), TensorSpec({3, 3, 2, 4})}, [](auto x) {
    std::vector<Tensor> channels;
    for (int i = 0; i < 4; ++i) channels.push_back(abs(normal({4}, i)));
    Tensor y = nn::conv2d(x[0], x[1], {.strides = 1, .padding = "SAME"});
    auto made = nn::fused_batch_norm(y, channels[0], channels[1],
                                     {.mean = channels[2], .variance = channels[3], .is_training = false});
    return std::vector{nn::leaky_relu(made.y, {.alpha = 0.25})};
  });
  EXPECT_EQ(count(f->graph(), "FusedBatchNormV3"), 1);
  Graph made = f->graph().copy();
  fuse_contractions.run(made);
  prune.run(made);
  EXPECT_EQ(count(made, "_FusedConv2D"), 1) << made.str();
  EXPECT_EQ(count(made, "FusedBatchNormV3") + count(made, "LeakyRelu") + count(made, "Conv2D"), 0) << made.str();
  EXPECT_NE(made.str().find("fused_ops: [\"FusedBatchNorm\", \"LeakyRelu\"]"), std::string::npos) << made.str();
  expect_same_bits(*f, {normal({1, 6, 6, 2}, 1), normal({3, 3, 2, 4}, 2)});
}

TEST(Fusion, FuseAResidual) {
  Tensor w = normal({1, 1, 8, 8}, 1), v = normal({3, 3, 8, 8}, 2), b = normal({8}, 3);
  for (int64_t size : {3, 12, 40}) {
    auto f = trace({TensorSpec({2, size, size, 8})}, [&](auto x) {
      auto layer = [&](const Tensor& t, const Tensor& filter) {
        return nn::bias_add(nn::conv2d(t, filter, {.strides = 1, .padding = "SAME"}), b);
      };
      Tensor y = nn::relu(layer(x[0], v) + x[0]);
      return std::vector{tanh(layer(y, w) + layer(y, v)), matmul(y, w[0][0]) + b + y};
    });
    EXPECT_EQ(count(f->graph(), "Conv2D"), 3);
    Graph made = f->graph().copy();
    fuse_contractions.run(made);
    prune.run(made);
    EXPECT_EQ(count(made, "_FusedConv2D"), 3) << made.str();
    EXPECT_NE(made.str().find("fused_ops: [\"BiasAdd\", \"Add\", \"Relu\"]"), std::string::npos) << made.str();
    EXPECT_NE(made.str().find("fused_ops: [\"BiasAdd\", \"Add\", \"Tanh\"]"), std::string::npos) << made.str();
    EXPECT_EQ(count(made, "Tanh") + count(made, "Relu"), 0) << made.str();
    expect_same_bits(*f, {normal({2, size, size, 8}, 4)});
  }
}

TEST(Fusion, LeaveWhatOthersNeed) {
  auto used_twice = trace({TensorSpec({4, 5}), TensorSpec({5, 3}), TensorSpec({3})}, [](auto x) {
    Tensor y = matmul(x[0], x[1]), z = y + x[2];
    return std::vector{nn::relu(z), exp(z), y};
  });
  EXPECT_EQ(count(used_twice->optimized_graph(), "_FusedMatMul"), 0);
  auto rows = trace({TensorSpec({3, 5}), TensorSpec({5, 3}), TensorSpec({3, 1})},
                    [](auto x) { return std::vector{matmul(x[0], x[1]) + x[2]}; });
  EXPECT_EQ(count(rows->optimized_graph(), "_FusedMatMul"), 0);
  auto open = trace({TensorSpec({3, unknown}), TensorSpec({unknown, unknown}), TensorSpec({3})},
                    [](auto x) { return std::vector{matmul(x[0], x[1]) + x[2]}; });
  EXPECT_EQ(count(open->optimized_graph(), "_FusedMatMul"), 0);
  expect_same_bits(*open, {normal({3, 2}, 1), normal({2, 1}, 2), normal({3}, 3)});
}

TEST(Fusion, FusedProductsHaveTheSameBits) {
  using Activation = Tensor (*)(const Tensor&);
  const Activation activations[] = {
      [](const Tensor& x) { return x; },
      [](const Tensor& x) { return nn::relu(x); },
      [](const Tensor& x) { return nn::relu6(x); },
      [](const Tensor& x) { return nn::elu(x); },
      [](const Tensor& x) { return nn::leaky_relu(x, {.alpha = 0.1}); },
      [](const Tensor& x) { return tanh(x); },
      [](const Tensor& x) { return sigmoid(x); },
  };
  struct Sizes {
    int64_t m, n, k;
  };
  size_t turn = 0;
  for (auto [m, n, k] : {Sizes{1, 1, 1},
                         {1, 40, 3},
                         {5, 1, 7},
                         {7, 10, 128},
                         {32, 128, 784},
                         {65, 3, 9},
                         {63, 200, 20},
                         {130, 1030, 600},
                         {3, 0, 2},
                         {0, 3, 2},
                         {4, 3, 0}})
    for (bool transpose_a : {false, true})
      for (bool transpose_b : {false, true}) {
        Shape a = transpose_a ? Shape{k, m} : Shape{m, k}, b = transpose_b ? Shape{n, k} : Shape{k, n};
        Activation activation = activations[turn++ % std::size(activations)];
        for (bool constant : {false, true}) {
          Tensor weights = normal(b, 2);
          auto f = trace({TensorSpec(a), TensorSpec(b), TensorSpec({n})}, [&](auto x) {
            Tensor y =
                matmul(x[0], constant ? weights : x[1], {.transpose_a = transpose_a, .transpose_b = transpose_b});
            return std::vector{activation(nn::bias_add(y, x[2]))};
          });
          EXPECT_EQ(count(f->optimized_graph(), constant ? "_KeptMatMul" : "_FusedMatMul"), 1);
          EXPECT_EQ(f->plan().num_steps(), 1u) << f->optimized_graph().str();
          for (int run = 0; run < 2; ++run) expect_same_bits(*f, {normal(a, 1), weights, normal({n}, 3)});
        }
      }
}

TEST(Fusion, FusedConvolutionsHaveTheSameBits) {
  struct Case {
    Shape in, filter;
    int64_t stride;
    const char* padding;
    bool depthwise = false;
  };
  const Case cases[] = {
      {{2, 7, 6, 3}, {3, 3, 3, 5}, 1, "VALID"},        {{1, 12, 12, 32}, {3, 3, 32, 32}, 1, "SAME"},
      {{4, 14, 14, 32}, {3, 3, 32, 40}, 1, "SAME"},    {{2, 9, 9, 16}, {1, 1, 16, 24}, 1, "VALID"},
      {{1, 9, 9, 16}, {1, 1, 16, 8}, 2, "SAME"},       {{1, 30, 30, 3}, {7, 7, 3, 64}, 2, "SAME"},
      {{1, 8, 8, 4}, {3, 3, 2, 6}, 1, "SAME"},         {{2, 8, 8, 6}, {3, 3, 6, 2}, 1, "SAME", true},
      {{1, 40, 40, 64}, {3, 3, 64, 64}, 2, "SAME"},    {{32, 13, 13, 32}, {3, 3, 32, 64}, 1, "VALID"},
      {{2, 8, 8, 20}, {3, 3, 20, 1}, 1, "SAME", true}, {{0, 4, 4, 2}, {3, 3, 2, 3}, 1, "SAME"},
  };
  for (const Case& c : cases)
    for (DType dtype : {DType::float32, DType::float64})
      for (const char* format : {"NHWC", "NCHW"}) {
        const int64_t channels = c.depthwise ? c.filter[2] * c.filter[3] : c.filter[3];
        const bool first = format == std::string("NCHW");
        Shape in = first ? Shape{c.in[0], c.in[3], c.in[1], c.in[2]} : c.in;
        for (bool constant : {false, true}) {
          Tensor weights = normal(c.filter, 2, dtype);
          auto f =
              trace({TensorSpec(in, dtype), TensorSpec(c.filter, dtype), TensorSpec({channels}, dtype)}, [&](auto x) {
                const Tensor& w = constant ? weights : x[1];
                Tensor y =
                    c.depthwise
                        ? nn::depthwise_conv2d(x[0], w,
                                               {.strides = c.stride, .padding = c.padding, .data_format = format})
                        : nn::conv2d(x[0], w, {.strides = c.stride, .padding = c.padding, .data_format = format});
                return std::vector{nn::relu(nn::bias_add(y, x[2], {.data_format = format}))};
              });
          std::vector<Tensor> arguments = {normal(in, 1, dtype), weights, normal({channels}, 3, dtype)};
          for (int run = 0; run < 2; ++run) expect_same_bits(*f, arguments);
          // In the order of channels that it has, too.
          Graph made = f->graph().copy();
          for (const Pass* pass : {&fuse_contractions, &keep_filters, &prune}) pass->run(made);
          Plan plan(made, made.arguments, made.results);
          EXPECT_EQ(plan.num_steps(), 1u) << made.str();
          Tensor plain = run_plain(*f, arguments)[0];
          Tensor got = run(plan, 1, std::vector<TensorRef>(arguments.begin(), arguments.end()))[0];
          EXPECT_TRUE(same_value(plain, got)) << made.str();
        }
      }
}

TEST(Fusion, FusedOpsRefuseWhatTheirPartsRefuse) {
  Shape open = Shape::of_rank(2), image = Shape::of_rank(4);
  Tensor w = normal({5, 3}, 1), filter = normal({3, 3, 2, 4}, 1), vector = normal({3}, 2), two = normal({2}, 3);
  for (bool constant : {false, true}) {
    auto product = trace({TensorSpec(open), TensorSpec(open), TensorSpec(Shape::of_rank(1))},
                         [&](auto x) { return std::vector{nn::bias_add(matmul(x[0], constant ? w : x[1]), x[2])}; });
    EXPECT_EQ(product->plan().num_steps(), 1u);
    Tensor x = normal({2, 5}, 1), wide = normal({2, 6}, 1);
    EXPECT_THROW(run(product->plan(), 1, std::vector<TensorRef>{wide, w, vector}), InvalidArgumentError);
    EXPECT_THROW(run(product->plan(), 1, std::vector<TensorRef>{x, w, two}), InvalidArgumentError);
    for (bool depthwise : {false, true}) {
      auto images = trace({TensorSpec(image), TensorSpec(image), TensorSpec(Shape::of_rank(1))}, [&](auto x) {
        const Tensor& f = constant ? filter : x[1];
        return std::vector{nn::bias_add(depthwise ? nn::depthwise_conv2d(x[0], f, {.strides = 1, .padding = "VALID"})
                                                  : nn::conv2d(x[0], f, {.strides = 1, .padding = "VALID"}),
                                        x[2])};
      });
      EXPECT_EQ(images->plan().num_steps(), 1u);
      Tensor pixels = normal({1, 4, 4, 2}, 1), deep = normal({1, 4, 4, 3}, 1), small = normal({1, 2, 2, 2}, 1);
      for (const Tensor& in : {pixels, deep, small})
        EXPECT_THROW(run(images->plan(), 1, std::vector<TensorRef>{in, filter, two}), InvalidArgumentError);
    }
  }
}

TEST(Fusion, KeepFiltersThatNeverChange) {
  Tensor w = normal({3, 3, 8, 16}, 1);
  Variable v(w);
  auto f = trace({TensorSpec({unknown, 12, 12, 8})}, [&](auto x) {
    return std::vector{nn::conv2d(x[0], w, {.strides = 1, .padding = "SAME"}),
                       nn::conv2d(x[0], v, {.strides = 1, .padding = "SAME"})};
  });
  EXPECT_EQ(count(f->graph(), "Conv2D"), 2);
  Graph made = f->graph().copy();
  keep_filters.run(made);
  EXPECT_EQ(count(made, "_KeptConv2D"), 1) << made.str();
  EXPECT_EQ(count(made, "Conv2D"), 1) << made.str();
  for (int64_t batch : {1, 3, 32, 1, 0}) expect_same_bits(*f, {normal({batch, 12, 12, 8}, 2)});
}

TEST(Fusion, BringImagesOnceIntoTheOrderOfKernels) {
  Variable w(normal({3, 3, 4, 8}, 1)), v(normal({3, 3, 8, 6}, 2));
  for (int64_t batch : {int64_t{2}, unknown}) {
    auto f = trace({TensorSpec({batch, 4, 9, 11})}, [&](auto x) {
      auto convolve = [&](const Tensor& t, const Variable& filter, int64_t stride) {
        return nn::conv2d(t, filter,
                          {.strides = stride, .padding = {{0, 0}, {0, 0}, {2, 1}, {0, 1}}, .data_format = "NCHW"});
      };
      Tensor y = nn::relu(nn::bias_add(convolve(x[0], w, 1), normal({8}, 3), {.data_format = "NCHW"}));
      y = nn::max_pool2d(y, {.ksize = 3, .strides = 2, .padding = "SAME", .data_format = "NCHW"}) * 0.5f + 1.0f;
      y = nn::fused_batch_norm(
              y, normal({8}, 4), normal({8}, 5),
              {.mean = normal({8}, 6), .variance = abs(normal({8}, 7)), .data_format = "NCHW", .is_training = false})
              .y;
      Tensor z = convolve(tanh(y), v, 2);
      return std::vector{z, reduce_sum(y, {.axis = {2, 3}}), nn::avg_pool2d(z, {.data_format = "NCHW"})};
    });
    EXPECT_EQ(count(f->graph(), "Transpose"), 0);
    Graph made = f->graph().copy();
    channels_last.run(made);
    EXPECT_EQ(count(made, "Transpose"), 4) << made.str();
    EXPECT_EQ(made.str().find("NCHW"), std::string::npos) << made.str();
    for (int64_t n : {2, 1})
      if (batch == unknown || n == batch) expect_same_bits(*f, {normal({n, 4, 9, 11}, 8)});
  }
}

TEST(Fusion, TurnImagesButNotFilters) {
  auto f = trace({TensorSpec({3, 3, 3, 3})}, [](auto x) {
    Tensor y = nn::conv2d(x[0], x[0], {.strides = 1, .padding = "SAME", .data_format = "NCHW"});
    return std::vector{y + x[0], nn::conv2d(y * 2.0f, y, {.strides = 1, .padding = "SAME", .data_format = "NCHW"})};
  });
  expect_same_bits(*f, {normal({3, 3, 3, 3}, 1)});
}

TEST(Fusion, FuseNothingAcrossWrites) {
  Variable v(normal({5, 3}, 1));
  Tensor before = v.value(), b = normal({3}, 2), x = normal({4, 5}, 3);
  auto f = trace({TensorSpec({4, 5})}, [&](auto in) {
    Tensor y = matmul(in[0], v);
    v.assign(v * 2.0f);
    return std::vector{nn::relu(y + b), nn::relu(matmul(in[0], v) + b)};
  });
  std::vector<Tensor> results = run(f->plan(), 2, std::vector<TensorRef>{x});
  EXPECT_EQ(count(f->optimized_graph(), "_FusedMatMul"), 1) << f->optimized_graph();
  EXPECT_TRUE(same_value(results[0], nn::relu(matmul(x, before) + b)));
  EXPECT_TRUE(same_value(results[1], nn::relu(matmul(x, before * 2.0f) + b)));
}

TEST(Fusion, ThreadsShareWhatIsKept) {
  Tensor w = normal({3, 3, 32, 32}, 1), v = normal({32, 70}, 2), b = normal({70}, 3);
  auto f = trace({TensorSpec({unknown, 12, 12, 32})}, [&](auto x) {
    Tensor y = nn::conv2d(x[0], w, {.strides = 1, .padding = "SAME"});
    return std::vector{nn::relu(matmul(reshape(y, {-1, 32}), v) + b)};
  });
  std::vector<Tensor> images, expected, got(32);
  for (int64_t batch = 1; batch <= 8; ++batch) {
    images.push_back(normal({batch, 12, 12, 32}, 4));
    expected.push_back(run_plain(*f, {images.back()})[0]);
  }
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (size_t turn = 0; turn < 4; ++turn)
        got[4 * t + turn] = run(f->plan(), 1, std::vector<TensorRef>{images[(t + turn) % 8]})[0];
    });
  for (std::thread& t : threads) t.join();
  for (size_t t = 0; t < 8; ++t)
    for (size_t turn = 0; turn < 4; ++turn) EXPECT_TRUE(same_value(got[4 * t + turn], expected[(t + turn) % 8]));
}

TEST(Fusion, FusionsAreSwitchedByName) {
  Tensor w = normal({5, 3}, 1), b = normal({3}, 2);
  auto make = [&] {
    return trace({TensorSpec({4, 5})}, [&](auto x) { return std::vector{nn::relu(matmul(x[0], w) + b)}; });
  };
  EXPECT_EQ(count(make()->optimized_graph(), "_KeptMatMul"), 1);
  config::optimizer::set_experimental_options({{"layout_optimizer", false}});
  EXPECT_EQ(count(make()->optimized_graph(), "_FusedMatMul"), 1);
  config::optimizer::set_experimental_options({{"remapping", false}});
  EXPECT_EQ(count(make()->optimized_graph(), "MatMul"), 1);
  config::optimizer::set_experimental_options({{"layout_optimizer", true}});
  EXPECT_EQ(count(make()->optimized_graph(), "_KeptMatMul"), 1);
  EXPECT_EQ(count(make()->optimized_graph(), "Relu"), 1);
  config::optimizer::set_experimental_options({{"remapping", true}});
}

TEST(Fusion, JitCompileMeansAllFusions) {
  config::optimizer::set_experimental_options({{"remapping", false}, {"layout_optimizer", false}});
  Tensor w = normal({5, 3}, 1), b = normal({3}, 2), x = normal({4, 5}, 3);
  auto layer = [&](const Tensor& t) {
    Tensor y = nn::relu(matmul(t, w) + b);
    return cond(reduce_sum(y) > 0.0f, [&] { return exp(y * 2.0f) - 1.0f; }, [&] { return y; });
  };
  auto plain = function(layer), jit = function(layer, {.jit_compile = true});
  auto optimized = [&](const auto& f) -> const Graph& { return f.get_concrete_function(x).body()->optimized_graph(); };
  EXPECT_EQ(count(optimized(plain), "MatMul"), 1) << optimized(plain);
  EXPECT_EQ(count(optimized(jit), "_KeptMatMul"), 1) << optimized(jit);
  for (const Node& n : optimized(jit).nodes())
    if (n.op->name == std::string_view("StatelessIf")) {
      auto branch = std::get<FunctionAttr>(n.op->attrs->get(n.attrs.get(), n.op->attrs->find("then_branch")));
      EXPECT_EQ(count(branch->optimized_graph(), "_FusedElementwise"), 1) << branch->optimized_graph();
    }
  config::optimizer::set_experimental_options({{"disable_meta_optimizer", true}});
  auto alone = function(layer, {.jit_compile = true});
  EXPECT_EQ(count(optimized(alone), "_KeptMatMul"), 1) << optimized(alone);
  EXPECT_TRUE(same_value(plain(x), jit(x)));
  EXPECT_TRUE(same_value(plain(x), alone(x)));
  GradientTape tape;
  tape.watch(x);
  Tensor loss = reduce_sum(jit(x));
  Tensor gradient = tape.gradient(loss, x);
  config::optimizer::set_experimental_options(
      {{"remapping", true}, {"layout_optimizer", true}, {"disable_meta_optimizer", false}});
  EXPECT_EQ(gradient.shape(), x.shape());
}

TEST(Fusion, SetJitFusesFunctionsThatDoNotSay) {
  Tensor w = normal({5, 3}, 1), b = normal({3}, 2), x = normal({4, 5}, 3);
  auto make = [&] {
    auto f = function([&](const Tensor& t) { return nn::relu(matmul(t, w) + b); });
    return f.get_concrete_function(x).body();
  };
  config::optimizer::set_experimental_options({{"disable_meta_optimizer", true}});
  EXPECT_FALSE(config::optimizer::get_jit());
  EXPECT_EQ(count(make()->optimized_graph(), "Relu"), 1);
  config::optimizer::set_jit(true);
  EXPECT_TRUE(config::optimizer::get_jit());
  EXPECT_EQ(count(make()->optimized_graph(), "_KeptMatMul"), 1);
  config::optimizer::set_jit(false);
  config::optimizer::set_experimental_options({{"disable_meta_optimizer", false}});
}

}  // namespace
}  // namespace thalweg::graph
