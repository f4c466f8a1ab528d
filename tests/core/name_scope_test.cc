#include "thalweg/core/name_scope.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "thalweg/core/error.h"
#include "thalweg/core/unique_names.h"

namespace thalweg {
namespace {

std::string inside(std::string_view name) {
  NameScope scope(name);
  EXPECT_EQ(scope.name(), current_name_scope());
  return scoped_name("k");
}

TEST(NameScope, FollowsTensorFlowsRulesForSlashes) {
  EXPECT_EQ(inside("x"), "x/k");
  EXPECT_EQ(inside("x/"), "x/k");
  EXPECT_EQ(inside("/"), "/k");
  EXPECT_EQ(inside(""), "k");
  EXPECT_EQ(inside("a/b"), "a/b/k");
  EXPECT_EQ(inside("a b"), "a b/k");
  EXPECT_EQ(inside("x//"), "x//k");
  NameScope outer("o");
  EXPECT_EQ(inside("x"), "o/x/k");
  EXPECT_EQ(inside("x"), "o/x/k");
  EXPECT_EQ(inside("x/"), "x/k");
  EXPECT_EQ(inside("/"), "/k");
  EXPECT_EQ(inside(""), "k");
  EXPECT_EQ(inside("a/b"), "o/a/b/k");
  EXPECT_EQ(inside("/x"), "o//x/k");
  EXPECT_EQ(scoped_name("x/"), "x");
  EXPECT_EQ(scoped_name("/"), "");
  EXPECT_EQ(scoped_name(""), "");
  EXPECT_EQ(scoped_name("a/b"), "o/a/b");
}

TEST(NameScope, EndsWithItsBlockAlsoOnAnException) {
  try {
    auto scope = name_scope("x");
    NameScope inner("y");
    EXPECT_EQ(current_name_scope(), "x/y/");
    throw 1;
  } catch (int) {}
  EXPECT_EQ(current_name_scope(), "");
}

TEST(NameScope, BelongsToItsThread) {
  NameScope scope("x");
  std::string other;
  std::thread([&] { other = scoped_name("k"); }).join();
  EXPECT_EQ(other, "k");
}

TEST(GraphNameScope, CountsNamesUpAsTensorFlowsGraphsDo) {
  NameScope eager("eager");
  UniqueNames names;
  std::vector<std::string> made;
  {
    GraphNameScope graph(names);
    EXPECT_EQ(current_name_scope(), "");
    {
      NameScope first("b");
      NameScope second("b");
      made = {first.name(), second.name()};
    }
    for (const char* name : {"b", "b_1/", "", "B", "x_1", "x", "x", "x"}) made.push_back(NameScope(name).name());
    EXPECT_THROW(NameScope("a b"), ValueError);
    EXPECT_THROW(NameScope("_x"), ValueError);
    EXPECT_EQ(NameScope("x-y\\>").name(), "x-y\\>/");
    NameScope outer("o");
    EXPECT_EQ(NameScope("_x").name(), "o/_x/");
    EXPECT_THROW(NameScope("a b"), ValueError);
    EXPECT_EQ(current_name_scope(), "o/");
  }
  EXPECT_EQ(made, (std::vector<std::string>{"b/", "b/b/", "b_1/", "b_1/", "", "B_2/", "x_1/", "x/", "x_2/", "x_3/"}));
  EXPECT_EQ(current_name_scope(), "eager/");
}

}  // namespace
}  // namespace thalweg
