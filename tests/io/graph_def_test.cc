// Traced functions as GraphDefs and back, and GraphDefs that must be refused. tests/interop/graph_defs.py asks
// TensorFlow.
#include "thalweg/io/graph_def.h"

#include <gtest/gtest.h>

#include "tests/graph/samples.h"
#include "thalweg/graph/control_flow.h"
#include "thalweg/io/tensor_proto.h"
#include "thalweg/thalweg.h"

namespace thalweg::io {
namespace {

using graph::Traced;
using proto::GraphDef;
using proto::NodeDef;
using Tensors = std::span<const Tensor>;
using Body = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

FunctionAttr trace(const std::vector<graph::Spec>& arguments, const Body& body) {
  graph::GraphTracer tracer(nullptr);
  graph::Tracing tracing(&tracer);
  std::vector<Tensor> symbolic;
  for (const graph::Spec& a : arguments) symbolic.push_back(tracer.argument(a.dtype, a.shape));
  for (const Tensor& t : body(symbolic)) tracer.graph().results.push_back(tracer.value_of(t));
  return std::make_shared<FunctionBody>("traced", std::move(tracer.graph()));
}

std::vector<Tensor> run(const FunctionAttr& f, const std::vector<Tensor>& arguments) {
  return graph::call(f, std::vector<TensorRef>(arguments.begin(), arguments.end()));
}

/// Through bytes and back; arguments for the captures come after the function's own.
FunctionAttr again(const GraphExport& made) {
  ImportOptions options;
  options.inputs = made.arguments;
  for (const auto& [name, handle] : made.captures) options.inputs->push_back(name);
  options.outputs = made.results;
  if (!made.effects.empty() && made.results.empty()) options.outputs.reset();
  return from_graph_def(proto::parse<GraphDef>(proto::serialize(made.graph)), options);
}

void expect_same(const FunctionAttr& f, const std::vector<Tensor>& arguments) {
  const GraphExport made = to_graph_def(*f);
  std::vector<Tensor> more = arguments;
  for (const auto& [name, handle] : made.captures) more.push_back(handle);
  const std::vector<Tensor> expected = run(f, arguments), got = run(again(made), more);
  ASSERT_EQ(expected.size(), got.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_EQ(expected[i].str(), got[i].str());
}

const graph::Spec scalar{DType::float32, Shape{}};
const graph::Spec vector{DType::float32, Shape{-1}};

using samples::choose;
using samples::square_often;

TEST(GraphDefs, KeepValues) {
  auto f = trace({vector, vector}, [](const std::vector<Tensor>& a) {
    return std::vector<Tensor>{a[0] * 2.0f + a[1], reduce_sum(a[0]), a[1]};
  });
  expect_same(f, {Tensor({1.0f, 2.0f}), Tensor({3.0f, 4.0f})});
}

TEST(GraphDefs, KeepControlFlowAndItsGradients) {
  auto f = trace({scalar}, [](const std::vector<Tensor>& a) {
    GradientTape tape;
    tape.watch(a[0]);
    Tensor y = choose(square_often(a[0], Tensor(2))) + choose(a[0]);
    return std::vector<Tensor>{y, tape.gradient(y, a[0])};
  });
  expect_same(f, {Tensor(1.5f)});
  expect_same(f, {Tensor(-0.5f)});
}

TEST(GraphDefs, KeepNestedFunctions) {
  auto inner = trace({scalar}, [](const std::vector<Tensor>& a) { return std::vector<Tensor>{choose(a[0]), a[0]}; });
  auto outer = trace({scalar}, [&](const std::vector<Tensor>& a) {
    std::vector<Tensor> first = graph::call(inner, std::vector<TensorRef>{a[0]});
    std::vector<Tensor> second = graph::call(inner, std::vector<TensorRef>{first[0]});
    return std::vector<Tensor>{second[0] + first[1]};
  });
  const GraphExport made = to_graph_def(*outer);
  ASSERT_TRUE(made.graph.library);
  EXPECT_EQ(made.graph.library->function.size(), 3u);  // inner and two branches, each once
  expect_same(outer, {Tensor(3.0f)});
  expect_same(outer, {Tensor(-3.0f)});
}

TEST(GraphDefs, PassVariablesThroughFunctions) {
  Variable v(2.0f);
  auto f = trace({scalar}, [&](const std::vector<Tensor>& a) {
    Tensor x = graph::cond(
        a[0] > 0.0f, [&](Tensors) { return Traced{{a[0] * v.value()}, nullptr}; },
        [&](Tensors) { return v.assign_add(1.0f), Traced{{a[0]}, nullptr}; })[0];
    Tensor y =
        graph::while_loop([&](Tensors l) { return Traced{{l[0] < 3}, nullptr}; },
                          [&](Tensors l) { return Traced{{l[0] + 1, l[1] + v.value()}, nullptr}; }, {Tensor(0), x})[1];
    v.assign(y);
    return std::vector<Tensor>{y, v.value()};
  });
  const GraphExport made = to_graph_def(*f);
  ASSERT_EQ(made.captures.size(), 1u);
  EXPECT_FALSE(made.effects.empty());
  FunctionAttr copy = again(made);
  EXPECT_EQ(run(copy, {Tensor(3.0f), made.captures[0].second})[0].item<float>(), 12);
  EXPECT_EQ(v.value().item<float>(), 12);
  EXPECT_EQ(run(copy, {Tensor(-1.0f), made.captures[0].second})[1].item<float>(), 38);
}

TEST(GraphDefs, AreTheSameAfterARoundTrip) {
  auto f = trace({scalar}, [](const std::vector<Tensor>& a) { return std::vector<Tensor>{choose(a[0] + 1.0f)}; });
  const GraphExport made = to_graph_def(*f);
  const GraphExport second = to_graph_def(*again(made));
  ASSERT_EQ(made.graph.node.size(), second.graph.node.size());
  for (size_t i = 0; i < made.graph.node.size(); ++i) {
    EXPECT_EQ(made.graph.node[i].name, second.graph.node[i].name);
    EXPECT_EQ(made.graph.node[i].input, second.graph.node[i].input);
  }
}

// By hand: what TensorFlow could have written, and what nobody should.

NodeDef node(const std::string& name, const std::string& op, std::vector<std::string> inputs = {}) {
  NodeDef n;
  n.name = name;
  n.op = op;
  n.input = std::move(inputs);
  return n;
}
NodeDef placeholder(const std::string& name) {
  NodeDef n = node(name, "Placeholder");
  n.attr["dtype"].value = proto::TypeNumber{1};
  return n;
}
NodeDef constant(const std::string& name, const Tensor& value) {
  NodeDef n = node(name, "Const");
  n.attr["dtype"].value = static_cast<proto::TypeNumber>(value.dtype());
  n.attr["value"].value = Boxed(to_tensor_proto(value));
  return n;
}
proto::AttrValue function_value(const std::string& name) { return {Boxed(proto::NameAttrList{name, {}})}; }
NodeDef call_of(const std::string& name, const std::string& function, const std::string& input) {
  NodeDef n = node(name, "PartitionedCall", {input});
  n.attr["f"] = function_value(function);
  proto::ListValue types;
  types.type = {1};
  n.attr["Tout"].value = n.attr["Tin"].value = Boxed(types);
  return n;
}
/// One float in and out; `inner` reads "x".
proto::FunctionDef function_def(const std::string& name, const NodeDef& inner, const std::string& result) {
  proto::FunctionDef f;
  f.signature.name = name;
  f.signature.input_arg.push_back({.name = "x", .type = 1});
  f.signature.output_arg.push_back({.name = "y", .type = 1});
  f.node_def = {inner};
  f.ret["y"] = result;
  return f;
}
GraphDef graph_of(std::vector<NodeDef> nodes, std::vector<proto::FunctionDef> functions = {}) {
  GraphDef g;
  g.node = std::move(nodes);
  if (!functions.empty()) g.library = proto::FunctionDefLibrary{std::move(functions), {}, {}};
  return g;
}
std::string refusal(const GraphDef& g, const ImportOptions& options = {}) {
  try {
    from_graph_def(g, options);
  } catch (const Error& e) {
    return std::string(e.type()) + ": " + e.what();
  }
  return "";
}
void expect_refused(const GraphDef& g, const std::string& text, const ImportOptions& options = {}) {
  const std::string got = refusal(g, options);
  EXPECT_NE(got.find(text), got.npos) << "got '" << got << "', expected " << text;
}

TEST(GraphDefs, KnowShapesInsideOfFunctions) {  // from where they are called
  auto inner = function([](const Tensor& x) { return matmul(x, x, {.transpose_b = true}); });
  auto f = function([&](const Tensor& x) {
    Tensor y = cond(reduce_sum(x) > 0.0f, [&] { return inner(x); }, [&] { return inner(-x); });
    auto [i, same, grows] =
        while_loop([](const Tensor& k, const Tensor&, const Tensor&) { return k < 3; },
                   [](const Tensor& k, const Tensor& a, const Tensor& b) {
                     return std::tuple(k + 1, a * 2.0f, concat({b, b}, 0));
                   },
                   std::tuple(Tensor(0), y, x), {.shape_invariants = {Shape{}, Shape{2, 2}, Shape{-1, 3}}});
    return std::vector<Tensor>{same, grows};
  });
  FunctionAttr body = f.get_concrete_function(TensorSpec({2, 3}, float32)).body();
  GraphExport made = to_graph_def(*body);
  FunctionAttr again = from_graph_def(made.graph, {.inputs = made.arguments, .outputs = made.results});
  EXPECT_EQ(again->result(0).shape.str(), "(2, 2)");
  EXPECT_EQ(again->result(1).shape.str(), "(None, 3)");
  const Tensor x = reshape(range(6.0f), {2, 3});
  for (size_t i = 0; i < 2; ++i) EXPECT_EQ(run(again, {x})[i].str(), f(x)[i].str());
}

TEST(GraphDefs, AreReadWhereAPartIsWrongForShapesItNeverSees) {
  auto multiply = function_def("multiply", node("m", "MatMul", {"x", "x"}), "m:product:0");
  auto negate = function_def("negate", node("n", "Neg", {"x"}), "n:y:0");
  NodeDef choice = node("y", "StatelessIf", {"p", "x"});
  choice.attr["then_branch"] = function_value("multiply");
  choice.attr["else_branch"] = function_value("negate");
  proto::ListValue types;
  types.type = {1};
  choice.attr["Tin"].value = choice.attr["Tout"].value = Boxed(types);
  choice.attr["Tcond"].value = static_cast<proto::TypeNumber>(DType::bool_);
  const GraphDef g =
      graph_of({constant("p", Tensor(false)), constant("x", Tensor({1.0f, 2.0f, 3.0f})), choice}, {multiply, negate});
  EXPECT_EQ(run(from_graph_def(g), {})[0].str(), Tensor({-1.0f, -2.0f, -3.0f}).str());
}

TEST(GraphDefs, AreNotMadeForEveryShapeOfEveryCall) {  // there are 2^40 of them here
  std::vector<proto::FunctionDef> functions = {function_def("f0", node("n", "Neg", {"x"}), "n:y:0")};
  for (int i = 1; i <= 40; ++i) {
    const std::string before = "f" + std::to_string(i - 1);
    proto::FunctionDef f = function_def("f" + std::to_string(i), node("axis", "Const"), "sum:z:0");
    f.node_def[0] = constant("axis", Tensor(0));
    f.node_def.push_back(node("twice", "ConcatV2", {"x", "x", "axis:output:0"}));
    f.node_def.push_back(call_of("a", before, "twice:output:0"));
    f.node_def.push_back(call_of("b", before, "x"));
    f.node_def.push_back(node("rest", "Slice", {"a:output:0", "first:output:0", "size:output:0"}));
    f.node_def.push_back(constant("first", Tensor(std::vector{0})));
    f.node_def.push_back(constant("size", Tensor({1})));
    f.node_def.push_back(node("sum", "AddV2", {"rest:output:0", "b:output:0"}));
    functions.push_back(std::move(f));
  }
  EXPECT_EQ(refusal(graph_of({constant("x", Tensor({1.0f})), call_of("y", "f40", "x")}, functions)), "");
}

TEST(GraphDefs, MayBeInAnyOrder) {
  auto f = from_graph_def(graph_of({node("sum", "AddV2", {"x", "y:0", "^done"}), node("done", "NoOp", {"^y"}),
                                    node("y", "Neg", {"x"}), placeholder("x")}));
  EXPECT_EQ(run(f, {Tensor(3.0f)})[0].item<float>(), 0);
}

TEST(GraphDefs, TakeOnlyWhatOutputsNeed) {
  GraphDef g =
      graph_of({placeholder("x"), placeholder("unused"), node("odd", "NoSuchOp", {"unused"}), node("y", "Neg", {"x"})});
  auto f = from_graph_def(g, {.inputs = {{"x:0"}}, .outputs = {{"y", "x"}}});
  EXPECT_EQ(f->num_arguments(), 1u);
  EXPECT_EQ(run(f, {Tensor(3.0f)})[0].item<float>(), -3);
}

TEST(GraphDefs, HaveDefaultsForPlaceholders) {
  NodeDef with_default = node("p", "PlaceholderWithDefault", {"c"});
  with_default.attr["dtype"].value = proto::TypeNumber{1};
  with_default.attr["shape"].value = proto::TensorShapeProto{};
  GraphDef g = graph_of({constant("c", Tensor(5.0f)), with_default, node("y", "Neg", {"p"})});
  EXPECT_EQ(run(from_graph_def(g), {})[0].item<float>(), -5);
  EXPECT_EQ(run(from_graph_def(g, {.inputs = {{"p"}}}), {Tensor(2.0f)})[0].item<float>(), -2);
}

TEST(GraphDefs, HaveArgumentsAndResultsByIndex) {
  auto indexed = [](NodeDef n, int64_t index) {
    n.attr["T"].value = proto::TypeNumber{1};
    n.attr["index"].value = index;
    return n;
  };
  auto f = from_graph_def(
      graph_of({indexed(node("b", "_Arg"), 1), indexed(node("a", "_Arg"), 0), node("d", "Sub", {"a", "b"}),
                indexed(node("r1", "_Retval", {"b"}), 1), indexed(node("r0", "_Retval", {"d"}), 0)}));
  auto results = run(f, {Tensor(5.0f), Tensor(3.0f)});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].item<float>(), 2);
  EXPECT_EQ(results[1].item<float>(), 3);
}

TEST(GraphDefs, CallFunctionsByTheirName) {
  auto negate = function_def("negate", node("n", "Neg", {"x"}), "n:y:0");
  auto twice = function_def("twice", node("c", "negate", {"x"}), "c:y:0");
  auto f = from_graph_def(graph_of({placeholder("x"), node("y", "twice", {"x"})}, {negate, twice}));
  EXPECT_EQ(run(f, {Tensor(3.0f)})[0].item<float>(), -3);
}

TEST(GraphDefs, MayPassOptionals) {  // as the gradients of TensorFlow's conditionals do
  NodeDef get = node("y", "OptionalGetValue", {"o"});
  proto::ListValue types, shapes;
  types.type = {1};
  shapes.shape = {{.dim = {{7}}}};
  get.attr["output_types"].value = Boxed(types);
  get.attr["output_shapes"].value = Boxed(shapes);  // not believed
  GraphDef g = graph_of({placeholder("x"), node("o", "OptionalFromValue", {"x"}), get, node("z", "Neg", {"y"}),
                         node("n", "OptionalNone"), node("h", "OptionalHasValue", {"n"})});
  auto results = run(from_graph_def(g, {.outputs = {{"z", "h"}}}), {Tensor({3.0f, 4.0f})});
  EXPECT_EQ(results[0].str(), Tensor({-3.0f, -4.0f}).str());
  EXPECT_FALSE(results[1].item<bool>());
  g.node[2].input = {"n"};
  EXPECT_THROW(run(from_graph_def(g, {.outputs = {{"z"}}}), {Tensor(3.0f)}), InvalidArgumentError);
}

TEST(GraphDefs, ComputeNothingWhenTheyAreRead) {  // or this would not come back
  auto forever = function_def("forever", node("i", "Identity", {"x"}), "i:output:0");
  NodeDef loop = node("loop", "StatelessWhile", {"c"});
  loop.attr["cond"] = loop.attr["body"] = function_value("forever");
  proto::ListValue types;
  types.type = {1};
  loop.attr["T"].value = Boxed(types);
  EXPECT_EQ(refusal(graph_of({constant("c", Tensor(1.0f)), loop}, {forever})), "");
}

TEST(GraphDefs, AreRefusedForTheirWiring) {
  expect_refused(graph_of({node("a", "Neg", {"b"}), node("b", "Neg", {"a"})}), "node 'a' (Neg): it is part of a cycle");
  expect_refused(graph_of({node("a", "Neg", {"a"})}), "cycle");
  expect_refused(graph_of({placeholder("x"), node("a", "Neg", {"x", "^b"}), node("b", "Neg", {"a"})}), "cycle");
  expect_refused(graph_of({node("a", "Neg", {"missing"})}), "node 'a' (Neg): the input 'missing' is no node");
  expect_refused(graph_of({node("a", "Neg", {"^missing"})}), "'^missing'");
  expect_refused(graph_of({placeholder("x"), node("a", "Neg", {"x:1"})}), "node 'x' has no output 1");
  expect_refused(graph_of({placeholder("x"), node("a", "Neg", {"x:99999999999"})}), "number of an output");
  expect_refused(graph_of({placeholder("x"), node("a", "Neg", {""})}), "names no node");
  expect_refused(graph_of({placeholder("x"), placeholder("y"), node("a", "Neg", {"^y", "x"})}), "behind a control");
  expect_refused(graph_of({placeholder("x"), placeholder("x")}), "another node");
  expect_refused(graph_of({node("", "NoOp")}), "no name");
  expect_refused(graph_of({placeholder("x"), node("a", "NoOp", {"x"})}), "control inputs only");
}

TEST(GraphDefs, AreRefusedForTheirCalls) {
  expect_refused(graph_of({placeholder("x"), node("a", "Neg", {"x", "x"})}), "node 'a' (Neg)");
  expect_refused(graph_of({placeholder("x"), node("a", "Neg")}), "node 'a' (Neg)");
  expect_refused(graph_of({placeholder("x"), node("a", "NoSuchOp", {"x"})}),
                 "NotFoundError: node 'a' (NoSuchOp): there is no record of the op 'NoSuchOp'");
  expect_refused(graph_of({placeholder("x"), constant("c", Tensor(1)), node("a", "AddV2", {"x", "c"})}), "node 'a'");
  expect_refused(graph_of({placeholder("x"), node("a", "LogicalNot", {"x"})}), "node 'a' (LogicalNot)");
  NodeDef wrong = node("a", "Neg", {"x"});
  wrong.attr["T"].value = proto::TypeNumber{3};
  expect_refused(graph_of({placeholder("x"), wrong}), "node 'a' (Neg)");
  wrong.attr["T"].value = std::string("float");
  expect_refused(graph_of({placeholder("x"), wrong}), "a string");
  NodeDef unknown = node("a", "Neg", {"x"});
  unknown.attr["speed"].value = int64_t{3};
  expect_refused(graph_of({placeholder("x"), unknown}), "'speed'");
  expect_refused(graph_of({constant("a", Tensor({1.0f, 2.0f})), constant("b", Tensor({1.0f, 2.0f, 3.0f})),
                           node("sum", "AddV2", {"a", "b"})}),
                 "node 'sum' (AddV2)");
  expect_refused(graph_of({node("p", "Placeholder")}), "'dtype' is missing");
  NodeDef invalid = placeholder("p");
  invalid.attr["dtype"].value = proto::TypeNumber{9999};
  expect_refused(graph_of({invalid}), "node 'p'");
}

TEST(GraphDefs, AreRefusedForConstantsThatLie) {
  NodeDef huge = constant("c", Tensor(1.0f));
  auto& tensor = *std::get<Boxed<proto::TensorProto>>(huge.attr["value"].value);
  tensor.tensor_shape.dim = {{int64_t{1} << 40}, {int64_t{1} << 40}};
  expect_refused(graph_of({huge}), "node 'c' (Const)");
  tensor.tensor_shape.dim = {{int64_t{1} << 34}};
  expect_refused(graph_of({huge}), "node 'c' (Const)");
  tensor.tensor_shape.dim = {{-1}};
  expect_refused(graph_of({huge}), "node 'c' (Const)");
  std::vector<NodeDef> many;
  tensor.tensor_shape.dim = {{int64_t{1} << 24}};
  for (int i = 0; i < 8; ++i) many.push_back(huge), many.back().name += std::to_string(i);
  expect_refused(graph_of(many), "ResourceExhaustedError: node 'c4'");
  NodeDef wrong = constant("c", Tensor(1.0f));
  wrong.attr["dtype"].value = proto::TypeNumber{3};
  expect_refused(graph_of({wrong}), "node 'c' (Const)");
}

TEST(GraphDefs, AreRefusedForTheirNumberOfOutputs) {
  std::vector<NodeDef> nodes = {placeholder("x"), constant("axis", Tensor(0))};
  for (int i = 0; i < 3; ++i) {
    nodes.push_back(node("split" + std::to_string(i), "Split", {"axis", "x"}));
    nodes.back().attr["num_split"].value = int64_t{500'000};
  }
  expect_refused(graph_of(nodes), "ResourceExhaustedError: node 'split2'");
}

TEST(GraphDefs, AreRefusedForTheirFunctions) {
  auto negate = function_def("f", node("n", "Neg", {"x"}), "n:y:0");
  expect_refused(graph_of({placeholder("x"), call_of("y", "g", "x")}, {negate}), "'g', which is not in the library");
  expect_refused(graph_of({placeholder("x"), call_of("y", "f", "x")}, {negate, negate}), "two functions");
  auto self = function_def("f", call_of("n", "f", "x"), "n:output:0");
  expect_refused(graph_of({placeholder("x"), call_of("y", "f", "x")}, {self}), "calls itself");
  auto f = function_def("f", call_of("n", "g", "x"), "n:output:0");
  auto g = function_def("g", node("n", "f", {"x"}), "n:y:0");
  expect_refused(graph_of({placeholder("x"), call_of("y", "f", "x")}, {f, g}), "calls itself");
  auto with = [](auto change) {
    auto f = function_def("f", node("n", "Neg", {"x"}), "n:y:0");
    change(f);
    return graph_of({placeholder("x"), call_of("y", "f", "x")}, {f});
  };
  using F = proto::FunctionDef;
  expect_refused(with([](F& f) { f.ret.clear(); }), "the result 'y' is not said");
  expect_refused(with([](F& f) { f.ret["y"] = "nobody:y:0"; }), "no output of a node");
  expect_refused(with([](F& f) { f.ret["y"] = "n:z:0"; }), "has no output 'z:0'");
  expect_refused(with([](F& f) { f.ret["y"] = "n:y:1"; }), "has no output 'y:1'");
  expect_refused(with([](F& f) { f.signature.output_arg[0].type = 3; }), "the signature says int32");
  expect_refused(with([](F& f) { f.signature.input_arg[0].type = 3; }), "node 'y'");
  expect_refused(with([](F& f) { f.signature.input_arg.push_back({.name = "more", .type = 1}); }), "node 'y'");
  expect_refused(with([](F& f) { f.signature.output_arg.clear(); }), "node 'y'");
  expect_refused(with([](F& f) { f.node_def[0].op = "NoSuchOp"; }), "NotFoundError: node 'n'");
  expect_refused(with([](F& f) { f.node_def[0].input = {"x:y:0"}; }), "an argument has no outputs");
  expect_refused(with([](F& f) { f.node_def[0].name = "x"; }), "another node or argument");
  NodeDef claims = call_of("y", "f", "x");
  proto::ListValue types;
  types.type = {3};
  claims.attr["Tout"].value = Boxed(types);
  expect_refused(graph_of({placeholder("x"), claims}, {negate}), "'Tout'");
}

TEST(GraphDefs, AreRefusedWhenTheyNestTooDeep) {
  auto nested = [](int depth) {
    std::vector<proto::FunctionDef> functions = {function_def("f0", node("n", "Neg", {"x"}), "n:y:0")};
    for (int i = 1; i < depth; ++i)
      functions.push_back(
          function_def("f" + std::to_string(i), call_of("n", "f" + std::to_string(i - 1), "x"), "n:output:0"));
    return graph_of({placeholder("x"), call_of("y", functions.back().signature.name, "x")}, functions);
  };
  EXPECT_EQ(run(from_graph_def(nested(100)), {Tensor(3.0f)})[0].item<float>(), -3);
  expect_refused(nested(101), "nested more than 100 deep");
}

TEST(GraphDefs, AreRefusedForWhatIsAskedOfThem) {
  GraphDef g = graph_of({placeholder("x"), node("y", "Neg", {"x"})});
  expect_refused(g, "the input 'z' is no node", {.inputs = {{"z"}}});
  expect_refused(g, "the output 'z' is no node", {.outputs = {{"z"}}});
  expect_refused(g, "has no output 1", {.outputs = {{"y:1"}}});
  expect_refused(g, "no placeholder", {.inputs = {{"y"}}});
  expect_refused(g, "twice", {.inputs = {{"x", "x"}}});
  expect_refused(g, "node 'x' (Placeholder): the outputs need this placeholder",
                 {.inputs = {std::vector<std::string>{}}});
}

}  // namespace
}  // namespace thalweg::io
