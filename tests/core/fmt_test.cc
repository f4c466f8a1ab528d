#include "thalweg/core/fmt.h"

#include <gtest/gtest.h>

namespace thalweg {
namespace {

TEST(Fmt, WritesTensorsAsPrintDoes) {
  Tensor x = {1.0f, 2.5f};
  EXPECT_EQ(fmt::format("{}", x), x.str());
  EXPECT_EQ(fmt::format("{:r}", x), x.repr());
  EXPECT_EQ(fmt::format("x = {} and {:r}.", Tensor(3), Tensor(4)),
            "x = " + Tensor(3).str() + " and " + Tensor(4).repr() + ".");
  EXPECT_EQ(fmt::format("{:>40}|", Tensor(3)), std::string(40 - Tensor(3).str().size(), ' ') + Tensor(3).str() + "|");
  EXPECT_EQ(fmt::format("{:*<60r}", Tensor(3)), Tensor(3).repr() + std::string(60 - Tensor(3).repr().size(), '*'));
  EXPECT_EQ(fmt::format("{} {:r}", Tensor(), Tensor()), "None None");
  EXPECT_THROW((void)fmt::format(fmt::runtime("{:d}"), x), fmt::format_error);
}

TEST(Fmt, WritesShapesAndDtypes) {
  EXPECT_EQ(fmt::format("{} {}", Shape({2, unknown}), Shape::unknown_rank()), "(2, None) <unknown>");
  EXPECT_EQ(fmt::format("{:>8}|{}", DType::bool_, float32), "    bool|float32");
}

}  // namespace
}  // namespace thalweg
