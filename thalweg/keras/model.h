// Models: layers that can be trained.
//
//   auto model = keras::Sequential({layers::Flatten(), layers::Dense(10)});
//   keras::Model model = MyModel{.num_classes = 10};                    // a struct with `call`
//   auto model = keras::Model(inputs, outputs);                        // of tensors that begin with keras::Input
//   model.compile({.optimizer = "adam", .loss = "mse", .metrics = {"mae"}});
//   model.fit(x, y, {.epochs = 5});
#pragma once
#include <algorithm>
#include <map>

#include "thalweg/keras/batches.h"
#include "thalweg/keras/callback.h"
#include "thalweg/keras/functional.h"
#include "thalweg/keras/loss.h"
#include "thalweg/keras/metric.h"
#include "thalweg/keras/optimizer.h"
#include "thalweg/keras/summary.h"

namespace thalweg::keras {

/// T, {T, T}, or {{"name", T}, ...}: one for each output, by position or by name.
template <class T> class OneOrMany {
 public:
  OneOrMany() = default;
  template <class U>
    requires(std::convertible_to<U, T> && !std::same_as<std::remove_cvref_t<U>, OneOrMany>)
  OneOrMany(U&& one) : single(true) {  // NOLINT
    items.push_back(T(std::forward<U>(one)));
  }
  OneOrMany(std::initializer_list<T> all) : items(all) {}            // NOLINT
  OneOrMany(std::vector<T> all) : items(std::move(all)) {}           // NOLINT
  OneOrMany(std::initializer_list<std::pair<std::string, T>> all) {  // NOLINT
    for (const auto& [name, item] : all) {
      names.push_back(name);
      items.push_back(item);
    }
  }
  bool empty() const { return items.empty(); }

  std::vector<T> items;
  std::vector<std::string> names;  // of outputs; empty where the position counts
  bool single = false;
};

/// A metric as compile takes it: "accuracy" and "crossentropy" wait until the outputs are known.
class THALWEG_API MetricChoice {
 public:
  MetricChoice(const char* name) : MetricChoice(std::string(name)) {}  // NOLINT
  MetricChoice(const std::string& name);                               // NOLINT
  MetricChoice(Metric metric) : metric_(std::move(metric)) {}          // NOLINT
  template <class T>
    requires(MetricInterface::implemented_by<T>)
  MetricChoice(T object) : metric_(std::move(object)) {}  // NOLINT
  const std::string& name() const { return name_; }
  const Metric& metric() const { return metric_; }

 private:
  std::string name_;
  Metric metric_;
};
/// Metrics for every output, {"accuracy", "mae"}, or by the names of outputs, {{"kind", {"accuracy"}}, ...}.
class MetricChoices {
 public:
  MetricChoices() = default;
  template <class U>
    requires(std::convertible_to<U, MetricChoice>)
  MetricChoices(U&& one) {  // NOLINT
    items.push_back(MetricChoice(std::forward<U>(one)));
  }
  MetricChoices(std::initializer_list<MetricChoice> all) : items(all) {}           // NOLINT
  MetricChoices(std::initializer_list<std::pair<std::string, MetricChoices>> all)  // NOLINT
      : by_name(all) {}
  bool empty() const { return items.empty() && by_name.empty() && by_position.empty(); }

  std::vector<MetricChoice> items;
  std::vector<std::pair<std::string, MetricChoices>> by_name;
  std::vector<MetricChoices> by_position;
};

struct CompileOptions {
  Optimizer optimizer = "rmsprop";
  OneOrMany<Loss> loss = {};  // an output with an undefined loss has none
  MetricChoices metrics = {};
  OneOrMany<double> loss_weights = {};
  MetricChoices weighted_metrics = {};  // metrics that count sample weights
  Flag run_eagerly = false;             // op by op, for debugging
  int64_t steps_per_execution = 1;      // batches between the hooks of callbacks
  Flag jit_compile = false;
};

/// Epochs, counted from one: every n-th, `.validation_freq = 2`, or those of a list, `.validation_freq = {1, 5}`.
class EpochChoice {
 public:
  EpochChoice(int every) : every_(every) {}                             // NOLINT
  EpochChoice(std::initializer_list<int> chosen) : chosen_(chosen) {}   // NOLINT
  EpochChoice(std::vector<int> chosen) : chosen_(std::move(chosen)) {}  // NOLINT
  bool contains(int epoch) const {
    if (every_ > 0) return epoch % every_ == 0;
    return std::find(chosen_.begin(), chosen_.end(), epoch) != chosen_.end();
  }
  /// Zero where there is a list.
  int every() const { return every_; }

 private:
  int every_ = 0;
  std::vector<int> chosen_;
};

struct FitOptions {
  int64_t batch_size = 0;  // left out: 32
  int epochs = 1;
  int verbose = 1;  // 0 silent, 1 progress bar, 2 one line per epoch
  std::vector<Callback> callbacks = {};
  double validation_split = 0;  // this part of the data, from its end
  Nest validation_data = {};    // (x, y) or (x, y, sample_weight)
  Batches validation_batches = {};
  Flag shuffle = true;
  std::map<int64_t, double> class_weight = {};
  Nest sample_weight = {};
  int initial_epoch = 0;
  int64_t steps_per_epoch = 0;
  int64_t validation_steps = 0;
  int64_t validation_batch_size = 0;
  EpochChoice validation_freq = 1;
};
struct EvaluateOptions {
  int64_t batch_size = 0;
  int verbose = 1;
  Nest sample_weight = {};
  int64_t steps = 0;
  std::vector<Callback> callbacks = {};
};
struct PredictOptions {
  int64_t batch_size = 0;
  int verbose = 0;
  int64_t steps = 0;
  std::vector<Callback> callbacks = {};
};
struct BatchOptions {
  Nest sample_weight = {};
  std::map<int64_t, double> class_weight = {};
  Flag reset_metrics = true;
};

/// Ctrl-C while a model is trained: fit throws it after the batch that runs; `model.history()` keeps the epochs before.
class THALWEG_API KeyboardInterrupt : public Error {
 public:
  KeyboardInterrupt() : Error("KeyboardInterrupt", 1, "training was interrupted") {}
};

/// A layer that can be trained. Copies are the same model.
class THALWEG_API Model : public Layer {
 public:
  Model() = default;
  /// Of tensors that begin with keras::Input: one, a list or a dict of each.
  Model(const Nest& inputs, const Nest& outputs, const LayerOptions& options = {});
  template <class T, class S = std::remove_cvref_t<T>>
    requires(!std::derived_from<S, Layer> && LayerInterface::implemented_by<S>)
  Model(T&& object, const LayerOptions& options = {}) : Layer(std::forward<T>(object), options) {  // NOLINT
    become_model();
  }
  template <detail::LayerWithoutCall T> Model(const T&) {  // NOLINT
    detail::refuse_without_call<T>();
  }
  explicit Model(std::shared_ptr<LayerInterface> object) : Layer(std::move(object)) {}
  explicit Model(const Layer& layer) : Layer(layer) { become_model(); }

  /// Says how to train.
  void compile(const CompileOptions& options) const;
  /// Trains on arrays: one tensor each, a list, or a dict. (A template, so that options stay options: g++ would take
  /// `{.epochs = 2}` for a list of labels.)
  template <std::convertible_to<Nest> Y = Nest>
  History fit(const Nest& x, const Y& y, const FitOptions& options = {}) const {
    return fit_arrays(x, y, options);
  }
  /// Trains without labels, on arrays; or on a list of batches, tuples (x, y) or (x, y, sample_weight).
  History fit(const Nest& x, const FitOptions& options = {}) const;
  /// Trains on batches of (x, y) or (x, y, sample_weight).
  History fit(const Batches& batches, const FitOptions& options = {}) const;
  /// The loss and the metrics on other data.
  template <std::convertible_to<Nest> Y = Nest>
  Logs evaluate(const Nest& x, const Y& y, const EvaluateOptions& options = {}) const {
    return evaluate_arrays(x, y, options);
  }
  Logs evaluate(const Nest& x, const EvaluateOptions& options = {}) const;
  Logs evaluate(const Batches& batches, const EvaluateOptions& options = {}) const;
  /// The outputs for these inputs, batch by batch.
  template <class R = Tensor> R predict(const Nest& x, const PredictOptions& options = {}) const {
    return predict_nest(x, options).as<R>();
  }
  template <class R = Tensor> R predict(const Batches& batches, const PredictOptions& options = {}) const {
    return predict_nest(batches, options).as<R>();
  }
  Nest predict_nest(const Nest& x, const PredictOptions& options = {}) const;
  Nest predict_nest(const Batches& batches, const PredictOptions& options = {}) const;
  Logs train_on_batch(const Nest& x, const Nest& y = {}, const BatchOptions& options = {}) const;
  Logs test_on_batch(const Nest& x, const Nest& y = {}, const BatchOptions& options = {}) const;
  Nest predict_on_batch(const Nest& x) const;

  // What steps are made of; a struct's own train_step calls them.
  Nest train_step(const Nest& data) const;
  Nest test_step(const Nest& data) const;
  Nest predict_step(const Nest& data) const;
  /// The losses of the outputs, weighted, and those that layers added; undefined where there is none.
  Tensor compute_loss(const Nest& x, const Nest& y, const Nest& y_pred, const Nest& sample_weight = {}) const;
  /// Takes a batch into the metrics, and gives all of them.
  Nest compute_metrics(const Nest& x, const Nest& y, const Nest& y_pred, const Nest& sample_weight = {}) const;
  /// Adds to what is minimised: a number made from the tensors of a functional model.
  void add_loss(const Tensor& loss) const;
  const Optimizer& optimizer() const;
  std::vector<Metric> metrics() const;
  std::vector<std::string> metrics_names() const;
  void reset_metrics() const;
  /// Ends fit after the batch that runs now.
  void stop_training() const;
  bool is_compiled() const;
  History history() const;

  Layer get_layer(std::string_view name) const;
  Layer get_layer(size_t index) const;
  /// The tensors that a functional model begins and ends with.
  Nest inputs() const;
  Nest outputs() const;
  void build(const Shape& input_shape) const;
  void build(const std::vector<Shape>& input_shapes) const;
  /// For inputs of any structure, given as tensors without values.
  void build_for(const Nest& inputs) const;
  /// Prints its layers as Keras does.
  void summary(const SummaryOptions& options = {}) const;

  /// The model that a configuration is of: that of a graph of layers, or of layers one after the other.
  static Model from_config(const Value& config);

 private:
  friend class Training;
  History fit_arrays(const Nest& x, const Nest& y, const FitOptions& options) const;
  Logs evaluate_arrays(const Nest& x, const Nest& y, const EvaluateOptions& options) const;
  void become_model() const;
  void make_train_step(const Nest& data) const;
  void make_test_step(const Nest& data) const;
  /// ValueError where there is nothing to minimise.
  void check_target_and_loss(const Nest& y, const Tensor& loss) const;
  Nest metric_results() const;
};

/// A model that knows its struct: `auto net = keras::model(MyModel{}); net->stem.set_trainable(false);`
template <class T> using ModelOf = Typed<T, Model, typename detail::CallOf<T>::Inputs>;
template <class T> auto model(T object, const LayerOptions& options = {}) {
  static_assert(LayerInterface::implemented_by<T>,
                "a model is a struct with one member function `call`: `Tensor call(const Tensor& x)`, or "
                "`Tensor call(const Tensor& x, const CallArgs& args)`");
  if constexpr (LayerInterface::implemented_by<T>) return ModelOf<T>(std::move(object), options);
}

/// Layers one after the other.
class THALWEG_API Sequential : public Model {
 public:
  Sequential(std::initializer_list<Layer> layers = {}, const LayerOptions& options = {});  // NOLINT
  explicit Sequential(const std::vector<Layer>& layers, const LayerOptions& options = {});
  /// Puts a layer at the end.
  void add(const Layer& layer) const;
  /// Takes the last one away.
  void pop() const;
};

namespace models {
/// A model of new layers like those of another, with new weights.
THALWEG_API Model clone_model(const Model& model);
}  // namespace models

}  // namespace thalweg::keras
