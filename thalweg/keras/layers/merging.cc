#include "thalweg/keras/layers/merging.h"

#include <algorithm>

#include "thalweg/core/error.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::keras::layers {
namespace {

std::string text(const std::vector<Shape>& shapes) {
  std::string all;
  for (const Shape& shape : shapes) all += (all.empty() ? "[" : ", ") + shape.str();
  return all + "]";
}

/// What two shapes without the batch broadcast to, in Keras's words where they do not.
Shape broadcast(Shape a, Shape b) {
  if (a.rank() < b.rank()) std::swap(a, b);
  const int extra = a.rank() - b.rank();
  Shape result = a;
  for (int i = 0; i < b.rank(); ++i) {
    const int64_t x = a[extra + i], y = b[i];
    int64_t& to = result[extra + i];
    if (x < 0 || y < 0) to = unknown;
    else if (x == 1) to = y;
    else if (y != 1 && x != y)
      throw ValueError("Inputs have incompatible shapes. Received shapes " + a.str() + " and " + b.str());
  }
  return result;
}

void check_mergeable(const Nest& inputs) {
  const std::vector<Shape> shapes = keras::detail::shapes_of(inputs);
  if (!inputs.is_sequence())
    throw ValueError("A merge layer should be called on a list of inputs. Received: input_shape=" +
                     (shapes.empty() ? "None" : shapes[0].str()) + " (not a list of shapes)");
  if (shapes.empty()) throw ValueError("A merge layer should be called on a list of at least 1 input. Got 0 inputs.");
  int64_t batch = unknown;
  std::optional<Shape> merged;
  for (Shape shape : shapes) {
    if (!shape.has_rank()) return;
    if (shape.rank() == 0) continue;
    if (shape[0] >= 0 && batch >= 0 && shape[0] != batch)
      throw ValueError("Cannot merge tensors with different batch sizes. Got tensors with shapes " + text(shapes));
    if (shape[0] >= 0) batch = shape[0];
    shape.erase(0);
    merged = merged ? broadcast(*merged, shape) : shape;
  }
}
void check_two(const Nest& inputs) {
  if (inputs.size() != 2)
    throw ValueError("A `Subtract` layer should be called on exactly 2 inputs. Received: input_shape=" +
                     text(keras::detail::shapes_of(inputs)));
}

/// Tensors of fewer dimensions get those they lack after the batch, then two are merged at a time.
template <class F> Tensor merge(const Nest& inputs, const F& of_two) {
  int rank = 0;
  for (const Nest& item : inputs.items()) rank = std::max(rank, item.tensor().rank());
  Tensor merged;
  for (const Nest& item : inputs.items()) {
    Tensor x = item.tensor();
    while (x.rank() < rank) x = expand_dims(x, 1);
    merged = merged.defined() ? of_two(merged, x) : x;
  }
  if (inputs.size() == 1) merged = identity(merged);
  return merged;
}

/// A step counts where it does in all inputs that have a mask.
Nest merge_masks(const Nest& mask) {
  if (mask.is_none()) return {};
  if (!mask.is_sequence()) throw ValueError("`mask` should be a list. Received: mask=" + mask.str());
  Tensor merged;
  for (const Nest& item : mask.items()) {
    if (item.is_none()) continue;
    const Tensor one = cast(item.tensor(), DType::bool_);
    merged = merged.defined() ? logical_and(merged, one) : one;
  }
  return merged;
}

struct AddLayer {
  PlainOptions options = {};
  void build(const Nest& inputs) { check_mergeable(inputs); }
  Tensor call(const Nest& inputs) {
    return merge(inputs, [](const Tensor& a, const Tensor& b) { return a + b; });
  }
  Nest compute_mask(const Nest&, const Nest& mask) { return merge_masks(mask); }
};
struct SubtractLayer {
  PlainOptions options = {};
  void build(const Nest& inputs) {
    check_mergeable(inputs);
    check_two(inputs);
  }
  Tensor call(const Nest& inputs) {
    return merge(inputs, [](const Tensor& a, const Tensor& b) { return a - b; });
  }
  Nest compute_mask(const Nest&, const Nest& mask) { return merge_masks(mask); }
};
struct MultiplyLayer {
  PlainOptions options = {};
  void build(const Nest& inputs) { check_mergeable(inputs); }
  Tensor call(const Nest& inputs) {
    return merge(inputs, [](const Tensor& a, const Tensor& b) { return a * b; });
  }
  Nest compute_mask(const Nest&, const Nest& mask) { return merge_masks(mask); }
};
struct AverageLayer {
  PlainOptions options = {};
  void build(const Nest& inputs) { check_mergeable(inputs); }
  Tensor call(const Nest& inputs) {
    Tensor sum = merge(inputs, [](const Tensor& a, const Tensor& b) { return a + b; });
    return sum / cast(Tensor(static_cast<double>(inputs.size())), sum.dtype());
  }
  Nest compute_mask(const Nest&, const Nest& mask) { return merge_masks(mask); }
};
struct MaximumLayer {
  PlainOptions options = {};
  void build(const Nest& inputs) { check_mergeable(inputs); }
  Tensor call(const Nest& inputs) {
    return merge(inputs, [](const Tensor& a, const Tensor& b) { return maximum(a, b); });
  }
  Nest compute_mask(const Nest&, const Nest& mask) { return merge_masks(mask); }
};
struct MinimumLayer {
  PlainOptions options = {};
  void build(const Nest& inputs) { check_mergeable(inputs); }
  Tensor call(const Nest& inputs) {
    return merge(inputs, [](const Tensor& a, const Tensor& b) { return minimum(a, b); });
  }
  Nest compute_mask(const Nest&, const Nest& mask) { return merge_masks(mask); }
};

struct ConcatenateLayer {
  ConcatenateOptions options = {};
  void build(const Nest& inputs) {
    std::vector<Shape> shapes = keras::detail::shapes_of(inputs);
    if (!inputs.is_sequence() || shapes.empty())
      throw ValueError("A `Concatenate` layer should be called on a list of at least 1 input. Received: input_shape=" +
                       (shapes.empty() ? "[]" : shapes[0].str()));
    std::optional<Shape> others;
    for (Shape shape : shapes) {
      if (!shape.has_rank()) return;
      if (options.axis >= shape.rank() || options.axis < -shape.rank())
        throw ValueError("Concatenate: axis " + std::to_string(options.axis) +
                         " is none of the inputs, whose shapes are " + text(shapes));
      const auto axis = static_cast<int>(options.axis);
      shape.erase(axis < 0 ? axis + shape.rank() : axis);
      if (others && !others->is_compatible_with(shape))
        throw ValueError(
            "A `Concatenate` layer requires inputs with matching shapes except for the concatenation axis. Received: "
            "input_shape=" +
            text(shapes));
      others = others ? others->merge_with(shape) : shape;
    }
  }
  Tensor call(const std::vector<Tensor>& inputs) { return concat(inputs, static_cast<int32_t>(options.axis)); }
  Nest compute_mask(const Nest& inputs, const Nest& mask) {
    if (mask.is_none()) return {};
    if (!mask.is_sequence()) throw ValueError("`mask` should be a list. Received: mask=" + mask.str());
    if (mask.size() != inputs.size())
      throw ValueError("The lists `inputs` and `mask` should have the same length. Received: inputs=" + inputs.str() +
                       ", and mask=" + mask.str());
    std::vector<Tensor> masks;
    bool any = false;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Tensor& x = inputs[i].tensor();
      any |= !mask[i].is_none();
      if (mask[i].is_none()) masks.push_back(ones_like(x, {.dtype = DType::bool_}));
      else if (mask[i].tensor().rank() < x.rank()) masks.push_back(expand_dims(mask[i].tensor(), -1));
      else masks.push_back(mask[i].tensor());
    }
    if (!any) return {};
    return reduce_all(concat(masks, static_cast<int32_t>(options.axis)), {.axis = -1});
  }
};

}  // namespace

Layer Add(const PlainOptions& options) { return AddLayer{options}; }
Layer Subtract(const PlainOptions& options) { return SubtractLayer{options}; }
Layer Multiply(const PlainOptions& options) { return MultiplyLayer{options}; }
Layer Average(const PlainOptions& options) { return AverageLayer{options}; }
Layer Maximum(const PlainOptions& options) { return MaximumLayer{options}; }
Layer Minimum(const PlainOptions& options) { return MinimumLayer{options}; }
Layer Concatenate(const ConcatenateOptions& options) { return ConcatenateLayer{options}; }

Tensor add(const Nest& inputs, const PlainOptions& options) { return Add(options)(inputs); }
Tensor subtract(const Nest& inputs, const PlainOptions& options) { return Subtract(options)(inputs); }
Tensor multiply(const Nest& inputs, const PlainOptions& options) { return Multiply(options)(inputs); }
Tensor average(const Nest& inputs, const PlainOptions& options) { return Average(options)(inputs); }
Tensor maximum(const Nest& inputs, const PlainOptions& options) { return Maximum(options)(inputs); }
Tensor minimum(const Nest& inputs, const PlainOptions& options) { return Minimum(options)(inputs); }
Tensor concatenate(const Nest& inputs, const ConcatenateOptions& options) { return Concatenate(options)(inputs); }

}  // namespace thalweg::keras::layers
