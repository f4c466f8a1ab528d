#include "thalweg/autodiff/log.h"
#include "thalweg/core/companion.h"
#include "thalweg/core/error.h"
#include "thalweg/core/warning.h"
#include "thalweg/graph/tracer.h"
#include "thalweg/keras/backend.h"
#include "thalweg/keras/loss_support.h"
#include "thalweg/keras/losses.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/losses.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_elementary.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/selection.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/transposing.h"

namespace thalweg::keras::losses {
namespace {

Tensor keep_off_bounds(const Tensor& probabilities) {
  return clip_by_value(probabilities, backend::epsilon(), 1 - backend::epsilon());
}

/// What the op that made probabilities in the function being traced had as its input, where it is that op; else None.
Tensor input_of_op(const Tensor& probabilities, const char* op) {
  graph::GraphTracer* tracer = graph::current_tracer();
  if (!tracer || !probabilities.is_symbolic()) return {};
  const graph::Origin origin = graph::origin_of(*probabilities.impl());
  if (origin.graph != tracer->graph().serial() || origin.node->is_constant() ||
      std::string_view(origin.node->op->name) != op)
    return {};
  // A tape goes back by the tensor that it saw.
  Tensor recorded = autodiff::Log::input_behind(probabilities);
  return recorded.defined() ? recorded : tracer->tensor_of(origin.node->inputs[0]);
}

/// Predictions of a model: logits, or probabilities.
struct Predictions {
  Tensor values;
  bool are_logits;
};
/// As Keras does, logits stand in for the probabilities that were just made of them: numbers that probabilities are
/// too coarse for are not lost. Those of Keras's activations are known always, those of the op in traced functions.
Predictions look_through(const Tensor& output, bool from_logits, const char* op, const char* function) {
  Tensor logits = companion_of(output, Companion::logits);
  if (!logits.defined()) logits = input_of_op(output, op);
  if (!logits.defined()) return {output, from_logits};
  if (from_logits)
    warn(std::string("`") + function + "` received `from_logits=True`, but the `output` argument was produced by a " +
         op + " activation and thus does not represent logits. Was this intended?");
  return {logits, true};
}

/// Labels of yes-or-no questions, moved towards one half.
Tensor smooth_binary(const Tensor& labels, double smoothing) {
  return smoothing == 0 ? labels : labels * (1 - smoothing) + 0.5 * smoothing;
}
/// Distributions, moved towards the even one.
Tensor smooth_categorical(const Tensor& labels, double smoothing, int64_t axis) {
  if (smoothing == 0) return labels;
  const int rank = labels.rank();
  const int64_t classes = axis >= -rank && axis < rank ? labels.shape()[static_cast<int>(axis)] : unknown;
  if (classes > 0) return labels * (1 - smoothing) + smoothing / static_cast<double>(classes);
  return labels * (1 - smoothing) + smoothing / cast(shape(labels)(axis), labels.dtype());
}

/// Element by element.
Tensor binary_terms(const Tensor& labels, const Tensor& output, bool from_logits) {
  auto [values, are_logits] = look_through(output, from_logits, "Sigmoid", "binary_crossentropy");
  if (are_logits) return nn::sigmoid_cross_entropy_with_logits(labels, values);
  Tensor p = keep_off_bounds(values);
  const double fuzz = backend::epsilon();
  return -(labels * log(p + fuzz) + (1.0 - labels) * log(1.0 - p + fuzz));
}

}  // namespace

Tensor binary_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                           const BinaryCrossentropyFunctionOptions& options) {
  Tensor labels = smooth_binary(cast(y_true, y_pred.dtype()), options.label_smoothing);
  return reduce_mean(binary_terms(labels, y_pred, options.from_logits), {.axis = options.axis});
}

Tensor binary_focal_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                 const BinaryFocalCrossentropyFunctionOptions& options) {
  Tensor labels = smooth_binary(cast(y_true, y_pred.dtype()), options.label_smoothing);
  Tensor p = options.from_logits ? sigmoid(y_pred) : y_pred;
  Tensor of_truth = labels * p + (1.0 - labels) * (1.0 - p);
  Tensor terms = pow(1.0 - of_truth, options.gamma) * binary_terms(labels, y_pred, options.from_logits);
  if (options.apply_class_balancing) terms = (labels * options.alpha + (1.0 - labels) * (1 - options.alpha)) * terms;
  return reduce_mean(terms, {.axis = options.axis});
}

Tensor categorical_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                const CategoricalCrossentropyFunctionOptions& options) {
  Tensor labels = smooth_categorical(cast(y_true, y_pred.dtype()), options.label_smoothing, options.axis);
  check_compatible(labels.shape(), y_pred.shape());
  auto [values, are_logits] = look_through(y_pred, options.from_logits, "Softmax", "categorical_crossentropy");
  if (are_logits) return nn::softmax_cross_entropy_with_logits(labels, values, {.axis = options.axis});
  Tensor p = keep_off_bounds(values / reduce_sum(values, {.axis = options.axis, .keepdims = true}));
  return -reduce_sum(labels * log(p), {.axis = options.axis});
}

Tensor categorical_focal_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                      const CategoricalFocalCrossentropyFunctionOptions& options) {
  // Keras counts classes along the last axis here, whatever the axis is.
  Tensor labels = smooth_categorical(cast(y_true, y_pred.dtype()), options.label_smoothing, -1);
  check_compatible(labels.shape(), y_pred.shape());
  auto [values, are_logits] = look_through(y_pred, options.from_logits, "Softmax", "categorical_focal_crossentropy");
  Tensor p = are_logits ? nn::softmax(values, {.axis = options.axis}) : values;
  p = keep_off_bounds(p / reduce_sum(p, {.axis = options.axis, .keepdims = true}));
  const Tensor alpha = cast(options.alpha.defined() ? options.alpha : Tensor(0.25), p.dtype());
  return reduce_sum(pow(1.0 - p, options.gamma) * alpha * (-labels * log(p)), {.axis = options.axis});
}

Tensor sparse_categorical_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                       const SparseCategoricalCrossentropyFunctionOptions& options) {
  const int rank = y_pred.rank();
  Tensor labels = cast(y_true, DType::int64);
  auto [values, are_logits] = look_through(y_pred, options.from_logits, "Softmax", "sparse_categorical_crossentropy");
  Tensor logits = are_logits ? values : log(keep_off_bounds(values));
  if (rank < 0 && options.axis != -1)
    throw ValueError("Cannot compute sparse categorical crossentropy with `axis=" + std::to_string(options.axis) +
                     "` on an output tensor with unknown rank");
  if (const int64_t axis = options.axis < 0 ? options.axis + rank : options.axis; rank > 0 && axis != rank - 1) {
    if (axis < 0 || axis >= rank)
      throw ValueError("sparse_categorical_crossentropy: axis " + std::to_string(options.axis) +
                       " is out of range for predictions of shape " + y_pred.shape().str());
    std::vector<int64_t> order;
    for (int i = 0; i < rank; ++i)
      if (i != axis) order.push_back(i);
    order.push_back(axis);
    logits = transpose(logits, {.perm = Axis(order)});
  }
  // Labels with a dimension of one at their end, or in another form with as many elements.
  const Tensor rows = logits;
  const bool reshaped = rank >= 0 && labels.rank() >= 0 && labels.rank() != rank - 1;
  if (reshaped) {
    const int64_t classes = last_dimension(rows);
    labels = reshape(labels, {-1});
    logits = rank == 2      ? logits
             : classes >= 0 ? reshape(logits, {int64_t{-1}, classes})
                            : reshape(logits, stack({Tensor(-1), shape(logits)(-1)}));
  }
  Shape expected = logits.shape();
  if (expected.rank() > 0) {
    expected.erase(expected.rank() - 1);
    if (!expected.is_compatible_with(labels.shape()))
      throw ValueError(
          "`labels.shape` must equal `logits.shape` except for the last dimension. Received: labels.shape=" +
          labels.shape().str() + " and logits.shape=" + logits.shape().str());
  }
  Tensor valid;
  if (options.ignore_class) {
    // Ignored labels stand for class 0 and count nothing, so that shapes do not depend on values.
    valid = not_equal(labels, *options.ignore_class);
    labels = where(valid, labels, zeros_like(labels));
  }
  Tensor losses = nn::sparse_softmax_cross_entropy_with_logits(labels, logits);
  if (valid.defined()) losses = where(valid, losses, zeros_like(losses));
  if (reshaped && rank >= 3) {
    Tensor outer = shape(rows)(slice(0, -1));
    losses = reshape(losses, outer);
    if (valid.defined()) valid = reshape(valid, outer);
  }
  if (valid.defined()) set_companion(losses, valid);
  return losses;
}

namespace {

struct BinaryCrossentropyLoss {
  static constexpr const char* fn = "binary_crossentropy";
  BinaryCrossentropyOptions options = {};
  Tensor call(const Tensor& y_true, const Tensor& y_pred) {
    return binary_crossentropy(
        y_true, y_pred,
        {.from_logits = options.from_logits, .label_smoothing = options.label_smoothing, .axis = options.axis});
  }
};
struct BinaryFocalCrossentropyLoss {
  static constexpr const char* fn = "binary_focal_crossentropy";
  BinaryFocalCrossentropyOptions options = {};
  Tensor call(const Tensor& y_true, const Tensor& y_pred) {
    return binary_focal_crossentropy(y_true, y_pred,
                                     {.apply_class_balancing = options.apply_class_balancing,
                                      .alpha = options.alpha,
                                      .gamma = options.gamma,
                                      .from_logits = options.from_logits,
                                      .label_smoothing = options.label_smoothing,
                                      .axis = options.axis});
  }
};
struct CategoricalCrossentropyLoss {
  static constexpr const char* fn = "categorical_crossentropy";
  CategoricalCrossentropyOptions options = {};
  Tensor call(const Tensor& y_true, const Tensor& y_pred) {
    return categorical_crossentropy(
        y_true, y_pred,
        {.from_logits = options.from_logits, .label_smoothing = options.label_smoothing, .axis = options.axis});
  }
};
struct CategoricalFocalCrossentropyLoss {
  static constexpr const char* fn = "categorical_focal_crossentropy";
  CategoricalFocalCrossentropyOptions options = {};
  Tensor call(const Tensor& y_true, const Tensor& y_pred) {
    return categorical_focal_crossentropy(y_true, y_pred,
                                          {.alpha = options.alpha.tensor(),
                                           .gamma = options.gamma,
                                           .from_logits = options.from_logits,
                                           .label_smoothing = options.label_smoothing,
                                           .axis = options.axis});
  }
};
struct SparseCategoricalCrossentropyLoss {
  static constexpr const char* fn = "sparse_categorical_crossentropy";
  SparseCategoricalCrossentropyOptions options = {};
  Tensor call(const Tensor& y_true, const Tensor& y_pred) {
    return sparse_categorical_crossentropy(y_true, y_pred,
                                           {.from_logits = options.from_logits, .ignore_class = options.ignore_class});
  }
};

const bool crossentropy_names[] = {
    register_named<LossInterface, binary_crossentropy>("binary_crossentropy"),
    register_alias("loss", "bce", "binary_crossentropy"),
    register_alias("loss", "BCE", "binary_crossentropy"),
    register_named<LossInterface, binary_focal_crossentropy>("binary_focal_crossentropy"),
    register_named<LossInterface, categorical_crossentropy>("categorical_crossentropy"),
    register_named<LossInterface, categorical_focal_crossentropy>("categorical_focal_crossentropy"),
    register_named<LossInterface, sparse_categorical_crossentropy>("sparse_categorical_crossentropy"),
};

}  // namespace

Loss BinaryCrossentropy(const BinaryCrossentropyOptions& options) { return BinaryCrossentropyLoss{options}; }
Loss BinaryFocalCrossentropy(const BinaryFocalCrossentropyOptions& options) {
  return BinaryFocalCrossentropyLoss{options};
}
Loss CategoricalCrossentropy(const CategoricalCrossentropyOptions& options) {
  return CategoricalCrossentropyLoss{options};
}
Loss CategoricalFocalCrossentropy(const CategoricalFocalCrossentropyOptions& options) {
  return CategoricalFocalCrossentropyLoss{options};
}
Loss SparseCategoricalCrossentropy(const SparseCategoricalCrossentropyOptions& options) {
  return SparseCategoricalCrossentropyLoss{options};
}

}  // namespace thalweg::keras::losses
