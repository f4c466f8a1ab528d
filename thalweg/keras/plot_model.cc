#include "thalweg/keras/plot_model.h"

#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <set>

#include "thalweg/core/error.h"
#include "thalweg/core/warning.h"
#include "thalweg/keras/input_layer.h"
#include "thalweg/keras/layers/wrappers.h"
#include "thalweg/keras/summary.h"

extern char** environ;

namespace thalweg::keras::utils {
namespace {

/// A text in quotes; what is special in the fields of a record stays as it is.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"') out += '\\';
    out += c;
  }
  return out + "\"";
}
std::string without_braces(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '{' || c == '}' || c == '<' || c == '>' || c == '|') out += '\\';
    out += c;
  }
  return out;
}

class Drawing {
 public:
  explicit Drawing(const PlotModelOptions& options) : options_(options) {}

  std::string draw(const Model& model) {
    text_ = "digraph G {\n  rankdir=" + options_.rankdir +
            ";\n  concentrate=true;\n  dpi=" + std::to_string(options_.dpi) + ";\n  node [shape=record];\n";
    if (FunctionalModel* graph = graph_of(*model.get())) {
      add_graph(*graph, "  ", options_.layer_range);
    } else {
      text_ += "  " + id_of(model.get()) + " [label=" + quoted(without_braces(model.name())) + "];\n";
    }
    for (const auto& [from, to] : edges_) text_.append("  ").append(from).append(" -> ").append(to).append(";\n");
    return text_ + "}\n";
  }

 private:
  /// The first and the last layer of a model that is drawn in a frame.
  struct Ends {
    std::string first, last;
  };

  std::string id_of(const LayerInterface* layer) {
    return "layer_" + std::to_string(ids_.try_emplace(layer, ids_.size()).first->second);
  }
  /// The layer that a wrapper calls; none for others.
  static Layer wrapped_in(const Layer& layer) {
    if (auto* inner = layer.object().member<Layer>("layer")) return *inner;
    auto* pattern = layer.object().member<layers::LayerPattern>("layer");
    return pattern ? pattern->layer() : Layer();
  }
  bool is_expanded(const Layer& layer) const {
    return options_.expand_nested && layer.defined() && graph_of(*layer.get());
  }

  Ends add_frame(const Layer& model, const std::string& indent) {
    text_ += indent + "subgraph " + quoted("cluster_" + model.name()) + " {\n" + indent + "  style=dashed;\n" + indent +
             "  label=" + quoted(model.name()) + ";\n" + indent + "  labeljust=l;\n";
    Ends ends = add_graph(*graph_of(*model.get()), indent + "  ", {});
    text_ += indent + "}\n";
    return ends;
  }

  Ends add_graph(const FunctionalModel& graph, const std::string& indent, const std::vector<std::string>& range) {
    const std::vector<Layer>& layers = graph.layers();
    const auto [first, last] = chosen_layers(layers, range);
    std::map<const LayerInterface*, Ends> frames;
    Ends whole;
    for (size_t i = first; i < last; ++i) {
      const Layer& layer = layers[i];
      const Layer inner = wrapped_in(layer);
      if (is_expanded(inner)) frames[layer.get()] = add_frame(inner, indent);
      if (is_expanded(layer)) {
        frames[layer.get()] = add_frame(layer, indent);
        continue;
      }
      const std::string id = id_of(layer.get());
      text_ += indent + id + " [label=" + quoted(label_of(layer, inner)) + "];\n";
      if (whole.first.empty()) whole.first = id;
      whole.last = id;
    }
    std::set<const functional::Node*> ours;
    for (const auto& node : graph.nodes_in_order()) ours.insert(node.get());
    for (size_t i = range.empty() ? first : first + 1; i < last; ++i)
      for (const auto& node : functional::nodes_of(*layers[i].get()))
        if (ours.contains(node.get())) add_edges(*node, frames);
    return whole;
  }
  /// Edges end at the first layer of a model in a frame and begin at its last; a wrapper stands before its frame.
  void add_edges(const functional::Node& node, std::map<const LayerInterface*, Ends>& frames) {
    const Layer& layer = node.layer;
    for (const Tensor& t : node.dependencies()) {
      functional::History from = functional::history_of(t);
      if (!from.node) continue;
      const LayerInterface* source = from.node->layer.get();
      const std::string begin = frames.contains(source) ? frames[source].last : id_of(source);
      const bool has_frame = frames.contains(layer.get());
      if (!has_frame || !is_expanded(layer)) add_edge(begin, id_of(layer.get()));
      if (!has_frame) continue;
      if (is_expanded(layer)) add_edge(begin, frames[layer.get()].first);
      else if (!frames.contains(source)) add_edge(id_of(layer.get()), frames[layer.get()].first);
    }
  }
  void add_edge(const std::string& from, const std::string& to) {
    std::pair edge(from, to);
    if (std::find(edges_.begin(), edges_.end(), edge) == edges_.end()) edges_.push_back(std::move(edge));
  }

  std::string label_of(const Layer& layer, const Layer& inner) const {
    std::string name = layer.name(), label = layer.class_name();
    if (inner.defined() && !is_expanded(inner)) {
      name += "(" + inner.name() + ")";
      label += "(" + inner.class_name() + ")";
    }
    label = without_braces(label);
    if (options_.show_layer_activations)
      if (auto* activation = layer.object().member<keras::Activation>("activation")) {
        std::string function = !activation->defined() ? "linear" : activation->class_name();
        label = "{" + label + "|" + (function.empty() ? "lambda" : function) + "}";
      }
    if (options_.show_layer_names) label = without_braces(name) + "|" + label;
    if (options_.show_dtype) label += "|" + std::string(name_of(layer.dtype()));
    if (options_.show_shapes) {
      auto shapes = [&](const Nest& kinds) {
        if (kinds.is_none()) return std::string("?");
        std::string text = functional::shape_text(kinds);
        return without_braces(layer.as<InputLayer>() ? "[" + text + "]" : text);
      };
      label = "{" + label + "}|{input:|output:}|{{" + shapes(functional::input_kinds(*layer.get())) + "}|{" +
              shapes(functional::output_kinds(*layer.get())) + "}}";
    }
    if (options_.show_trainable) label = std::string(layer.trainable() ? "T" : "NT") + "|" + label;
    return label;
  }

  const PlotModelOptions& options_;
  std::map<const LayerInterface*, size_t> ids_;
  std::vector<std::pair<std::string, std::string>> edges_;
  std::string text_;
};

/// Runs `dot`; false where the program is not there or fails.
bool run_dot(const std::string& format, const std::string& from, const std::string& to) {
  std::string arguments[] = {"dot", "-T" + format, from, "-o", to};
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  pid_t child = 0;
  if (posix_spawnp(&child, "dot", nullptr, nullptr, pointers.data(), environ) != 0) return false;
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return false;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

std::string model_to_dot(const Model& model, const PlotModelOptions& options) {
  if (!model.built())
    throw ValueError(
        "This model has not yet been built. Build the model first by calling `build()` or by calling the model on a "
        "batch of data.");
  return Drawing(options).draw(model);
}

std::string plot_model(const Model& model, const PlotModelOptions& options) {
  const size_t slash = options.to_file.rfind('/'), dot = options.to_file.rfind('.');
  const bool has_extension = dot != std::string::npos && (slash == std::string::npos || dot > slash);
  const std::string stem = has_extension ? options.to_file.substr(0, dot) : options.to_file;
  const std::string format = has_extension ? options.to_file.substr(dot + 1) : "png";
  std::string text_file = stem + ".dot";
  std::ofstream file(text_file, std::ios::binary);
  file << model_to_dot(model, options);
  file.close();
  if (!file) throw NotFoundError(text_file + "; " + std::strerror(errno));
  if (format == "dot") return text_file;
  std::string picture = stem + "." + format;
  if (run_dot(format, text_file, picture)) return picture;
  warn("plot_model could not draw " + picture +
       ": Graphviz's program `dot` is not installed or failed. The graph is in " + text_file + ".");
  return text_file;
}

}  // namespace thalweg::keras::utils
