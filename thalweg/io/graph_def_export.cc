#include <algorithm>
#include <map>
#include <set>

#include "thalweg/core/error.h"
#include "thalweg/core/resource.h"
#include "thalweg/io/function_def.h"
#include "thalweg/io/graph_def.h"
#include "thalweg/io/node_def.h"
#include "thalweg/io/tensor_proto.h"

namespace thalweg::io {
namespace {

using graph::Graph;
using graph::Node;
using graph::Value;

// What TensorFlow 2.15 writes.
constexpr int32_t producer = 1645, min_consumer = 12;

bool is_handle(const Node& n) { return n.is_constant() && n.constant.dtype() == DType::resource; }
/// What a handle leads to: two constants may hold the same variable.
const void* target_of(const Tensor& handle) {
  if (handle.rank() != 0) return handle.impl();
  return static_cast<const ResourceHandle*>(handle.impl()->data)->get();
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
/// A name that TensorFlow takes for a node.
std::string node_name(const std::string& name) {
  std::string text = name;
  for (char& c : text)
    if (!is_letter(c) && !is_digit(c) && std::string_view("_.\\/>-").find(c) == std::string_view::npos) c = '_';
  if (text.empty() || !(is_letter(text[0]) || is_digit(text[0]) || text[0] == '.')) text.insert(0, "n");
  return text;
}
/// A name that TensorFlow takes for an argument of a function.
std::string argument_name(const std::string& name) {
  std::string text = name;
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (!is_letter(c) && !is_digit(c)) c = '_';
  }
  if (text.empty() || !is_letter(text[0])) text.insert(0, "arg_");
  return text;
}

std::vector<FunctionAttr> functions_in(const Node& n) {
  std::vector<FunctionAttr> all;
  if (!n.op->attrs || n.is_constant()) return all;
  for (int row = 0; row < static_cast<int>(n.op->attrs->rows.size()); ++row) {
    const AttrKind kind = n.op->attrs->rows[static_cast<size_t>(row)].type->kind;
    if (kind != AttrKind::function && kind != AttrKind::functions) continue;
    const AttrValue value = n.op->attrs->get(n.attrs.get(), row);
    if (auto* one = std::get_if<FunctionAttr>(&value); one && *one) all.push_back(*one);
    if (auto* list = std::get_if<std::vector<FunctionAttr>>(&value))
      for (const FunctionAttr& f : *list)
        if (f) all.push_back(f);
  }
  return all;
}

/// How many of a node's outputs each result of the signature is; lists have the same length.
std::vector<int> result_counts(const Op& op, size_t outputs) {
  auto lists = static_cast<size_t>(
      std::count_if(op.results.begin(), op.results.end(), [](const Arg& a) { return a.is_list(); }));
  const size_t singles = op.results.size() - lists;
  std::vector<int> counts;
  for (const Arg& a : op.results)
    counts.push_back(a.is_list() ? static_cast<int>((outputs - std::min(outputs, singles)) / lists) : 1);
  return counts;
}

/// Handles in the order in which they are met, each target once.
struct Handles {
  std::vector<Tensor> list = {};
  void add(const Tensor& handle) {
    for (const Tensor& other : list)
      if (target_of(other) == target_of(handle)) return;
    list.push_back(handle);
  }
  void add(const Handles& others) {
    for (const Tensor& handle : others.list) add(handle);
  }
};

/// The functions of a graph, each written once for each set of handles it is passed.
class Library {
 public:
  explicit Library(std::vector<proto::FunctionDef>& out) : out_(out) {}

  /// The objects from outside that a function uses, itself or through others.
  const Handles& handles_of(const FunctionBody& body) {
    auto [found, is_new] = handles_.try_emplace(&body);
    if (!is_new) return found->second;
    Handles handles;
    const Graph& graph = body.graph();
    const std::vector<uint8_t> needed = graph::needed_nodes(graph, graph.results);
    for (const Node& n : graph.nodes()) {
      if (!needed[static_cast<size_t>(n.id)]) continue;
      if (is_handle(n)) handles.add(n.constant);
      for (const FunctionAttr& f : functions_in(n)) handles.add(handles_of(*f));
    }
    return handles_[&body] = std::move(handles);
  }

  /// The name of the function with these handles as its last arguments and, with `pass_on`, its last results.
  std::string name_of(const FunctionBody& body, const Handles& handles, bool pass_on);

 private:
  using Key = std::tuple<const FunctionBody*, std::vector<const void*>, bool>;
  std::vector<proto::FunctionDef>& out_;
  std::map<const FunctionBody*, Handles> handles_;
  std::map<Key, std::string> names_;
  UniqueNames used_;
};

/// Writes the nodes of one graph: of a GraphDef, or of a function.
class GraphWriter {
 public:
  GraphWriter(const FunctionBody& body, Library& library, std::vector<proto::NodeDef>& out, bool in_function)
      : graph_(body.graph()), library_(library), out_(out), in_function_(in_function) {}

  /// Names the arguments, then those that stand for handles.
  void name_arguments(const Handles& handles) {
    names_.resize(graph_.nodes().size());
    is_argument_.resize(graph_.nodes().size());
    for (const Node* n : graph_.arguments) {
      is_argument_[static_cast<size_t>(n->id)] = true;
      std::string& name = names_[static_cast<size_t>(n->id)];
      name = used_.make(in_function_ ? argument_name(n->name) : node_name(n->name));
      arguments_.push_back(name);
    }
    for (const Tensor& handle : handles.list) {
      std::string name = used_.make("captured_handle");
      handles_[target_of(handle)] = name;
      handle_names_.push_back(std::move(name));
    }
  }
  const std::vector<std::string>& arguments() const { return arguments_; }
  const std::vector<std::string>& handle_names() const { return handle_names_; }
  const std::string& last_effect() const { return last_effect_; }

  void write_nodes() {
    const std::vector<uint8_t> needed = graph::needed_nodes(graph_, graph_.results);
    for (const Node& n : graph_.nodes()) {
      const bool is_argument = is_argument_[static_cast<size_t>(n.id)];
      if (is_handle(n) || (is_argument ? in_function_ : !needed[static_cast<size_t>(n.id)])) continue;
      std::string& name = names_[static_cast<size_t>(n.id)];
      if (name.empty()) name = used_.make(node_name(n.name));
      out_.push_back(write(n, name));
    }
  }

  /// How an input that is this value is written.
  std::string text_of(const Value& v) const {
    if (is_handle(*v.node)) return handles_.at(target_of(v.node->constant));
    const std::string& name = names_[static_cast<size_t>(v.node->id)];
    if (!in_function_) return graph_input(name, v.index);
    if (is_argument_[static_cast<size_t>(v.node->id)]) return name;
    return function_input(name, *v.node->op, result_counts(*v.node->op, v.node->results.size()), v.index);
  }

 private:
  proto::NodeDef write(const Node& n, const std::string& name) {
    proto::NodeDef node;
    node.name = name;
    if (n.is_constant()) {
      static const Op& constant = required_op("Const");
      node.op = constant.name;
      node.attr["dtype"].value = static_cast<proto::TypeNumber>(n.constant.dtype());
      node.attr["value"].value = Boxed(to_tensor_proto(n.constant));
      add_controls(n, node);
      return node;
    }
    std::vector<DType> inputs, outputs;
    for (const Value& v : n.inputs) {
      inputs.push_back(v.node->results[static_cast<size_t>(v.index)].dtype);
      node.input.push_back(text_of(v));
    }
    for (const graph::Spec& r : n.results) outputs.push_back(r.dtype);
    Handles handles;
    for (const FunctionAttr& f : functions_in(n)) handles.add(library_.handles_of(*f));
    const FunctionBody* loop_body = body_of_loop(n);
    write_call(
        *n.op, n.attrs, inputs, outputs,
        [&](const FunctionAttr& f) { return library_.name_of(*f, handles, f.get() == loop_body); }, node);
    if (!handles.list.empty()) pass_handles(n, handles, node);
    add_controls(n, node);
    return node;
  }

  static const FunctionBody* body_of_loop(const Node& n) {
    const int row = n.op->attrs ? n.op->attrs->find("body") : -1;
    if (row < 0) return nullptr;
    const AttrValue value = n.op->attrs->get(n.attrs.get(), row);
    auto* body = std::get_if<FunctionAttr>(&value);
    return body ? body->get() : nullptr;
  }

  /// The functions of this node use objects from outside: they come in as its last inputs.
  void pass_handles(const Node& n, const Handles& handles, proto::NodeDef& node) const {
    if (n.op->args.empty() || !n.op->args.back().mixed)
      throw InvalidArgumentError("node '" + node.name + "' (" + n.op->name +
                                 "): its functions use variables, which it cannot pass to them");
    auto list = [&](const std::string& attr) -> proto::ListValue* {
      auto found = node.attr.find(attr);
      auto* value = found == node.attr.end() ? nullptr : std::get_if<Boxed<proto::ListValue>>(&found->second.value);
      return value ? &**value : nullptr;
    };
    proto::ListValue* shapes = body_of_loop(n) ? list("output_shapes") : nullptr;
    if (shapes && shapes->shape.empty()) shapes = nullptr;
    for (const Tensor& handle : handles.list) {
      node.input.push_back(handles_.at(target_of(handle)));
      if (proto::ListValue* types = list(n.op->args.back().type_attr))
        types->type.push_back(static_cast<int32_t>(DType::resource));
      if (shapes) shapes->shape.push_back(to_shape_proto(handle.shape()));
    }
  }

  /// TensorFlow runs nodes in any order that inputs allow: what has effects waits for what was before it.
  void add_controls(const Node& n, proto::NodeDef& node) {
    std::set<std::string> before;
    for (const Node* c : n.controls)
      if (const std::string& name = names_[static_cast<size_t>(c->id)]; !name.empty()) before.insert(name);
    if (n.op->traits.stateful && !n.is_constant()) {
      if (!last_effect_.empty()) before.insert(last_effect_);
      if (n.has_effect()) {
        before.insert(observers_.begin(), observers_.end());
        observers_.clear();
        last_effect_ = node.name;
      } else {
        observers_.push_back(node.name);
      }
    }
    for (const std::string& name : before) node.input.push_back("^" + name);
  }

  const Graph& graph_;
  Library& library_;
  std::vector<proto::NodeDef>& out_;
  bool in_function_;
  UniqueNames used_;
  std::vector<std::string> names_;  // by node
  std::vector<bool> is_argument_;
  std::vector<std::string> arguments_, handle_names_;
  std::map<const void*, std::string> handles_;
  std::string last_effect_;
  std::vector<std::string> observers_;  // what looked at state since then
};

std::string Library::name_of(const FunctionBody& body, const Handles& handles, bool pass_on) {
  Key key{&body, {}, pass_on};
  for (const Tensor& handle : handles.list) std::get<1>(key).push_back(target_of(handle));
  if (auto found = names_.find(key); found != names_.end()) return found->second;
  const std::string name = names_[key] = used_.make(node_name(body.name()));

  proto::FunctionDef def;
  GraphWriter writer(body, *this, def.node_def, true);
  writer.name_arguments(handles);
  writer.write_nodes();
  FunctionSignature signature;
  signature.name = name;
  signature.stateful = body.is_stateful();
  for (size_t i = 0; i < body.num_arguments(); ++i) {
    signature.inputs.push_back({writer.arguments()[i], body.argument(i).dtype});
    proto::ListValue shapes;
    shapes.shape.push_back(to_shape_proto(body.argument(i).shape));
    def.arg_attr[static_cast<uint32_t>(i)].attr["_output_shapes"].value = Boxed(std::move(shapes));
  }
  for (size_t i = 0; i < body.num_results(); ++i) {
    std::string result = "result_" + std::to_string(i);
    signature.outputs.push_back({result, body.result(i).dtype});
    def.ret[result] = writer.text_of(body.graph().results[i]);
  }
  for (const std::string& handle : writer.handle_names()) {
    signature.inputs.push_back({handle, DType::resource});
    if (!pass_on) continue;
    std::string result = "result_" + std::to_string(signature.outputs.size());
    signature.outputs.push_back({result, DType::resource});
    def.ret[result] = handle;
  }
  if (!writer.last_effect().empty()) {
    signature.control_outputs.push_back(writer.last_effect());
    def.control_ret[writer.last_effect()] = writer.last_effect();
  }
  def.signature = to_op_def(signature);
  out_.push_back(std::move(def));
  return name;
}

}  // namespace

GraphExport to_graph_def(const FunctionBody& body) {
  GraphExport made;
  made.graph.versions = proto::VersionDef{producer, min_consumer, {}};
  proto::FunctionDefLibrary functions;
  Library library(functions.function);
  const Handles& handles = library.handles_of(body);
  GraphWriter writer(body, library, made.graph.node, false);
  writer.name_arguments(handles);
  for (size_t i = 0; i < handles.list.size(); ++i) {
    const std::string& name = writer.handle_names()[i];
    proto::NodeDef& node = made.graph.node.emplace_back();
    node.name = name;
    node.op = "Placeholder";
    node.attr["dtype"].value = static_cast<proto::TypeNumber>(DType::resource);
    node.attr["shape"].value = to_shape_proto(handles.list[i].shape());
    made.captures.emplace_back(name, handles.list[i]);
  }
  writer.write_nodes();
  made.arguments = writer.arguments();
  for (const Value& v : body.graph().results) {
    std::string text = writer.text_of(v);
    made.results.push_back(text.find(':') == text.npos ? text + ":0" : std::move(text));
  }
  made.effects = writer.last_effect();
  if (!functions.function.empty()) made.graph.library = std::move(functions);
  return made;
}

}  // namespace thalweg::io
