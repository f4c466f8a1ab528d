#include "thalweg/keras/nan_loss.h"

#include "thalweg/core/number_text.h"
#include "thalweg/core/warning.h"
#include "thalweg/keras/training.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/math_rounding.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::keras {
namespace {

/// `expected finite numbers, found nan at (0, 1) of float32(4, 2)`; empty where all are finite.
std::string find_not_finite(const Tensor& t) {
  if (!is_floating(t.dtype()) || t.size() == 0) return {};
  const Tensor flat = reshape(t, {-1});
  const Tensor bad = logical_not(math::is_finite(flat));
  if (!reduce_any(bad).item<bool>()) return {};
  auto rest = argmax(cast(bad, DType::int32)).item<int64_t>();
  const double value = cast(flat[rest], DType::float64).item<double>();
  Shape place;
  for (int i = t.rank() - 1; i >= 0; --i) {
    place.insert(0, rest % t.shape()[i]);
    rest /= t.shape()[i];
  }
  return "expected finite numbers, found " + real_scalar(DType::float64, value) + " at " + place.str() + " of " +
         std::string(name_of(t.dtype())) + t.shape().str();
}

std::string find_in_data(const Model& model, const Nest& data) {
  auto [x, y, sample_weight] = unpack(data);
  const std::vector<Tensor> inputs = x.flatten();
  for (size_t i = 0; i < inputs.size(); ++i)
    if (std::string found = find_not_finite(inputs[i]); !found.empty())
      return "Input " + std::to_string(i) + " of layer \"" + model.name() + "\": " + found + ".";
  for (const auto& [what, part] : {std::pair{"The labels: ", y}, {"The sample weights: ", sample_weight}})
    for (const Tensor& t : part.flatten())
      if (std::string found = find_not_finite(t); !found.empty()) return what + found + ".";
  return {};
}

std::string find_in_weights(const Layer& layer) {
  for (const Layer& inner : layer.layers())
    if (std::string found = find_in_weights(inner); !found.empty()) return found;
  for (const Variable& weight : layer.weights())
    if (std::string found = find_not_finite(weight.value()); !found.empty())
      return "Weight \"" + weight.name() + "\" of layer \"" + layer.name() + "\": " + found +
             ". A batch held such numbers, or the steps were too large: lower the learning rate, or clip gradients "
             "with "
             "`clipnorm`.";
  return {};
}

}  // namespace

void warn_of_nan_loss(const Model& model, const Nest& data, int epoch) {
  std::string cause = find_in_data(model, data);
  if (cause.empty()) cause = find_in_weights(model);
  if (cause.empty())
    cause =
        "The inputs, the labels and the weights are finite: the model or the loss divides by zero, or takes the "
        "logarithm of zero.";
  warn("fit: the loss is nan in epoch " + std::to_string(epoch + 1) + ". " + cause +
       " Training goes on; the callback TerminateOnNaN would end it.");
}

}  // namespace thalweg::keras
