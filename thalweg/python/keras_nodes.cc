// The graph of layers in Python: the calls of a layer, and copies of models with other layers.
#include <map>

#include "thalweg/keras/functional.h"
#include "thalweg/python/convert.h"
#include "thalweg/python/keras_python_layer.h"

namespace thalweg::python {
namespace {

using keras::Layer;
using keras::LayerInterface;
using keras::functional::Node;

Nest inputs_of(const std::shared_ptr<Node>& node) {
  return node->inputs.is_none() ? keras::functional::outputs_of(node) : keras::functional::first_argument(*node);
}

nb::tuple tensors_of(const std::shared_ptr<Node>& node) {
  return nb::make_tuple(from_nest(inputs_of(node)), from_nest(keras::functional::outputs_of(node)));
}

/// The calls of a model's layers again, on other inputs and with other layers.
class Replay {
 public:
  Replay(const keras::FunctionalModel& model, const std::vector<Tensor>& inputs) : model_(model) {
    const std::vector<Tensor> before = model.inputs().flatten();
    for (size_t i = 0; i < before.size(); ++i) made_.emplace(place_of(before[i]), inputs.at(i));
  }
  /// `copy_of` gives the other layer for each of the model's, and is asked once.
  template <class F> Nest run(const F& copy_of) {
    std::map<const LayerInterface*, Layer> copies;
    auto mapped = [&](const Tensor& t) { return keras::functional::has_history(t) ? made_.at(place_of(t)) : t; };
    for (const std::shared_ptr<Node>& node : model_.nodes_in_order()) {
      if (node->inputs.is_none()) continue;  // an input, which is given
      Layer& copy = copies[node->layer.get()];
      if (!copy.defined()) copy = copy_of(node->layer);
      keras::CallArgs args = node->args;
      keras::functional::for_each_nest(args, [&](Nest& nest) {
        if (!nest.is_none()) nest = nest.map(mapped);
      });
      int index = 0;
      for (const Tensor& t : copy.invoke(node->inputs.map(mapped), args).flatten())
        made_.emplace(std::pair(node.get(), index++), t);
    }
    return model_.outputs().map(mapped);
  }

 private:
  static std::pair<const Node*, int> place_of(const Tensor& t) {
    const keras::functional::History from = keras::functional::history_of(t);
    return {from.node.get(), from.index};
  }

  const keras::FunctionalModel& model_;
  std::map<std::pair<const Node*, int>, Tensor> made_;
};

}  // namespace

void define_keras_nodes(nb::module_& module) {
  // The layer, the number of its call and of its output behind a tensor of a model; None for others.
  define(module, "history", [](nb::handle tensor) -> nb::object {
    if (!is_tensor(tensor.ptr())) return nb::none();
    keras::functional::History history = keras::functional::history_of(tensor_of(tensor.ptr()));
    if (!history.node) return nb::none();
    return nb::make_tuple(from_object(history.node->layer.pointer(), "layer"), history.node->index, history.index);
  });
  // (inputs, outputs) of the calls of a layer on such tensors.
  define(module, "calls", [](Core& core) {
    nb::list list;
    for (const std::shared_ptr<Node>& node : keras::functional::nodes_of(*as_interface<LayerInterface>(core)))
      list.append(tensors_of(node));
    return list;
  });
  // The same of the call that gave a tensor of a model.
  define(module, "call_of",
         [](nb::handle tensor) { return tensors_of(keras::functional::history_of(tensor_of(tensor.ptr())).node); });
  // The outputs of a model with other layers, each from `copy(layer)`, for these inputs.
  define(module, "replay", [](Core& core, nb::handle inputs, nb::handle copy) {
    std::shared_ptr<LayerInterface> layer = as_interface<LayerInterface>(core);
    auto* python = dynamic_cast<PyLayer*>(layer.get());
    keras::FunctionalModel* graph = keras::graph_of(python && python->inner() ? *python->inner() : *layer);
    if (!graph) raise(PyExc_ValueError, "the layers of model '" + layer->name + "' are not known yet");
    Replay again(*graph, to_nest(inputs).flatten());
    return from_nest(again.run([&](const Layer& old) {
      nb::object made = nb::borrow(copy)(from_object(old.pointer(), "layer"));
      auto found = std::dynamic_pointer_cast<LayerInterface>(to_object(made));
      if (!found)
        raise(PyExc_TypeError, "a layer was expected in place of '" + old.name() + "', got " + repr_of(made.ptr()));
      return Layer(found);
    }));
  });
}

}  // namespace thalweg::python
