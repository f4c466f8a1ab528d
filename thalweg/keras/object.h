// Everything that Keras configures (layers, losses, metrics, optimizers, callbacks, initializers, regularizers,
// constraints, activations, schedules) is a plain struct behind a handle:
//
//   struct Huber {
//     double delta = 1.0;
//     Tensor call(const Tensor& y_true, const Tensor& y_pred) { ... }
//   };
//   Loss loss = Huber{.delta = 2};   // or a name, "mse", or a lambda
//
// Members are the configuration; the name of the struct is the name of the class. Nothing is registered by hand.
#pragma once
#include <functional>

#include "thalweg/keras/config.h"
#include "thalweg/ops/module.h"

namespace thalweg::keras {

/// What stands behind a handle. Plain structs get it from Adapter; a Python class implements it directly.
class THALWEG_API Object : public module::Shared {
 public:
  /// `Dense`
  virtual std::string class_name() const = 0;
  /// What makes another one like it.
  virtual Value get_config() const = 0;
  /// The same with what every object of its kind has, as it stands in the configuration of another one.
  virtual Value whole_config() const { return get_config(); }
  /// What it was built for, `{"input_shape": [null, 4]}`; None where that is not known.
  virtual Value build_config() const { return {}; }
  /// Where Keras has the class, when that is not the module of its kind.
  virtual const char* module_name() const { return nullptr; }
  /// A function known by its name alone, or by nothing: configurations hold the name.
  virtual bool is_function() const { return false; }
  /// The same as an object of another kind, or null: a function of another language may be any of them.
  virtual std::shared_ptr<Object> as_kind(std::string_view) { return nullptr; }
  /// The struct, when it is of the type with these rows.
  virtual void* self(const Rows*) { return nullptr; }
  void list_parts(module::Parts&) const override {}
  /// Another one from its configuration, as its class makes it; null for functions, which need none.
  virtual std::shared_ptr<Object> renewed(std::string_view kind) const;

  std::string name;
  bool is_by_name = false;  // made from the name of its class alone
};

/// The variables of an object in the order of its members, with their paths; those of layers inside are not its own.
THALWEG_API std::vector<NamedVariable> list_variables(const module::Shared& object);

/// A class that can be made by its name.
struct Class {
  std::string kind;                                      // "layer"
  std::string name;                                      // "Dense", or a function's name: "relu"
  std::shared_ptr<Object> (*make)(const Value& config);  // Python's cls(**config)
  const Rows& (*rows)();                                 // its parameters
  Value (*defaults)();                                   // and their values where none is given
  bool is_function = false;
  const void* function = nullptr;
};
THALWEG_API bool register_class(Class made);
/// Another name for a class or function: `mse` for `mean_squared_error`.
THALWEG_API bool register_alias(std::string_view kind, std::string_view alias, std::string_view name);
/// The class with this name, or null.
THALWEG_API const Class* find_class(std::string_view kind, std::string_view name);
THALWEG_API std::vector<const Class*> all_classes(std::string_view kind);
/// Other names of the classes of a kind: (alias, name).
THALWEG_API std::vector<std::pair<std::string, std::string>> all_aliases(std::string_view kind);
/// Makes an object of a class; ValueError for an unknown name, with the nearest ones.
THALWEG_API std::shared_ptr<Object> make_object(std::string_view kind, std::string_view name, const Value& config = {});
/// From `"adam"` or `{"class_name": "Adam", "config": {...}}`; null from None.
THALWEG_API std::shared_ptr<Object> object_from_value(std::string_view kind, const Value& value);
/// The same way back: a function by its name, an object by class and configuration. ValueError for a lambda.
THALWEG_API Value object_to_value(std::string_view kind, const Object* object);
/// Asked for classes that nobody registered: another language's. Null where it has none either.
using ClassFallback =
    std::function<std::shared_ptr<Object>(std::string_view kind, std::string_view name, const Value& config)>;
THALWEG_API void set_class_fallback(ClassFallback fallback);

/// The name of a function among those of a kind, or nothing.
THALWEG_API std::string function_name(std::string_view kind, const void* function);

/// `my_layer` for `MyLayer`, `conv2d` for `Conv2D`: as Keras makes names.
THALWEG_API std::string to_snake_case(std::string_view name);
/// `dense`, then `dense_1`: names of layers, metrics and optimizers, each given once.
THALWEG_API std::string unique_name(std::string_view base);
namespace backend {
/// Automatic names begin anew.
THALWEG_API void clear_session();
}  // namespace backend
/// What is made while one lives takes no automatic name: examples of a class, made to be looked at.
class THALWEG_API Unnamed {
 public:
  Unnamed();
  ~Unnamed();
  Unnamed(const Unnamed&) = delete;
  Unnamed& operator=(const Unnamed&) = delete;
};

namespace detail {
/// The struct's own name, without namespaces; those of this library drop the suffix that tells them from functions.
THALWEG_API std::string class_name_of(std::string_view type_name);
/// The name of the class of a struct: its member `static constexpr const char* class_name`, for templates that stand
/// for several classes; else its own.
template <class T> std::string class_name_for() {
  if constexpr (requires {
                  { T::class_name } -> std::convertible_to<const char*>;
                })
    return T::class_name;
  else return class_name_of(reflect::type_name<T>());
}

template <class M> consteval bool is_configuration() {
  using T = std::remove_cv_t<M>;
  if constexpr (module::role_of<T>() != module::Role::none) return false;
  else return Configurable<T> || Plain<T>;
}
/// Which members are configuration: a layer is where it stands before `options`, as a required argument.
template <class T, class... M> consteval auto configuration_flags(std::tuple<M*...>*) {
  std::array<bool, sizeof...(M) + 1> flags = {is_configuration<M>()..., false};
  [[maybe_unused]] const bool can_be[] = {Configurable<std::remove_cv_t<M>>..., false};
  for (size_t i = 0; i < options_index<T>(); ++i) flags[i] = flags[i] || can_be[i];
  return flags;
}
template <class T> inline constexpr auto is_configured = configuration_flags<T>(module::member_types<T>());
/// How many members lead, all of them configuration.
template <class T> consteval size_t count_leading() {
  size_t leading = 0;
  while (is_configured<T>[leading]) ++leading;
  return leading;
}
template <class T> consteval bool is_ordered() {
  for (size_t i = count_leading<T>(); i < is_configured<T>.size(); ++i)
    if (is_configured<T>[i]) return false;
  return true;
}

/// cls(**config): the configuration is given first, so that the initialisers of layers and weights see it.
template <class T> T construct(const Value& config) {
  if constexpr (Plain<T> && !ListsFields<T>) {
    static_assert(is_ordered<T>(),
                  "put configuration members before layers and weights: from_config gives them to the initialisers "
                  "that follow");
    std::optional<T> example;
    {
      Unnamed quiet;
      example.emplace();
    }
    if (!config.is_none()) rows_of(*example).set(&*example, config);
    return [&]<size_t... I>(std::index_sequence<I...>) {
      [[maybe_unused]] auto members = reflect::members(*example);
      return T{std::move(*std::get<I>(members))...};
    }(std::make_index_sequence<count_leading<T>()>{});
  } else {
    T made{};
    if (!config.is_none()) rows_of(made).set(&made, config);
    return made;
  }
}
template <class T> const T& example_of() {
  static const T example = [] {
    Unnamed quiet;
    return T{};
  }();
  return example;
}
}  // namespace detail

/// The erased form of a struct: what all kinds have in common.
template <class I, class T> class Adapter : public I {
 public:
  static_assert(
      Describable<T> || std::is_pointer_v<T> || requires { &T::operator(); },
      "this class has private members, a constructor or virtual functions, so its weights and options "
      "cannot be found: add `template <class F> void fields(F&& f) { f(\"kernel\", kernel_); }`");
  explicit Adapter(T given) : object(std::move(given)) {}
  std::string class_name() const override {
    if constexpr (Describable<T>) return detail::class_name_for<T>();
    else if constexpr (std::is_pointer_v<T>) return function_name(I::kind, reinterpret_cast<const void*>(object));
    else return {};
  }
  Value get_config() const override {
    Value config = rows_of(object).get(static_cast<const void*>(&object));
    // What the members alone do not say.
    if constexpr (requires { object.complete_config(config); }) object.complete_config(config);
    return config;
  }
  bool is_function() const override { return !Describable<T>; }
  void* self(const Rows* rows) override {
    return rows->is_same(rows_of(object)) ? static_cast<void*>(&object) : nullptr;
  }
  void list_parts(module::Parts& parts) const override {
    if constexpr (Describable<T>) {
      if constexpr (module::role_of<T>() == module::Role::module) module::list_parts<T>(&object, parts);
    }
  }

  T object;
};

/// Every struct that is converted to a handle anywhere in the program is known by its name before main begins.
template <class I, class T>
inline const bool registered =
    register_class({I::kind, detail::class_name_for<T>(),
                    [](const Value& config) -> std::shared_ptr<Object> {
                      if constexpr (requires { I::template make<T>(config); }) return I::template make<T>(config);
                      else return std::make_shared<typename I::template Adapt<T>>(detail::construct<T>(config));
                    },
                    []() -> const Rows& { return rows_of(detail::example_of<T>()); },
                    [] { return rows_of(detail::example_of<T>()).get(&detail::example_of<T>()); }});

namespace detail {
/// ValueError: a handle that nobody gave an object.
[[noreturn]] THALWEG_API void refuse_empty(std::string_view kind);
}  // namespace detail
/// The object of a handle: an error in words where it is followed and there is none.
template <class I> class HeldObject : public std::shared_ptr<I> {
 public:
  using std::shared_ptr<I>::shared_ptr;
  HeldObject(std::shared_ptr<I> object) : std::shared_ptr<I>(std::move(object)) {}  // NOLINT
  I* operator->() const {
    if (!*this) [[unlikely]]
      detail::refuse_empty(I::kind);
    return this->get();
  }
  I& operator*() const { return *operator->(); }
};

/// A value made from a name ("adam"), a plain struct or a lambda. Copies share the object.
template <class I> class THALWEG_API Handle {
 public:
  Handle() = default;
  Handle(const char* name) : p_(std::static_pointer_cast<I>(make_object(I::kind, name))) {}  // NOLINT
  Handle(const std::string& name) : Handle(name.c_str()) {}                                  // NOLINT
  template <class T>
    requires(I::template implemented_by<T>)
  Handle(T object) : p_(std::make_shared<typename I::template Adapt<T>>(std::move(object))) {  // NOLINT
    if constexpr (Describable<T> && std::is_default_constructible_v<T>) static_cast<void>(registered<I, T>);
  }
  explicit Handle(std::shared_ptr<I> object) : p_(std::move(object)) {}

  /// False for None.
  bool defined() const { return p_ != nullptr; }
  I* get() const { return p_.get(); }
  /// What stands behind it; ValueError for None.
  I& object() const { return *p_; }
  const std::shared_ptr<I>& pointer() const { return p_; }
  const std::string& name() const { return p_->name; }
  std::string class_name() const { return p_->class_name(); }
  Value get_config() const { return p_->get_config(); }
  /// The struct behind it, when it is a T; else null.
  template <class T> T* as() const {
    return p_ ? static_cast<T*>(p_->self(&rows_of(detail::example_of<T>()))) : nullptr;
  }
  /// Copies of one handle are the same object.
  friend bool is_same(const Handle& a, const Handle& b) { return a.p_ == b.p_; }

 protected:
  HeldObject<I> p_;
};
template <class I> Value to_value(const Handle<I>& handle) { return object_to_value(I::kind, handle.get()); }
template <class I> void from_value(Handle<I>& handle, const Value& value) {
  std::shared_ptr<Object> made = object_from_value(I::kind, value);
  auto fitting = std::dynamic_pointer_cast<I>(made);
  if (made && !fitting) throw TypeError("this is no " + std::string(I::kind) + " but a " + made->class_name());
  handle = Handle<I>(std::move(fitting));
}

/// Kinds that are one function: a struct with `call`, a lambda, or a function. A struct may have check(), which refuses
/// options or completes them when the object is made.
template <class Tag, class R, class... A> class THALWEG_API FunctionInterface : public Object {
 public:
  static constexpr const char* kind = Tag::kind;
  virtual R call(const A&... arguments) = 0;

  template <class T>
  static constexpr bool has_call = requires(T& t, const A&... a) {
    { t.call(a...) } -> std::convertible_to<R>;
  };
  /// The options that a function takes after the arguments, which have defaults: `relu(x, options)`.
  template <class O> static O options_of(R (*function)(const A&..., const O&));
  template <class T>
  static constexpr bool takes_options = requires(T function) { FunctionInterface::options_of(function); };
  template <class T>
  static constexpr bool implemented_by = !std::convertible_to<T, const char*> &&
                                         (has_call<T> || takes_options<T> || std::is_invocable_r_v<R, T&, const A&...>);
  template <class T> class Adapt : public Adapter<FunctionInterface, T> {
   public:
    explicit Adapt(T given) : Adapter<FunctionInterface, T>(std::move(given)) {
      if constexpr (requires { this->object.check(); }) this->object.check();
    }
    R call(const A&... a) override {
      if constexpr (has_call<T>) return this->object.call(a...);
      else if constexpr (takes_options<T>) return this->object(a..., decltype(options_of(this->object)){});
      else return this->object(a...);
    }
  };
};
template <class Tag, class R, class... A>
class THALWEG_API FunctionHandle : public Handle<FunctionInterface<Tag, R, A...>> {
 public:
  using Interface = FunctionInterface<Tag, R, A...>;
  using Handle<Interface>::Handle;
  FunctionHandle() = default;
  R operator()(const A&... arguments) const { return this->p_->call(arguments...); }
};

/// Registers a function under its name: `register_named<ActivationInterface>("relu", nn::relu)`.
template <class I, auto F> bool register_named(const char* name) {
  static const char* const kept = name;
  class Named : public I::template Adapt<decltype(F)> {
   public:
    Named() : I::template Adapt<decltype(F)>(F) { this->name = kept; }
    std::string class_name() const override { return kept; }
    Value get_config() const override { return kept; }
  };
  return register_class({I::kind, name,
                         [](const Value&) -> std::shared_ptr<Object> { return std::make_shared<Named>(); },
                         []() -> const Rows& {
                           static const Rows none;
                           return none;
                         },
                         [] { return Value(Value::Map()); }, true, reinterpret_cast<const void*>(F)});
}

}  // namespace thalweg::keras
