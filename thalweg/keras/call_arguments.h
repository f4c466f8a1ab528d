// Arguments of calls that only the class of a layer knows: by name, with tensors among them.
#pragma once
#include "thalweg/keras/layer.h"

namespace thalweg::keras {

/// What CallArgs::rest leads to.
struct NamedArgs {
  Value named = Value::Map();            // tensors in it are places in CallArgs::more
  std::shared_ptr<const void> own = {};  // the same as another language has it
};

/// Stands for a tensor in a value: its place among the tensors of a call.
THALWEG_API Value make_place(size_t place);
/// The place that a value stands for; none for others.
THALWEG_API std::optional<size_t> place_in(const Value& value);
/// Whether there is one in a value, at any depth.
THALWEG_API bool has_places(const Value& value);

/// The same value with what `f` makes of the place of each tensor.
template <class F> Value map_places(const Value& value, const F& f) {
  if (std::optional<size_t> place = place_in(value)) return f(*place);
  if (value.is_list()) {
    Value::List items;
    for (const Value& item : value.list()) items.push_back(map_places(item, f));
    return items;
  }
  if (value.is_map()) {
    Value::Map entries;
    for (const auto& [key, item] : value.map()) entries.emplace_back(key, map_places(item, f));
    return entries;
  }
  return value;
}

}  // namespace thalweg::keras
