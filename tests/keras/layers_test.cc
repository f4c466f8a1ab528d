// What the cases of Keras do not say about layers: other names, typed handles, what traced layers become.
#include "thalweg/keras/layers.h"

#include <gtest/gtest.h>

#include "thalweg/graph/function.h"
#include "thalweg/graph/function_body.h"
#include "thalweg/keras/initializers.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_rounding.h"
#include "thalweg/ops/random.h"
#include "thalweg/ops/reduction.h"

namespace thalweg::testing {
namespace {

using namespace keras;

TEST(Layers, HaveKerasOtherNames) {
  EXPECT_EQ(Layer::from_config("Convolution2D", Value::map({{"filters", 2}, {"kernel_size", 3}})).class_name(),
            "Conv2D");
  EXPECT_EQ(Layer::from_config("MaxPool1D", Value::map({})).class_name(), "MaxPooling1D");
  EXPECT_EQ(layers::GlobalAvgPool2D().class_name(), "GlobalAveragePooling2D");
}

TEST(Layers, AdaptThroughTheirHandles) {
  auto norm = layers::Normalization();
  norm->adapt(Tensor({{1.0f, 2.0f}, {3.0f, 6.0f}}));
  EXPECT_EQ(norm->mean().str(), Tensor({{2.0f, 4.0f}}).str());
  EXPECT_EQ(norm->variance().str(), Tensor({{1.0f, 4.0f}}).str());
  EXPECT_EQ(norm(Tensor({{2.0f, 8.0f}})).str(), Tensor({{0.0f, 2.0f}}).str());
  EXPECT_THROW(layers::Flatten().adapt(norm->mean()), ValueError);
}

TEST(Layers, ConvolveInOneOp) {
  Layer conv = layers::Conv2D(4, 3, {.activation = "relu"});
  Tensor x = random::uniform({2, 8, 8, 3});
  Tensor eager = conv(x);
  auto f = function([conv](const Tensor& images) { return conv(images); });
  EXPECT_EQ(f(x).str(), eager.str());
  ConcreteFunction concrete = f.get_concrete_function(x);
  const graph::Graph& graph = concrete.body()->optimized_graph();
  int fused = 0, others = 0;
  for (const auto& node : graph.nodes()) {
    const std::string_view name = node.op->name;
    fused += name == "_FusedConv2D";
    others += name == "Conv2D" || name == "BiasAdd" || name == "Relu";
  }
  EXPECT_EQ(fused, 1) << graph.str();
  EXPECT_EQ(others, 0) << graph.str();
}

TEST(Layers, ThatShareOptionsStartApart) {
  // A name in options stands for a new initializer in each layer, and so does what is left out.
  const layers::DenseOptions options{.kernel_initializer = "he_normal"};
  Layer first = layers::Dense(3, options), second = layers::Dense(3, options);
  first.build(Shape{1, 2});
  second.build(Shape{1, 2});
  EXPECT_NE(first.get_weights()[0].str(), second.get_weights()[0].str());
  Layer attention = layers::MultiHeadAttention(2, 4, {.kernel_initializer = initializers::GlorotUniform()});
  const Tensor x = ones({1, 3, 4});
  attention(Nest::list({Nest(x), Nest(x)}));
  EXPECT_NE(attention.get_weights()[0].str(), attention.get_weights()[2].str());
}

TEST(Layers, MayBeActivations) {
  Layer dense = layers::Dense(2, {.activation = layers::PReLU({.alpha_initializer = "ones"})});
  EXPECT_EQ(dense(ones({1, 3})).shape(), (Shape{1, 2}));
  EXPECT_EQ(dense.weights().size(), 3U) << "the slopes are weights of the layer too";
  dense = layers::Dense(2, {.activation = layers::LeakyReLU()});
  Layer again = Layer::from_config("Dense", dense.get_config());
  EXPECT_EQ(again(ones({1, 3})).shape(), (Shape{1, 2}));
}

TEST(Layers, NormalizeGroupsOfExamples) {
  Layer grouped = layers::BatchNormalization({.virtual_batch_size = 2}), plain = layers::BatchNormalization();
  const Tensor x({{1.0f}, {10.0f}, {3.0f}, {14.0f}});
  const Tensor y = grouped(x, {.training = true});
  auto distance = [](const Tensor& a, const Tensor& b) { return reduce_max(abs(a - b)).item<float>(); };
  EXPECT_LT(distance(y[0], plain(Tensor({{1.0f}, {3.0f}}), {.training = true})[0]), 1e-5f);
  EXPECT_LT(distance(y[3], plain(Tensor({{10.0f}, {14.0f}}), {.training = true})[1]), 1e-5f);
  EXPECT_EQ(grouped.weights()[0].shape(), (Shape{1, 1, 1}));
  Layer adjusted =
      layers::BatchNormalization({.adjustment = [](const Tensor&) { return std::pair(Tensor(2.0f), Tensor(1.0f)); }});
  EXPECT_LT(distance(adjusted(x, {.training = true}), plain(x, {.training = true}) * 2.0f + 1.0f), 1e-5f);
  EXPECT_THROW(layers::BatchNormalization({.renorm = true, .fused = true}), ValueError);
}

}  // namespace
}  // namespace thalweg::testing
