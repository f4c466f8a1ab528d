// The arguments of a traced function: tensors among values of any kind. Tensors are passed to the graph, variables are
// told apart by identity, everything else by value.
#pragma once
#include <string>

#include "thalweg/autodiff/structure.h"

namespace thalweg::graph {

/// The tensors of a call, borrowed, and a key for the rest of it.
struct Arguments {
  static constexpr size_t few = 8;
  void add(const Tensor& t) {
    if (count < few) first[count] = t.get();
    else more.push_back(t.get());
    ++count;
  }
  std::span<const TensorRef> tensors() {
    if (count <= few) return {reinterpret_cast<const TensorRef*>(first), count};
    if (more.size() < count) more.insert(more.begin(), first, first + few);
    return {reinterpret_cast<const TensorRef*>(more.data()), count};
  }

  TensorImpl* first[few];
  size_t count = 0;
  std::vector<TensorImpl*> more;
  std::string rest;
};

template <class T>
inline constexpr bool is_plain_value = std::is_arithmetic_v<T> || std::is_enum_v<T> || std::same_as<T, std::string>;
/// Whether the type alone says where its tensors are, and there is nothing else.
template <class T> consteval bool has_fixed_tensors() {
  if constexpr (std::same_as<T, Tensor>) return true;
  else if constexpr (structure::is_tuple<T>)
    return []<class... M>(std::type_identity<std::tuple<M...>>) {
      return (has_fixed_tensors<M>() && ...);
    }(std::type_identity<decltype(std::tuple_cat(std::declval<T>()))>{});
  else return false;
}

template <class T> void collect(const T& value, Arguments& to) {
  auto note = [&](const void* bytes, size_t size) { to.rest.append(static_cast<const char*>(bytes), size); };
  auto note_count = [&](size_t count) { note(&count, sizeof count); };
  if constexpr (std::same_as<T, Tensor>) {
    if (!has_fixed_tensors<T>() || !value.defined()) to.rest += value.defined() ? 't' : 'n';
    if (value.defined()) to.add(value);
  } else if constexpr (std::same_as<T, Variable>) {
    const TensorImpl* handle = value.defined() ? value.handle().get() : nullptr;
    note(&handle, sizeof handle);  // NOLINT(bugprone-sizeof-expression): by where it is
  } else if constexpr (std::same_as<T, std::string>) {
    note_count(value.size());
    to.rest += value;
  } else if constexpr (is_plain_value<T>) {
    note(&value, sizeof value);
  } else if constexpr (structure::is_list<T>) {
    note_count(value.size());
    for (const auto& item : value) collect(item, to);
  } else if constexpr (structure::is_map<T>) {
    note_count(value.size());
    for (const auto& [key, item] : value) {
      collect(key, to);
      collect(item, to);
    }
  } else if constexpr (structure::is_tuple<T>) {
    std::apply([&](const auto&... item) { (collect(item, to), ...); }, value);
  } else if constexpr (structure::is_optional<T>) {
    to.rest += value ? 'o' : 'n';
    if (value) collect(*value, to);
  } else {
    static_assert(structure::is_struct<T>,
                  "an argument of a traced function is a tensor, a variable, a number, a string, or a vector, map, "
                  "tuple, optional or plain struct of those");
    std::apply([&](auto*... member) { (collect(*member, to), ...); }, reflect::members(value));
  }
}

/// The same value with other tensors in it, one from `next` for each.
template <class T, class F> T with_tensors(const T& value, F& next) {
  if constexpr (std::same_as<T, Tensor>) {
    return value.defined() ? next() : Tensor();
  } else if constexpr (structure::is_map<T>) {
    T made = value;
    for (auto& [key, item] : made) item = with_tensors(item, next);
    return made;
  } else if constexpr (structure::is_list<T>) {
    T made = value;
    for (auto& item : made) item = with_tensors(item, next);
    return made;
  } else if constexpr (structure::is_tuple<T>) {
    return std::apply([&](const auto&... item) { return T{with_tensors(item, next)...}; }, value);
  } else if constexpr (structure::is_optional<T>) {
    return value ? T(with_tensors(*value, next)) : T();
  } else if constexpr (std::same_as<T, Variable> || is_plain_value<T>) {
    return value;
  } else {
    T made = value;
    std::apply([&](auto*... member) { ((*member = with_tensors(*member, next)), ...); }, reflect::members(made));
    return made;
  }
}

}  // namespace thalweg::graph
