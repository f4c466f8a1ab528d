// Graphs in Graphviz's language.
#include <algorithm>
#include <fstream>
#include <map>
#include <string_view>

#include "thalweg/core/error.h"
#include "thalweg/core/format.h"
#include "thalweg/graph/function_body.h"
#include "thalweg/graph/function_core.h"

namespace thalweg {
namespace {

using graph::Graph;
using graph::Node;
using graph::Value;

std::string quoted(std::string_view text) {
  std::string made = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') made += '\\';
    if (c == '\n') made += "\\n";
    else made += c;
  }
  return made + "\"";
}

std::string spec_text(const graph::Spec& spec) { return std::string(name_of(spec.dtype)) + " " + spec.shape.str(); }

/// Name scopes, one inside of the other.
struct Scope {
  std::map<std::string, Scope> inner;
  std::vector<const Node*> nodes;
};

class Writer {
 public:
  explicit Writer(const Graph& graph) : graph_(graph) {}

  std::string write(const std::string& name) {
    text_ = "digraph " + quoted(name) + " {\n";
    text_ +=
        "  rankdir=TB;\n  node [shape=box, style=\"rounded,filled\", fillcolor=\"#e8f0fe\", fontname=\"Helvetica\", "
        "fontsize=11];\n  edge [fontname=\"Helvetica\", fontsize=9, color=\"#5f6368\"];\n";
    Scope all;
    for (const Node& n : graph_.nodes()) {
      Scope* scope = &all;
      size_t begin = 0;
      for (size_t slash; (slash = n.name.find('/', begin)) != std::string::npos; begin = slash + 1)
        scope = &scope->inner[n.name.substr(begin, slash - begin)];
      scope->nodes.push_back(&n);
    }
    write_scope(all, 1);
    for (const Node& n : graph_.nodes()) write_edges(n);
    for (size_t i = 0; i < graph_.results.size(); ++i) {
      std::string result = "result" + std::to_string(i);
      text_ += "  " + result + " [label=" + quoted("result " + std::to_string(i)) +
               ", shape=ellipse, fillcolor=\"#fce8e6\"];\n";
      edge(graph_.results[i], result);
    }
    return text_ + "}\n";
  }

 private:
  static std::string id(const Node& n) { return "n" + std::to_string(n.id); }
  bool is_argument(const Node& n) const {
    return std::find(graph_.arguments.begin(), graph_.arguments.end(), &n) != graph_.arguments.end();
  }

  void write_scope(const Scope& scope, int depth) {
    std::string indent(static_cast<size_t>(depth) * 2, ' ');
    for (const Node* n : scope.nodes) write_node(*n, indent);
    for (const auto& [name, inner] : scope.inner) {
      text_ += indent;
      text_ += "subgraph cluster" + std::to_string(clusters_++) + " {\n";
      text_ += indent;
      text_ += "  label=" + quoted(name) + "; style=rounded; color=\"#9aa0a6\"; fontname=\"Helvetica\"; fontsize=11;\n";
      write_scope(inner, depth + 1);
      text_ += indent;
      text_ += "}\n";
    }
  }

  void write_node(const Node& n, const std::string& indent) {
    std::string label = n.op->name, look;
    std::string_view leaf = std::string_view(n.name).substr(n.name.find_last_of('/') + 1);
    if (is_argument(n)) {
      auto position = std::find(graph_.arguments.begin(), graph_.arguments.end(), &n) - graph_.arguments.begin();
      label = "argument " + (leaf.starts_with(n.op->name) ? std::to_string(position) : std::string(leaf));
      look = ", shape=ellipse, fillcolor=\"#e6f4ea\"";
    } else if (n.is_constant()) {
      bool handle = n.constant.dtype() == DType::resource;
      label = handle                   ? "variable"
              : n.constant.size() == 1 ? n.constant.dtype() == DType::variant
                                             ? "variant"
                                             : scalar_str(n.constant.dtype(), n.constant.impl()->data)
                                       : "constant";
      look = ", shape=plaintext, fillcolor=\"#fef7e0\"";
    } else if (leaf != n.op->name) {
      label += "\n" + std::string(leaf);
    }
    if (std::string program = get_attr<std::string>(n, "program"); !program.empty()) {
      label += "\n" + lines(program);
      look = ", fillcolor=\"#f3e8fd\"";
    }
    if (n.has_effect()) look += ", penwidth=2";
    text_ += indent + id(n) + " [label=" + quoted(label) + look + "];\n";
  }

  static std::string lines(std::string program) {
    for (size_t at = 0; (at = program.find("; ", at)) != std::string::npos;) program.replace(at, 2, "\n");
    return program;
  }

  void edge(Value from, const std::string& to) {
    const Node& n = *from.node;
    text_ += "  " + id(n) + " -> " + to;
    if (!n.is_constant() || n.results[0].shape.rank() != 0)
      text_ += " [label=" + quoted(spec_text(n.results[static_cast<size_t>(from.index)])) + "]";
    text_ += ";\n";
  }
  void write_edges(const Node& n) {
    for (const Value& v : n.inputs) edge(v, id(n));
    for (const Node* c : n.controls) text_ += "  " + id(*c) + " -> " + id(n) + " [style=dashed];\n";
  }

  const Graph& graph_;
  std::string text_;
  int clusters_ = 0;
};

}  // namespace

std::string ConcreteFunction::to_dot(bool optimized) const {
  return Writer(optimized ? body_->optimized_graph() : graph()).write(name());
}

void ConcreteFunction::write_dot(const std::string& path, bool optimized) const {
  std::ofstream file(path, std::ios::binary);
  file << to_dot(optimized);
  file.close();
  if (!file) throw NotFoundError("cannot write the graph of " + name() + " to \"" + path + "\"");
}

}  // namespace thalweg
