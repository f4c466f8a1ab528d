#include "thalweg/keras/initializers.h"

#include <cstring>

#include "tests/keras/config_cases.h"
#include "thalweg/keras/random_seed.h"
#include "thalweg/keras/utils.h"
#include "thalweg/thalweg.h"

namespace thalweg::testing {
namespace {

using keras::Initializer;
using keras::Value;
namespace initializers = keras::initializers;

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::memcmp(a.mutable_data<void>(), b.mutable_data<void>(), a.nbytes()) == 0;
}

TEST(Initializers, GiveKerasBits) {
  KerasCases family("initializers");
  keras::utils::set_random_seed(1);  // for the rows without a seed
  for (const Value& row : family.cases()) {
    SCOPED_TRACE(KerasCases::describe(row));
    Shape shape;
    DType dtype = DType::invalid;
    if (row.contains("shape")) {
      from_value(shape, row["shape"]);
      from_value(dtype, row["dtype"]);
    }
    if (!row["error"].is_none()) {
      // Python writes sets in any order.
      const bool has_set = row["error"]["message"].text().find("{'") != std::string::npos;
      expect_error(row, [&] { make_from<Initializer>(row)(shape, dtype); }, has_set);
      continue;
    }
    auto initializer = make_from<Initializer>(row);
    expect_config(row, initializer);
    const Tensor value = initializer(shape, dtype);
    if (row["check"].text() == "shape") {
      const Value& wanted = row["statistics"];
      const double deviation = wanted["deviation"].number();
      EXPECT_EQ(value.shape(), shape);
      EXPECT_NEAR(reduce_mean(value).item<double>(), 0, 0.2 * deviation);
      EXPECT_NEAR(math::reduce_std(value).item<double>(), deviation, 0.15 * deviation);
      EXPECT_GE(reduce_min(value).item<double>(), wanted["low"].number() - 3 * deviation);
      EXPECT_LE(reduce_max(value).item<double>(), wanted["high"].number() + 3 * deviation);
      continue;
    }
    const Tensor wanted = family.tensor(row["value"]);
    // LAPACK and Eigen round differently.
    const bool close = row["class"].text() == "Orthogonal" && difference(value, wanted, 1e-5).empty();
    EXPECT_TRUE(close || same_bits(value, wanted)) << difference(value, wanted, 0) << "\n" << value << wanted;
    EXPECT_TRUE(same_bits(initializer(shape, dtype), value)) << "a second call gives other values";
  }
}

TEST(Initializers, HaveKerasNames) {
  for (const char* name : {"zeros",
                           "zero",
                           "ones",
                           "one",
                           "constant",
                           "identity",
                           "normal",
                           "random_normal",
                           "uniform",
                           "random_uniform",
                           "truncated_normal",
                           "orthogonal",
                           "variance_scaling",
                           "glorot_uniform",
                           "glorot_normal",
                           "he_uniform",
                           "he_normal",
                           "lecun_uniform",
                           "lecun_normal",
                           "HeNormal",
                           "GlorotUniformV2",
                           "lecun_normalV2",
                           "ZerosV2"})
    EXPECT_TRUE(Initializer(name).defined()) << name;
  EXPECT_EQ(Initializer("uniform").class_name(), "RandomUniform");
  try {
    Initializer wrong("he_nromal");
    ADD_FAILURE();
  } catch (const ValueError& error) {
    EXPECT_NE(std::string(error.what()).find("Unknown initializer: 'he_nromal'; did you mean 'he_normal'? Known: "),
              std::string::npos)
        << error.what();
  }
}

TEST(Initializers, FollowTheSeedOfTheProgram) {
  auto draw = [] { return Initializer("glorot_uniform")(Shape{2, 3}, float32); };
  keras::utils::set_random_seed(42);
  const Tensor first = draw(), second = draw();
  EXPECT_FALSE(same_bits(first, second));
  keras::utils::set_random_seed(42);
  EXPECT_TRUE(same_bits(draw(), first));
  EXPECT_TRUE(same_bits(draw(), second));
  // Python's Keras after the same call.
  keras::utils::set_random_seed(42);
  EXPECT_EQ(keras::next_seed(), 686579304);
  EXPECT_EQ(keras::next_seed(), 119540832);
  keras::utils::set_random_seed(int64_t{1} << 40);
  EXPECT_EQ(keras::next_seed(), 111282017);
  EXPECT_THROW(keras::utils::set_random_seed(-1), ValueError);
}

TEST(Initializers, AreWrittenAsFunctions) {
  EXPECT_EQ(initializers::Constant({1, 2})(Shape{2}, float32).str(), Tensor({1.0F, 2.0F}).str());
  EXPECT_EQ(initializers::Constant(0.1).get_config()["value"].number(), 0.1);
  EXPECT_EQ(initializers::Constant(0.1)(Shape{}, float64).item<double>(), 0.1);
  EXPECT_EQ(reduce_sum(initializers::Identity({.gain = 2})(Shape{2, 3}, DType::invalid)).item<float>(), 4);
  EXPECT_THROW(initializers::VarianceScaling({.scale = 0}), ValueError);
  const Tensor q = initializers::Orthogonal()(Shape{3, 3}, float64);
  EXPECT_EQ(difference(matmul(q, q, {.transpose_b = true}), eye(3, {.dtype = float64}), 1e-12), "");
  // Another initializer is any function of a shape and a dtype.
  Initializer threes = [](const Shape& shape, DType dtype) { return cast(fill(shape, 3.0F), dtype); };
  EXPECT_EQ(threes(Shape{1}, float32)[0].item<float>(), 3);
}

}  // namespace
}  // namespace thalweg::testing
