// Kernels of convolutions want channels last, and bring images into that order and back at every call. Here the images
// of a graph that has them first are brought into that order once, and stay in it through pools, biases, batch
// normalisations and element-wise ops up to the first op that knows no such order. Numbers are only moved: no bit
// changes.
#include "thalweg/graph/passes/pass.h"

namespace thalweg::graph {
namespace {

constexpr int rank = 4;
constexpr int to_last[rank] = {0, 2, 3, 1}, to_first[rank] = {0, 3, 1, 2};

bool has_image(Value v) { return spec_of(v).shape.has_rank() && spec_of(v).shape.rank() == rank; }

Shape permuted(const Shape& shape, const int (&order)[rank]) {
  Shape made = shape;
  for (int i = 0; i < rank; ++i) made[i] = shape[order[i]];
  return made;
}

// Lists with one number per dimension, or two (before and after).
void turn_attrs(Node& n) {
  for (size_t i = 0; i < n.op->attrs->rows.size(); ++i) {
    const int row = static_cast<int>(i);
    AttrValue value = n.op->attrs->get(n.attrs.get(), row);
    if (auto* list = std::get_if<std::vector<int64_t>>(&value); list && !list->empty() && list->size() % rank == 0) {
      std::vector<int64_t> turned;
      const size_t each = list->size() / rank;
      for (int axis : to_last)
        for (size_t k = 0; k < each; ++k) turned.push_back((*list)[static_cast<size_t>(axis) * each + k]);
      n.op->attrs->set(n.attrs.get(), row, turned);
    } else if (n.op->attrs->rows[i].name == "data_format") {
      n.op->attrs->set(n.attrs.get(), row, std::string("NHWC"));
    }
  }
}

bool is_channels_first(const Node& n) { return get_attr<std::string>(n, "data_format") == "NCHW"; }

class ChannelsLast {
 public:
  explicit ChannelsLast(const Graph& from) : from_(from) {}

  static bool concerns(const Graph& graph) {
    for (const Node& n : graph.nodes())
      if (prefers_last(n) && is_channels_first(n)) return true;
    return false;
  }

  Graph rewrite() {
    for (const Node& n : from_.nodes()) {
      bool turned = is_pure(n) && (turns_alone(n) || follows(n));
      std::vector<Value> inputs;
      for (size_t i = 0; i < n.inputs.size(); ++i) {
        bool turns = turned && has_image(n.inputs[i]) && (is_elementwise(n) || i == 0);
        inputs.push_back(turns ? last(n.inputs[i]) : plain(n.inputs[i]));
      }
      std::vector<Node*> controls;
      for (const Node* c : n.controls) controls.push_back(copies_.at(c));
      Node& made = made_.append(n, std::move(inputs), std::move(controls));
      copies_[&n] = &made;
      for (size_t i = 0; i < n.results.size(); ++i) {
        Value old{const_cast<Node*>(&n), static_cast<int>(i)}, now{&made, static_cast<int>(i)};
        ((turned && i == 0) ? last_ : plain_)[old] = now;
      }
      if (!turned) continue;
      made.results[0].shape = permuted(made.results[0].shape, to_last);
      if (!is_elementwise(n)) turn_attrs(made);
    }
    for (const Node* a : from_.arguments) made_.arguments.push_back(copies_.at(a));
    for (const Value& v : from_.results) made_.results.push_back(plain(v));
    made_.jit_compile = from_.jit_compile;
    return std::move(made_);
  }

 private:
  static bool prefers_last(const Node& n) { return n.op->traits.layout == Layout::prefers_channels_last; }
  static bool is_elementwise(const Node& n) { return n.op->traits.elementwise && n.op->traits.layout == Layout::fixed; }

  // Convolutions always, since their kernels do it anyway.
  bool turns_alone(const Node& n) const {
    return prefers_last(n) && is_channels_first(n) && has_image(n.inputs[0]) && has_image({const_cast<Node*>(&n), 0});
  }
  // Others where all images that they read have been turned. Sums over a batch would be added in another order.
  bool follows(const Node& n) const {
    if (n.inputs.empty() || n.results.empty() || !has_image({const_cast<Node*>(&n), 0})) return false;
    if (n.op->traits.layout == Layout::follows)
      return is_channels_first(n) && !get_attr<bool>(n, "is_training") && last_.count(n.inputs[0]) != 0;
    if (!is_elementwise(n) || n.results.size() != 1) return false;
    const Shape* shape = nullptr;
    for (const Value& v : n.inputs) {
      const Shape& s = spec_of(v).shape;
      if (s.has_rank() && s.rank() == 0) continue;
      if (!has_image(v) || !last_.count(v)) return false;
      if (shape && !(s.is_fully_defined() && s == *shape)) return false;
      shape = &s;
    }
    return shape != nullptr;
  }

  Value plain(Value v) {
    auto found = plain_.find(v);
    return found != plain_.end() ? found->second : plain_[v] = transposed(last_.at(v), to_first);
  }
  Value last(Value v) {
    auto found = last_.find(v);
    return found != last_.end() ? found->second : last_[v] = transposed(plain_.at(v), to_last);
  }
  Value transposed(Value v, const int (&order)[rank]) {
    Node& axes = made_.add_constant(Tensor(std::vector<int32_t>(std::begin(order), std::end(order))));
    static const Op& transpose = required_op("Transpose");
    Node& n = made_.add(transpose, {}, {v, {&axes, 0}}, 1);
    n.results[0] = {spec_of(v).dtype, permuted(spec_of(v).shape, order)};
    return {&n, 0};
  }

  const Graph& from_;
  Graph made_;
  std::map<const Node*, Node*> copies_;
  std::map<Value, Value> plain_, last_;  // values of the old graph in the new one, in either order
};

void run_channels_last(Graph& graph) {
  if (ChannelsLast::concerns(graph)) graph = ChannelsLast(graph).rewrite();
}

}  // namespace

constinit const Pass channels_last{"channels_last", "layout_optimizer", true, run_channels_last, true};

}  // namespace thalweg::graph
