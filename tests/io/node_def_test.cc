// Attributes of every kind as NodeDefs; tests/op_cases/node_def_test.cc has the calls of all rows.
#include "thalweg/io/node_def.h"

#include <gtest/gtest.h>

#include "tests/ops/outcome.h"

namespace thalweg::io {
namespace {

struct EveryKindAttrs {
  bool boolean = false;
  int64_t integer = 0;
  int narrow = 0;
  float real = 0;
  std::string text = {};
  DType dtype = DType::float32;
  Shape shape = Shape::unknown_rank();
  std::vector<int64_t> integers = {};
  std::vector<float> reals = {};
  std::vector<std::string> texts = {};
  std::vector<DType> Tout = {};
  Tensor tensor = {};
  std::vector<Shape> shapes = {};
  FunctionAttr function = {};
  std::vector<FunctionAttr> functions = {};
};
void nothing(InferCall&) {}
void run_nothing(const KernelCall&) {}
const Op& EveryKind = define_op({
    .name = "EveryKindOfAttribute",
    .signature = "x: T, values: N * T, rest: list Tin -> y: T, out: list Tout",
    .types = {{"T", float_types}, {"dtype", float_types}},
    .attrs = attrs_of<EveryKindAttrs>(),
    .infer = nothing,
    .kernel = {run_nothing},
});

// What stands behind a function does not matter here.
FunctionAttr make_function() {
  auto body = std::make_shared<int>(0);
  return {body, reinterpret_cast<const FunctionBody*>(body.get())};
}
const FunctionAttr first = make_function(), second = make_function();
std::string name_of_function(const FunctionAttr& f) { return f == first ? "first" : "second"; }
FunctionAttr function_named(const std::string& name) {
  return name == "first" ? first : name == "second" ? second : nullptr;
}

const std::vector<DType> inputs = {float32, float32, float32, DType::string, int64};
const std::vector<DType> outputs = {float32, int8, bool_};

EveryKindAttrs filled() {
  EveryKindAttrs a;
  a.boolean = true;
  a.integer = -7;
  a.narrow = 1 << 30;
  a.real = 0.1f;
  a.text = std::string("a\0b\xff", 4);
  a.dtype = float16;
  a.shape = Shape{2, unknown};
  a.integers = {1, -1, int64_t{1} << 62};
  a.reals = {0.5f, -1e30f};
  a.texts = {"", "x"};
  a.Tout = {int8, bool_};
  a.tensor = Tensor({1.0f, 2.0f});
  a.shapes = {Shape{}, Shape::unknown_rank(), Shape{3}};
  a.function = first;
  a.functions = {second, first};
  return a;
}

proto::NodeDef written() {
  proto::NodeDef node;
  node.name = "n";
  write_call(EveryKind, filled(), inputs, outputs, name_of_function, node);
  return node;
}

TEST(NodeDef, EveryKindComesBack) {
  const proto::NodeDef node = proto::parse<proto::NodeDef>(proto::serialize(written()));
  EXPECT_EQ(node.attr.size(), 18u);  // the record's fifteen, T, N, Tin
  EXPECT_EQ(std::get<int64_t>(node.attr.at("N").value), 2);
  EXPECT_EQ(std::get<proto::TypeNumber>(node.attr.at("T").value), proto::TypeNumber{1});
  const NodeCall call = read_call(node, inputs, function_named);
  const auto& a = static_cast<AttrsRef>(call.attrs).as<EveryKindAttrs>();
  const EveryKindAttrs b = filled();
  EXPECT_EQ(a.boolean, b.boolean);
  EXPECT_EQ(a.integer, b.integer);
  EXPECT_EQ(a.narrow, b.narrow);
  EXPECT_EQ(a.real, b.real);
  EXPECT_EQ(a.text, b.text);
  EXPECT_EQ(a.dtype, b.dtype);
  EXPECT_EQ(a.shape, b.shape);
  EXPECT_EQ(a.integers, b.integers);
  EXPECT_EQ(a.reals, b.reals);
  EXPECT_EQ(a.texts, b.texts);
  EXPECT_EQ(a.Tout, b.Tout);
  EXPECT_EQ(a.tensor.str(), b.tensor.str());
  EXPECT_EQ(a.shapes, b.shapes);
  EXPECT_EQ(a.function, b.function);
  EXPECT_EQ(a.functions, b.functions);
  EXPECT_EQ(call.arg_counts, (std::vector{1, 2, 2}));
  EXPECT_EQ(call.result_counts, (std::vector{1, 2}));
}

/// What reading the node says after a change.
template <class F> std::string after(F change, const std::vector<DType>& dtypes = inputs) {
  proto::NodeDef node = written();
  change(node);
  return outcome([&] { read_call(node, dtypes, function_named); });
}

TEST(NodeDef, WhatIsWrongIsNamed) {
  const std::string where = "InvalidArgumentError: node 'n' (EveryKindOfAttribute): ";
  using Node = proto::NodeDef;
  EXPECT_EQ(after([](Node&) {}), "passes");
  EXPECT_EQ(after([](Node& n) { n.attr["_class"].value = std::string("x"); }), "passes");
  EXPECT_EQ(after([](Node& n) { n.attr["boolan"].value = true; }),
            where + "the attribute 'boolan' is not one that the op has");
  EXPECT_EQ(after([](Node& n) { n.attr["boolean"].value = int64_t{1}; }),
            where + "the attribute 'boolean' is an int, expected a bool");
  EXPECT_EQ(after([](Node& n) { n.attr["integers"].value = Boxed(proto::ListValue{.f = {1}}); }),
            where + "the attribute 'integers' is a list of another kind, expected a list of ints");
  EXPECT_EQ(after([](Node& n) { n.attr["integers"].value = Boxed(proto::ListValue{}); }), "passes");
  EXPECT_EQ(after([](Node& n) { n.attr["narrow"].value = int64_t{1} << 31; }),
            where + "the attribute 'narrow' is out of range: 2147483648");
  EXPECT_EQ(after([](Node& n) { n.attr["dtype"].value = proto::TypeNumber{3}; }),
            where + "the attribute 'dtype' cannot be int32; it is one of float32, float64, bfloat16, float16");
  EXPECT_EQ(after([](Node& n) { n.attr["dtype"].value = proto::TypeNumber{101}; }),
            where + "the attribute 'dtype' has the type with number 101, a reference, which Thalweg does not have");
  EXPECT_EQ(after([](Node& n) { n.attr.erase("tensor"); }), where + "the attribute 'tensor' is missing");
  EXPECT_EQ(after([](Node& n) { n.attr.erase("function"); }), where + "the attribute 'function' is missing");
  EXPECT_EQ(after([](Node& n) { n.attr["function"].value = Boxed(proto::NameAttrList{.name = "third"}); }),
            where + "the attribute 'function' names the function 'third', which is not in the library");
  EXPECT_EQ(after([](Node& n) { n.attr["T"].value = Boxed(std::string("T")); }),
            where + "the attribute 'T' is a placeholder, expected a type");
  EXPECT_EQ(after([](Node& n) { n.attr["T"].value = proto::TypeNumber{2}; }),
            where + "the input 'x' is float32, expected float64 (the attribute 'T')");
  EXPECT_EQ(after([](Node& n) { n.attr["N"].value = int64_t{-1}; }),
            where + "the attribute 'N' is -1, but 2 tensors of 'values' come in");
  EXPECT_EQ(after([](Node& n) { n.attr["Tin"].value = Boxed(proto::ListValue{.type = {7, 7}}); }),
            where + "the attribute 'Tin' is [string, string], but the inputs 'rest' are [string, int64]");
  EXPECT_EQ(after([](Node& n) { n.op = "Nonsense"; }),
            "InvalidArgumentError: node 'n' (Nonsense): there is no op of this name");
  EXPECT_EQ(after([](Node& n) { n.attr["shape"].value = proto::TensorShapeProto{.dim = {{-9, {}}}}; }),
            where + "the attribute 'shape': TensorShapeProto: a dimension of size -9");
  EXPECT_NE(after([](Node&) {}, {float32, float32}).find("2 inputs do not fit the signature"), std::string::npos);
  EXPECT_NE(after([](Node& n) { n.attr.erase("T"); }, {int32, int32, int32, int32, int32}).find("'T' cannot be int32"),
            std::string::npos);
}

TEST(NodeDef, WhatIsMissingIsNotWritten) {
  EveryKindAttrs attrs = filled();
  attrs.tensor = Tensor();
  proto::NodeDef node;
  EXPECT_NE(outcome([&] {
              write_call(EveryKind, attrs, inputs, outputs, name_of_function, node);
            }).find("'tensor' has no value"),
            std::string::npos);
  EXPECT_NE(outcome([&] { write_call(EveryKind, filled(), inputs, outputs, {}, node); }).find("nobody names it"),
            std::string::npos);
  EXPECT_NE(outcome([&] { write_call(EveryKind, filled(), {}, outputs, name_of_function, node); }).find("do not fit"),
            std::string::npos);
}

}  // namespace
}  // namespace thalweg::io
