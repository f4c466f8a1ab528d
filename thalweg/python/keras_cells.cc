// The cells of recurrent layers in Python: what there is to know of their states.
#include "thalweg/keras/layers/recurrent.h"
#include "thalweg/python/convert.h"
#include "thalweg/python/keras_core.h"

namespace thalweg::python {

void define_keras_cells(nb::module_& module) {
  // The states that a sequence begins with, in a list.
  define(module, "initial_state", [](Core& core, nb::handle inputs, nb::handle batch_size, nb::handle dtype) {
    const keras::layers::RNNCell cell = keras::Layer(as_interface<keras::LayerInterface>(core));
    keras::layers::InitialStateOptions options;
    if (!inputs.is_none()) options.inputs = natural_tensor(inputs.ptr());
    if (!batch_size.is_none()) options.batch_size = nb::cast<int64_t>(batch_size);
    if (!dtype.is_none()) options.dtype = to_dtype(dtype.ptr());
    return from_nest(Nest::of(cell.get_initial_state(options)));
  });
  // The shapes of the states of a cell, and of its output, without the batch.
  define(module, "state_sizes", [](Core& core) {
    std::vector<Tensor> states;
    for (const Shape& size : as_interface<keras::LayerInterface>(core)->state_size())
      states.push_back(keras::detail::stand_in(DType::float32, size));
    return shapes_of(Nest::of(states));
  });
  define(module, "output_size", [](Core& core) {
    return nb::steal(wrap_shape(as_interface<keras::LayerInterface>(core)->output_size().at(0)));
  });
  define(module, "kept_states",
         [](Core& core) { return from_variables(as_interface<keras::LayerInterface>(core)->kept_states()); });
}

}  // namespace thalweg::python
