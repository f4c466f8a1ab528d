// A model between tensors of a recorded graph: its layers in Keras's order, its inputs, its calls.
#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <tuple>

#include "thalweg/core/companion.h"
#include "thalweg/core/error.h"
#include "thalweg/keras/backend.h"
#include "thalweg/keras/call_context.h"
#include "thalweg/keras/functional.h"
#include "thalweg/keras/input_layer.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::keras {

using functional::history_of;
using functional::Node;

namespace {

/// Layers by the length of their longest way to an output, then in the order in which the search met them: Keras's.
std::vector<Layer> sort_layers(const std::vector<std::shared_ptr<Node>>& order, const Nest& inputs, const Nest& outputs,
                               std::vector<int>& depths) {
  std::map<const LayerInterface*, size_t> met;
  std::set<const Node*> seen;
  auto meet = [&](auto& self, const Tensor& t) -> void {
    std::shared_ptr<Node> node = history_of(t).node;
    if (!node || !seen.insert(node.get()).second) return;
    met.try_emplace(node->layer.get(), met.size());
    for (const Tensor& input : node->dependencies()) self(self, input);
  };
  for (const Tensor& t : outputs.flatten()) meet(meet, t);

  std::map<const Node*, int> node_depth;
  std::map<const LayerInterface*, int> layer_depth;
  std::vector<Layer> layers;
  for (const auto& met : std::views::reverse(order)) {
    const Node& node = *met;
    if (!layer_depth.contains(node.layer.get())) layers.push_back(node.layer);
    const int depth = std::max(node_depth[&node], layer_depth[node.layer.get()]);
    node_depth[&node] = layer_depth[node.layer.get()] = depth;
    for (const Tensor& input : node.dependencies())
      if (std::shared_ptr<Node> before = history_of(input).node)
        node_depth[before.get()] = std::max(node_depth[before.get()], depth + 1);
  }
  for (const std::shared_ptr<Node>& node : order) depths.push_back(node_depth[node.get()]);
  for (const Tensor& t : inputs.flatten()) {  // those that no output depends on
    const Layer& layer = history_of(t).node->layer;
    if (layer_depth.try_emplace(layer.get(), 0).second) layers.push_back(layer);
  }
  auto place = [&](const Layer& layer) {
    auto found = met.find(layer.get());
    return std::pair(-layer_depth[layer.get()], found == met.end() ? -1 : static_cast<int>(found->second));
  };
  std::sort(layers.begin(), layers.end(), [&](const Layer& a, const Layer& b) { return place(a) < place(b); });
  return layers;
}

}  // namespace

namespace {
/// A list of one stands for what is in it.
Nest unlisted(const Nest& ends) { return ends.kind() == Nest::Kind::list && ends.num_tensors() == 1 ? ends[0] : ends; }
bool is_input(const Tensor& t) {
  functional::History history = history_of(t);
  return history.node && history.node->inputs.is_none();
}
}  // namespace

FunctionalModel::FunctionalModel(const Nest& inputs, const Nest& outputs)
    : inputs_(unlisted(inputs)), outputs_(unlisted(outputs)) {
  built = true;
  autocast = false;  // its layers cast
  if (!std::ranges::all_of(inputs_.flatten(), is_input))
    std::tie(inputs_, outputs_) = functional::begin_anew(inputs_, outputs_);
  for (const Tensor& t : inputs_.flatten()) input_names_.push_back(history_of(t).node->layer.name());
  arrange_nodes();
  std::map<std::string, int> used;
  for (const Tensor& t : outputs_.flatten()) {
    const std::string& base = history_of(t).node->layer.name();
    const int count = used[base]++;
    output_names_.push_back(count == 0 ? base : base + "_" + std::to_string(count));
  }
}

void FunctionalModel::include(const Tensor& tensor) {
  included_.push_back(tensor);
  std::vector<Layer> in_order = layers_;
  arrange_nodes();
  for (const Layer& layer : layers_)  // new ones come last, whatever their place among the nodes
    if (std::none_of(in_order.begin(), in_order.end(), [&](const Layer& other) { return is_same(other, layer); }))
      in_order.push_back(layer);
  layers_ = std::move(in_order);
}

void FunctionalModel::arrange_nodes() {
  std::vector<Nest> ends;
  for (const Tensor& t : outputs_.flatten()) ends.emplace_back(t);
  for (const Tensor& t : included_) ends.emplace_back(t);
  const Nest all = Nest::list(std::move(ends));
  num_places_ = 0;
  depths_.clear();
  steps_.clear();
  output_places_.clear();
  std::map<std::pair<const Node*, int>, int> places;
  for (const Tensor& t : inputs_.flatten()) {
    functional::History history = history_of(t);
    places[{history.node.get(), history.index}] = num_places_++;
  }
  nodes_ = functional::sort_nodes(inputs_, all);
  layers_ = sort_layers(nodes_, inputs_, all, depths_);
  for (const std::shared_ptr<Node>& node : nodes_) {
    if (node->inputs.is_none()) continue;
    Step step{node.get(), {}, num_places_, static_cast<int>(node->outputs.num_tensors())};
    for (const Tensor& t : node->dependencies()) {
      functional::History history = history_of(t);
      step.from.push_back(history.node ? places.at({history.node.get(), history.index}) : -1);
    }
    for (int i = 0; i < step.count; ++i) places[{node.get(), i}] = num_places_++;
    steps_.push_back(std::move(step));
  }
  for (const Tensor& t : outputs_.flatten()) {
    functional::History history = history_of(t);
    output_places_.push_back(places.at({history.node.get(), history.index}));
  }
  std::map<std::string, int> names;
  for (const Layer& layer : layers_) ++names[layer.name()];
  for (const auto& [layer_name, count] : names)
    if (count > 1)
      throw ValueError("The name \"" + layer_name + "\" is used " + std::to_string(count) +
                       " times in the model. All layer names should be unique.");
}

void FunctionalModel::list_parts(module::Parts& parts) const {
  for (size_t i = 0; i < layers_.size(); ++i) parts("layer-" + std::to_string(i), layers_[i]);
}

std::vector<InputSpec> FunctionalModel::input_spec() const {
  // A dict of inputs may come with more than the model takes: checked by name.
  if (inputs_.is_dict()) return {};
  std::vector<InputSpec> specs;
  for (const Tensor& t : inputs_.flatten()) {
    InputSpec spec;
    spec.shape = t.shape();
    if (spec.shape.rank() > 0) spec.shape[0] = unknown;
    spec.allows_last_axis_of_one = true;
    specs.push_back(spec);
  }
  return specs;
}

namespace {
[[noreturn]] void refuse_missing(const std::string& key, std::span<const std::string> given,
                                 std::span<const std::string> expected) {
  auto list = [](std::span<const std::string> names) {
    std::string text;
    for (const std::string& one : names) text += (text.empty() ? "'" : ", '") + one + "'";
    return "[" + text + "]";
  };
  throw ValueError("Missing data for input \"" + key + "\". You passed a data dictionary with keys " + list(given) +
                   ". Expected the following keys: " + list(expected));
}
}  // namespace

/// The tensors of the inputs, whatever way they are given: in the structure of the inputs, or by name. What a dict has
/// besides is left out.
std::vector<Tensor> FunctionalModel::arrange(const Nest& given) const {
  std::vector<Tensor> all;
  if (given.is_dict()) {
    std::vector<std::string> names = input_names_;
    if (inputs_.is_dict()) {
      names.assign(inputs_.keys().begin(), inputs_.keys().end());
      std::sort(names.begin(), names.end());
    }
    for (const std::string& key : names) {
      const Nest* found = given.find(key);
      if (!found) refuse_missing(key, given.keys(), names);
      for (const Tensor& t : found->flatten()) all.push_back(t);
    }
  } else {
    all = given.flatten();
  }
  if (all.size() != input_names_.size())
    throw ValueError("Layer \"" + name + "\" expects " + std::to_string(input_names_.size()) +
                     " input(s), but it received " + std::to_string(all.size()) +
                     " input tensors. Inputs received: " + given.str());
  std::vector<Tensor> references = inputs_.flatten();
  for (size_t i = 0; i < all.size(); ++i) all[i] = conform(all[i], references[i]);
  return all;
}

/// (batch,) and (batch, 1) stand for each other; dtypes become those of the inputs.
Tensor FunctionalModel::conform(const Tensor& given, const Tensor& reference) const {
  const Shape &from = given.shape(), &to = reference.shape();
  Tensor t = given;
  if (from.has_rank() && to.has_rank()) {
    if (from.rank() == to.rank() + 1 && from[-1] == 1) t = squeeze(t, {.axis = -1});
    else if (from.rank() == to.rank() - 1 && to[-1] == 1) t = expand_dims(t, -1);
  }
  if (t.get() != given.get()) {
    if (Tensor mask = companion_of(given); mask.defined()) set_companion(t, mask);
  }
  if (t.dtype() == reference.dtype()) return t;
  Tensor made = cast(t, reference.dtype());
  if (Tensor mask = companion_of(t); mask.defined()) set_companion(made, mask);
  return made;
}

Nest FunctionalModel::call(const Nest& inputs, const CallArgs& args) {
  std::vector<Tensor> values(static_cast<size_t>(num_places_));
  std::vector<Tensor> given = arrange(args.mask.is_none() ? inputs : detail::with_masks(inputs, args.mask));
  std::copy(given.begin(), given.end(), values.begin());
  for (const Step& step : steps_) {
    const Node& node = *step.node;
    CallArgs with = node.args;
    if (!with.training.given()) with.training = args.training;
    size_t next = 0;
    auto value = [&](const Tensor& t) {
      const int place = step.from[next++];
      return place < 0 ? t : values[static_cast<size_t>(place)];
    };
    Nest in = node.inputs.map(value);
    functional::for_each_nest(with, [&](Nest& nest) {
      if (!nest.is_none()) nest = nest.map(value);
    });
    Nest out = detail::run(*node.layer.get(), in, with);
    if (out.is_tensor()) {
      values[static_cast<size_t>(step.to)] = out.tensor();
    } else {
      std::vector<Tensor> flat = out.flatten();
      std::copy(flat.begin(), flat.end(), values.begin() + step.to);
    }
  }
  std::vector<Tensor> results;
  for (int place : output_places_) results.push_back(values[static_cast<size_t>(place)]);
  return outputs_.pack(results);
}

Nest FunctionalModel::compute_mask(const Nest& inputs, const Nest& mask) {
  CallArgs args;
  args.mask = mask;
  return call(inputs, args).map([](const Tensor& t) { return companion_of(t); });
}

Tensor Input(const Shape& shape, const InputOptions& options) {
  Shape batch = shape;
  batch.insert(0, options.batch_size);
  const DType dtype = options.dtype;
  return make_input(batch, dtype == DType::invalid ? backend::floatx() : dtype, options.name);
}

}  // namespace thalweg::keras
