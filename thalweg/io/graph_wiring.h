// The nodes of a GraphDef or of a function in it, before they are made.
#pragma once
#include <map>
#include <optional>
#include <queue>
#include <string>
#include <string_view>
#include <vector>

#include "thalweg/core/error.h"
#include "thalweg/io/function_def.h"

namespace thalweg::io {

inline std::string where(const proto::NodeDef& node) { return "node '" + node.name + "' (" + node.op + ")"; }
[[noreturn]] inline void refuse(const proto::NodeDef& node, const std::string& why) {
  throw InvalidArgumentError(where(node) + ": " + why);
}

/// The nodes of a graph or a function: what each reads, and an order in which they can run.
class Wiring {
 public:
  /// `arguments` are names that are no nodes: of a function's arguments.
  Wiring(const std::vector<proto::NodeDef>& nodes, const std::map<std::string, size_t>* arguments)
      : nodes_(nodes), arguments_(arguments), inputs_(nodes.size()), readers_(nodes.size()), waits_(nodes.size()) {
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].name.empty()) refuse(nodes[i], "it has no name");
      if (!index_.try_emplace(nodes[i].name, i).second || is_argument(nodes[i].name))
        refuse(nodes[i], "there is another node or argument of this name");
    }
    for (size_t i = 0; i < nodes.size(); ++i) connect(i);
    sort();
  }

  const std::vector<size_t>& order() const { return order_; }
  const std::vector<NodeInput>& inputs(size_t node) const { return inputs_[node]; }
  bool is_read(size_t node) const { return !readers_[node].empty(); }
  /// The node of this name, or none.
  std::optional<size_t> find(const std::string& name) const {
    auto found = index_.find(name);
    return found == index_.end() ? std::nullopt : std::optional(found->second);
  }
  /// Which nodes these need, themselves included; nobody looks behind those of `ends`.
  std::vector<uint8_t> needed_by(const std::vector<size_t>& roots, const std::vector<uint8_t>& ends) const {
    std::vector<uint8_t> needed(nodes_.size());
    for (size_t root : roots) needed[root] = 1;
    for (size_t k = order_.size(); k-- > 0;) {
      const size_t i = order_[k];
      if (!needed[i] || ends[i]) continue;
      for (const NodeInput& in : inputs_[i])
        if (auto from = find(in.node)) needed[*from] = 1;
    }
    return needed;
  }

 private:
  bool is_argument(const std::string& name) const { return arguments_ && arguments_->contains(name); }

  void connect(size_t i) {
    bool control = false;
    for (const std::string& text : nodes_[i].input) {
      NodeInput in;
      try {
        in = arguments_ ? parse_function_input(text) : parse_graph_input(text);
      } catch (const InvalidArgumentError& e) {
        refuse(nodes_[i], e.what());
      }
      if (control && !in.is_control) refuse(nodes_[i], "the input '" + text + "' stands behind a control input");
      control = in.is_control;
      if (auto from = find(in.node)) {
        if (arguments_ && !control && in.output.empty())
          refuse(nodes_[i], "the input '" + text + "' names no output of its node");
        readers_[*from].push_back(i);
        ++waits_[i];
      } else if (!is_argument(in.node)) {
        refuse(nodes_[i], "the input '" + text + "' is no node of the graph");
      }
      inputs_[i].push_back(std::move(in));
    }
  }

  // Of the nodes that can run, the one that stands first in the message: effects keep their order.
  void sort() {
    std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
    for (size_t i = 0; i < nodes_.size(); ++i)
      if (!waits_[i]) ready.push(i);
    while (!ready.empty()) {
      const size_t i = ready.top();
      ready.pop();
      order_.push_back(i);
      for (size_t reader : readers_[i])
        if (!--waits_[reader]) ready.push(reader);
    }
    if (order_.size() == nodes_.size()) return;
    for (size_t i = 0; i < nodes_.size(); ++i)
      if (waits_[i]) refuse(nodes_[i], "it is part of a cycle, or behind one");
  }

  const std::vector<proto::NodeDef>& nodes_;
  const std::map<std::string, size_t>* arguments_;
  std::map<std::string_view, size_t> index_;
  std::vector<std::vector<NodeInput>> inputs_;
  std::vector<std::vector<size_t>> readers_;
  std::vector<size_t> waits_, order_;
};

}  // namespace thalweg::io
