// What layers demand of their inputs, in Keras's words.
#include <algorithm>

#include "thalweg/core/error.h"
#include "thalweg/keras/call_context.h"

namespace thalweg::keras::detail {
namespace {

// As Python prints a shape: (None, 3).
std::string text(const Shape& shape) { return shape.str(); }

/// As Keras compares them: dimension by dimension, as far as both have one.
bool fits_shape(const Shape& wanted, const Shape& given) {
  for (int i = 0; i < std::min(wanted.rank(), given.rank()); ++i)
    if (wanted[i] >= 0 && given[i] >= 0 && wanted[i] != given[i]) return false;
  return true;
}
Shape without_last_one(Shape shape) {
  if (shape.rank() > 0 && shape[-1] == 1) shape.erase(shape.rank() - 1);
  return shape;
}

void check(const LayerInterface& layer, size_t i, const InputSpec& spec, const Tensor& x) {
  const Shape& shape = x.shape();
  const std::string head =
      "Input " + std::to_string(i) + " of layer \"" + layer.name + "\" is incompatible with the layer: ";
  const bool demands_rank = spec.ndim >= 0 || spec.min_ndim >= 0 || spec.max_ndim >= 0;
  if (!shape.has_rank()) {
    if (demands_rank) throw ValueError(head + "its rank is undefined, but the layer requires a defined rank.");
    return;
  }
  const std::string full = ". Full shape received: " + text(shape);
  const std::string found = ", found ndim=" + std::to_string(shape.rank());
  if (spec.ndim >= 0 && shape.rank() != spec.ndim)
    throw ValueError(head + "expected ndim=" + std::to_string(spec.ndim) + found + full);
  if (spec.max_ndim >= 0 && shape.rank() > spec.max_ndim)
    throw ValueError(head + "expected max_ndim=" + std::to_string(spec.max_ndim) + found);
  if (spec.min_ndim >= 0 && shape.rank() < spec.min_ndim)
    throw ValueError(head + "expected min_ndim=" + std::to_string(spec.min_ndim) + found + full);
  if (spec.dtype != DType::invalid && x.dtype() != spec.dtype)
    throw ValueError(head + "expected dtype=" + std::string(name_of(spec.dtype)) + ", found dtype=<dtype: '" +
                     std::string(name_of(x.dtype())) + "'>");
  for (const auto& [axis, size] : spec.axes) {
    if (axis >= shape.rank() || axis < -shape.rank()) continue;
    if (size >= 0 && shape[axis] >= 0 && shape[axis] != size)
      throw ValueError(head + "expected axis " + std::to_string(axis) + " of input shape to have value " +
                       std::to_string(size) + ", but received input with shape " + text(shape));
  }
  if (spec.shape.has_rank()) {
    const bool fits = spec.allows_last_axis_of_one ? fits_shape(without_last_one(spec.shape), without_last_one(shape))
                                                   : fits_shape(spec.shape, shape);
    if (!fits) throw ValueError(head + "expected shape=" + text(spec.shape) + ", found shape=" + text(shape));
  }
}

}  // namespace

void check_inputs(const LayerInterface& layer, const Nest& inputs) {
  const std::vector<InputSpec> specs = layer.input_spec();
  if (specs.empty()) return;
  const std::vector<Tensor> tensors = inputs.flatten();
  // A dict may hold more than a model takes: the model itself looks for what it knows.
  if (inputs.is_dict() && layer.is_network()) return;
  if (tensors.size() < specs.size() || (tensors.size() > specs.size() && !specs.back().has_more))
    throw ValueError("Layer \"" + layer.name + "\" expects " + std::to_string(specs.size()) +
                     " input(s), but it received " + std::to_string(tensors.size()) +
                     " input tensors. Inputs received: " + inputs.str());
  for (size_t i = 0; i < specs.size(); ++i) check(layer, i, specs[i], tensors[i]);
}

}  // namespace thalweg::keras::detail
