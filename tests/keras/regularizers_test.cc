#include "thalweg/keras/regularizers.h"

#include "tests/keras/config_cases.h"
#include "thalweg/thalweg.h"

namespace thalweg::testing {
namespace {

using keras::Regularizer;
using keras::Value;
namespace regularizers = keras::regularizers;

TEST(Regularizers, GiveKerasPenalties) {
  KerasCases family("regularizers");
  for (const Value& row : family.cases()) {
    SCOPED_TRACE(KerasCases::describe(row));
    if (!row["error"].is_none()) {
      // The maker of the goldens refused the number of L1's row itself.
      expect_error(row, [&] { make_from<Regularizer>(row)(family.tensor(row["x"])); }, row["class"].text() == "L1");
      continue;
    }
    auto regularizer = make_from<Regularizer>(row);
    expect_config(row, regularizer);
    const Tensor x = family.tensor(row["x"]);
    GradientTape tape;
    tape.watch(x);
    const Tensor value = regularizer(x);
    EXPECT_EQ(difference(value, family.tensor(row["value"])), "");
    EXPECT_EQ(difference(tape.gradient(value, x), family.tensor(row["gradient"])), "");
  }
}

TEST(Regularizers, HaveKerasNames) {
  const Tensor x = {1.0F, -2.0F};
  EXPECT_FLOAT_EQ(Regularizer("l1")(x).item<float>(), 0.03F);
  EXPECT_FLOAT_EQ(Regularizer("l2")(x).item<float>(), 0.05F);
  EXPECT_FLOAT_EQ(Regularizer("l1_l2")(x).item<float>(), 0.08F);
  EXPECT_FLOAT_EQ(Regularizer("L1L2")(x).item<float>(), 0);
  EXPECT_EQ(Regularizer("orthogonal_regularizer").class_name(), "OrthogonalRegularizer");
  EXPECT_FLOAT_EQ(regularizers::l1(0.5)(x).item<float>(), 1.5F);
  EXPECT_FLOAT_EQ(regularizers::L2(0.5)(x).item<float>(), 2.5F);
  EXPECT_FLOAT_EQ(regularizers::l1_l2({.l1 = 1})(x).item<float>(), 3.05F);
  EXPECT_FLOAT_EQ(regularizers::L1L2({.l2 = 1})(x).item<float>(), 5);
  EXPECT_THROW(regularizers::L1(std::numeric_limits<double>::quiet_NaN()), ValueError);
  EXPECT_THROW(Regularizer("l3"), ValueError);
}

}  // namespace
}  // namespace thalweg::testing
