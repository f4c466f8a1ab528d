// Graphs: what tracing writes down. Nodes refer to records; everything else about an op is asked of its record.
#pragma once
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "thalweg/core/unique_names.h"
#include "thalweg/graph/where.h"
#include "thalweg/ops/op.h"

namespace thalweg {
class RandomStream;
}

namespace thalweg::graph {

struct Node;

/// One result of a node.
struct Value {
  Node* node = nullptr;
  int index = 0;
  friend bool operator==(const Value&, const Value&) = default;
  friend auto operator<=>(const Value&, const Value&) = default;
};

/// What is known of a result before it is computed.
struct Spec {
  DType dtype = DType::invalid;
  Shape shape = {};
};

/// One op in a graph. A node with a `constant` stands for that tensor: a number written in the program, or a tensor or
/// variable from outside of the function.
struct Node {
  const Op* op = nullptr;
  Attrs attrs = {};
  std::vector<Value> inputs = {};
  std::vector<Node*> controls = {};  // run before it, for their effects
  std::vector<Spec> results = {};
  std::vector<Shape> dims = {};  // where results are vectors of integers: what is known of the dimensions they hold
  std::string name = {};
  Tensor constant = {};
  std::shared_ptr<RandomStream> stream = {};  // of an op that draws random numbers: goes on from run to run
  int id = 0;                                 // nodes are in program order
  Where where = {};                           // in the program that was traced

  bool is_constant() const { return constant.defined(); }
  /// Whether it does something that is seen even when no result is used.
  bool has_effect() const { return op->traits.stateful && !op->traits.observes && !is_constant(); }
};

/// What is known of a value.
inline const Spec& spec_of(Value v) { return v.node->results[static_cast<size_t>(v.index)]; }

/// An attribute of a node by its name; `otherwise` where the op has none of that name, or the value is None.
template <class T> T get_attr(const Node& n, std::string_view name, const T& otherwise = {}) {
  const int row = n.op->attrs && n.attrs.get() ? n.op->attrs->find(name) : -1;
  if (row < 0) return otherwise;
  AttrValue value = n.op->attrs->get(n.attrs.get(), row);
  T* found = std::get_if<T>(&value);
  return found ? std::move(*found) : otherwise;
}
/// Sets an attribute among those of an op, if the op has one of that name.
inline void set_attr(const Op& op, const Attrs& attrs, std::string_view name, const AttrValue& value) {
  if (int row = op.attrs->find(name); row >= 0) op.attrs->set(attrs.get(), row, value);
}

/// A number that no other graph has; it is known whether the graph still lives.
class Serial {
 public:
  Serial();
  ~Serial();
  Serial(Serial&& other) noexcept : value_(std::exchange(other.value_, 0)) {}
  Serial& operator=(Serial&& other) noexcept;
  uint64_t value() const { return value_; }

 private:
  uint64_t value_;
};

/// A list of nodes in program order, with those that stand for arguments and the values that are results.
class THALWEG_API Graph {
 public:
  Graph();
  Graph(Graph&&) = default;  // NOLINT: a deque may allocate
  Graph& operator=(Graph&&) = default;

  /// Appends a node, named after its op; results are to be described by the caller.
  Node& add(const Op& op, AttrsRef attrs, std::vector<Value> inputs, int num_results);
  /// A placeholder for an argument of the function; not in `arguments` yet.
  Node& add_placeholder(DType dtype, const Shape& shape, const std::string& name);
  Node& add_constant(const Tensor& value);

  /// Takes away the nodes from this one on; none that is left may use them.
  void truncate(int first) {
    serial_ = {};  // tensors of what goes away must not find others in its place
    nodes_.erase(nodes_.begin() + first, nodes_.end());
  }
  /// Appends a node like one of another graph, but with inputs from this one.
  Node& append(const Node& like, std::vector<Value> inputs, std::vector<Node*> controls);
  /// A constant before all other nodes. Positions are wrong until `renumber` is called.
  Node& prepend_constant(const Tensor& value);
  void renumber();
  /// The same nodes again, or those that are marked; inputs, arguments and results must be among them.
  Graph copy(const std::vector<uint8_t>& kept = {}) const;

  const std::deque<Node>& nodes() const { return nodes_; }
  std::deque<Node>& nodes() { return nodes_; }
  /// A number that no other graph has.
  uint64_t serial() const { return serial_.value(); }
  /// A symbolic tensor for one of its values.
  Tensor symbol_of(Value value) const;
  /// The names that nodes and scopes have.
  UniqueNames& names() { return names_; }

  std::vector<Node*> arguments;
  std::vector<Value> results;
  bool jit_compile = false;  // fuse all that can be, whatever the options say

  /// One line per node: `%3 = MatMul(%0, %1) {transpose_b: true}: float32 (2, 3)`.
  std::string str() const;

 private:
  std::deque<Node> nodes_;
  UniqueNames names_;
  Serial serial_;  // goes first
};

/// Where a symbolic tensor comes from; kept in its block.
struct Origin {
  uint64_t graph = 0;
  Node* node = nullptr;
  int index = 0;
};
inline Origin origin_of(const TensorImpl& t) {
  Origin origin;
  std::memcpy(&origin, t.inline_data, sizeof origin);
  return origin;
}
/// The node behind a symbolic tensor, for people: programs keep tensors longer than the graphs that they come from.
struct Label {
  std::string name = "unknown", op = "unknown";
};
THALWEG_API Label label_of(const TensorImpl& symbolic);
/// Makes a described block the symbolic tensor of a value.
void make_symbolic(TensorImpl& t, const Graph& graph, Value value);

/// Which nodes results and effects need, by id; effects count from node `first_effect` on.
std::vector<uint8_t> needed_nodes(const Graph& graph, const std::vector<Value>& results, bool keep_effects = true,
                                  int first_effect = 0);

}  // namespace thalweg::graph
