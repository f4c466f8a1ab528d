#include <set>

#include "thalweg/core/companion.h"
#include "thalweg/core/error.h"
#include "thalweg/keras/loss_support.h"
#include "thalweg/keras/training.h"
#include "thalweg/ops/casting.h"

namespace thalweg::keras {

namespace {
bool waits_for_outputs(const std::string& name) {
  return name == "accuracy" || name == "acc" || name == "crossentropy" || name == "ce";
}
}  // namespace

MetricChoice::MetricChoice(const std::string& name) : name_(name) {
  if (waits_for_outputs(name)) return;
  metric_ = Metric(name);
  if (metric_.object().is_function()) metric_.object().name = name;  // shown as it was written
}

namespace {

/// "accuracy" is one of three, by the shapes of labels and predictions.
Metric choose(const MetricChoice& choice, const Tensor& y_true, const Tensor& y_pred) {
  if (choice.metric().defined()) return choice.metric();
  const int64_t true_last = y_true.rank() > 0 ? y_true.shape()[-1] : 1;
  const int64_t pred_last = y_pred.rank() > 0 ? y_pred.shape()[-1] : 1;
  const bool binary = pred_last == 1;
  const bool sparse = (y_true.rank() < y_pred.rank() || true_last == 1) && pred_last > 1;
  const bool accuracy = choice.name().starts_with("acc");
  const std::string kind = binary ? "binary" : sparse ? "sparse_categorical" : "categorical";
  Metric made(kind + (accuracy ? "_accuracy" : "_crossentropy"));
  made.object().name = choice.name();
  return made;
}

/// Another one like it, for another output: each counts for itself.
MetricChoice another(const MetricChoice& choice) {
  return choice.metric().defined() ? MetricChoice(Metric(choice.metric().object().another())) : choice;
}

/// The choices for each output.
std::vector<std::vector<MetricChoice>> spread_metrics(const MetricChoices& given, const Nest& y_pred,
                                                      const std::vector<std::string>& names) {
  std::vector<std::vector<MetricChoice>> each(names.size());
  if (!given.by_position.empty() && given.by_position.size() != names.size())
    throw ValueError("metrics: there are " + std::to_string(given.by_position.size()) + " lists for the model's " +
                     std::to_string(names.size()) + " outputs");
  for (size_t i = 0; i < names.size(); ++i) {
    if (!given.by_position.empty()) each[i] = given.by_position[i].items;
    else
      for (const MetricChoice& choice : given.items) each[i].push_back(i == 0 ? choice : another(choice));
  }
  for (const auto& [name, choices] : given.by_name) {
    const std::string refusal = "metrics: the model has no output '" + name + "'; it has ";
    each[output_number(names, y_pred, name, refusal)] = choices.items;
  }
  return each;
}

}  // namespace

CompiledMetrics::CompiledMetrics(MetricChoices metrics, MetricChoices weighted, std::vector<std::string> output_names)
    : metrics_(std::move(metrics)), weighted_(std::move(weighted)), names_(std::move(output_names)) {}

void CompiledMetrics::build(const Nest& y_true, const Nest& y_pred) {
  names_ = names_of_outputs(y_pred, names_);
  const std::vector<Tensor> predictions = y_pred.flatten();
  const std::vector<Nest> labels = per_output(y_true, y_pred, names_, "y");
  auto plain = spread_metrics(metrics_, y_pred, names_), weighted = spread_metrics(weighted_, y_pred, names_);
  std::set<std::string> taken;
  for (size_t i = 0; i < names_.size(); ++i) {
    Output output;
    const std::string prefix = names_.size() > 1 ? names_[i] + "_" : "";
    auto add = [&](const std::vector<MetricChoice>& choices, bool is_weighted, std::vector<Metric>& to) {
      for (const MetricChoice& choice : choices) {
        if (labels[i].is_none() && !choice.metric().defined()) continue;  // labels decide which one it is
        Metric metric = choose(choice, labels[i].as<Tensor>(), predictions[i]);
        std::string name = prefix + metric.name();
        if (is_weighted && taken.contains(name)) name = prefix + "weighted_" + metric.name();
        if (!taken.insert(name).second)
          throw ValueError("Found two metrics with the same name: " + name +
                           ". All the metrics added to the model need to have unique names.");
        metric.object().name = name;
        to.push_back(metric);
      }
    };
    add(plain[i], false, output.plain);
    add(weighted[i], true, output.weighted);
    outputs_.push_back(std::move(output));
  }
  built_ = true;
}

void CompiledMetrics::update(const Nest& y_true, const Nest& y_pred, const Nest& sample_weight) {
  if (metrics_.empty() && weighted_.empty()) return;
  if (!built_) build(y_true, y_pred);
  const std::vector<Tensor> predictions = y_pred.flatten();
  const std::vector<Nest> labels = per_output(y_true, y_pred, names_, "y");
  const std::vector<Nest> weights = per_output(sample_weight, y_pred, names_, "sample_weight");
  const std::vector<std::optional<size_t>> places = places_of(names_, y_pred);
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (!places[i] || labels[*places[i]].is_none()) continue;
    const Tensor& prediction = predictions[*places[i]];
    Matched matched = match(labels[*places[i]].tensor(), prediction, weights[*places[i]].as<Tensor>());
    Tensor mask = companion_of(prediction);
    if (mask.defined()) {
      mask = cast(mask, matched.y_pred.dtype());
      if (matched.sample_weight.defined()) matched.sample_weight = losses::apply_mask(matched.sample_weight, mask);
      else matched.sample_weight = mask;
    }
    for (const Metric& metric : outputs_[i].plain) metric.update_state(matched.y_true, matched.y_pred, mask);
    for (const Metric& metric : outputs_[i].weighted)
      metric.update_state(matched.y_true, matched.y_pred, matched.sample_weight);
  }
}

namespace {
void reset(const MetricChoices& choices) {
  for (const MetricChoice& choice : choices.items)
    if (choice.metric().defined()) choice.metric().reset_state();
  for (const MetricChoices& more : choices.by_position) reset(more);
  for (const auto& [name, more] : choices.by_name) reset(more);
}
}  // namespace

void CompiledMetrics::reset_given() const {
  if (built_) return;  // among metrics() then
  reset(metrics_);
  reset(weighted_);
}

std::vector<Metric> CompiledMetrics::metrics() const {
  std::vector<Metric> all;
  for (const Output& output : outputs_) {
    all.insert(all.end(), output.plain.begin(), output.plain.end());
    all.insert(all.end(), output.weighted.begin(), output.weighted.end());
  }
  return all;
}

}  // namespace thalweg::keras
