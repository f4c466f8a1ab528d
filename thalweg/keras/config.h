// How the members of a plain struct become a configuration and back: one row per member, found by reflection.
#pragma once
#include <array>
#include <optional>
#include <span>

#include "thalweg/core/error.h"
#include "thalweg/core/reflect.h"
#include "thalweg/keras/value.h"
#include "thalweg/ops/module_parts.h"
#include "thalweg/ops/options.h"

namespace thalweg::keras {

// A type of members adds its own pair, found by argument-dependent lookup.
template <class T>
  requires(std::is_arithmetic_v<T>)
Value to_value(T number) {
  if constexpr (std::same_as<T, bool>) return number;
  else if constexpr (std::is_integral_v<T>) return static_cast<int64_t>(number);
  else return static_cast<double>(number);
}
inline Value to_value(const std::string& text) { return text; }
inline Value to_value(Flag flag) { return static_cast<bool>(flag); }
THALWEG_API Value to_value(DType dtype);
THALWEG_API Value to_value(const Shape& shape);
THALWEG_API Value to_value(const Axis& axis);
/// Nested lists of the elements.
THALWEG_API Value to_value(const Tensor& tensor);

template <class T>
  requires(std::is_arithmetic_v<T>)
void from_value(T& number, const Value& value) {
  if constexpr (std::same_as<T, bool>) number = value.boolean();
  else if constexpr (std::is_integral_v<T>) number = static_cast<T>(value.integer());
  else number = static_cast<T>(value.number());
}
inline void from_value(std::string& text, const Value& value) { text = value.is_none() ? std::string() : value.text(); }
inline void from_value(Flag& flag, const Value& value) { flag = Flag(value.boolean()); }
THALWEG_API void from_value(DType& dtype, const Value& value);
THALWEG_API void from_value(Shape& shape, const Value& value);
THALWEG_API void from_value(Axis& axis, const Value& value);
THALWEG_API void from_value(Tensor& tensor, const Value& value);

namespace detail {
template <class T>
inline constexpr bool is_configurable = requires(const T& t, T& to, const Value& v) {
  { to_value(t) } -> std::same_as<Value>;
  from_value(to, v);
};
template <class T> inline constexpr bool is_configurable<std::optional<T>> = is_configurable<T>;
template <class T> inline constexpr bool is_configurable<std::vector<T>> = is_configurable<T>;
template <class T, size_t N> inline constexpr bool is_configurable<std::array<T, N>> = is_configurable<T>;
}  // namespace detail
/// What a configuration can hold.
template <class T>
concept Configurable = detail::is_configurable<T>;

template <Configurable T> Value to_value(const std::optional<T>& member) {
  return member ? to_value(*member) : Value();
}
template <Configurable T> void from_value(std::optional<T>& member, const Value& value) {
  if (value.is_none()) return member.reset();
  T made{};
  from_value(made, value);
  member = std::move(made);
}
template <Configurable T> Value to_value(const std::vector<T>& members) {
  Value::List items;
  for (const T& member : members) items.push_back(to_value(member));
  return items;
}
template <Configurable T> void from_value(std::vector<T>& members, const Value& value) {
  std::vector<T> made;
  for (const Value& item : value.list()) from_value(made.emplace_back(), item);
  members = std::move(made);
}
template <Configurable T, size_t N> Value to_value(const std::array<T, N>& members) {
  return to_value(std::vector<T>(members.begin(), members.end()));
}
template <Configurable T, size_t N> void from_value(std::array<T, N>& members, const Value& value) {
  const Value::List& items = value.list();
  if (items.size() != N) throw ValueError("expected " + std::to_string(N) + " items, got " + value.json());
  for (size_t i = 0; i < N; ++i) from_value(members[i], items[i]);
}

/// How generic code reads and writes members of one type.
struct MemberKind {
  Value (*get)(const void* member);
  void (*set)(void* member, const Value& value);
  std::string_view type;  // tells kinds apart: a program and the library have constants of their own

  friend bool operator==(const MemberKind& a, const MemberKind& b) { return a.type == b.type; }
};
template <class T>
inline constexpr MemberKind member_kind = {
    [](const void* member) { return to_value(*static_cast<const T*>(member)); },
    [](void* member, const Value& value) { from_value(*static_cast<T*>(member), value); },
    reflect::type_name<T>(),
};
/// One option of a struct.
struct Member {
  std::string_view name;
  uint32_t offset;
  const MemberKind* kind;
  bool required;  // it has no default: a parameter that stands before the options
};
/// The options of a struct in the order of its members; those of a member called `options` are among them.
struct Rows {
  std::string_view struct_name;  // as the compiler spells it
  std::vector<Member> members;

  THALWEG_API const Member* find(std::string_view name) const;
  /// Whether both describe the same struct.
  THALWEG_API bool is_same(const Rows& other) const;
  /// The member of this name in an object, where it is of type M; else null.
  template <class M> M* find(std::string_view name, void* object) const {
    return static_cast<M*>(find(name, member_kind<M>, object));
  }
  THALWEG_API void* find(std::string_view name, const MemberKind& kind, void* object) const;
  /// `{"units": 10, ...}`
  THALWEG_API Value get(const void* object) const;
  /// Sets what the map has; ValueError for a name that is no option, with those that are.
  THALWEG_API void set(void* object, const Value& config) const;
};

/// Structs that the compiler can look into, or that list their members themselves.
template <class T>
concept ListsFields = requires(T& t, module::AnyVisitor& visitor) { t.fields(visitor); };
template <class T>
concept Plain = std::is_class_v<T> && std::is_aggregate_v<T>;
template <class T>
concept Describable = Plain<T> || ListsFields<T>;

namespace detail {
template <class T> void add_rows(std::vector<Member>& rows, T& object, size_t base, bool before_options) {
  auto add = [&]<class M>(std::string_view name, M& member) {
    const size_t offset =
        base + static_cast<size_t>(reinterpret_cast<char*>(&member) - reinterpret_cast<char*>(&object));
    if constexpr (Plain<M> && !Configurable<M>) {
      if (name != "options") return;
      before_options = false;
      add_rows(rows, member, offset, false);
    } else if constexpr (Configurable<M>) {
      // Layers are configuration where they are required arguments; others are made from it.
      if (before_options || module::role_of<M>() == module::Role::none)
        rows.push_back({name, static_cast<uint32_t>(offset), &member_kind<M>, before_options});
    }
  };
  if constexpr (ListsFields<T>) {
    object.fields(add);
  } else {
    auto members = reflect::members(object);
    [&]<size_t... I>(std::index_sequence<I...>) {
      (add(reflect::member_name<T, I>(), *std::get<I>(members)), ...);
    }(std::make_index_sequence<reflect::count_members<T>()>{});
  }
}
template <class T> consteval bool has_options() {
  return requires(T& t) { t.options; };
}
/// Where the member `options` stands: those before it are required. 0 where there is none.
template <class T> consteval size_t options_index() {
  if constexpr (has_options<T>() && Plain<T>) {
    return []<size_t... I>(std::index_sequence<I...>) {
      size_t found = 0;
      ((reflect::member_name<T, I>() == "options" ? found = I : found), ...);
      return found;
    }(std::make_index_sequence<reflect::count_members<T>()>{});
  } else {
    return 0;
  }
}
}  // namespace detail

/// The rows of a struct; the object is an example to measure.
template <class T> const Rows& rows_of(const T& example) {
  static const Rows rows = [&] {
    Rows made{reflect::type_name<T>(), {}};
    if constexpr (Describable<T>) detail::add_rows(made.members, const_cast<T&>(example), 0, detail::has_options<T>());
    return made;
  }();
  return rows;
}

}  // namespace thalweg::keras
