#include "thalweg/core/companion.h"
#include "thalweg/core/error.h"
#include "thalweg/core/name_scope.h"
#include "thalweg/core/thread_state.h"
#include "thalweg/keras/loss_support.h"
#include "thalweg/keras/metrics.h"
#include "thalweg/keras/training.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::keras {

namespace {
std::vector<std::string> sorted_keys(const Nest& dict) {
  std::vector<std::string> keys(dict.keys().begin(), dict.keys().end());
  std::sort(keys.begin(), keys.end());
  return keys;
}
}  // namespace

namespace {
/// `a_1`, `a_2`, `b` for {'a': [x, y], 'b': z}: the way to each tensor, where lists count from one.
void add_paths(const Nest& outputs, const std::string& path, std::vector<std::string>& names) {
  if (outputs.is_tensor()) names.push_back(path);
  const std::string before = path.empty() ? path : path + "_";
  if (outputs.is_dict())
    for (const std::string& key : sorted_keys(outputs)) add_paths(outputs.at(key), before + key, names);
  else
    for (size_t i = 0; i < outputs.size(); ++i) add_paths(outputs[i], before + std::to_string(i + 1), names);
}
}  // namespace

std::vector<std::string> names_of_outputs(const Nest& y_pred, const std::vector<std::string>& given) {
  if (!given.empty()) return given;
  std::vector<std::string> names;
  if (y_pred.is_tensor()) return {"output_1"};
  add_paths(y_pred, y_pred.is_dict() ? "" : "output", names);
  return names;
}

std::vector<std::optional<size_t>> places_of(const std::vector<std::string>& names, const Nest& y_pred) {
  std::vector<std::optional<size_t>> places(names.size());
  const size_t count = y_pred.num_tensors();
  if (y_pred.is_dict() && count != names.size()) {
    const std::vector<std::string> now = names_of_outputs(y_pred, {});
    for (size_t i = 0; i < names.size(); ++i)
      if (auto found = std::find(now.begin(), now.end(), names[i]); found != now.end())
        places[i] = static_cast<size_t>(found - now.begin());
  } else {
    for (size_t i = 0; i < std::min(count, names.size()); ++i) places[i] = i;
  }
  return places;
}

size_t output_number(const std::vector<std::string>& names, const Nest& y_pred, const std::string& name,
                     const std::string& refusal) {
  const std::vector<std::string> keys = y_pred.is_dict() ? sorted_keys(y_pred) : std::vector<std::string>();
  for (const std::vector<std::string>* all : {&keys, &names})
    if (auto found = std::find(all->begin(), all->end(), name); found != all->end())
      return static_cast<size_t>(found - all->begin());
  std::string known;
  for (const std::string& one : keys.empty() ? names : keys) known += (known.empty() ? "'" : ", '") + one + "'";
  throw ValueError(refusal + known);
}

std::vector<Nest> per_output(const Nest& given, const Nest& y_pred, const std::vector<std::string>& names,
                             const char* what) {
  const size_t count = y_pred.num_tensors();
  std::vector<Nest> each(count);
  if (given.is_none()) return each;
  if (given.is_tensor()) {  // one for all
    std::fill(each.begin(), each.end(), given);
    return each;
  }
  if (given.is_like(y_pred)) {
    const std::vector<Tensor> all = given.flatten();
    for (size_t i = 0; i < count; ++i) each[i] = Nest(all[i]);
    return each;
  }
  if (given.is_dict()) {
    for (const std::string& key : given.keys()) {
      const std::string refusal =
          "Found unexpected keys that do not correspond to any Model output: '" + key + "'. Expected: ";
      each[output_number(names, y_pred, key, refusal)] = given.at(key);
    }
    return each;
  }
  if (given.size() != count)
    throw ValueError(std::string("the model has ") + std::to_string(count) + " outputs, but " + what + " has " +
                     std::to_string(given.size()) + " items: " + given.str());
  for (size_t i = 0; i < count; ++i) each[i] = given[i];
  return each;
}

Matched match(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) {
  Matched matched{y_true, y_pred, sample_weight};
  if (y_true.rank() == 1 && y_pred.rank() == 2) matched.y_true = expand_dims(y_true, -1);
  if (sample_weight.defined() && sample_weight.rank() == 1 && y_pred.rank() == 2)
    matched.sample_weight = expand_dims(sample_weight, -1);
  const bool both_real = is_floating(y_true.dtype()) && is_floating(y_pred.dtype());
  const bool both_integer = is_integer(y_true.dtype()) && is_integer(y_pred.dtype());
  if (both_real || both_integer) matched.y_true = cast(matched.y_true, y_pred.dtype());
  if (sample_weight.defined()) matched.sample_weight = cast(matched.sample_weight, y_pred.dtype());
  return matched;
}

CompiledLosses::CompiledLosses(OneOrMany<Loss> losses, OneOrMany<double> weights, std::vector<std::string> output_names)
    : losses_(std::move(losses)),
      weights_(std::move(weights)),
      names_(std::move(output_names)),
      total_(metrics::Mean({.name = "loss"})) {}

namespace {

/// What belongs to each output, by name or by position; `one` for all where a single one is given.
template <class T>
std::vector<std::optional<T>> spread_losses(const OneOrMany<T>& given, const Nest& y_pred,
                                            const std::vector<std::string>& names, const char* what) {
  std::vector<std::optional<T>> each(names.size());
  if (!given.names.empty()) {
    for (size_t i = 0; i < given.names.size(); ++i) {
      const std::string refusal = std::string(what) + ": the model has no output '" + given.names[i] + "'; it has ";
      each[output_number(names, y_pred, given.names[i], refusal)] = given.items[i];
    }
    return each;
  }
  if (given.items.empty()) return each;
  if (given.items.size() == 1) {
    std::fill(each.begin(), each.end(), given.items[0]);
    return each;
  }
  if (given.items.size() != names.size())
    throw ValueError(std::string(what) + ": there are " + std::to_string(given.items.size()) + " for the model's " +
                     std::to_string(names.size()) + " outputs");
  for (size_t i = 0; i < names.size(); ++i) each[i] = given.items[i];
  return each;
}

}  // namespace

void CompiledLosses::build(const Nest& y_pred) {
  names_ = names_of_outputs(y_pred, names_);
  auto losses = spread_losses(losses_, y_pred, names_, "loss");
  auto weights = spread_losses(weights_, y_pred, names_, "loss_weights");
  for (size_t i = 0; i < names_.size(); ++i) {
    Output output{losses[i].value_or(Loss()), weights[i], {}};
    if (names_.size() > 1 && output.loss.defined()) output.mean = metrics::Mean({.name = names_[i] + "_loss"});
    outputs_.push_back(std::move(output));
  }
}

namespace {

// What the names of nodes of a loss begin with; the number of its output follows.
constexpr std::string_view loss_scope = "loss_of_output_";

std::string text_of(const Tensor& t) { return std::string(name_of(t.dtype())) + t.shape().str(); }

}  // namespace

std::string CompiledLosses::describe(size_t output) const {
  const std::string text = "\n  in the loss '" + outputs_[output].loss.name() + "'";
  return names_.size() == 1 ? text : text + " of output '" + names_[output] + "'";
}

void CompiledLosses::explain(Error& error) const {
  const std::string text = error.what(), mark = "[[node " + std::string(loss_scope);
  const size_t at = text.find(mark);
  if (at == std::string::npos) return;
  const size_t output = std::strtoul(text.c_str() + at + mark.size(), nullptr, 10);
  if (output < outputs_.size()) error.add_context(describe(output));
}

Tensor CompiledLosses::compute_one(size_t i, const Tensor& y_true, const Tensor& y_pred,
                                   const Tensor& sample_weight) const {
  std::optional<NameScope> scope;
  if (thread_state.tracer) scope.emplace(std::string(loss_scope) + std::to_string(i));
  try {
    return outputs_[i].loss(y_true, y_pred, sample_weight);
  } catch (Error& error) {
    error.add_context(describe(i) + ": the labels are " + text_of(y_true) + ", the predictions " + text_of(y_pred));
    throw;
  }
}

Tensor CompiledLosses::compute(const Nest& y_true, const Nest& y_pred, const Nest& sample_weight,
                               const std::vector<Tensor>& added) {
  if (outputs_.empty()) build(y_pred);
  const std::vector<Tensor> predictions = y_pred.flatten();
  const std::vector<Nest> labels = per_output(y_true, y_pred, names_, "y");
  const std::vector<Nest> weights = per_output(sample_weight, y_pred, names_, "sample_weight");
  const std::vector<std::optional<size_t>> places = places_of(names_, y_pred);
  Tensor total, batch;
  auto add = [&](const Tensor& value) { total = total.defined() ? total + value : value; };
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const Output& output = outputs_[i];
    if (!output.loss.defined() || !places[i] || labels[*places[i]].is_none()) continue;
    const Tensor& prediction = predictions[*places[i]];
    Matched matched = match(labels[*places[i]].tensor(), prediction, weights[*places[i]].as<Tensor>());
    Tensor weight = matched.sample_weight;
    if (Tensor mask = companion_of(prediction); mask.defined()) {
      mask = cast(mask, matched.y_pred.dtype());
      weight = weight.defined() ? losses::apply_mask(weight, mask) : mask;
    }
    Tensor value = compute_one(i, matched.y_true, matched.y_pred, weight);
    if (!batch.defined()) batch = cast(shape(matched.y_true)(0), DType::float32);
    if (value.rank() != 0) value = reduce_sum(value) / cast(size(value), value.dtype());
    if (output.mean.defined()) output.mean.update_state(value, batch);
    if (output.weight) value = value * cast(Tensor(static_cast<float>(*output.weight)), value.dtype());
    add(cast(value, total.defined() ? total.dtype() : value.dtype()));
  }
  for (const Tensor& penalty : added) add(total.defined() ? cast(penalty, total.dtype()) : penalty);
  if (total.defined()) total_.update_state(total, batch);
  return total;
}

std::vector<Metric> CompiledLosses::metrics() const {
  if (outputs_.empty()) return {};  // Keras has none before the first batch
  std::vector<Metric> all = {total_};
  for (const Output& output : outputs_)
    if (output.mean.defined()) all.push_back(output.mean);
  return all;
}

}  // namespace thalweg::keras
