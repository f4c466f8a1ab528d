// Protocol buffers' wire format for plain structs. A struct is a message when `fields_of(const M*)` lists its members
// with their numbers; the rules are those of proto3: zeros and empty strings are not written, unknown fields are passed
// over, of a field that comes twice the last counts, numbers in lists are packed.
#pragma once
#include <concepts>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "thalweg/io/boxed.h"

namespace thalweg::io::wire {

/// A member and its number. A message that is a plain member is always written, an optional one when it is there.
template <class M, class T> struct Field {
  uint32_t number;
  T M::* member;
};
template <class M, class T> constexpr Field<M, T> field(uint32_t number, T M::* member) { return {number, member}; }
/// Alternative I of a variant (a `oneof`) and its number.
template <size_t I, class M, class V> struct Choice {
  uint32_t number;
  V M::* member;
};
template <size_t I, class M, class V> constexpr Choice<I, M, V> choice(uint32_t number, V M::* member) {
  return {number, member};
}

template <class T>
concept Message = requires(const T* m) { fields_of(m); };

enum class WireType : uint8_t { varint = 0, fixed64 = 1, block = 2, fixed32 = 5 };
template <class T> inline constexpr bool is_number = std::is_arithmetic_v<T> || std::is_enum_v<T>;
template <class T> constexpr WireType wire_type() {
  if constexpr (std::same_as<T, float>) return WireType::fixed32;
  else if constexpr (std::same_as<T, double>) return WireType::fixed64;
  else if constexpr (is_number<T>) return WireType::varint;
  else return WireType::block;
}

/// Writes from the end to the beginning, so that the length of a part is known when it is to be written before it.
class Writer {
 public:
  size_t size() const { return buffer_.size() - begin_; }
  void bytes(const void* data, size_t count);
  void varint(uint64_t value);
  void tag(uint32_t number, WireType type) { varint(uint64_t{number} << 3 | static_cast<uint64_t>(type)); }
  /// Everything written; the writer is empty then.
  std::string take();

 private:
  std::string buffer_;
  size_t begin_ = 0;  // what is written begins here
};

/// Reads the fields of one message; the messages in it have readers of their own.
class Reader {
 public:
  /// `what` names the outermost message in errors.
  Reader(std::string_view bytes, const char* what);
  Reader(std::string_view bytes, const Reader& outer);
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  /// Goes to the next field, or says that there is none.
  bool next();
  uint32_t number() const { return number_; }
  WireType type() const { return type_; }
  bool at_end() const { return rest_.empty(); }

  uint64_t varint();
  template <class T> T fixed() {
    T value;
    take(sizeof(T)).copy(reinterpret_cast<char*>(&value), sizeof(T));
    return value;
  }
  std::string_view block();
  std::string_view take(size_t count);
  /// Passes over the value of the field.
  void skip();
  /// Must be asked before something is added to a list: many tiny parts must not take memory without bound.
  void charge(size_t bytes);
  [[noreturn]] void fail(const char* why) const;

 private:
  std::string_view rest_;
  const char* what_;
  int depth_;
  size_t own_budget_ = 0;
  size_t* budget_;
  uint32_t number_ = 0;
  WireType type_ = WireType::varint;
};

template <Message M> void write_fields(Writer& out, const M& message);
template <Message M> void read_fields(Reader& in, M& message);

template <class T> void write_value(Writer& out, const T& value) {
  if constexpr (std::same_as<T, float> || std::same_as<T, double>) {
    out.bytes(&value, sizeof value);
  } else if constexpr (is_number<T>) {
    out.varint(static_cast<uint64_t>(static_cast<int64_t>(value)));  // negative numbers take ten bytes
  } else {
    const size_t end = out.size();
    if constexpr (std::same_as<T, std::string>) out.bytes(value.data(), value.size());
    else write_fields(out, value);
    out.varint(out.size() - end);
  }
}
template <class T> void write_value(Writer& out, const Boxed<T>& value) { write_value(out, *value); }
template <class T> void write_tagged(Writer& out, uint32_t number, const T& value) {
  write_value(out, value);
  out.tag(number, wire_type<T>());
}

template <class T> void write_member(Writer& out, uint32_t number, const T& value) {
  if constexpr (Message<T>) write_tagged(out, number, value);
  else if (value != T{}) write_tagged(out, number, value);
}
template <class T> void write_member(Writer& out, uint32_t number, const std::optional<T>& value) {
  if (value) write_tagged(out, number, *value);
}
template <class T> void write_member(Writer& out, uint32_t number, const std::vector<T>& list) {
  if constexpr (is_number<T>) {
    if (list.empty()) return;
    const size_t end = out.size();
    if constexpr (std::is_floating_point_v<T>) out.bytes(list.data(), list.size() * sizeof(T));
    else
      for (size_t i = list.size(); i-- > 0;) write_value<T>(out, list[i]);
    out.varint(out.size() - end);
    out.tag(number, WireType::block);
  } else {
    for (size_t i = list.size(); i-- > 0;) write_tagged(out, number, list[i]);
  }
}
template <class K, class V> void write_member(Writer& out, uint32_t number, const std::map<K, V>& entries) {
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    const size_t end = out.size();
    write_tagged(out, 2, entry->second);
    write_tagged(out, 1, entry->first);
    out.varint(out.size() - end);
    out.tag(number, WireType::block);
  }
}
template <class M, class T> void write_field(Writer& out, const M& message, const Field<M, T>& field) {
  write_member(out, field.number, message.*field.member);
}
template <size_t I, class M, class V> void write_field(Writer& out, const M& message, const Choice<I, M, V>& choice) {
  if (auto* value = std::get_if<I>(&(message.*choice.member))) write_tagged(out, choice.number, *value);
}

template <Message M> void write_fields(Writer& out, const M& message) {
  constexpr auto fields = fields_of(static_cast<const M*>(nullptr));
  constexpr size_t count = std::tuple_size_v<decltype(fields)>;
  [&]<size_t... I>(std::index_sequence<I...>) {
    (write_field(out, message, std::get<count - 1 - I>(fields)), ...);
  }(std::make_index_sequence<count>{});
}

template <class T> void read_value(Reader& in, T& value) {
  if constexpr (Message<T>) {
    Reader inner(in.block(), in);
    read_fields(inner, value);
  } else if constexpr (std::same_as<T, std::string>) {
    value = in.block();
  } else if constexpr (std::is_floating_point_v<T>) {
    value = in.fixed<T>();
  } else {
    value = static_cast<T>(in.varint());
  }
}
template <class T> void read_value(Reader& in, Boxed<T>& value) { read_value(in, *value); }

template <class T> void read_member(Reader& in, T& value) {
  if (in.type() == wire_type<T>()) read_value(in, value);
  else in.skip();
}
template <class T> void read_member(Reader& in, std::optional<T>& value) {
  if (in.type() != wire_type<T>()) return in.skip();
  if (!value) value.emplace();
  read_value(in, *value);
}
template <class T> void read_member(Reader& in, std::vector<T>& list) {
  auto add = [&](Reader& from) {
    in.charge(sizeof(T));
    T value{};
    read_value(from, value);
    list.push_back(std::move(value));
  };
  if (in.type() == wire_type<T>()) return add(in);
  if (!is_number<T> || in.type() != WireType::block) return in.skip();
  if constexpr (is_number<T>) {
    Reader packed(in.block(), in);
    while (!packed.at_end()) add(packed);
  }
}
template <class K, class V> void read_member(Reader& in, std::map<K, V>& entries) {
  if (in.type() != WireType::block) return in.skip();
  in.charge(sizeof(std::pair<K, V>) + 32);  // what a node of a map takes besides
  Reader entry(in.block(), in);
  K key{};
  V value{};
  while (entry.next()) {
    if (entry.number() == 1) read_member(entry, key);
    else if (entry.number() == 2) read_member(entry, value);
    else entry.skip();
  }
  entries.insert_or_assign(std::move(key), std::move(value));
}

template <class M, class T> bool read_field(Reader& in, M& message, const Field<M, T>& field) {
  if (in.number() != field.number) return false;
  read_member(in, message.*field.member);
  return true;
}
template <size_t I, class M, class V> bool read_field(Reader& in, M& message, const Choice<I, M, V>& choice) {
  if (in.number() != choice.number) return false;
  using T = std::variant_alternative_t<I, V>;
  if (in.type() != wire_type<T>()) return in.skip(), true;
  V& value = message.*choice.member;
  if (value.index() != I) {
    if constexpr (requires { *T(); }) in.charge(sizeof(*T()));
    value.template emplace<I>();
  }
  read_value(in, std::get<I>(value));
  return true;
}

template <Message M> void read_fields(Reader& in, M& message) {
  constexpr auto fields = fields_of(static_cast<const M*>(nullptr));
  while (in.next()) {
    const bool known = std::apply([&](const auto&... each) { return (read_field(in, message, each) || ...); }, fields);
    if (!known) in.skip();
  }
}

/// The bytes of a message. ResourceExhaustedError past 2 GB, which no reader of protocol buffers takes.
template <Message M> std::string serialize(const M& message) {
  Writer out;
  write_fields(out, message);
  return out.take();
}
/// Reads a message; InvalidArgumentError where the bytes are none.
template <Message M> M parse(std::string_view bytes, const char* what) {
  M message;
  Reader in(bytes, what);
  read_fields(in, message);
  return message;
}

}  // namespace thalweg::io::wire
