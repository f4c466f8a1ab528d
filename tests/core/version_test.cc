#include "thalweg/core/version.h"

#include <gtest/gtest.h>

#include <cstdio>

namespace thalweg {
namespace {

TEST(Version, HasThreeNumbers) {
  int major = -1, minor = -1, patch = -1;
  EXPECT_EQ(std::sscanf(version(), "%d.%d.%d", &major, &minor, &patch), 3) << version();
}

}  // namespace
}  // namespace thalweg
