#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "thalweg/core/error.h"
#include "thalweg/graph/known_dims.h"
#include "thalweg/io/function_def.h"
#include "thalweg/io/graph_def.h"
#include "thalweg/io/graph_wiring.h"
#include "thalweg/io/node_def.h"
#include "thalweg/io/tensor_proto.h"

namespace thalweg::io {
namespace {

using graph::Graph;
using graph::GraphTracer;
using graph::Node;
using graph::Value;
using proto::FunctionDef;
using proto::NodeDef;

// What one import may make, however little the message says it with.
constexpr size_t most_outputs = 1 << 20;
constexpr size_t most_constant_bytes = size_t{1} << 28;  // of those that are lists of values
constexpr int deepest = 100;
constexpr size_t most_bodies = 8;  // of one function, for arguments of different shapes

/// A node that was added: its values, and how inputs inside functions name them.
struct Added {
  std::vector<Value> values = {};
  const Op* op = nullptr;                        // or
  const FunctionSignature* signature = nullptr;  // of the function it calls by name
  std::vector<int> counts = {};
  std::vector<Node*> controls = {};  // what who waits for it waits for

  const Value& at(const NodeInput& in) const {
    size_t position = static_cast<size_t>(in.index);
    if (!in.output.empty() && signature) {
      auto found = std::find_if(signature->outputs.begin(), signature->outputs.end(),
                                [&](const FunctionSignature::Arg& a) { return a.name == in.output; });
      if (found == signature->outputs.end() || in.index != 0) position = values.size();
      else position = static_cast<size_t>(found - signature->outputs.begin());
    } else if (!in.output.empty() && op) {
      position = static_cast<size_t>(output_position(in, *op, counts));
    }
    if (position >= values.size())
      throw InvalidArgumentError("node '" + in.node + "' has no output " +
                                 (in.output.empty() ? "" : "'" + in.output + "' ") + std::to_string(in.index));
    return values[position];
  }
};

class Importer {
 public:
  explicit Importer(const proto::GraphDef& graph) : graph_(graph) {
    if (!graph.library) return;
    for (const FunctionDef& f : graph.library->function)
      if (!library_.try_emplace(f.signature.name, Entry{&f}).second)
        throw InvalidArgumentError("the library has two functions of the name '" + f.signature.name + "'");
  }

  FunctionAttr import(const ImportOptions& options);

 private:
  struct Entry {
    const FunctionDef* def = nullptr;
    FunctionSignature signature = {};
    std::vector<std::pair<std::vector<Shape>, FunctionAttr>> bodies = {};  // by the shapes of their arguments
    bool in_progress = false;
  };
  /// While a function is made.
  struct Level {
    Level(Entry& made, int& counted) : entry(made), depth(counted) {
      entry.in_progress = true;
      ++depth;
    }
    ~Level() {
      entry.in_progress = false;
      --depth;
    }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    Entry& entry;
    int& depth;
  };
  /// One graph or function while it is made.
  struct Scope {
    GraphTracer& tracer;
    const Wiring& wiring;
    const std::map<std::string, size_t>* arguments;  // positions by name, in functions
    std::vector<Added> added;                        // by node
    std::string function = {};
  };

  /// For arguments of these shapes; empty where nothing is known of them.
  FunctionAttr function_named(const std::string& name, std::vector<Shape> shapes);
  FunctionAttr make_function(Entry& entry, const std::vector<Shape>& shapes);
  std::vector<Shape> shapes_in_functions(const NodeDef& node, const std::vector<Tensor>& inputs);
  void add(Scope& scope, const NodeDef& node, size_t index);
  void add_checked(Scope& scope, const NodeDef& node, size_t index);
  Added add_op(Scope& scope, const NodeDef& node, const std::vector<Value>& inputs, std::vector<Node*> controls);
  Value argument(Scope& scope, const NodeDef& node) const;
  std::vector<Value> values_of(const Scope& scope, size_t index) const;
  static std::vector<Node*> controls_of(const Scope& scope, size_t index);
  void count_outputs(const NodeDef& node, size_t count) {
    num_outputs_ += count;
    if (num_outputs_ > most_outputs)
      throw errors::ResourceExhaustedError(where(node) + ": the graph has more than " + std::to_string(most_outputs) +
                                           " outputs of nodes");
  }

  /// A list of values may stand for more elements than it has; bytes are what they are.
  void count_constant(const NodeDef& node, const Tensor& value) {
    auto found = node.attr.find("value");
    const auto* message =
        found == node.attr.end() ? nullptr : std::get_if<Boxed<proto::TensorProto>>(&found->second.value);
    if (message && !(*message)->tensor_content.empty()) return;
    constant_bytes_ += static_cast<size_t>(value.size()) * size_of(value.dtype());
    if (constant_bytes_ > most_constant_bytes)
      throw errors::ResourceExhaustedError(where(node) + ": the graph's constants are larger than " +
                                           std::to_string(most_constant_bytes) + " bytes");
  }

  const proto::GraphDef& graph_;
  std::map<std::string, Entry> library_;
  size_t num_outputs_ = 0, constant_bytes_ = 0;
  int depth_ = 0;
  bool located_ = false;  // an error on its way out says already where it happened
};

FunctionAttr Importer::function_named(const std::string& name, std::vector<Shape> shapes) {
  auto found = library_.find(name);
  if (found == library_.end()) return nullptr;
  Entry& entry = found->second;
  if (entry.bodies.size() >= most_bodies || shapes.size() != entry.def->signature.input_arg.size())
    shapes.assign(entry.def->signature.input_arg.size(), Shape::unknown_rank());
  for (const auto& [known, body] : entry.bodies)
    if (known == shapes) return body;
  if (entry.in_progress) throw InvalidArgumentError("the function '" + name + "' calls itself");
  if (depth_ >= deepest)
    throw InvalidArgumentError("functions are nested more than " + std::to_string(deepest) + " deep at '" + name + "'");
  FunctionAttr body;
  try {
    Level level(entry, depth_);
    body = make_function(entry, shapes);
  } catch (const Error&) {
    // A part that never runs may be wrong for these shapes: then it is said when it does.
    if (std::ranges::none_of(shapes, [](const Shape& s) { return s.has_rank(); })) throw;
    located_ = false;
    return function_named(name, {});
  }
  entry.bodies.emplace_back(std::move(shapes), body);
  return body;
}

FunctionAttr Importer::make_function(Entry& entry, const std::vector<Shape>& shapes) {
  entry.signature = from_op_def(entry.def->signature);
  const FunctionSignature& signature = entry.signature;
  std::map<std::string, size_t> arguments;
  for (size_t i = 0; i < signature.inputs.size(); ++i) arguments[signature.inputs[i].name] = i;
  const Wiring wiring(entry.def->node_def, &arguments);
  GraphTracer tracer(nullptr);
  graph::Tracing tracing(&tracer);
  Scope scope{tracer, wiring, &arguments, std::vector<Added>(entry.def->node_def.size()), signature.name};
  for (size_t i = 0; i < signature.inputs.size(); ++i) {
    tracer.argument(signature.inputs[i].dtype, shapes[i]);
    tracer.graph().arguments.back()->name = signature.inputs[i].name;
  }
  for (size_t i : wiring.order()) add(scope, entry.def->node_def[i], i);
  for (const FunctionSignature::Arg& result : signature.outputs) {
    const std::string what = "function '" + signature.name + "': the result '" + result.name + "'";
    auto found = entry.def->ret.find(result.name);
    if (found == entry.def->ret.end()) throw InvalidArgumentError(what + " is not said to be any node's");
    const NodeInput in = parse_function_input(found->second);
    Value value;
    if (auto node = wiring.find(in.node); node && !in.is_control && !in.output.empty())
      value = scope.added[*node].at(in);
    else if (auto arg = arguments.find(in.node); arg != arguments.end() && !in.is_control && in.output.empty())
      value = {tracer.graph().arguments[arg->second], 0};
    else throw InvalidArgumentError(what + " is '" + found->second + "', which is no output of a node");
    const DType dtype = value.node->results[static_cast<size_t>(value.index)].dtype;
    if (dtype != result.dtype)
      throw InvalidArgumentError(what + " is " + std::string(name_of(dtype)) + ", the signature says " +
                                 std::string(name_of(result.dtype)));
    tracer.graph().results.push_back(value);
  }
  return std::make_shared<FunctionBody>(signature.name, std::move(tracer.graph()));
}

std::vector<Value> Importer::values_of(const Scope& scope, size_t index) const {
  std::vector<Value> values;
  for (const NodeInput& in : scope.wiring.inputs(index)) {
    if (in.is_control) continue;
    if (auto from = scope.wiring.find(in.node)) values.push_back(scope.added[*from].at(in));
    else if (in.output.empty()) values.push_back({scope.tracer.graph().arguments[scope.arguments->at(in.node)], 0});
    else throw InvalidArgumentError("the input '" + in.node + ":" + in.output + "': an argument has no outputs");
  }
  return values;
}

// Arguments and constants are there before anything runs.
std::vector<Node*> Importer::controls_of(const Scope& scope, size_t index) {
  std::vector<Node*> controls;
  for (const NodeInput& in : scope.wiring.inputs(index)) {
    auto from = in.is_control ? scope.wiring.find(in.node) : std::nullopt;
    if (!from) continue;
    for (Node* n : scope.added[*from].controls)
      if (std::find(controls.begin(), controls.end(), n) == controls.end()) controls.push_back(n);
  }
  return controls;
}

void Importer::add(Scope& scope, const NodeDef& node, size_t index) {
  try {
    add_checked(scope, node, index);
  } catch (Error& e) {
    if (!located_)
      e.add_context(" [" + where(node) + (scope.function.empty() ? "" : " of the function '" + scope.function + "'") +
                    "]");
    located_ = true;
    throw;
  }
}

void Importer::add_checked(Scope& scope, const NodeDef& node, size_t index) {
  std::vector<Value> inputs = values_of(scope, index);
  if (node.op == "NoOp") {
    if (!inputs.empty()) refuse(node, "it takes control inputs only");
    scope.added[index].controls = controls_of(scope, index);
    return;
  }
  Added& added = scope.added[index];
  if (node.op == "_Retval") {
    if (inputs.size() != 1) refuse(node, "it takes one input, got " + std::to_string(inputs.size()));
    added.values = inputs;
    return;
  }
  if (auto called = library_.find(node.op); called != library_.end()) {
    std::vector<Shape> shapes;
    for (const Value& v : inputs) shapes.push_back(scope.tracer.tensor_of(v).shape());
    FunctionAttr body = function_named(node.op, std::move(shapes));
    NodeDef call;
    call.name = node.name;
    call.op = body->is_stateful() ? "StatefulPartitionedCall" : "PartitionedCall";
    call.attr["f"].value = Boxed(proto::NameAttrList{node.op, {}});
    proto::ListValue tout;
    for (size_t i = 0; i < body->num_results(); ++i) tout.type.push_back(static_cast<int32_t>(body->result(i).dtype));
    call.attr["Tout"].value = Boxed(std::move(tout));
    added = add_op(scope, call, inputs, controls_of(scope, index));
    added.op = nullptr;
    added.signature = &called->second.signature;
    return;
  }
  if (!find_op(node.op)) throw NotFoundError(where(node) + ": there is no record of the op '" + node.op + "'");
  added = add_op(scope, node, inputs, controls_of(scope, index));
}

// What is known here of the arguments of a node's functions: it was worked out, so it is true whenever they run. They
// get the list among the inputs; one before it chooses between them. What a loop knows of its values must hold after
// every turn.
std::vector<Shape> Importer::shapes_in_functions(const NodeDef& node, const std::vector<Tensor>& inputs) {
  const Op* op = find_op(node.op);
  std::vector<Shape> shapes;
  if (!op || !op->follow) return shapes;
  for (size_t i = op->args[0].is_list() ? 0 : 1; i < inputs.size(); ++i) shapes.push_back(inputs[i].shape());
  if (op->attrs->find("body") < 0) return shapes;
  auto found = node.attr.find("body");
  const auto* name = found == node.attr.end() ? nullptr : std::get_if<Boxed<proto::NameAttrList>>(&found->second.value);
  for (int attempt = 0; name && attempt < 3; ++attempt) {
    const FunctionAttr body = function_named((*name)->name, shapes);
    if (!body || body->num_results() != shapes.size() || body->num_arguments() != shapes.size()) break;
    bool stays = true;
    for (size_t i = 0; i < shapes.size(); ++i) {
      Shape both = shapes[i].most_general_common_supershape(body->result(i).shape);
      stays &= both == shapes[i];
      shapes[i] = both;
    }
    if (stays) return shapes;
  }
  return {};
}

/// The types that attributes give results must be those that the results have.
void check_result_types(const NodeDef& node, const Op& op, std::span<TensorImpl* const> out,
                        const std::vector<int>& counts) {
  for (size_t r = 0, at = 0; r < op.results.size(); at += static_cast<size_t>(counts[r++])) {
    const Arg& result = op.results[r];
    auto found = node.attr.find(result.type_attr);
    if (result.type_attr.empty() || found == node.attr.end()) continue;
    const auto* one = std::get_if<proto::TypeNumber>(&found->second.value);
    const auto* list = std::get_if<Boxed<proto::ListValue>>(&found->second.value);
    for (size_t i = 0; i < static_cast<size_t>(counts[r]); ++i) {
      int32_t wanted = one ? static_cast<int32_t>(*one) : 0;
      if (list) wanted = i < (*list)->type.size() ? (*list)->type[i] : 0;
      const DType got = out[at + i]->dtype;
      if (wanted != static_cast<int32_t>(got))
        refuse(node, "the attribute '" + result.type_attr + "' does not say that output " + std::to_string(at + i) +
                         " is " + std::string(name_of(got)));
    }
  }
}

Added Importer::add_op(Scope& scope, const NodeDef& node, const std::vector<Value>& inputs,
                       std::vector<Node*> controls) {
  std::vector<Tensor> held;
  std::vector<DType> types;
  for (const Value& v : inputs) {
    held.push_back(scope.tracer.tensor_of(v));
    types.push_back(held.back().dtype());
  }
  const std::vector<Shape> shapes = shapes_in_functions(node, held);
  NodeCall call = read_call(node, types, [&](const std::string& name) { return function_named(name, shapes); });
  const Op& op = *call.op;
  // What is claimed of shapes inside functions would be believed by the plan, so it is worked out instead.
  if (op.attrs) graph::set_attr(op, call.attrs, "output_shapes", std::vector<Shape>());
  size_t outputs = 0;
  for (int count : call.result_counts) outputs += static_cast<size_t>(count);
  count_outputs(node, outputs);

  struct Described {
    explicit Described(size_t count) : all(count) {
      for (TensorImpl*& t : all) t = TensorImpl::make();
    }
    ~Described() {
      for (TensorImpl* t : all) {
        t->dtype = DType::invalid;  // there are no elements to destroy
        release(t);
      }
    }
    std::vector<TensorImpl*> all;
  } described(outputs);
  const std::vector<TensorRef> in(held.begin(), held.end());
  const AttrsRef attrs = op.attrs ? AttrsRef(call.attrs) : op.default_attrs();
  InferCall infer(op, in, attrs, described.all);
  op.infer(infer);
  check_result_types(node, op, described.all, call.result_counts);

  Graph& graph = scope.tracer.graph();
  Added added{.op = &op, .counts = call.result_counts};
  Node* made;
  if (op.name == std::string_view("Const")) {
    const AttrValue value = op.attrs->get(call.attrs.get(), op.attrs->find("value"));
    const Tensor& tensor = std::get<Tensor>(value);
    count_constant(node, tensor);
    made = &graph.add_constant(tensor);
  } else {
    made = &graph.add(op, attrs, inputs, static_cast<int>(outputs));
    for (size_t i = 0; i < outputs; ++i) made->results[i] = {described.all[i]->dtype, described.all[i]->shape};
    graph::infer_known_dims(*made);
  }
  made->name = node.name;
  // A constant that waits makes others wait, but there is no more to it.
  if (made->is_constant()) added.controls = controls;
  else added.controls = {made};
  made->controls = std::move(controls);
  for (size_t i = 0; i < outputs; ++i) added.values.push_back({made, static_cast<int>(i)});
  return added;
}

bool is_placeholder(const NodeDef& node) { return node.op == "Placeholder" || node.op == "_Arg"; }
bool can_be_fed(const NodeDef& node) { return is_placeholder(node) || node.op == "PlaceholderWithDefault"; }

int64_t index_of(const NodeDef& node) {
  auto found = node.attr.find("index");
  const auto* index = found == node.attr.end() ? nullptr : std::get_if<int64_t>(&found->second.value);
  if (!index || *index < 0) refuse(node, "the attribute 'index' is needed");
  return *index;
}
/// Nodes by their attribute `index`, where their op has it.
void sort_by_index(const std::vector<NodeDef>& nodes, std::vector<size_t>& list, std::string_view op) {
  std::map<int64_t, size_t> indexed;
  std::vector<size_t> rest;
  for (size_t i : list) {
    if (nodes[i].op != op) rest.push_back(i);
    else if (!indexed.emplace(index_of(nodes[i]), i).second) refuse(nodes[i], "another node has its index");
  }
  list.clear();
  for (const auto& [index, i] : indexed) list.push_back(i);
  list.insert(list.end(), rest.begin(), rest.end());
}

Value Importer::argument(Scope& scope, const NodeDef& node) const {
  const char* const type_attr = node.op == "_Arg" ? "T" : "dtype";
  auto type = node.attr.find(type_attr);
  const auto* number = type == node.attr.end() ? nullptr : std::get_if<proto::TypeNumber>(&type->second.value);
  if (!number) refuse(node, std::string("the attribute '") + type_attr + "' is missing, or no type");
  Shape shape = Shape::unknown_rank();
  if (auto found = node.attr.find("shape"); found != node.attr.end() && node.op != "_Arg") {
    const auto* message = std::get_if<proto::TensorShapeProto>(&found->second.value);
    if (!message) refuse(node, "the attribute 'shape' is no shape");
    shape = from_shape_proto(*message);
  }
  scope.tracer.argument(dtype_of_number(static_cast<int64_t>(*number), where(node)), shape);
  Node* made = scope.tracer.graph().arguments.back();
  made->name = node.name;
  return {made, 0};
}

FunctionAttr Importer::import(const ImportOptions& options) {
  const std::vector<NodeDef>& nodes = graph_.node;
  const Wiring wiring(nodes, nullptr);
  auto find = [&](const std::string& text, const char* what) {
    NodeInput in = parse_graph_input(text);
    auto node = wiring.find(in.node);
    if (!node || in.is_control)
      throw InvalidArgumentError(std::string("the ") + what + " '" + text + "' is no node of the graph");
    return std::pair(*node, in);
  };

  std::vector<size_t> inputs, roots;
  std::vector<uint8_t> is_input(nodes.size());
  if (options.inputs) {
    for (const std::string& text : *options.inputs) {
      auto [node, in] = find(text, "input");
      if (!can_be_fed(nodes[node]) || in.index != 0)
        refuse(nodes[node], "it is no placeholder, so it cannot be an input");
      if (is_input[node]++) refuse(nodes[node], "it is an input twice");
      inputs.push_back(node);
    }
  } else {
    for (size_t i = 0; i < nodes.size(); ++i)
      if (is_placeholder(nodes[i])) inputs.push_back(i), is_input[i] = 1;
    sort_by_index(nodes, inputs, "_Arg");
  }
  std::vector<std::pair<size_t, NodeInput>> outputs;
  if (options.outputs) {
    for (const std::string& text : *options.outputs) outputs.push_back(find(text, "output"));
    for (const auto& output : outputs) roots.push_back(output.first);
  } else {
    for (size_t i = 0; i < nodes.size(); ++i)
      if (!wiring.is_read(i)) roots.push_back(i);
    sort_by_index(nodes, roots, "_Retval");
  }

  const std::vector<uint8_t> needed = wiring.needed_by(roots, is_input);
  GraphTracer tracer(nullptr);
  graph::Tracing tracing(&tracer);
  Scope scope{tracer, wiring, nullptr, std::vector<Added>(nodes.size())};
  static const Op& placeholder = required_op("Placeholder");
  for (size_t i : inputs) scope.added[i] = {{argument(scope, nodes[i])}, &placeholder, nullptr, {1}};
  for (size_t i : wiring.order()) {
    if (!needed[i] || is_input[i]) continue;
    if (is_placeholder(nodes[i])) refuse(nodes[i], "the outputs need this placeholder, which is no input");
    add(scope, nodes[i], i);
  }
  if (options.outputs) {
    for (const auto& [node, in] : outputs) tracer.graph().results.push_back(scope.added[node].at(in));
  } else {
    for (size_t i : roots)
      for (const Value& v : scope.added[i].values)
        if (!is_input[i]) tracer.graph().results.push_back(v);
  }
  return std::make_shared<FunctionBody>(options.name, std::move(tracer.graph()));
}

}  // namespace

FunctionAttr from_graph_def(const proto::GraphDef& graph, const ImportOptions& options) {
  return Importer(graph).import(options);
}

}  // namespace thalweg::io
