// What the cases of Keras do not say about layers: other names, typed handles, what traced layers become.
#include "thalweg/keras/layers.h"

#include <gtest/gtest.h>

#include "thalweg/graph/function.h"
#include "thalweg/graph/function_body.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/random.h"

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

}  // namespace
}  // namespace thalweg::testing
