// Layers: plain structs with `call`, behind the handle `Layer`.
//
//   struct Linear {
//     int64_t units = 32;                                   // configuration first
//     keras::Regularizer regularizer = {};
//     Variable kernel = {}, bias = {};                      // then weights and layers, named after the members
//     void build(const Shape& input) {
//       kernel = keras::add_weight({input[-1], units}, {.regularizer = regularizer});
//       bias = keras::add_weight({units}, {.initializer = "zeros"});
//     }
//     Tensor call(const Tensor& x) { return matmul(x, kernel) + bias; }
//   };
//   keras::Layer layer = Linear{.units = 4};
//   Tensor y = layer(x);                                    // builds it
//
// Besides `call` a struct may have: check(), which refuses options or completes them when the layer is made;
// build(shape) or build(shapes); compute_mask(inputs, mask); compute_output_shape(shape); input_spec(); reset_states();
// adapt(data); `static constexpr bool supports_masking = true`; complete_config(config) for what the members alone do
// not say; for models train_step, test_step and predict_step. A cell of recurrent layers takes its states too,
// `call(x, states)`, returns output and states, and has `state_size` and `output_size`, members or functions.
#pragma once
#include "thalweg/core/tensor_spec.h"
#include "thalweg/keras/call_types.h"
#include "thalweg/keras/functions.h"
#include "thalweg/keras/metric.h"
#include "thalweg/keras/policy.h"

namespace thalweg::keras {

class Layer;
class Model;
class Training;
struct NamedArgs;
namespace functional {
struct Node;
}

/// What a layer demands of an input.
struct InputSpec {
  int ndim = -1, min_ndim = -1, max_ndim = -1;
  std::vector<std::pair<int, int64_t>> axes = {};  // dimensions that must have these sizes
  Shape shape = Shape::unknown_rank();
  DType dtype = DType::invalid;
  bool has_more = false;                 // other inputs may follow, of which nothing is demanded
  bool allows_last_axis_of_one = false;  // where the shape and the input differ by it
};

struct WeightOptions {
  std::string name = {};  // left out: the name of the member it is assigned to
  DType dtype = DType::invalid;
  Initializer initializer = {};  // left out: glorot_uniform, and zeros for integers
  Regularizer regularizer = {};
  Constraint constraint = {};
  Flag trainable = true;
  Flag autocast = true;  // `call` reads it in the dtype that the layer computes in
};
/// Makes a weight of the layer that is being built or made, with the layer's dtype.
THALWEG_API Variable add_weight(const Shape& shape, const WeightOptions& options = {});
class LayerInterface;
namespace detail {
/// A weight of this layer, which may not be built yet.
THALWEG_API Variable make_weight(LayerInterface& layer, const Shape& shape, const WeightOptions& options);
}  // namespace detail
/// Adds to the losses of the layer that is being called.
THALWEG_API void add_loss(const Tensor& loss);

/// What is given for layers of every kind: `keras::layer(Linear{}, {.name = "linear"})`.
struct LayerOptions {
  std::string name = {};
  Flag trainable = true;
  Policy dtype = {};
  Shape input_shape = Shape::unknown_rank();  // without the batch
};

/// What stands behind a layer.
class THALWEG_API LayerInterface : public Object, public std::enable_shared_from_this<LayerInterface> {
 public:
  static constexpr const char* kind = "layer";
  ~LayerInterface() override;

  virtual void build(const Nest& inputs) = 0;
  virtual Nest call(const Nest& inputs, const CallArgs& args) = 0;
  /// The masks of the outputs; the default passes a mask on, or refuses it where layers do not support masks.
  virtual Nest compute_mask(const Nest& inputs, const Nest& mask);
  /// The shapes of the outputs as tensors without values; None where `call` decides it.
  virtual Nest compute_output_shape(const Nest&) { return {}; }
  virtual std::vector<InputSpec> input_spec() const { return {}; }
  virtual bool supports_masking() const { return false; }
  virtual void reset_states() {}
  // Of cells.
  /// The shapes of the states without the batch; none for layers that are no cells.
  virtual std::vector<Shape> state_size() const { return {}; }
  /// Whether it has states at all, though their sizes may be known only once it is built.
  virtual bool is_cell() const { return !state_size().empty(); }
  /// The shapes of the outputs without the batch: where nothing is said, one, that of the first state.
  virtual std::vector<Shape> output_size() const;
  /// The states that a sequence of these inputs begins with: zeros where the cell says nothing.
  virtual std::vector<Tensor> get_initial_state(const Tensor& inputs, const Tensor& batch_size, DType state_dtype);
  /// Whether `call` takes its one state as it is, not in a list.
  virtual bool takes_bare_state() const { return false; }
  /// Looks at the options once they are known: throws, or writes them in their full form.
  virtual void check() {}
  /// Whether its class knows arguments of its own: they come by name, in CallArgs::rest.
  virtual bool takes_named_arguments() const { return false; }
  /// Learns from data what it does to its inputs; only layers that preprocess do.
  virtual void adapt(const Tensor& data);
  /// Whether it is a model whose layers are known: theirs are names without a scope around them.
  virtual bool is_network() const { return false; }
  /// Models list the weights of one layer after the other, other layers first what is trainable.
  virtual bool is_model() const { return is_trained_as_model; }

  // A model's own steps; x, y, sample_weight as far as they are given.
  virtual bool has_train_step() const { return false; }
  virtual bool has_test_step() const { return false; }
  virtual bool has_predict_step() const { return false; }
  virtual Nest train_step(Model&, const Nest&) { return {}; }
  virtual Nest test_step(Model&, const Nest&) { return {}; }
  virtual Nest predict_step(Model&, const Nest&) { return {}; }

  /// A member of the struct, when it has this name and type.
  virtual void* find_member(std::string_view, const MemberKind*) { return nullptr; }
  template <class T> T* member(std::string_view member_name) {
    return static_cast<T*>(find_member(member_name, &member_kind<T>));
  }
  /// Takes name, dtype and the like from the members of the struct, and from the options of the handle.
  void start(const LayerOptions& options = {});
  /// The options of every layer, then its own.
  Value whole_config() const override;
  Value build_config() const override;
  /// A layer may stand where an activation does.
  std::shared_ptr<Object> as_kind(std::string_view kind) override;

  /// Whether its configuration holds its own members alone, without the options of every layer.
  virtual bool has_whole_config() const { return is_network(); }
  /// What a stateful layer keeps from call to call; none before the first one.
  virtual std::vector<Variable> kept_states() const { return {}; }

  bool trainable = true, built = false;
  bool is_trained_as_model = false;  // a struct behind the handle Model
  bool autocast = true;              // real inputs take the dtype that it computes in
  Policy policy = mixed_precision::global_policy();
  std::optional<Shape> batch_input_shape;       // with the batch
  std::vector<Shape> built_shapes;              // of the inputs that it was built for
  Regularizer* activity_regularizer = nullptr;  // the struct's
  std::vector<std::pair<Variable, Regularizer>> regularized;
  std::vector<Tensor> losses;           // of the last call
  std::vector<Tensor> symbolic_losses;  // of its calls in graphs of layers: they stand for those, without values
  std::vector<Metric> metrics;          // made by add_metric
  std::vector<std::weak_ptr<functional::Node>> nodes;
  int num_nodes = 0;
  std::shared_ptr<Training> training;  // what compile set

  template <class T>
  static constexpr bool implemented_by =
      requires { &T::call; } || (!Plain<T> && !ListsFields<T> && std::is_invocable_r_v<Tensor, T&, const Tensor&>);
  template <class T> class Adapt;
  template <class T> static std::shared_ptr<Object> make(const Value& config);
};

namespace detail {

THALWEG_API std::vector<Shape> shapes_of(const Nest& tensors);
using thalweg::detail::stand_in;
/// Gives the variables that have no name yet those of the members they stand in.
THALWEG_API void name_weights(const LayerInterface& layer);
/// Runs a layer on tensors with values, or on those of a function that is being traced.
THALWEG_API Nest run(LayerInterface& layer, const Nest& inputs, const CallArgs& args);
/// The part of a configuration that every layer has; the struct's own is left in `config`.
THALWEG_API LayerOptions take_layer_options(Value& config, std::optional<Shape>& batch_input_shape, const Rows& rows);

}  // namespace detail

template <class T> class LayerInterface::Adapt : public Adapter<LayerInterface, T> {
 public:
  using Call = detail::CallOf<T>;
  static_assert(detail::is_structure<std::tuple_element_t<0, typename Call::Inputs>>,
                "call() takes tensors: Tensor, Nest, or a vector, map, tuple or plain struct of tensors, then "
                "optionally const CallArgs&");
  static_assert(detail::is_structure<typename Call::Result>,
                "call() returns a Tensor, a Nest, or a vector, map, tuple or plain struct of tensors");
  using Adapter<LayerInterface, T>::Adapter;

  void build(const Nest& inputs) override {
    if constexpr (requires { this->object.build(inputs); }) {
      this->object.build(inputs);
    } else if constexpr (requires(std::vector<Shape> shapes) { this->object.build(shapes); }) {
      this->object.build(detail::shapes_of(inputs));
    } else if constexpr (requires(Shape shape) { this->object.build(shape); }) {
      this->object.build(detail::shapes_of(inputs).at(0));
    } else {
      static_assert(
          !requires { &T::build; },
          "build() takes the shape of the input, `void build(const Shape& input)`, or for several inputs "
          "`void build(const std::vector<Shape>& inputs)`");
    }
  }
  Nest call(const Nest& in, const CallArgs& args) override {
    auto run = [&](auto&... x) -> Nest {
      if constexpr (!requires { &T::call; }) return Nest(this->object(x...));
      else if constexpr (Call::takes_args) return Nest::of(this->object.call(x..., args));
      else return Nest::of(this->object.call(x...));
    };
    using Inputs = typename Call::Inputs;
    if constexpr (std::tuple_size_v<Inputs> == 1) {
      using One = std::tuple_element_t<0, Inputs>;
      if constexpr (std::same_as<One, Tensor>) return run(in.tensor());
      else {
        One one = in.as<One>();
        return run(one);
      }
    } else {
      // A cell may get its states as an argument.
      const bool is_alone = in.is_tensor() && !args.initial_state.is_none();
      Inputs all = (is_alone ? Nest::tuple({in, args.initial_state}) : in).template as<Inputs>();
      return std::apply(run, all);
    }
  }
  Nest compute_mask(const Nest& inputs, const Nest& mask) override {
    if constexpr (requires { this->object.compute_mask(inputs, mask); }) return this->object.compute_mask(inputs, mask);
    else {
      static_assert(
          !requires { &T::compute_mask; },
          "compute_mask() takes inputs and their masks: `Nest compute_mask(const Nest& inputs, const Nest& "
          "mask)`");
      return LayerInterface::compute_mask(inputs, mask);
    }
  }
  Nest compute_output_shape(const Nest& inputs) override {
    auto result = [&](const auto& shape) -> Nest {
      if constexpr (std::same_as<std::remove_cvref_t<decltype(shape)>, Shape>)
        return detail::stand_in(this->policy.compute_dtype(), shape);
      else {
        std::vector<Nest> all;
        for (const Shape& s : shape) all.emplace_back(detail::stand_in(this->policy.compute_dtype(), s));
        return Nest::list(std::move(all));
      }
    };
    if constexpr (requires(Shape shape) { this->object.compute_output_shape(shape); })
      return result(this->object.compute_output_shape(detail::shapes_of(inputs).at(0)));
    else if constexpr (requires(std::vector<Shape> shapes) { this->object.compute_output_shape(shapes); })
      return result(this->object.compute_output_shape(detail::shapes_of(inputs)));
    else {
      static_assert(
          !requires { &T::compute_output_shape; },
          "compute_output_shape() takes the shape of the input, `Shape compute_output_shape(const Shape& "
          "input)`, or for several inputs `const std::vector<Shape>& inputs`");
      return LayerInterface::compute_output_shape(inputs);
    }
  }
  std::vector<InputSpec> input_spec() const override {
    if constexpr (requires {
                    { this->object.input_spec() } -> std::same_as<InputSpec>;
                  })
      return {this->object.input_spec()};
    else if constexpr (requires { this->object.input_spec(); }) return this->object.input_spec();
    else return LayerInterface::input_spec();
  }
  bool supports_masking() const override {
    if constexpr (requires { T::supports_masking; }) return T::supports_masking;
    else return requires { &T::compute_mask; };
  }
  bool has_whole_config() const override {
    return requires { requires T::has_whole_config; };
  }
  void reset_states() override {
    if constexpr (requires { this->object.reset_states(); }) this->object.reset_states();
  }
  std::vector<Variable> kept_states() const override {
    if constexpr (requires { this->object.states.variables(); }) return this->object.states.variables();
    else return LayerInterface::kept_states();
  }
  std::vector<Shape> state_size() const override {
    if constexpr (requires { detail::to_sizes(this->object.state_size()); })
      return detail::to_sizes(this->object.state_size());
    else if constexpr (requires { detail::to_sizes(this->object.state_size); })
      return detail::to_sizes(this->object.state_size);
    else return LayerInterface::state_size();
  }
  std::vector<Shape> output_size() const override {
    if constexpr (requires { detail::to_sizes(this->object.output_size()); })
      return detail::to_sizes(this->object.output_size());
    else if constexpr (requires { detail::to_sizes(this->object.output_size); })
      return detail::to_sizes(this->object.output_size);
    else return LayerInterface::output_size();
  }
  std::vector<Tensor> get_initial_state(const Tensor& inputs, const Tensor& batch_size, DType state_dtype) override {
    if constexpr (requires { this->object.get_initial_state(inputs, batch_size, state_dtype); })
      return this->object.get_initial_state(inputs, batch_size, state_dtype);
    else return LayerInterface::get_initial_state(inputs, batch_size, state_dtype);
  }
  bool takes_bare_state() const override {
    if constexpr (std::tuple_size_v<typename Call::Inputs> == 2)
      return std::same_as<std::tuple_element_t<1, typename Call::Inputs>, Tensor>;
    else return false;
  }
  void check() override {
    if constexpr (requires { this->object.check(); }) this->object.check();
  }
  void adapt(const Tensor& data) override {
    if constexpr (requires { this->object.adapt(data); }) this->object.adapt(data);
    else LayerInterface::adapt(data);
  }
  void* find_member(std::string_view member_name, const MemberKind* wanted) override {
    return rows_of(this->object).find(member_name, *wanted, &this->object);
  }

  bool has_train_step() const override {
    return requires { &T::train_step; };
  }
  bool has_test_step() const override {
    return requires { &T::test_step; };
  }
  bool has_predict_step() const override {
    return requires { &T::predict_step; };
  }
  Nest train_step(Model& model, const Nest& data) override {
    if constexpr (requires { &T::train_step; }) return step<&T::train_step>(model, data);
    else return LayerInterface::train_step(model, data);
  }
  Nest test_step(Model& model, const Nest& data) override {
    if constexpr (requires { &T::test_step; }) return step<&T::test_step>(model, data);
    else return LayerInterface::test_step(model, data);
  }
  Nest predict_step(Model& model, const Nest& data) override {
    if constexpr (requires { &T::predict_step; }) return step<&T::predict_step>(model, data);
    else return LayerInterface::predict_step(model, data);
  }

 private:
  // (model, data) or (model, x), (model, x, y), (model, x, y, sample_weight), by what the struct takes.
  template <auto Step> Nest step(Model& model, const Nest& data) {
    static_assert(detail::is_step<decltype(Step)>,
                  "a step of a model takes the model, then what it is trained with, and returns numbers by name: "
                  "`Nest train_step(Model& model, const Tensor& x, const Tensor& y)`");
    if constexpr (!detail::is_step<decltype(Step)>) return {};
    else
      return []<class R, class... P>(T& own, R (T::*method)(Model&, P...), Model& m, const Nest& given) {
        if constexpr (sizeof...(P) == 1 && (std::same_as<std::remove_cvref_t<P>, Nest> && ...)) {
          return Nest::of((own.*method)(m, given));
        } else {
          // x alone, or a tuple of what there is.
          const bool is_tuple = given.kind() == Nest::Kind::tuple;
          auto at = [&](size_t i) {
            return is_tuple ? (i < given.size() ? given[i] : Nest()) : i == 0 ? given : Nest();
          };
          return [&]<size_t... I>(std::index_sequence<I...>) {
            return Nest::of((own.*method)(m, at(I).template as<std::remove_cvref_t<P>>()...));
          }(std::index_sequence_for<P...>{});
        }
      }(this->object, Step, model, data);
  }
};

template <class T> std::shared_ptr<Object> LayerInterface::make(const Value& config) {
  Value own = config.is_none() ? Value(Value::Map()) : config;
  std::optional<Shape> batch_input_shape;
  LayerOptions options = detail::take_layer_options(own, batch_input_shape, rows_of(detail::example_of<T>()));
  auto made = std::make_shared<Adapt<T>>(detail::construct<T>(own));
  made->start(options);
  if (batch_input_shape) made->batch_input_shape = batch_input_shape;
  return made;
}

extern template class Handle<LayerInterface>;

namespace detail {
/// A struct that holds weights or layers, but has not the one `call` that would make it a layer.
template <class T>
concept LayerWithoutCall = std::is_class_v<T> && std::is_aggregate_v<T> && !LayerInterface::implemented_by<T> &&
                           module::role_of<T>() == module::Role::module;
/// The sentence for it: conversions exist only to say it.
template <class T> void refuse_without_call() {
  static_assert(!std::same_as<T, T>,
                "a layer or model is a struct with one member function `call`: `Tensor call(const Tensor& x)`, or "
                "`Tensor call(const Tensor& x, const CallArgs& args)`");
}
}  // namespace detail

/// A layer, whatever stands behind it. Copies are the same layer.
class THALWEG_API Layer : public Handle<LayerInterface> {
 public:
  Layer() = default;
  Layer(const char* class_name) : Handle(class_name) {}  // NOLINT: as an activation, by name
  template <class T, class S = std::remove_cvref_t<T>>
    requires(!std::derived_from<S, Layer> && LayerInterface::implemented_by<S>)
  Layer(T&& object, const LayerOptions& options = {}) : Handle(S(std::forward<T>(object))) {  // NOLINT
    static_assert(
        !std::is_lvalue_reference_v<T> || !Describable<S>,
        "a layer takes over its struct: write `auto layer = keras::layer(MyLayer{...})` and reach its members "
        "with layer->member");
    p_->start(options);
  }
  template <detail::LayerWithoutCall T> Layer(const T&) {  // NOLINT
    detail::refuse_without_call<T>();
  }
  explicit Layer(std::shared_ptr<LayerInterface> object) : Handle(std::move(object)) {}

  /// One tensor in, or several, and one out. Keras's `Input` tensors give a symbolic tensor, for models.
  Tensor operator()(const Nest& inputs, const CallArgs& args = {}) const { return only(invoke(inputs, args)); }
  /// Several out: `auto [y, h, c] = lstm.call<3>(x);`
  template <int N> std::array<Tensor, N> call(const Nest& inputs, const CallArgs& args = {}) const {
    return invoke(inputs, args).as<std::array<Tensor, N>>();
  }
  /// Any structure out: `layer.call<std::map<std::string, Tensor>>(x)`
  template <class R> R call(const Nest& inputs, const CallArgs& args = {}) const {
    return invoke(inputs, args).as<R>();
  }
  Nest invoke(const Nest& inputs, const CallArgs& args = {}) const;
  /// The one tensor of an output; ValueError with the way to several.
  Tensor only(const Nest& output) const;

  /// Makes its weights for inputs of this shape, batch included.
  void build(const Shape& input_shape) const;
  void build(const std::vector<Shape>& input_shapes) const;
  bool built() const { return p_->built; }
  /// The dtype of its weights.
  DType dtype() const { return p_->policy.variable_dtype(); }
  DType variable_dtype() const { return dtype(); }
  /// The dtype that real inputs are cast to, and weights where `call` reads them.
  DType compute_dtype() const { return p_->policy.compute_dtype(); }
  Policy dtype_policy() const { return p_->policy; }
  void set_name(std::string name) const { p_->name = std::move(name); }
  bool trainable() const { return p_->trainable; }
  /// Says whether training may change it, and every layer in it.
  void set_trainable(bool trainable) const;

  /// Its weights and those of the layers in it, each once.
  std::vector<Variable> weights() const;
  std::vector<Variable> trainable_weights() const;
  std::vector<Variable> non_trainable_weights() const;
  std::vector<Variable> variables() const { return weights(); }
  std::vector<Variable> trainable_variables() const { return trainable_weights(); }
  std::vector<Variable> non_trainable_variables() const { return non_trainable_weights(); }
  /// One of them by its name, or as much of its end as tells it from the others: `dense.weight("kernel")`,
  /// `model.weight("dense_1/kernel")`. ValueError with the names there are.
  Variable weight(std::string_view name) const;
  /// The values, in the order of `weights`.
  std::vector<Tensor> get_weights() const;
  /// Sets all values, or none where one does not fit.
  void set_weights(const std::vector<Tensor>& values) const;
  int64_t count_params() const;
  /// The layers directly in it.
  std::vector<Layer> layers() const;
  /// Penalties of regularizers, and what calls added; before the first call with values, what will be added stands
  /// there without values.
  std::vector<Tensor> losses() const;

  /// What it is called with and what it gives in the graph of layers: tensors without values. ValueError where it was
  /// never called there, or more than once.
  Nest input() const;
  Nest output() const;
  /// Their shapes, where each is one tensor; the same for all calls.
  Shape input_shape() const;
  Shape output_shape() const;

  /// The shape of its output for an input of this shape.
  Shape compute_output_shape(const Shape& input_shape) const;
  Nest compute_mask(const Nest& inputs, const Nest& mask = {}) const { return p_->compute_mask(inputs, mask); }
  std::vector<InputSpec> input_spec() const { return p_->input_spec(); }
  bool supports_masking() const { return p_->supports_masking(); }
  /// Forgets the states that a stateful layer, or one in it, keeps from call to call.
  void reset_states() const;
  /// Learns mean and variance, boundaries or a vocabulary from data, batch included: what layers that preprocess need.
  void adapt(const Tensor& data) const;

  Value get_config() const { return p_->whole_config(); }
  /// A layer of a class that is known by its name, like the one that the configuration is of.
  static Layer from_config(std::string_view class_name, const Value& config);

  const module::Shared* shared() const { return p_.get(); }
};

/// A layer as an activation: what holds it holds the layer, with its weights.
template <>
template <>
class THALWEG_API FunctionInterface<ActivationTag, Tensor, Tensor>::Adapt<Layer>
    : public FunctionInterface<ActivationTag, Tensor, Tensor> {
 public:
  explicit Adapt(Layer given) : layer(std::move(given)) {}
  Tensor call(const Tensor& x) override { return layer(x); }
  std::string class_name() const override { return layer.class_name(); }
  Value get_config() const override { return layer.get_config(); }

  const Layer layer;
};

/// A handle that knows its struct: `encoder->latent`, and calls with the struct's own types.
template <class T, class Base, class Inputs> class Typed;
template <class T, class Base, class... P> class Typed<T, Base, std::tuple<P...>> : public Base {
 public:
  explicit Typed(T object, const LayerOptions& options = {}) : Base(std::move(object), options) {}
  T* operator->() const { return this->template as<T>(); }
  using Result = typename detail::CallOf<T>::Result;
  Result operator()(const P&... inputs, const CallArgs& args = {}) const {
    if constexpr (sizeof...(P) == 1) return this->invoke((Nest::of(inputs), ...), args).template as<Result>();
    else return this->invoke(Nest::of(std::tuple<P...>(inputs...)), args).template as<Result>();
  }
};
template <class T> using LayerOf = Typed<T, Layer, typename detail::CallOf<T>::Inputs>;
/// Makes a layer of a struct and keeps its type: `auto norm = keras::layer(Norm{}); norm->scale`.
template <class T> auto layer(T object, const LayerOptions& options = {}) {
  static_assert(LayerInterface::implemented_by<T>,
                "a layer is a struct with one member function `call`: `Tensor call(const Tensor& x)`, or "
                "`Tensor call(const Tensor& x, const CallArgs& args)`");
  if constexpr (LayerInterface::implemented_by<T>) return LayerOf<T>(std::move(object), options);
}

}  // namespace thalweg::keras
