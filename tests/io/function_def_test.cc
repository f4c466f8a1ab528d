// Signatures of functions, and the texts that name inputs.
#include "thalweg/io/function_def.h"

#include <gtest/gtest.h>

#include "tests/ops/outcome.h"

namespace thalweg::io {
namespace {

TEST(FunctionDef, SignaturesComeBack) {
  const FunctionSignature signature{"f", {{"x", float32}, {"v", DType::resource}}, {{"y", int64}}, {"c"}, true};
  const auto message = proto::parse<proto::OpDef>(proto::serialize(to_op_def(signature)));
  const FunctionSignature again = from_op_def(message);
  EXPECT_EQ(again.name, "f");
  EXPECT_EQ(again.inputs[1].name, "v");
  EXPECT_EQ(again.inputs[1].dtype, DType::resource);
  EXPECT_EQ(again.outputs[0].dtype, int64);
  EXPECT_EQ(again.control_outputs, std::vector<std::string>{"c"});
  EXPECT_TRUE(again.stateful);
}

TEST(FunctionDef, TypesThatAttributesDecideAreRefused) {
  auto refusal = [](auto change) {
    proto::OpDef message = to_op_def({"f", {{"x", float32}, {"y", float32}}, {}, {}, false});
    change(message);
    return outcome([&] { from_op_def(message); });
  };
  using Def = proto::OpDef;
  EXPECT_NE(refusal([](Def& d) { d.input_arg[0].type_attr = "T"; }).find("function 'f': the argument 'x'"),
            std::string::npos);
  EXPECT_NE(refusal([](Def& d) { d.input_arg[0].number_attr = "N"; }).find("fixed types"), std::string::npos);
  EXPECT_NE(refusal([](Def& d) { d.input_arg[0].type = 0; }).find("number 0"), std::string::npos);
  EXPECT_NE(refusal([](Def& d) { d.input_arg[0].is_ref = true; }).find("a reference"), std::string::npos);
  EXPECT_NE(refusal([](Def& d) { d.input_arg[1].name = "x"; }).find("that of another"), std::string::npos);
  EXPECT_NE(refusal([](Def& d) { d.attr.push_back({.name = "T"}); }).find("the attribute 'T'"), std::string::npos);
  EXPECT_NE(refusal([](Def& d) { d.name.clear(); }).find("no name"), std::string::npos);
}

std::string shown(const NodeInput& i) {
  return (i.is_control ? "control " : "") + i.node + "|" + i.output + "|" + std::to_string(i.index);
}

TEST(NodeInputs, OfGraphs) {
  EXPECT_EQ(shown(parse_graph_input("a/b")), "a/b||0");
  EXPECT_EQ(shown(parse_graph_input("a:12")), "a||12");
  EXPECT_EQ(shown(parse_graph_input("^a")), "control a||0");
  EXPECT_EQ(graph_input("a", 0), "a");
  EXPECT_EQ(graph_input("a", 2), "a:2");
  for (const char* bad : {"", "^", ":", ":0", "a:", "a:x", "a:-1", "a: 1", "a:99999999999", "^a:1"})
    EXPECT_EQ(outcome([&] { parse_graph_input(bad); }).substr(0, 20), "InvalidArgumentError") << bad;
}

TEST(NodeInputs, OfFunctions) {
  EXPECT_EQ(shown(parse_function_input("x")), "x||0");
  EXPECT_EQ(shown(parse_function_input("n:values:3")), "n|values|3");
  EXPECT_EQ(shown(parse_function_input("n:values")), "n|values|0");
  EXPECT_EQ(shown(parse_function_input("^n")), "control n||0");
  for (const char* bad : {"", "^", ":y:0", "n:", "n::0", "n:y:", "n:y:x", "n:y:0:1"})
    EXPECT_EQ(outcome([&] { parse_function_input(bad); }).substr(0, 20), "InvalidArgumentError") << bad;
}

TEST(NodeInputs, KnowTheOutputsOfTheirNode) {
  const Op& unique = *find_op("UniqueWithCounts");
  const std::vector<int> one_each = {1, 1, 1};
  EXPECT_EQ(function_input("u", unique, one_each, 2), "u:count:0");
  EXPECT_EQ(output_position(parse_function_input("u:idx:0"), unique, one_each), 1);
  const Op& split = *find_op("Split");
  const std::vector<int> four = {4};
  EXPECT_EQ(function_input("s", split, four, 3), "s:output:3");
  EXPECT_EQ(output_position(parse_function_input("s:output:3"), split, four), 3);
  EXPECT_NE(outcome([&] { output_position(parse_function_input("s:output:4"), split, four); }).find("no output"),
            std::string::npos);
  EXPECT_NE(outcome([&] { output_position(parse_function_input("s:y:0"), split, four); }).find("no output"),
            std::string::npos);
  EXPECT_NE(outcome([&] { function_input("s", split, four, 4); }).find("no output"), std::string::npos);
}

}  // namespace
}  // namespace thalweg::io
