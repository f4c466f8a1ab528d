// Structures of tensors that only the run knows: what layers, datasets and Python exchange. Where the types are known,
// structures are plain C++ (autodiff/structure.h), and a Nest is made of them and read back as them.
#pragma once
#include <memory>
#include <span>

#include "thalweg/autodiff/structure.h"

namespace thalweg {

/// A tensor, nothing, or a list, tuple or dict of nests: `Nest({a, b})`, `Nest({{"title", a}, {"body", b}})`. Copies
/// share.
class THALWEG_API Nest {
 public:
  enum class Kind : uint8_t { none, tensor, list, tuple, dict };
  using Entry = std::pair<std::string, Nest>;

  /// Python's None.
  Nest() = default;
  Nest(const Tensor& tensor) : kind_(tensor.defined() ? Kind::tensor : Kind::none), tensor_(tensor) {}  // NOLINT
  Nest(Tensor&& tensor)                                                                                 // NOLINT
      : kind_(tensor.defined() ? Kind::tensor : Kind::none), tensor_(std::move(tensor)) {}
  Nest(const Variable& variable) : Nest(variable.value()) {}                               // NOLINT
  Nest(std::initializer_list<Nest> items) : Nest(list(std::vector<Nest>(items))) {}        // NOLINT
  Nest(std::initializer_list<Entry> entries) : Nest(dict(std::vector<Entry>(entries))) {}  // NOLINT
  /// Vectors, arrays, maps, tuples, optionals and plain structs of tensors.
  template <structure::Structured T>
    requires(!structure::is_leaf<T>)
  Nest(const T& structured) : Nest(of(structured)) {}  // NOLINT

  static Nest list(std::vector<Nest> items);
  static Nest tuple(std::vector<Nest> items);
  /// Entries stay in their order.
  static Nest dict(std::vector<Entry> entries);

  Kind kind() const { return kind_; }
  bool is_none() const { return kind_ == Kind::none; }
  bool is_tensor() const { return kind_ == Kind::tensor; }
  bool is_dict() const { return kind_ == Kind::dict; }
  /// Whether it is a list or a tuple.
  bool is_sequence() const { return kind_ == Kind::list || kind_ == Kind::tuple; }
  /// The one tensor; ValueError for anything else.
  const Tensor& tensor() const {
    if (kind_ != Kind::tensor) [[unlikely]]
      refuse("one tensor");
    return tensor_;
  }
  /// What a list, tuple or dict holds; empty for others.
  std::span<const Nest> items() const;
  size_t size() const { return items().size(); }
  /// The keys of a dict.
  std::span<const std::string> keys() const;
  const Nest& operator[](size_t i) const;
  /// The entry of a dict; ValueError that lists the keys where there is none.
  const Nest& at(std::string_view key) const;
  /// The entry of a dict, or null.
  const Nest* find(std::string_view key) const;

  /// The tensors in order; those of a dict by sorted keys, as tf.nest has them.
  std::vector<Tensor> flatten() const;
  /// Calls `f` with each of them.
  template <class F> void for_each(const F& f) const {
    if (kind_ == Kind::tensor) f(tensor_);
    for (size_t i = 0; i < size(); ++i) branch_->items[branch_->place(i)].for_each(f);
  }
  /// How many there are.
  size_t num_tensors() const;
  /// The same structure with other tensors, one for each in the order of `flatten`.
  Nest pack(std::span<const Tensor> tensors) const;
  /// Takes these tensors in place of its own: as `pack`, without a new structure where nobody else holds this one.
  void refill(std::span<const Tensor> tensors);
  /// The same structure with what `f` makes of each tensor.
  template <class F> Nest map(const F& f) const {
    if (kind_ == Kind::tensor) return Nest(Tensor(f(tensor_)));
    if (!branch_) return *this;
    std::vector<Tensor> made;
    made.reserve(num_tensors());
    for_each([&](const Tensor& t) { made.push_back(f(t)); });
    return pack(made);
  }
  /// Whether both have the same structure.
  bool is_like(const Nest& other) const;

  /// As a C++ type: `nest.as<std::tuple<Tensor, std::vector<Tensor>>>()`; ValueError where it does not fit.
  template <class T> T as() const;
  template <class T> static Nest of(const T& structured);

  /// The structure: `[Tensor, {'a': Tensor}]`.
  std::string str() const;

 private:
  struct Branch {
    std::vector<Nest> items;
    std::vector<std::string> keys;
    std::vector<size_t> order;  // of sorted keys; empty where they stand so
    size_t place(size_t i) const { return order.empty() ? i : order[i]; }
  };
  Nest(Kind kind, Branch branch) : kind_(kind), branch_(std::make_shared<Branch>(std::move(branch))) {}
  [[noreturn]] void refuse(const std::string& wanted) const;
  void require_count(std::span<const Tensor> tensors) const;
  Nest pack_next(const Tensor*& next) const;
  void refill_next(const Tensor*& next);
  template <class... M, class F> void read_each(std::tuple<M*...> members, const F& name) const;

  Kind kind_ = Kind::none;
  Tensor tensor_;
  std::shared_ptr<Branch> branch_;  // shared by copies, and changed by none
};

template <class T> Nest Nest::of(const T& t) {
  if constexpr (std::same_as<T, Nest> || structure::is_leaf<T>) return Nest(t);
  else if constexpr (structure::is_list<T>) {
    std::vector<Nest> items;
    for (const auto& item : t) items.push_back(of(item));
    return list(std::move(items));
  } else if constexpr (structure::is_map<T>) {
    std::vector<Entry> entries;
    for (const auto& [key, item] : t) entries.emplace_back(key, of(item));
    return dict(std::move(entries));
  } else if constexpr (structure::is_tuple<T>) {
    return std::apply([](const auto&... item) { return tuple({of(item)...}); }, t);
  } else if constexpr (structure::is_optional<T>) {
    return t ? of(*t) : Nest();
  } else {
    auto members = reflect::members(t);
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return dict({Entry(std::string(reflect::member_name<T, I>()), of(*std::get<I>(members)))...});
    }(std::make_index_sequence<reflect::count_members<T>()>{});
  }
}

template <class... M, class F> void Nest::read_each(std::tuple<M*...> members, const F& name) const {
  if (!branch_ || size() != sizeof...(M)) refuse(std::to_string(sizeof...(M)) + " items");
  [&]<size_t... I>(std::index_sequence<I...>) {
    auto item = [&](size_t i) -> const Nest& { return is_dict() ? at(name(i)) : (*this)[i]; };
    ((*std::get<I>(members) = item(I).template as<M>()), ...);
  }(std::index_sequence_for<M...>{});
}

template <class T> T Nest::as() const {
  if constexpr (std::same_as<T, Nest>) return *this;
  else if constexpr (std::same_as<T, Tensor>) {
    return is_none() ? Tensor() : tensor();
  } else if constexpr (structure::is_optional<T>) {
    return is_none() ? T() : T(as<typename T::value_type>());
  } else if constexpr (structure::is_map<T>) {
    if (!is_dict()) refuse("a dict");
    T made;
    for (size_t i = 0; i < size(); ++i) made.emplace(keys()[i], items()[i].as<typename T::mapped_type>());
    return made;
  } else if constexpr (structure::is_list<T>) {
    if (!is_sequence()) refuse("a list");
    T made{};
    if constexpr (requires { made.push_back(made[0]); }) {
      for (const Nest& item : items()) made.push_back(item.as<typename T::value_type>());
    } else {
      if (size() != made.size()) refuse("a list of " + std::to_string(made.size()));
      for (size_t i = 0; i < made.size(); ++i) made[i] = items()[i].as<typename T::value_type>();
    }
    return made;
  } else if constexpr (structure::is_tuple<T>) {
    if (!is_sequence()) refuse("a tuple");
    T made;
    std::apply([&](auto&... item) { read_each(std::tuple(&item...), [](size_t) { return std::string_view(); }); },
               made);
    return made;
  } else {
    static_assert(structure::is_struct<T>,
                  "a structure of tensors is a Tensor, or a vector, array, map, tuple, optional or plain struct of "
                  "structures");
    T made;
    [&]<size_t... I>(std::index_sequence<I...>) {
      static constexpr std::string_view names[] = {reflect::member_name<T, I>()...};
      read_each(reflect::members(made), [](size_t i) { return names[i]; });
    }(std::make_index_sequence<reflect::count_members<T>()>{});
    return made;
  }
}

}  // namespace thalweg
