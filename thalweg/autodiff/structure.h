// Structures of tensors: a tensor, a variable, or lists, tuples, maps and plain structs of them, of any depth.
#pragma once
#include <array>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "thalweg/core/reflect.h"
#include "thalweg/ops/variable.h"

namespace thalweg::structure {

template <class T> inline constexpr bool is_leaf = std::same_as<T, Tensor> || std::same_as<T, Variable>;
template <class T> inline constexpr bool is_list = false;
template <class T> inline constexpr bool is_list<std::vector<T>> = true;
template <class T, size_t N> inline constexpr bool is_list<std::array<T, N>> = true;
template <class T> inline constexpr bool is_map = false;
template <class K, class T> inline constexpr bool is_map<std::map<K, T>> = true;
template <class T> inline constexpr bool is_tuple = false;
template <class... T> inline constexpr bool is_tuple<std::tuple<T...>> = true;
template <class A, class B> inline constexpr bool is_tuple<std::pair<A, B>> = true;
template <class T> inline constexpr bool is_optional = false;
template <class T> inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_struct = std::is_aggregate_v<T> && std::is_class_v<T> && !is_list<T> && !is_map<T> &&
                                  !is_tuple<T> && !std::same_as<T, IndexedSlices>;
/// What can hold tensors.
template <class T>
concept Structured = is_leaf<T> || is_list<T> || is_map<T> || is_tuple<T> || is_optional<T> || is_struct<T>;

/// The same structure with a tensor for every leaf.
template <class T> struct OfTensors {
  static_assert(is_struct<T>,
                "a structure of tensors is a Tensor or Variable, or a vector, array, map, tuple, optional "
                "or plain struct of structures");
  using type = T;
};
template <> struct OfTensors<Tensor> {
  using type = Tensor;
};
template <> struct OfTensors<Variable> {
  using type = Tensor;
};
template <class T> struct OfTensors<std::vector<T>> {
  using type = std::vector<typename OfTensors<T>::type>;
};
template <class T, size_t N> struct OfTensors<std::array<T, N>> {
  using type = std::array<typename OfTensors<T>::type, N>;
};
template <class K, class T> struct OfTensors<std::map<K, T>> {
  using type = std::map<K, typename OfTensors<T>::type>;
};
template <class... T> struct OfTensors<std::tuple<T...>> {
  using type = std::tuple<typename OfTensors<T>::type...>;
};
template <class A, class B> struct OfTensors<std::pair<A, B>> {
  using type = std::pair<typename OfTensors<A>::type, typename OfTensors<B>::type>;
};
template <class T> struct OfTensors<std::optional<T>> {
  using type = std::optional<typename OfTensors<T>::type>;
};
template <class T> using of_tensors = typename OfTensors<T>::type;

/// Whether a plain struct has no Variable among its members.
template <class T> constexpr bool holds_no_variable() {
  return []<class... M>(std::tuple<M*...>*) {
    return (!std::same_as<std::remove_const_t<M>, Variable> && ...);
  }(static_cast<decltype(reflect::members(std::declval<T&>()))*>(nullptr));
}

/// Calls `visit` with every leaf, in order: maps by key, structs by member.
template <Structured T, class F> void for_each(const T& t, const F& visit) {
  if constexpr (is_leaf<T>) visit(t);
  else if constexpr (is_list<T>)
    for (const auto& item : t) for_each(item, visit);
  else if constexpr (is_map<T>)
    for (const auto& [key, item] : t) for_each(item, visit);
  else if constexpr (is_tuple<T>) std::apply([&](const auto&... item) { (for_each(item, visit), ...); }, t);
  else if constexpr (is_optional<T>) {
    if (t) for_each(*t, visit);
  } else {
    std::apply([&](auto*... member) { (for_each(*member, visit), ...); }, reflect::members(t));
  }
}

/// The structure of `like` with the tensors that `next` gives, one per leaf in order.
template <Structured T, class F> of_tensors<T> rebuild(const T& like, F& next) {
  if constexpr (is_leaf<T>) return next();
  else if constexpr (is_tuple<T>) {
    return std::apply([&](const auto&... item) { return of_tensors<T>{rebuild(item, next)...}; }, like);
  } else {
    of_tensors<T> made;
    if constexpr (is_list<T>) {
      if constexpr (requires { made.reserve(1); }) made.reserve(like.size());
      for (size_t i = 0; i < like.size(); ++i)
        if constexpr (requires { made.push_back(rebuild(like[i], next)); }) made.push_back(rebuild(like[i], next));
        else made[i] = rebuild(like[i], next);
    } else if constexpr (is_map<T>) {
      for (const auto& [key, item] : like) made.emplace(key, rebuild(item, next));
    } else if constexpr (is_optional<T>) {
      if (like) made = rebuild(*like, next);
    } else {
      static_assert(holds_no_variable<T>(),
                    "the result for a struct is the same struct, which needs Tensor members: for a struct of Variables "
                    "name them, tape.gradient(loss, model.w, model.b), or write trainable_variables(model)");
      [&]<size_t... I>(std::index_sequence<I...>) {
        auto from = reflect::members(like);
        auto to = reflect::members(made);
        ((*std::get<I>(to) = rebuild(*std::get<I>(from), next)), ...);
      }(std::make_index_sequence<reflect::count_members<T>()>{});
    }
    return made;
  }
}

}  // namespace thalweg::structure
