// Configuration values: what get_config gives and from_config takes, JSON's data model with ordered maps.
#pragma once
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "thalweg/core/export.h"

namespace thalweg::keras {

class Object;

/// Nothing (None), a truth value, a number, a text, a list, or a map from names to values. Copies share.
class THALWEG_API Value {
 public:
  using List = std::vector<Value>;
  using Map = std::vector<std::pair<std::string, Value>>;  // in the order of insertion

  Value();
  Value(const Value&);
  Value(Value&&) noexcept;
  Value& operator=(const Value&);
  Value& operator=(Value&&) noexcept;
  ~Value();
  Value(bool value) : data_(value) {}                         // NOLINT
  Value(int value) : data_(int64_t{value}) {}                 // NOLINT
  Value(int64_t value) : data_(value) {}                      // NOLINT
  Value(double value) : data_(value) {}                       // NOLINT
  Value(const char* text) : Value(std::string(text)) {}       // NOLINT
  Value(std::string text);                                    // NOLINT
  Value(std::string_view text) : Value(std::string(text)) {}  // NOLINT
  Value(List items);                                          // NOLINT
  Value(std::shared_ptr<Object> object);                      // NOLINT: see `object`
  Value(Map entries);                                         // NOLINT
  /// `Value::map({{"units", 10}, {"activation", "relu"}})`
  static Value map(Map entries) { return {std::move(entries)}; }
  static Value list(List items) { return {std::move(items)}; }

  bool is_none() const { return data_.index() == 0; }
  bool is_bool() const { return std::holds_alternative<bool>(data_); }
  bool is_integer() const { return std::holds_alternative<int64_t>(data_); }
  bool is_real() const { return std::holds_alternative<double>(data_); }
  bool is_number() const { return is_integer() || is_real(); }
  bool is_text() const { return std::holds_alternative<std::shared_ptr<const std::string>>(data_); }
  bool is_list() const { return std::holds_alternative<std::shared_ptr<const List>>(data_); }
  bool is_map() const { return std::holds_alternative<std::shared_ptr<const Map>>(data_); }

  // What it is; TypeError that shows the value where it is something else.
  bool boolean() const;
  int64_t integer() const;
  double number() const;
  const std::string& text() const;
  const List& list() const;
  const Map& map() const;
  /// An object that stands where its configuration could, as when another language gives it; null for others. JSON
  /// cannot hold it.
  std::shared_ptr<Object> object() const {
    auto* held = std::get_if<std::shared_ptr<Object>>(&data_);
    return held ? *held : nullptr;
  }

  /// The entry of a map; None where there is none.
  const Value& operator[](std::string_view key) const;
  bool contains(std::string_view key) const;
  /// Sets an entry of a map, at its end if it is new.
  void set(std::string_view key, Value value);
  /// Takes an entry away; whether there was one.
  bool erase(std::string_view key);

  /// Numbers by value (1 equals 1.0), maps whatever their order.
  friend THALWEG_API bool operator==(const Value& a, const Value& b);

  /// JSON, as Python writes it: `{"units": 10, "rate": 0.5}`.
  std::string json() const;
  /// Reads JSON; ValueError says where it goes wrong.
  static Value parse(std::string_view json);

 private:
  [[noreturn]] void refuse(const char* wanted) const;

  std::variant<std::monostate, bool, int64_t, double, std::shared_ptr<const std::string>, std::shared_ptr<const List>,
               std::shared_ptr<const Map>, std::shared_ptr<Object>>
      data_;
};
THALWEG_API std::ostream& operator<<(std::ostream& out, const Value& value);

}  // namespace thalweg::keras
