#include "thalweg/ops/optional.h"

#include <gtest/gtest.h>

#include "tests/ops/floats.h"
#include "thalweg/core/error.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/math.h"

namespace thalweg {
namespace {

Tensor optional(const Tensor& x) { return apply1(*find_op("OptionalFromValue"), {x}); }
Tensor nothing() { return apply1(*find_op("OptionalNone"), {}); }
const std::vector<Tensor>& components(const Tensor& handle) {
  return dynamic_cast<const OptionalResource&>(**handle.mutable_data<ResourceHandle>()).components();
}

TEST(Optionals, HaveZerosAndSums) {
  const Tensor x({1.0f, 2.0f}), y({10.0f, 20.0f});
  EXPECT_EQ(floats(components(zeros_like(optional(x)))[0]), (Floats{0, 0}));
  EXPECT_EQ(floats(components(add_n(std::vector<Tensor>{optional(x), optional(y)}))[0]), (Floats{11, 22}));
  EXPECT_TRUE(components(zeros_like(nothing())).empty());
  EXPECT_TRUE(components(add_n(std::vector<Tensor>{nothing(), nothing()})).empty());
  EXPECT_THROW(add_n(std::vector<Tensor>{optional(x), nothing()}), InvalidArgumentError);
}

}  // namespace
}  // namespace thalweg
