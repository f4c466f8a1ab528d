// What compile makes of its options: the losses and metrics of every output, and the steps.
#pragma once
#include "thalweg/core/error.h"
#include "thalweg/keras/model.h"
#include "thalweg/keras/step_function.h"

namespace thalweg::keras {

/// The losses of a model's outputs.
class CompiledLosses {
 public:
  CompiledLosses(OneOrMany<Loss> losses, OneOrMany<double> weights, std::vector<std::string> output_names);
  /// Their weighted sum, with the penalties that layers added; counts it. Undefined where there is nothing to sum: no
  /// loss, or no labels for one.
  Tensor compute(const Nest& y_true, const Nest& y_pred, const Nest& sample_weight, const std::vector<Tensor>& added);
  /// Says of an error inside of a traced step which loss it comes from, if it comes from one.
  void explain(Error& error) const;
  /// The mean of the whole, then of each output where there are several.
  std::vector<Metric> metrics() const;

 private:
  struct Output {
    Loss loss;
    std::optional<double> weight;
    Metric mean;
  };
  void build(const Nest& y_pred);
  Tensor compute_one(size_t output, const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) const;
  std::string describe(size_t output) const;

  OneOrMany<Loss> losses_;
  OneOrMany<double> weights_;
  std::vector<std::string> names_;
  Metric total_;
  std::vector<Output> outputs_;
};

/// The metrics of a model's outputs.
class CompiledMetrics {
 public:
  CompiledMetrics(MetricChoices metrics, MetricChoices weighted, std::vector<std::string> output_names);
  void update(const Nest& y_true, const Nest& y_pred, const Nest& sample_weight);
  std::vector<Metric> metrics() const;
  /// Sets those to zero that were given as objects, which may have counted before the first batch.
  void reset_given() const;

 private:
  struct Output {
    std::vector<Metric> plain, weighted;
  };
  void build(const Nest& y_true, const Nest& y_pred);

  MetricChoices metrics_, weighted_;
  std::vector<std::string> names_;
  std::vector<Output> outputs_;
  bool built_ = false;
};

/// The tensors of one thing per output, in the order of the predictions; None where there is none, a single tensor for
/// all.
std::vector<Nest> per_output(const Nest& given, const Nest& y_pred, const std::vector<std::string>& names,
                             const char* what);
/// The number of an output by its key in a dict of predictions, or by its name; ValueError that begins with `refusal`
/// and names the outputs there are.
size_t output_number(const std::vector<std::string>& names, const Nest& y_pred, const std::string& name,
                     const std::string& refusal);
/// The names of outputs: a model's own, the keys of a dict, or output_1, output_2, ...
std::vector<std::string> names_of_outputs(const Nest& y_pred, const std::vector<std::string>& given);
/// Where each of the outputs that were named at first stands among these predictions; none where a dict has fewer now.
std::vector<std::optional<size_t>> places_of(const std::vector<std::string>& names, const Nest& y_pred);
/// Labels, predictions and weights with ranks and dtypes that go together.
struct Matched {
  Tensor y_true, y_pred, sample_weight;
};
Matched match(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight);

/// Whether each layer of a model is trainable.
using TrainableState = std::vector<std::pair<std::weak_ptr<LayerInterface>, bool>>;
TrainableState trainable_state_of(const Layer& layer);

/// What a compiled model knows besides its layers.
class Training {
 public:
  Training(const Model& model, const CompileOptions& options);

  CompileOptions options;
  CompiledLosses losses;
  CompiledMetrics metrics;
  StepFunction train, test, predict;  // the first two give the results of a model's own steps, or nothing
  TrainableState trainable_state;     // when the model was compiled: it holds until it is compiled again
  bool compiled = false;              // false: made for predict alone
  bool stop = false;
  History history;
  Nest last_outputs;  // of predict, for callbacks

 private:
  static Nest run_train_step(const Model& model, const Nest& data);
  static Nest run_test_step(const Model& model, const Nest& data);
  static Nest run_predict_step(const Model& model, const Nest& data);
};

/// x, y and sample_weight of a batch.
struct Batch {
  Nest x, y, sample_weight;
};
Batch unpack(const Nest& data);

}  // namespace thalweg::keras
