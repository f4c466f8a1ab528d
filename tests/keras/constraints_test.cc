#include "thalweg/keras/constraints.h"

#include "tests/keras/config_cases.h"
#include "thalweg/thalweg.h"

namespace thalweg::testing {
namespace {

using keras::Constraint;
using keras::Value;
namespace constraints = keras::constraints;

TEST(Constraints, GiveKerasWeights) {
  KerasCases family("constraints");
  for (const Value& row : family.cases()) {
    SCOPED_TRACE(KerasCases::describe(row));
    const Tensor w = family.tensor(row["w"]);
    if (!row["error"].is_none()) {
      expect_error(row, [&] { make_from<Constraint>(row)(w); });
      continue;
    }
    auto constraint = make_from<Constraint>(row);
    expect_config(row, constraint);
    EXPECT_EQ(difference(constraint(w), family.tensor(row["value"])), "");
  }
}

TEST(Constraints, HaveKerasNames) {
  for (const char* name : {"max_norm", "maxnorm", "MaxNorm", "non_neg", "nonneg", "NonNeg", "unit_norm", "unitnorm",
                           "UnitNorm", "min_max_norm", "MinMaxNorm", "radial_constraint", "RadialConstraint"})
    EXPECT_TRUE(Constraint(name).defined()) << name;
  EXPECT_THROW(Constraint("maxnrom"), ValueError);
  EXPECT_FLOAT_EQ(constraints::UnitNorm()(Tensor({3.0F, 4.0F}))[0].item<float>(), 0.6F);
  EXPECT_EQ(constraints::NonNeg()(Tensor({-3.0F}))[0].item<float>(), 0);
  EXPECT_FLOAT_EQ(constraints::MaxNorm({.max_value = 1})(Tensor({3.0F, 4.0F}))[1].item<float>(), 0.8F);
  EXPECT_NEAR(constraints::MinMaxNorm({.min_value = 0.5})(Tensor({0.1F}))[0].item<float>(), 0.5, 1e-5);
  EXPECT_THROW(constraints::RadialConstraint()(zeros({2, 3, 1, 1})), ValueError);
}

}  // namespace
}  // namespace thalweg::testing
