// How variables are found in plain structs: which types can hold one, and the parts of an object by name. Everything
// that walks modules (variables, paths, checkpoints) works on these parts, without templates.
#pragma once
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "thalweg/core/reflect.h"
#include "thalweg/ops/variable.h"

namespace thalweg {

/// Says that a class of another library, or one with private members, holds no variables, so that modules may have it
/// as a member: `template <> inline constexpr bool thalweg::holds_no_variables<cv::Mat> = true;`
template <class T> inline constexpr bool holds_no_variables = std::is_arithmetic_v<T> || std::is_enum_v<T>;
template <> inline constexpr bool holds_no_variables<std::string> = true;
template <> inline constexpr bool holds_no_variables<Tensor> = true;
template <> inline constexpr bool holds_no_variables<Shape> = true;

namespace module {

class Parts;
/// What stands behind handles whose copies share it, such as a layer.
class THALWEG_API Shared {
 public:
  virtual ~Shared();
  /// Tells the variables and modules inside.
  virtual void list_parts(Parts& parts) const = 0;
};
/// A handle on such an object; `shared()` may be null.
template <class T>
concept SharedHandle = requires(const T& t) {
  { t.shared() } -> std::convertible_to<const Shared*>;
};

/// What is known of an object that holds variables, once its type is erased.
struct Type {
  enum class Kind : uint8_t { variable, container, module };
  Kind kind;
  std::string_view name;                                 // as the compiler spells it
  void (*list_parts)(const void* object, Parts& parts);  // none for a variable
  const Shared* (*shared)(const void* object);           // of a handle, else null
};
/// A member of a module or an element of a container.
struct Part {
  std::string name;  // the member's, the element's number or key
  const void* object;
  const Type* type;
  std::shared_ptr<const void> kept = {};  // the object, where it was made to be listed
};

/// Takes the parts of an object, one call for each. It is what `fields` is given: `f("kernel", kernel_);`.
class THALWEG_API Parts {
 public:
  template <class T> void operator()(std::string_view name, const T& member);
  /// One that is made to be listed, such as a handle on what another language holds: the part owns it.
  template <class T> void keep(std::string_view name, T made);
  /// Parts are where they are found: give a member, not what a function returns.
  template <class T> void operator()(std::string_view name, const T&& value) = delete;
  const std::vector<Part>& list() const { return list_; }
  std::vector<Part>& list() { return list_; }

 private:
  void add(std::string_view name, const void* object, const Type* type);

  std::vector<Part> list_;
};

template <class T> inline constexpr bool is_of_std = reflect::type_name<T>().starts_with("std::");
template <class T> inline constexpr bool is_of_thalweg = reflect::type_name<T>().starts_with("thalweg::");

/// What a handle leads to; void for other types.
template <class T> struct Held {
  using type = void;
};
template <class T> struct Held<std::optional<T>> {
  using type = T;
};
template <class T> struct Held<std::shared_ptr<T>> {
  using type = T;
};
template <class T, class D> struct Held<std::unique_ptr<T, D>> {
  using type = T;
};
template <class T> struct Held<std::reference_wrapper<T>> {
  using type = T;
};
template <class T> using held_by = std::remove_cv_t<typename Held<T>::type>;
template <class T> inline constexpr bool is_variant = false;
template <class... T> inline constexpr bool is_variant<std::variant<T...>> = true;
template <class T> inline constexpr bool is_tuple = false;
template <class... T> inline constexpr bool is_tuple<std::tuple<T...>> = true;
template <class A, class B> inline constexpr bool is_tuple<std::pair<A, B>> = true;
template <class T>
concept Map = requires(const T& t) {
  typename T::mapped_type;
  t.begin()->second;
};
template <class T>
concept Range = std::is_bounded_array_v<T> || requires(const T& t) {
  t.begin() != t.end();
  *t.begin();
};
template <class T> using element_of = std::remove_cvref_t<decltype(*std::begin(std::declval<const T&>()))>;
/// Takes what only a template `fields` gives.
struct AnyVisitor {
  template <class T> void operator()(std::string_view name, const T& member);
};
/// Classes that tell their members themselves.
template <class T>
concept Described = requires(T& t, Parts& parts) { t.fields(parts); };

/// A variable, a handle or a plain struct is among the arguments of a template, or of one of those:
/// `std::stack<Dense>`.
template <class T> inline constexpr bool is_of_modules = false;
template <template <class...> class C, class... A>
inline constexpr bool is_of_modules<C<A...>> = ((std::same_as<A, Variable> || SharedHandle<A> || is_of_modules<A> ||
                                                 (std::is_class_v<A> && std::is_aggregate_v<A> && !is_of_std<A>)) ||
                                                ...);
template <class T> inline constexpr bool is_of_modules<std::weak_ptr<T>> = false;  // owned elsewhere, as in Python

/// Converts to the bases of T alone, to see whether T has one.
template <class T> struct AnyBaseOf {
  template <class B>
    requires(std::is_base_of_v<B, T> && !std::same_as<B, T>)
  operator B() const noexcept;  // NOLINT: implicit on purpose, never defined
};
struct Nothing {};
template <class T> inline constexpr bool has_base = requires { T{AnyBaseOf<T>{}}; } && !requires { T{Nothing{}}; };

/// Whether variables may be behind a raw pointer to P.
template <class P> consteval bool hides_variables() {
  using Pointee = std::remove_cv_t<P>;
  if constexpr (!std::is_class_v<Pointee> || holds_no_variables<Pointee> || is_of_std<Pointee>) return false;
  else if constexpr (requires { sizeof(Pointee); }) return !std::is_trivially_copyable_v<Pointee>;
  else return true;
}
template <class P> inline constexpr bool may_hide = hides_variables<P>();
struct HidingPointer {
  template <class P>
    requires may_hide<P>
  operator P*() const noexcept;  // NOLINT: implicit on purpose, never defined
};
template <class T, size_t... I> consteval bool initialises_with_pointer(std::index_sequence<I...>) {
  return requires { T{(static_cast<void>(I), reflect::Anything{})..., HidingPointer{}}; };
}
/// Whether one of the members is such a pointer: found without naming them, which a C array would prevent.
template <class T, size_t... I> consteval bool has_hiding_pointer(std::index_sequence<I...>) {
  return (initialises_with_pointer<T>(std::make_index_sequence<I>{}) || ... || false);
}

/// The types of the members, as pointers.
template <class T> consteval auto member_types() {
  static_assert(!has_base<T>,
                "the members of a base class cannot be found: make it a member, or list them: "
                "`template <class F> void fields(F&& f) { Base::fields(f); f(\"kernel\", kernel); }`");
  // Asked first, since an array of thousands would be counted through.
  constexpr bool has_many = reflect::initialises<T>(std::make_index_sequence<33>{});
  constexpr size_t count = has_base<T> || has_many ? 0 : reflect::count_members<T>();
  static_assert(has_base<T> || has_many || count > 0 || std::is_empty_v<T>,
                "the members of this struct cannot be found, since one is a reference or has no default: hold a value "
                "or std::shared_ptr, or list them: `template <class F> void fields(F&& f) { f(\"kernel\", kernel); }`");
  static_assert(
      !has_many,
      "a struct has more than 32 members, or a C array: put some into a struct of their own, use std::array, or "
      "list them: "
      "`template <class F> void fields(F&& f) { f(\"kernel\", kernel); }`");
  if constexpr (count == 0) return static_cast<std::tuple<>*>(nullptr);
  else return static_cast<decltype(reflect::members(std::declval<const T&>()))*>(nullptr);
}

/// What a walk does with a value.
enum class Role : uint8_t { none, variable, handle, variant, container, module };

template <class... M, class... Outer> consteval bool any_holds(std::tuple<M*...>*, std::tuple<Outer...>*);

/// The role of values of type T; inside the structs Outer, which are being looked at.
template <class T, class... Outer> consteval Role role_of() {
  using Inside = std::tuple<Outer...>*;
  if constexpr (holds_no_variables<T>) return Role::none;
  else if constexpr (std::same_as<T, Variable>) return Role::variable;
  else if constexpr (SharedHandle<T>) return Role::module;
  else if constexpr (!std::is_void_v<held_by<T>>) {
    using H = held_by<T>;
    static_assert(!std::is_array_v<H>, "a pointer to an array does not know its length: use std::vector");
    if constexpr (std::is_polymorphic_v<H> && !std::is_final_v<H>)
      static_assert(
          !requires(H& held, AnyVisitor& visitor) { held.fields(visitor); },
          "a derived class may hold variables that a template `fields` of its base does not see: write "
          "`virtual void fields(thalweg::module::Parts& f)`");
    return role_of<H, Outer...>() == Role::none ? Role::none : Role::handle;
  } else if constexpr (is_variant<T>) {
    return []<class... A>(std::variant<A...>*) {
      return any_holds(static_cast<std::tuple<const A*...>*>(nullptr), Inside());
    }(static_cast<T*>(nullptr))
               ? Role::variant
               : Role::none;
  } else if constexpr (is_tuple<T>) {
    return []<template <class...> class C, class... A>(C<A...>*) {
      return any_holds(static_cast<std::tuple<const A*...>*>(nullptr), Inside());
    }(static_cast<T*>(nullptr))
               ? Role::container
               : Role::none;
  } else if constexpr (Map<T>) {
    return role_of<typename T::mapped_type, Outer...>() == Role::none ? Role::none : Role::container;
  } else if constexpr (Range<T>) {
    if constexpr (std::same_as<element_of<T>, T>) return Role::none;  // a path of paths, a tensor of tensors
    else {
      constexpr bool holds = role_of<element_of<T>, Outer...>() != Role::none;
      static_assert(!holds || std::is_lvalue_reference_v<decltype(*std::begin(std::declval<const T&>()))>,
                    "the elements of this range are made as they are looked at: hold them in a std::vector");
      return holds ? Role::container : Role::none;
    }
  } else if constexpr (std::is_pointer_v<T>) {
    static_assert(!may_hide<std::remove_pointer_t<T>>,
                  "a raw pointer hides the variables behind it: hold the struct by value, std::shared_ptr or "
                  "std::unique_ptr; if it has none, say so: `template <> inline constexpr bool "
                  "thalweg::holds_no_variables<T> = true;`");
    return Role::none;
  } else if constexpr (std::is_trivially_copyable_v<T>) {
    // A variable is not trivially copied, so nothing that is holds one; but it may point to one.
    if constexpr (std::is_aggregate_v<T> && !is_of_std<T>) {
      static_assert(
          reflect::initialises<T>(std::make_index_sequence<1>{}) || std::is_empty_v<T>,
          "the members of this struct cannot be found, since one is a reference or has no default: hold a value "
          "or std::shared_ptr, or list them: `template <class F> void fields(F&& f) { f(\"kernel\", kernel); }`");
      static_assert(!has_hiding_pointer<T>(std::make_index_sequence<32>{}),
                    "a raw pointer hides the variables behind it: hold the struct by value, std::shared_ptr or "
                    "std::unique_ptr; if it has none, say so: `template <> inline constexpr bool "
                    "thalweg::holds_no_variables<T> = true;`");
    }
    return Role::none;
  } else if constexpr (Described<T>) {
    return Role::module;
  } else if constexpr (is_of_std<T>) {
    static_assert(!is_of_modules<T>,
                  "variables are not found in this class of the standard library: use std::vector, std::array, "
                  "std::map, std::tuple, std::optional, std::variant, std::shared_ptr or std::unique_ptr");
    return Role::none;
  } else if constexpr (std::is_aggregate_v<T> && std::is_class_v<T>) {
    if constexpr ((std::same_as<T, Outer> || ...)) return Role::none;  // answered by who asks
    else
      return any_holds(member_types<T>(), static_cast<std::tuple<T, Outer...>*>(nullptr)) ? Role::module : Role::none;
  } else {
    static_assert(is_of_thalweg<T>,
                  "this class has private members or a constructor, so its variables cannot be found: add "
                  "`template <class F> void fields(F&& f) { f(\"kernel\", kernel_); }`; if it has none, say so: "
                  "`template <> inline constexpr bool thalweg::holds_no_variables<T> = true;`");
    return Role::none;
  }
}
template <class... M, class... Outer> consteval bool any_holds(std::tuple<M*...>*, std::tuple<Outer...>*) {
  if constexpr ((std::same_as<M, const Variable> || ...)) return true;  // the others are looked at when it is walked
  else return ((role_of<std::remove_cv_t<M>, Outer...>() != Role::none) | ... | false);
}

template <class Key> std::string text_of_key(const Key& key) {
  if constexpr (std::convertible_to<const Key&, std::string_view>) return std::string(std::string_view(key));
  else {
    static_assert(std::is_integral_v<Key> || std::is_enum_v<Key>,
                  "a map that holds variables has keys that are strings or integers: paths are made of them");
    return std::to_string(static_cast<long long>(key));
  }
}

template <class T> void list_map(const T& map, Parts& parts) {
  if constexpr (requires { typename T::hasher; }) {
    std::vector<const typename T::value_type*> entries;
    for (const auto& entry : map) entries.push_back(&entry);
    std::sort(entries.begin(), entries.end(), [](auto* a, auto* b) { return a->first < b->first; });
    for (const auto* entry : entries) parts(text_of_key(entry->first), entry->second);
  } else {
    for (const auto& [key, item] : map) parts(text_of_key(key), item);
  }
}

template <class T> void list_members(const T& object, Parts& parts) {
  auto members = reflect::members(object);
  [&]<size_t... I>(std::index_sequence<I...>) {
    auto add = [&]<size_t i, class M>(const M* member) {
      // A name costs compile time: only what can hold a variable gets one.
      if constexpr (role_of<std::remove_cv_t<M>>() != Role::none) parts(reflect::member_name<T, i>(), *member);
    };
    (add.template operator()<I>(std::get<I>(members)), ...);
  }(std::make_index_sequence<reflect::count_members<T>()>{});
}

template <class T> void list_parts(const void* object, Parts& parts) {
  const T& value = *static_cast<const T*>(object);
  if constexpr (SharedHandle<T>) {
    if (const Shared* shared = value.shared()) shared->list_parts(parts);
  } else if constexpr (is_tuple<T>) {
    size_t i = 0;
    std::apply([&](const auto&... item) { (parts(std::to_string(i++), item), ...); }, value);
  } else if constexpr (Map<T>) {
    list_map(value, parts);
  } else if constexpr (Range<T>) {
    size_t i = 0;
    for (const auto& item : value) parts(std::to_string(i++), item);
  } else if constexpr (Described<T>) {
    const_cast<T&>(value).fields(parts);  // written without const, as people do; it changes nothing
  } else {
    list_members(value, parts);
  }
}

template <class T> const Shared* shared_of([[maybe_unused]] const void* object) {
  if constexpr (SharedHandle<T>) return static_cast<const T*>(object)->shared();
  else return nullptr;
}

template <class T>
inline constexpr Type type_of = {role_of<T>() == Role::module ? Type::Kind::module : Type::Kind::container,
                                 reflect::type_name<T>(), &list_parts<T>, &shared_of<T>};
template <> inline constexpr Type type_of<Variable> = {Type::Kind::variable, "Variable", nullptr, nullptr};

template <class T> void Parts::operator()(std::string_view name, const T& member) {
  using M = std::remove_cv_t<T>;
  constexpr Role role = role_of<M>();
  if constexpr (role == Role::variable) {
    if (member.defined()) add(name, &member, &type_of<M>);
  } else if constexpr (SharedHandle<M>) {
    if (member.shared()) add(name, &member, &type_of<M>);
  } else if constexpr (role == Role::handle) {
    if constexpr (requires { *member; }) {
      if (member) (*this)(name, *member);
    } else {
      (*this)(name, member.get());
    }
  } else if constexpr (role == Role::variant) {
    std::visit([&](const auto& held) { (*this)(name, held); }, member);
  } else if constexpr (role != Role::none) {
    add(name, &member, &type_of<M>);
  }
}

template <class T> void Parts::keep(std::string_view name, T made) {
  const auto kept = std::make_shared<const T>(std::move(made));
  const size_t before = list_.size();
  (*this)(name, *kept);
  if (list_.size() > before) list_.back().kept = kept;
}

}  // namespace module
}  // namespace thalweg
