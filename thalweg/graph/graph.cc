#include "thalweg/graph/graph.h"

#include <mutex>
#include <ostream>
#include <unordered_set>

#include "thalweg/core/error.h"
#include "thalweg/core/name_scope.h"
#include "thalweg/core/seed.h"
#include "thalweg/graph/function_core.h"

namespace thalweg::graph {
namespace {

/// The graphs that there are.
struct Living {
  std::mutex mutex;
  uint64_t last = 0;
  std::unordered_set<uint64_t> serials;
};
Living& living() {
  static auto& kept = *new Living;
  return kept;
}

const Op& record(const char* name) { return required_op(name); }

std::string value_text(const Value& v) {
  std::string text = "%" + std::to_string(v.node->id);
  return v.index == 0 ? text : text + ":" + std::to_string(v.index);
}

std::string attrs_text(const Node& n) {
  std::string text;
  if (!n.op->attrs || n.is_constant()) return text;
  for (size_t i = 0; i < n.op->attrs->rows.size(); ++i) {
    int row = static_cast<int>(i);
    std::string value = to_string(n.op->attrs->get(n.attrs.get(), row));
    if (value == to_string(n.op->attrs->get(n.op->attrs->defaults, row))) continue;
    text += (text.empty() ? " {" : ", ") + std::string(n.op->attrs->rows[i].name) + ": " + value;
  }
  return text.empty() ? text : text + "}";
}

// Ops with seeds and state go on from call to call.
bool draws(const Op& op) { return op.traits.stateful && op.attrs && op.attrs->find("seed2") >= 0; }

}  // namespace

Serial::Serial() {
  std::lock_guard lock(living().mutex);
  value_ = ++living().last;
  living().serials.insert(value_);
}
Serial::~Serial() {
  if (!value_) return;
  std::lock_guard lock(living().mutex);
  living().serials.erase(value_);
}
Serial& Serial::operator=(Serial&& other) noexcept {
  Serial before(std::move(*this));
  value_ = std::exchange(other.value_, 0);
  return *this;
}

Label label_of(const TensorImpl& symbolic) {
  const Origin origin = origin_of(symbolic);
  std::lock_guard lock(living().mutex);  // until the name is read, the graph cannot go
  if (!living().serials.contains(origin.graph)) return {};
  return {origin.node->name, origin.node->op->name};
}

Graph::Graph() = default;

Node& Graph::add(const Op& op, AttrsRef attrs, std::vector<Value> inputs, int num_results) {
  constexpr size_t most_nodes = 10'000'000;
  if (nodes_.size() >= most_nodes)
    throw ResourceExhaustedError("a traced function has more than " + std::to_string(most_nodes) +
                                 " nodes: use tf.while_loop instead of an unrolled loop");
  Node& n = nodes_.emplace_back();
  n.op = &op;
  if (op.attrs) n.attrs = Attrs(*op.attrs, attrs.p ? attrs : op.default_attrs());
  n.inputs = std::move(inputs);
  n.results.resize(static_cast<size_t>(num_results));
  n.id = static_cast<int>(nodes_.size() - 1);
  n.name = names_.make(scoped_name(op.name));
  if (draws(op)) n.stream = std::make_shared<RandomStream>();
  return n;
}

Node& Graph::add_placeholder(DType dtype, const Shape& shape, const std::string& name) {
  static const Op& placeholder = record("Placeholder");
  Node& n = add(placeholder, {}, {}, 1);
  set_attr(placeholder, n.attrs, "dtype", dtype);
  set_attr(placeholder, n.attrs, "shape", shape);
  n.results[0] = {dtype, shape};
  if (!name.empty()) n.name = names_.make(name);
  return n;
}

Node& Graph::add_constant(const Tensor& value) {
  static const Op& constant = record("Const");
  Node& n = add(constant, {}, {}, 1);
  n.constant = value;
  n.results[0] = {value.dtype(), value.shape()};
  return n;
}

Node& Graph::append(const Node& like, std::vector<Value> inputs, std::vector<Node*> controls) {
  Node& n = nodes_.emplace_back();
  n.op = like.op;
  if (like.op->attrs) n.attrs = Attrs(*like.op->attrs, like.attrs);
  n.stream = like.stream;
  n.inputs = std::move(inputs);
  n.controls = std::move(controls);
  n.results = like.results;
  n.dims = like.dims;
  n.name = like.name;
  n.constant = like.constant;
  n.where = like.where;
  n.id = static_cast<int>(nodes_.size() - 1);
  return n;
}

Node& Graph::prepend_constant(const Tensor& value) {
  static const Op& constant = record("Const");
  Node& n = nodes_.emplace_front();
  n.op = &constant;
  if (constant.attrs) n.attrs = Attrs(*constant.attrs);
  n.constant = value;
  n.results = {{value.dtype(), value.shape()}};
  n.name = names_.make(constant.name);
  return n;
}

void Graph::renumber() {
  int id = 0;
  for (Node& n : nodes_) n.id = id++;
}

Graph Graph::copy(const std::vector<uint8_t>& kept) const {
  Graph made;
  std::vector<Node*> copies(nodes_.size());
  auto mapped = [&](const Node* n) { return copies[static_cast<size_t>(n->id)]; };
  for (const Node& n : nodes_) {
    if (!kept.empty() && !kept[static_cast<size_t>(n.id)]) continue;
    std::vector<Value> inputs;
    inputs.reserve(n.inputs.size());
    for (const Value& v : n.inputs) inputs.push_back({mapped(v.node), v.index});
    std::vector<Node*> controls;
    for (const Node* c : n.controls) controls.push_back(mapped(c));
    copies[static_cast<size_t>(n.id)] = &made.append(n, std::move(inputs), std::move(controls));
  }
  for (const Node* n : arguments) made.arguments.push_back(mapped(n));
  for (const Value& v : results) made.results.push_back({mapped(v.node), v.index});
  made.jit_compile = jit_compile;
  return made;
}

std::string Graph::str() const {
  std::string text;
  for (const Node& n : nodes_) {
    text += "%" + std::to_string(n.id) + " = " + n.op->name;
    if (n.op->name != n.name) text += " '" + n.name + "'";
    text += "(";
    for (size_t i = 0; i < n.inputs.size(); ++i) text += (i ? ", " : "") + value_text(n.inputs[i]);
    text += ")" + attrs_text(n);
    for (size_t i = 0; i < n.results.size(); ++i)
      text += (i ? ", " : ": ") + std::string(name_of(n.results[i].dtype)) + " " + n.results[i].shape.str();
    text += "\n";
  }
  text += "return";
  for (size_t i = 0; i < results.size(); ++i) text += (i ? ", " : " ") + value_text(results[i]);
  return text + "\n";
}

std::ostream& operator<<(std::ostream& out, const Graph& graph) { return out << graph.str(); }

void make_symbolic(TensorImpl& t, const Graph& graph, Value value) {
  Origin origin{graph.serial(), value.node, value.index};
  t.form = Form::symbolic;
  t.data = nullptr;
  std::memcpy(t.inline_data, &origin, sizeof origin);
}

Tensor Graph::symbol_of(Value value) const {
  Tensor t(TensorImpl::make());
  const Spec& spec = value.node->results[static_cast<size_t>(value.index)];
  t.impl()->dtype = spec.dtype;
  t.impl()->shape = spec.shape;
  make_symbolic(*t.impl(), *this, value);
  return t;
}

std::vector<uint8_t> needed_nodes(const Graph& graph, const std::vector<Value>& results, bool keep_effects,
                                  int first_effect) {
  std::vector<uint8_t> needed(graph.nodes().size());
  for (const Value& v : results) needed[static_cast<size_t>(v.node->id)] = 1;
  for (size_t i = needed.size(); i-- > 0;) {  // users come after what they use
    const Node& n = graph.nodes()[i];
    if (keep_effects && n.id >= first_effect && n.has_effect()) needed[i] = 1;
    if (!needed[i]) continue;
    for (const Value& v : n.inputs) needed[static_cast<size_t>(v.node->id)] = 1;
    for (const Node* c : n.controls) needed[static_cast<size_t>(c->id)] = 1;
  }
  return needed;
}

}  // namespace thalweg::graph
