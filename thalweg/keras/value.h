// Configuration values: what get_config gives and from_config takes, JSON's data model with ordered maps.
#pragma once
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
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
  Value(bool value) : kind_(Kind::boolean), integer_(value) {}     // NOLINT
  Value(int value) : kind_(Kind::integer), integer_(value) {}      // NOLINT
  Value(int64_t value) : kind_(Kind::integer), integer_(value) {}  // NOLINT
  Value(double value) : kind_(Kind::real), real_(value) {}         // NOLINT
  Value(const char* text) : Value(std::string(text)) {}            // NOLINT
  Value(std::string text);                                         // NOLINT
  Value(std::string_view text) : Value(std::string(text)) {}       // NOLINT
  Value(List items);                                               // NOLINT
  Value(std::shared_ptr<Object> object);                           // NOLINT: see `object`
  Value(Map entries);                                              // NOLINT
  /// `Value::map({{"units", 10}, {"activation", "relu"}})`
  static Value map(Map entries) { return {std::move(entries)}; }
  static Value list(List items) { return {std::move(items)}; }

  bool is_none() const { return kind_ == Kind::none; }
  bool is_bool() const { return kind_ == Kind::boolean; }
  bool is_integer() const { return kind_ == Kind::integer; }
  bool is_real() const { return kind_ == Kind::real; }
  bool is_number() const { return is_integer() || is_real(); }
  bool is_text() const { return kind_ == Kind::text; }
  bool is_list() const { return kind_ == Kind::list; }
  bool is_map() const { return kind_ == Kind::map; }

  // What it is; TypeError that shows the value where it is something else.
  bool boolean() const;
  int64_t integer() const;
  double number() const;
  const std::string& text() const;
  const List& list() const;
  const Map& map() const;
  /// An object that stands where its configuration could, as when another language gives it; null for others. JSON
  /// cannot hold it.
  std::shared_ptr<Object> object() const;

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

  // By hand, for a variant costs every program that includes this a tenth of a second.
  enum class Kind : uint8_t { none, boolean, integer, real, text, list, map, object };
  template <class T> const T& held() const { return *static_cast<const T*>(held_.get()); }

  Kind kind_ = Kind::none;
  union {
    int64_t integer_ = 0;
    double real_;
  };
  std::shared_ptr<const void> held_;  // a text, list, map or object
};
THALWEG_API std::ostream& operator<<(std::ostream& out, const Value& value);

}  // namespace thalweg::keras
