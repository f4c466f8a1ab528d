#include "thalweg/core/error.h"
#include "thalweg/keras/layers/merging.h"
#include "thalweg/ops/einsum.h"
#include "thalweg/ops/norms.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::keras::layers {

Value to_value(const DotAxes& axes) { return keras::to_value(axes.axes); }
void from_value(DotAxes& axes, const Value& value) {
  if (!value.is_integer() && !value.is_list())
    throw TypeError("Invalid type for argument `axes`: it should be a list or an int. Received: axes=" + value.json());
  keras::from_value(axes.axes, value);
}

namespace {

struct DotLayer {
  DotAxes axes = {};
  DotOptions options = {};

  void check() const {
    if (!axes.axes.is_single() && axes.axes.axes().size() != 2)
      throw ValueError("Invalid format for argument `axes`: it should contain two elements. Received: axes=" +
                       to_value(axes).json());
  }
  /// The axis of input `i`, counted from the front.
  int axis_of(size_t i, const Shape& shape) const {
    const std::vector<int64_t>& all = axes.axes.axes();
    const int64_t axis = all.size() == 1 ? all[0] : all[i];
    const int64_t counted = axis < 0 ? axis + shape.rank() : axis;
    if (counted < 1 || counted >= shape.rank())
      throw ValueError("Dot: axis " + std::to_string(axis) + " of an input of shape " + shape.str() +
                       " is none after the batch");
    return static_cast<int>(counted);
  }
  void build(const Nest& inputs) {
    if (!inputs.is_sequence() || inputs.size() != 2)
      throw ValueError("A `Dot` layer should be called on a list of 2 inputs. Received: " + inputs.str());
    const Shape& a = inputs[0].tensor().shape();
    const Shape& b = inputs[1].tensor().shape();
    if (!a.has_rank() || !b.has_rank()) return;
    const int i = axis_of(0, a), j = axis_of(1, b);
    if (a[i] >= 0 && b[j] >= 0 && a[i] != b[j])
      throw ValueError("Incompatible input shapes: axis values " + std::to_string(a[i]) + " (at axis " +
                       std::to_string(i) + ") != " + std::to_string(b[j]) + " (at axis " + std::to_string(j) +
                       "). Full input shapes: " + a.str() + ", " + b.str());
  }
  Tensor call(const std::vector<Tensor>& inputs) {
    Tensor a = inputs.at(0), b = inputs.at(1);
    const int i = axis_of(0, a.shape()), j = axis_of(1, b.shape());
    if (options.normalize) {
      a = math::l2_normalize(a, {.axis = i});
      b = math::l2_normalize(b, {.axis = j});
    }
    // Letters: z for the batch, y for the axis that is summed, others for those that stay.
    std::string of_a = "z", of_b = "z", of_result = "z";
    char next = 'a';
    for (int k = 1; k < a.rank(); ++k) of_a += k == i ? 'y' : next++;
    for (int k = 1; k < b.rank(); ++k) of_b += k == j ? 'y' : next++;
    for (char letter : of_a.substr(1) + of_b.substr(1))
      if (letter != 'y') of_result += letter;
    Tensor product = einsum(of_a + "," + of_b + "->" + of_result, {a, b});
    return a.rank() == 2 && b.rank() == 2 ? expand_dims(product, 1) : product;
  }
  Nest compute_mask(const Nest&, const Nest&) { return {}; }
};

}  // namespace

Layer Dot(const DotAxes& axes, const DotOptions& options) { return DotLayer{axes, options}; }
Tensor dot(const Nest& inputs, const DotAxes& axes, const DotOptions& options) { return Dot(axes, options)(inputs); }

}  // namespace thalweg::keras::layers
