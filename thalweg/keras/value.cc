#include "thalweg/keras/value.h"

#include <cmath>
#include <ostream>

#include "thalweg/core/error.h"
#include "thalweg/core/number_text.h"

namespace thalweg::keras {
namespace {

// Python's repr of a float: the shortest digits that read back the same, with an exponent below 1e-4 and from 1e16 on.
std::string real_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  return real_scalar(DType::float64, value);
}

void write_text(std::string& out, std::string_view text) {
  static constexpr char hex[] = "0123456789abcdef";
  out += '"';
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') (out += '\\') += c;
    else if (c == '\n') out += "\\n";
    else if (c == '\t') out += "\\t";
    else if (c == '\r') out += "\\r";
    else if (byte < 0x20) ((out += "\\u00") += hex[byte >> 4]) += hex[byte & 15];
    else out += c;
  }
  out += '"';
}

void write(std::string& out, const Value& value) {
  if (value.is_none()) out += "null";
  else if (value.is_bool()) out += value.boolean() ? "true" : "false";
  else if (value.is_integer()) out += std::to_string(value.integer());
  else if (value.is_real()) out += real_text(value.number());
  else if (value.is_text()) write_text(out, value.text());
  else if (value.is_list()) {
    out += '[';
    for (const Value& item : value.list()) {
      if (out.back() != '[') out += ", ";
      write(out, item);
    }
    out += ']';
  } else if (value.object()) {
    throw TypeError("an object has no JSON: ask for its configuration");
  } else {
    out += '{';
    bool first = true;
    for (const auto& [key, item] : value.map()) {
      if (!first) out += ", ";
      first = false;
      write_text(out, key);
      out += ": ";
      write(out, item);
    }
    out += '}';
  }
}

/// Reads JSON, and the NaN and Infinity that Python adds to it.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}
  Value read_all() {
    Value value = read(0);
    skip_space();
    if (at_ < text_.size()) refuse("something after the end");
    return value;
  }

 private:
  static constexpr int deepest = 500;
  [[noreturn]] void refuse(const std::string& what) const {
    throw ValueError("JSON: " + what + " at character " + std::to_string(at_));
  }
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }
  bool take(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  void expect(char c) {
    skip_space();
    if (!take({&c, 1})) refuse(std::string("expected '") + c + "'");
  }

  Value read(int depth) {
    if (depth > deepest) refuse("nested too deeply");
    skip_space();
    if (at_ == text_.size()) refuse("unexpected end");
    if (take("null")) return {};
    if (take("true")) return true;
    if (take("false")) return false;
    if (take("NaN")) return std::nan("");
    if (take("Infinity")) return INFINITY;
    if (take("-Infinity")) return -INFINITY;
    if (text_[at_] == '"') return read_text();
    if (take("[")) return read_list(depth);
    if (take("{")) return read_map(depth);
    return read_number();
  }
  Value read_list(int depth) {
    Value::List items;
    skip_space();
    if (take("]")) return items;
    do {
      items.push_back(read(depth + 1));
      skip_space();
    } while (take(","));
    expect(']');
    return items;
  }
  Value read_map(int depth) {
    Value::Map entries;
    skip_space();
    if (take("}")) return entries;
    do {
      skip_space();
      std::string key = read_text();
      expect(':');
      entries.emplace_back(std::move(key), read(depth + 1));
      skip_space();
    } while (take(","));
    expect('}');
    return entries;
  }
  Value read_number() {
    size_t end = at_;
    while (end < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[end])) || text_[end] == '+' ||
                                  text_[end] == '-' || text_[end] == '.'))
      ++end;
    const std::string digits(text_.substr(at_, end - at_));
    size_t used = 0;
    Value value;
    try {
      if (digits.find_first_of(".eE") == std::string::npos) value = int64_t{std::stoll(digits, &used)};
      else value = std::stod(digits, &used);
    } catch (const std::exception&) {
      refuse("no value '" + digits.substr(0, 20) + "'");
    }
    if (used != digits.size()) refuse("no number '" + digits.substr(0, 20) + "'");
    at_ = end;
    return value;
  }
  unsigned read_hex() {
    unsigned code = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      if (at_ >= text_.size() || !std::isxdigit(static_cast<unsigned char>(text_[at_]))) refuse("bad \\u");
      const char c = text_[at_];
      code = code * 16 + static_cast<unsigned>(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
    }
    return code;
  }
  static void add_utf8(std::string& out, unsigned code) {
    auto put = [&](unsigned byte) { out += static_cast<char>(byte); };
    if (code < 0x80) return put(code);
    if (code < 0x800) {
      put(0xc0 | code >> 6);
    } else {
      if (code < 0x10000) {
        put(0xe0 | code >> 12);
      } else {
        put(0xf0 | code >> 18);
        put(0x80 | (code >> 12 & 63));
      }
      put(0x80 | (code >> 6 & 63));
    }
    put(0x80 | (code & 63));
  }
  void read_escape(std::string& out) {
    if (at_ >= text_.size()) refuse("unexpected end");
    const char c = text_[at_++];
    static constexpr std::string_view from = "\"\\/bfnrt", to = "\"\\/\b\f\n\r\t";
    if (size_t i = from.find(c); i != std::string_view::npos) {
      out += to[i];
    } else if (c == 'u') {
      unsigned code = read_hex();
      if (code >= 0xd800 && code < 0xdc00 && take("\\u"))
        code = 0x10000 + ((code & 0x3ff) << 10) + (read_hex() & 0x3ff);
      add_utf8(out, code);
    } else {
      refuse("bad escape");
    }
  }
  std::string read_text() {
    expect('"');
    std::string out;
    while (true) {
      if (at_ >= text_.size()) refuse("unexpected end of a text");
      const char c = text_[at_++];
      if (c == '"') return out;
      if (c == '\\') read_escape(out);
      else out += c;
    }
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

// Here, so that programs need not compile them.
Value::Value() = default;
Value::Value(const Value&) = default;
Value::Value(Value&&) noexcept = default;
Value& Value::operator=(const Value&) = default;
Value& Value::operator=(Value&&) noexcept = default;
Value::~Value() = default;

Value::Value(std::shared_ptr<Object> object) : kind_(Kind::object), held_(std::move(object)) {}
Value::Value(std::string text) : kind_(Kind::text), held_(std::make_shared<const std::string>(std::move(text))) {}
Value::Value(List items) : kind_(Kind::list), held_(std::make_shared<const List>(std::move(items))) {}
Value::Value(Map entries) : kind_(Kind::map), held_(std::make_shared<const Map>(std::move(entries))) {}

void Value::refuse(const char* wanted) const { throw TypeError(std::string("expected ") + wanted + ", got " + json()); }
bool Value::boolean() const {
  if (is_bool()) return integer_ != 0;
  refuse("a truth value");
}
int64_t Value::integer() const {
  if (is_integer()) return integer_;
  if (is_real() && std::abs(real_) < 1e18 && std::trunc(real_) == real_) return static_cast<int64_t>(real_);
  refuse("an integer");
}
double Value::number() const {
  if (is_real()) return real_;
  if (is_integer()) return static_cast<double>(integer_);
  refuse("a number");
}
const std::string& Value::text() const {
  if (is_text()) return held<std::string>();
  refuse("a text");
}
const Value::List& Value::list() const {
  if (is_list()) return held<List>();
  refuse("a list");
}
const Value::Map& Value::map() const {
  if (is_map()) return held<Map>();
  refuse("a map");
}
std::shared_ptr<Object> Value::object() const {
  if (kind_ != Kind::object) return nullptr;
  return std::static_pointer_cast<Object>(std::const_pointer_cast<void>(held_));
}

const Value& Value::operator[](std::string_view key) const {
  static const Value none;
  for (const auto& [name, value] : map())
    if (name == key) return value;
  return none;
}
bool Value::contains(std::string_view key) const {
  for (const auto& [name, value] : map())
    if (name == key) return true;
  return false;
}
void Value::set(std::string_view key, Value value) {
  Map entries = is_none() ? Map() : map();
  for (auto& [name, old] : entries)
    if (name == key) {
      old = std::move(value);
      *this = Value(std::move(entries));
      return;
    }
  entries.emplace_back(key, std::move(value));
  *this = Value(std::move(entries));
}
bool Value::erase(std::string_view key) {
  Map entries = map();
  const size_t erased = std::erase_if(entries, [&](const auto& entry) { return entry.first == key; });
  if (erased) *this = Value(std::move(entries));
  return erased > 0;
}

bool operator==(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return a.number() == b.number();
  if (a.kind_ != b.kind_) return false;
  if (a.is_text()) return a.text() == b.text();
  if (a.is_list()) return a.list() == b.list();
  if (!a.is_map()) return a.integer_ == b.integer_ && a.held_ == b.held_;
  if (a.map().size() != b.map().size()) return false;
  for (const auto& [key, value] : a.map())
    if (!b.contains(key) || !(b[key] == value)) return false;
  return true;
}

std::string Value::json() const {
  std::string out;
  write(out, *this);
  return out;
}
Value Value::parse(std::string_view json) { return Reader(json).read_all(); }

std::ostream& operator<<(std::ostream& out, const Value& value) { return out << value.json(); }

}  // namespace thalweg::keras
