#include "thalweg/keras/summary.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <set>

#include "thalweg/core/error.h"
#include "thalweg/core/output.h"
#include "thalweg/keras/function_layer.h"
#include "thalweg/keras/input_layer.h"
#include "thalweg/keras/model.h"

namespace thalweg::keras {
namespace {

using functional::Node;

std::string repeated(std::string_view text, int64_t count) {
  std::string all;
  for (int64_t i = 0; i < count; ++i) all += text;
  return all;
}

std::string memory_size(double bytes) {
  const char* const units[] = {"Byte", "KB", "MB", "GB", "TB", "PB"};
  size_t unit = 0;
  while (bytes >= 1024 && unit < 5) {
    bytes /= 1024;
    ++unit;
  }
  if (bytes >= 1024) bytes /= 1024;  // Keras counts one step more than it has units
  return fmt::format("{:.2f} {}", bytes, units[unit]);
}

struct Size {
  int64_t count = 0;
  double bytes = 0;
  explicit Size(const std::vector<Variable>& weights) {
    for (const Variable& v : weights) {
      const int64_t elements = v.shape().num_elements();
      count += elements;
      bytes += static_cast<double>(elements) * static_cast<double>(size_of(v.dtype()));
    }
  }
  Size(int64_t number, double memory) : count(number), bytes(memory) {}
  friend Size operator+(const Size& a, const Size& b) { return {a.count + b.count, a.bytes + b.bytes}; }
  std::string str() const { return fmt::format("{} ({})", count, memory_size(bytes)); }
};

/// Whether each layer has one call, which takes one tensor: then there is no column for connections. Inputs that
/// nothing takes count too.
bool is_chain(const FunctionalModel& graph) {
  if (graph.inputs().num_tensors() > 1) return false;
  std::set<int> depths;
  std::set<const LayerInterface*> layers;
  for (size_t i = 0; i < graph.nodes_in_order().size(); ++i) {
    const Node& node = *graph.nodes_in_order()[i];
    const std::vector<Tensor> from = node.dependencies();
    const auto symbolic = std::count_if(from.begin(), from.end(),
                                        [](const Tensor& t) { return functional::history_of(t).node != nullptr; });
    if (symbolic > 1 || !depths.insert(graph.depths()[i]).second || !layers.insert(node.layer.get()).second)
      return false;
  }
  return true;
}

class Table {
 public:
  Table(const Model& model, const SummaryOptions& options) : options_(options) {
    graph_ = graph_of(*model.get());
    const bool is_sequential = dynamic_cast<SequentialModel*>(model.get()) != nullptr;
    connections_ = graph_ && !is_sequential && !is_chain(*graph_);
    std::vector<double> parts = options.positions;
    if (parts.empty()) parts = connections_ ? std::vector{0.3, 0.6, 0.70, 1.0} : std::vector{0.45, 0.85, 1.0};
    length_ = options.line_length > 0 ? options.line_length : connections_ ? 98 : 65;
    const bool relative = parts.back() <= 1;
    for (double part : parts)
      positions_.push_back(static_cast<int64_t>(relative ? static_cast<double>(length_) * part : part));
    if (options.show_trainable) {
      length_ += 11;
      positions_.push_back(length_);
    }
    std::vector<std::string> titles = {"Layer (type)", "Output Shape", "Param #"};
    if (connections_) titles.emplace_back("Connected to");
    if (options.show_trainable) titles.emplace_back("Trainable");
    if (positions_.size() < titles.size())
      throw ValueError("summary: there are " + std::to_string(titles.size()) + " columns, but only " +
                       std::to_string(positions_.size()) + " positions");
    if (connections_)
      for (const auto& node : graph_->nodes_in_order()) ours_.insert(node.get());
    text_ = "Model: \"" + model.name() + "\"\n" + repeated("_", length_) + "\n";
    row(titles, 0);
    text_ += repeated("=", length_) + "\n";
  }

  void layer(const Layer& layer, int64_t level, bool is_last) {
    std::vector<std::string> fields = {layer.name() + " (" + layer.class_name() + ")", shape_of(layer),
                                       params_of(layer)};
    if (connections_) fields.push_back(connections_of(layer));
    if (options_.show_trainable) fields.emplace_back(layer.trainable() ? "Y" : "N");
    row(fields, level);
    const std::vector<Layer> inside = shown_layers(layer);
    if (options_.expand_nested && !inside.empty()) {
      frame("¯", level + 1, length_ - 2 * level - 2);
      for (size_t i = 0; i < inside.size(); ++i) this->layer(inside[i], level + 1, i + 1 == inside.size());
      frame("¯", level, length_ - 2 * level);
      is_last = true;
    }
    if (!is_last) frame(" ", level, length_ - 2 * level);
  }

  std::string finish(const Model& model) {
    const Size trainable(model.trainable_weights()), rest(model.non_trainable_weights());
    text_ += repeated("=", length_) + "\n";
    text_ += "Total params: " + (trainable + rest).str() + "\n";
    text_ += "Trainable params: " + trainable.str() + "\n";
    text_ += "Non-trainable params: " + rest.str() + "\n";
    return text_ + repeated("_", length_) + "\n";
  }

 private:
  static std::vector<Layer> shown_layers(const Layer& layer) {
    return layer.object().is_model() ? layer.layers() : std::vector<Layer>();
  }
  static std::string shape_of(const Layer& layer) {
    const Nest kinds = functional::output_kinds(*layer.get());
    if (kinds.is_none()) return "multiple";
    if (auto* function = dynamic_cast<const FunctionLayer*>(layer.get()))
      if (std::string text = function->record_text(kinds); !text.empty()) return text;
    return layer.as<InputLayer>() ? "[" + functional::shape_text(kinds) + "]" : functional::shape_text(kinds);
  }
  std::string params_of(const Layer& layer) const {
    if (!connections_ && !layer.built() && !graph_of(*layer.get())) return "0 (unused)";
    return std::to_string(layer.count_params());
  }
  std::string connections_of(const Layer& layer) const {
    std::string text;
    for (const auto& node : functional::nodes_of(*layer.get())) {
      if (!ours_.contains(node.get())) continue;
      for (const Tensor& t : node->dependencies()) {
        functional::History from = functional::history_of(t);
        if (!from.node) continue;
        text += fmt::format("{}'{}[{}][{}]'", text.empty() ? "" : ", ", from.node->layer.name(), from.node->index,
                            from.index);
      }
    }
    return "[" + text + "]";
  }

  void frame(std::string_view line, int64_t level, int64_t width) {
    text_ += repeated("|", level) + repeated(line, width) + repeated("|", level) + "\n";
  }

  /// One row, in as many lines as its longest field needs. Lines end behind an item of a list.
  void row(std::vector<std::string> fields, int64_t level) {
    auto is_left = [](const std::string& field) { return !field.empty(); };
    while (std::any_of(fields.begin(), fields.end(), is_left)) {
      std::string line;
      for (size_t i = 0; i < fields.size(); ++i) {
        const bool is_last = i + 1 == positions_.size();
        const int64_t start = i > 0 ? positions_[i - 1] : 0;
        const int64_t width = positions_[i] - start - (is_last ? 0 : 3) - (i == 0 ? level : 0);
        std::string part = take(fields[i], width);
        if (i == 0) line += repeated("|", level) + " ";
        line += part + (is_last ? "" : "  ");
        const int64_t end = positions_[i] - (is_last ? level : 0);
        line += repeated(" ", end - static_cast<int64_t>(line.size()));
      }
      text_ += line + repeated("|", level) + "\n";
    }
  }
  static std::string take(std::string& field, int64_t width) {
    if (width <= 0) throw ValueError("summary: a column has no room for text; give it other positions");
    size_t cut = std::min(static_cast<size_t>(width), field.size());
    const std::string_view shown = std::string_view(field).substr(0, cut);
    for (std::string_view end : {"),", "},", "],", "',"})
      if (size_t at = shown.find(end); at != shown.npos) cut = std::min(cut, at + end.size());
    std::string part = field.substr(0, cut);
    field.erase(0, cut);
    return part;
  }

  const SummaryOptions& options_;
  FunctionalModel* graph_ = nullptr;
  bool connections_ = false;
  int64_t length_ = 0;
  std::vector<int64_t> positions_;
  std::set<const Node*> ours_;
  std::string text_;
};

}  // namespace

std::pair<size_t, size_t> chosen_layers(const std::vector<Layer>& layers, const std::vector<std::string>& range) {
  if (range.empty()) return {0, layers.size()};
  if (range.size() != 2)
    throw ValueError("layer_range must be a list or tuple of length 2. Received: layer_range of length " +
                     std::to_string(range.size()));
  auto matches = [&](const std::string& pattern) {
    const re2::RE2 expression(pattern, re2::RE2::Quiet);
    std::vector<size_t> found;
    for (size_t i = 0; i < layers.size(); ++i) {
      const std::string& name = layers[i].name();
      if (expression.Match(name, 0, name.size(), re2::RE2::ANCHOR_START, nullptr, 0)) found.push_back(i);
    }
    return found;
  };
  const std::vector<size_t> lower = matches(range[0]), upper = matches(range[1]);
  if (lower.empty() || upper.empty())
    throw ValueError("Passed layer_names do not match the layer names in the model. Received: ['" + range[0] + "', '" +
                     range[1] + "']");
  if (lower.front() > upper.back()) return {upper.front(), lower.back() + 1};
  return {lower.front(), upper.back() + 1};
}

std::string summary_text(const Model& model, const SummaryOptions& options) {
  if (!model.built())
    throw ValueError(
        "This model has not yet been built. Build the model first by calling `build()` or by calling the model on a "
        "batch of data.");
  const std::vector<Layer> layers = model.layers();
  const auto [first, last] = chosen_layers(layers, options.layer_range);
  Table table(model, options);
  for (size_t i = first; i < last; ++i) table.layer(layers[i], 0, false);
  return table.finish(model);
}

void Model::summary(const SummaryOptions& options) const { write_output(summary_text(*this, options)); }

}  // namespace thalweg::keras
