#include "thalweg/graph/extraction.h"

#include <map>

namespace thalweg::graph {
namespace {

class Extraction {
 public:
  Extraction(const Graph& whole, int first, int end) : whole_(whole), first_(first), end_(end) {}

  Extracted run(const std::vector<Node*>& arguments, const std::vector<Value>& results) {
    Graph& part = made_.part;
    part.jit_compile = whole_.jit_compile;
    for (const Node* n : arguments) {
      Node& placeholder = part.add_placeholder(n->results[0].dtype, n->results[0].shape, n->name);
      part.arguments.push_back(&placeholder);
      copies_[n] = &placeholder;
    }
    std::vector<uint8_t> needed = needed_within(results);
    for (int id = first_; id < end_; ++id) {
      const Node& n = whole_.nodes()[static_cast<size_t>(id)];
      if (needed[static_cast<size_t>(id - first_)] && !copies_.count(&n)) copy(n);
    }
    for (const Value& v : results) part.results.push_back(mapped(v));
    return std::move(made_);
  }

 private:
  std::vector<uint8_t> needed_within(const std::vector<Value>& results) const {
    std::vector<uint8_t> needed(static_cast<size_t>(end_ - first_));
    auto need = [&](const Node* n) {
      if (n->id >= first_ && n->id < end_) needed[static_cast<size_t>(n->id - first_)] = 1;
    };
    for (const Value& v : results) need(v.node);
    for (int id = end_; id-- > first_;) {  // users come after what they use
      const Node& n = whole_.nodes()[static_cast<size_t>(id)];
      if (n.has_effect()) need(&n);
      if (!needed[static_cast<size_t>(id - first_)]) continue;
      for (const Value& v : n.inputs) need(v.node);
      for (const Node* c : n.controls) need(c);
    }
    return needed;
  }

  void copy(const Node& n) {
    if (n.is_constant()) {
      copies_[&n] = &made_.part.add_constant(n.constant);
      return;
    }
    std::vector<Value> inputs;
    for (const Value& v : n.inputs) inputs.push_back(mapped(v));
    std::vector<Node*> controls;  // what lies before the part has run before it
    for (const Node* c : n.controls)
      if (auto found = copies_.find(c); found != copies_.end()) controls.push_back(found->second);
    Node& copied = made_.part.append(n, std::move(inputs), std::move(controls));
    copied.name = made_.part.names().make(n.name);
    copies_[&n] = &copied;
  }

  Value mapped(Value v) {
    if (auto found = copies_.find(v.node); found != copies_.end()) return {found->second, v.index};
    if (v.node->is_constant()) {
      copy(*v.node);
      return mapped(v);
    }
    auto [place, is_new] = arguments_.try_emplace(v, nullptr);
    if (is_new) {
      const Spec& spec = v.node->results[static_cast<size_t>(v.index)];
      place->second = &made_.part.add_placeholder(spec.dtype, spec.shape, "saved");
      if (static_cast<size_t>(v.index) < v.node->dims.size())
        place->second->dims = {v.node->dims[static_cast<size_t>(v.index)]};
      made_.part.arguments.push_back(place->second);
      made_.read.push_back(v);
    }
    return {place->second, 0};
  }

  const Graph& whole_;
  const int first_, end_;
  Extracted made_;
  std::map<const Node*, Node*> copies_;
  std::map<Value, Node*> arguments_;
};

}  // namespace

Extracted extract(const Graph& whole, int first, int end, const std::vector<Node*>& arguments,
                  const std::vector<Value>& results) {
  return Extraction(whole, first, end).run(arguments, results);
}

}  // namespace thalweg::graph
