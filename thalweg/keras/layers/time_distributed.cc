#include "thalweg/core/error.h"
#include "thalweg/keras/call_context.h"
#include "thalweg/keras/layers/sequence.h"
#include "thalweg/keras/layers/wrappers.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::keras::layers {
namespace {

/// The tensor under another shape: these first dimensions, then its own from `from` on.
Tensor with_front(const Tensor& x, const std::vector<Tensor>& front, const std::vector<int64_t>& known, int from) {
  std::vector<int64_t> dims = known;
  int unknowns = 0;
  for (int i = from; i < x.rank(); ++i) dims.push_back(x.shape()[i]);
  for (int64_t dim : dims) unknowns += dim < 0;
  if (unknowns <= 1 && x.shape().num_elements() != 0) return reshape(x, Tensor(dims));
  return reshape(x, concat({stack(front), shape(x)(slice(from, x.rank()))}, 0));
}
/// [batch, time, ...] to [batch * time, ...].
Tensor merge_time(const Tensor& x) {
  Tensor sizes = shape(x);
  const Shape& known = x.shape();
  const int64_t rows = known[0] < 0 || known[1] < 0 ? -1 : known[0] * known[1];
  return with_front(x, {reduce_prod(sizes(slice(0, 2)))}, {rows}, 2);
}
/// And back, with the batch and time of `like`.
Tensor part_time(const Tensor& x, const Tensor& like) {
  Tensor sizes = shape(like);
  return with_front(x, {sizes(0), sizes(1)}, {like.shape()[0], like.shape()[1]}, 1);
}

struct TimeDistributedLayer {
  Layer layer = {};
  TimeDistributedOptions options = {};

  void check() const {
    if (!layer.defined())
      throw ValueError(
          "Please initialize `TimeDistributed` layer with a `tf.keras.layers.Layer` instance. Received: "
          "None");
  }
  void build(const Nest& inputs) {
    std::vector<Tensor> steps;
    for (const Tensor& t : inputs.flatten()) {
      if (t.rank() < 3)
        throw ValueError(
            "`TimeDistributed` Layer should be passed an `input_shape ` with at least 3 dimensions, received: " +
            t.shape().str());
      Shape shape = t.shape();
      shape.erase(1);
      steps.push_back(keras::detail::stand_in(t.dtype(), shape));
    }
    // The weights are called after this layer.
    keras::detail::CallContext context(*layer.get(), {}, false);
    keras::detail::build_if_needed(*layer.get(), inputs.pack(steps));
    if (!keeps_shape()) layer.object().built_shapes.clear();
  }
  /// As in Keras, where it depends on the class whether a layer that is built by hand remembers its shape: most of
  /// those with weights do not.
  bool keeps_shape() const {
    const std::string name = layer.class_name();
    for (const char* one : {"EinsumDense", "GroupNormalization", "Normalization", "SimpleRNN", "GRU", "LSTM", "RNN"})
      if (name == one) return true;
    if (name == "UnitNormalization" || name.starts_with("Global") || name.starts_with("ConvLSTM") ||
        layer.as<TimeDistributedLayer>())
      return false;
    return list_variables(*layer.get()).empty();
  }
  Nest call(const Nest& inputs, const CallArgs& args) {
    const Tensor first = inputs.flatten().at(0);
    CallArgs inner{.training = args.training};
    if (args.mask.is_tensor()) inner.mask = merge_time(args.mask.tensor());
    if (Flag* stateful = layer.object().member<Flag>("stateful"); stateful && *stateful && inputs.is_tensor())
      return step_by_step(first, inner);
    return layer.invoke(inputs.map(merge_time), inner).map([&](const Tensor& t) { return part_time(t, first); });
  }
  /// What a layer remembers goes from step to step.
  Tensor step_by_step(const Tensor& x, const CallArgs& args) const {
    auto swapped = [](const Tensor& t) { return swap_time(t); };
    auto step = [&](const Nest& now, const std::vector<Tensor>&) {
      return std::pair(layer.invoke(now, {.training = args.training}), std::vector<Tensor>());
    };
    Tensor steps = swapped(x);
    Shape of_step = steps.shape();
    of_step.erase(0);
    Shape output = layer.compute_output_shape(of_step);
    Tensor zero = zeros(output, {.dtype = layer.compute_dtype()});
    return swapped(run_steps(step, steps, {}, {}, {zero}, {.return_sequences = true}).outputs.tensor());
  }
  Nest compute_mask(const Nest& inputs, const Nest& mask) {
    const Tensor first = inputs.flatten().at(0);
    Nest inner = mask.is_tensor() ? Nest(merge_time(mask.tensor())) : Nest();
    Nest made = layer.compute_mask(inputs.map(merge_time), inner);
    if (made.is_tensor()) return part_time(made.tensor(), first);
    if (!mask.is_tensor()) return {};
    Tensor steps = mask.tensor();
    while (steps.rank() > 2) steps = reduce_any(steps, {.axis = -1});
    return steps;
  }
};

}  // namespace

Layer TimeDistributed(const Layer& layer, const TimeDistributedOptions& options) {
  return TimeDistributedLayer{layer, options};
}

}  // namespace thalweg::keras::layers
