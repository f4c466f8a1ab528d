// Dtype policies: which dtype layers compute in, and which their weights are kept in.
#include <gtest/gtest.h>

#include "thalweg/autodiff/gradient_tape.h"
#include "thalweg/core/error.h"
#include "thalweg/keras/input_layer.h"
#include "thalweg/keras/layers.h"
#include "thalweg/keras/model.h"
#include "thalweg/ops/autocast.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/matmul.h"
#include "thalweg/ops/reduction.h"

namespace thalweg::keras {
namespace {

class Policies : public ::testing::Test {
 protected:
  ~Policies() override { mixed_precision::set_global_policy({}); }
};

TEST_F(Policies, HaveNames) {
  EXPECT_EQ(Policy(DType::float64).name(), "float64");
  const Policy mixed = "mixed_bfloat16";
  EXPECT_EQ(mixed.compute_dtype(), DType::bfloat16);
  EXPECT_EQ(mixed.variable_dtype(), DType::float32);
  EXPECT_EQ(mixed.name(), "mixed_bfloat16");
  EXPECT_FALSE(Policy().given());
  EXPECT_THROW(Policy("mixed_float32"), ValueError);
  EXPECT_THROW(Policy("flaot32"), ValueError);
  EXPECT_THROW(mixed_precision::set_global_policy(DType::int32), ValueError);
}

TEST_F(Policies, GoThroughConfigurations) {
  Policy read;
  from_value(read, to_value(Policy("mixed_float16")));
  EXPECT_EQ(read, Policy("mixed_float16"));
  EXPECT_EQ(to_value(Policy(DType::float16)), Value("float16"));
}

TEST_F(Policies, OfALayerDecideWhatItComputesIn) {
  Layer dense = layers::Dense(2, {.dtype = "mixed_float16"});
  EXPECT_EQ(dense(ones({1, 3})).dtype(), DType::float16);
  EXPECT_EQ(dense.weights()[0].dtype(), DType::float32);
  EXPECT_EQ(dense.weights()[0].value().dtype(), DType::float32);
  EXPECT_EQ(dense.compute_dtype(), DType::float16);
  EXPECT_EQ(dense.dtype(), DType::float32);
  EXPECT_EQ(layers::Dense(2, {.dtype = DType::float64})(ones({1, 3})).dtype(), DType::float64);
}

TEST_F(Policies, OfTheProgramAreThoseOfLayersMadeAfterwards) {
  Layer before = layers::Dense(2);
  mixed_precision::set_global_policy("mixed_bfloat16");
  EXPECT_EQ(before(ones({1, 3})).dtype(), DType::float32);
  EXPECT_EQ(layers::Dense(2)(ones({1, 3})).dtype(), DType::bfloat16);
  // What is made when it is built too.
  Layer attention = layers::MultiHeadAttention(2, 2);
  mixed_precision::set_global_policy({});
  Tensor x = ones({1, 3, 4});
  EXPECT_EQ(attention(Nest::list({x, x})).dtype(), DType::bfloat16);
}

struct Doubled {
  Layer inner = layers::Dense(1, {.kernel_initializer = "ones", .dtype = "float32"});
  Variable factor = {};
  void build(const Shape&) { factor = add_weight({}, {.initializer = "ones"}); }
  Tensor call(const Tensor& x) {
    EXPECT_EQ(factor.value().dtype(), DType::float16);
    EXPECT_EQ(inner(x).dtype(), DType::float32);
    EXPECT_EQ(factor.value().dtype(), DType::float16);
    return cast(inner(x), x.dtype()) * factor;
  }
};
TEST_F(Policies, OfInnerLayersAreTheirOwn) {
  Layer layer(Doubled{}, {.dtype = "mixed_float16"});
  EXPECT_EQ(layer(ones({2, 2})).dtype(), DType::float16);
}

TEST_F(Policies, GiveGradientsInTheDtypeOfTheWeights) {
  Layer embedding = layers::Embedding(3, 2, {.dtype = "mixed_float16"});
  GradientTape tape;
  Tensor loss = reduce_sum(cast(embedding(Tensor(std::vector<int32_t>{0, 2, 2})), DType::float32));
  Tensor gradient = tape.gradient(loss, embedding.trainable_weights())[0];
  EXPECT_EQ(gradient.dtype(), DType::float32);
}

TEST_F(Policies, LeaveOtherVariablesAlone) {
  Variable own(1.0f);
  AutocastScope scope(DType::float16);
  EXPECT_EQ(own.value().dtype(), DType::float32);
}

TEST(InputLayers, TakeAShapeWithOrWithoutTheBatch) {
  Model model = Sequential({layers::InputLayer({.input_shape = {3}, .batch_size = 2}), layers::Dense(4)});
  EXPECT_EQ(model.output_shape().str(), "(2, 4)");
  EXPECT_THROW(layers::InputLayer({.input_shape = {3}, .sparse = true}), ValueError);
}

TEST(Discretizations, FindBoundaries) {
  layers::DiscretizationHandle bins = layers::Discretization({.num_bins = 2});
  bins->adapt(Tensor({1.0f, 2.0f, 3.0f, 4.0f}));
  EXPECT_EQ(bins->bin_boundaries(), std::vector<float>{2.0f});
  EXPECT_EQ(bins(Tensor({1.0f, 2.0f})).str(), "tf.Tensor([0 1], shape=(2,), dtype=int64)");
  EXPECT_THROW(layers::Discretization({.bin_boundaries = std::vector{2.0, 1.0}}), ValueError);
}

}  // namespace
}  // namespace thalweg::keras
