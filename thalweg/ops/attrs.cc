#include "thalweg/ops/attrs.h"

#include <limits>

namespace thalweg {
namespace {

// Kinds from C++ types; optional members also take None.
template <class T> struct Kind;
template <AttrKind K, class S> struct Stored {
  static constexpr AttrKind kind = K;
  using Storage = S;
};
template <> struct Kind<bool> : Stored<AttrKind::boolean, bool> {};
template <> struct Kind<Flag> : Stored<AttrKind::boolean, bool> {};
template <> struct Kind<int64_t> : Stored<AttrKind::integer, int64_t> {};
template <> struct Kind<int> : Stored<AttrKind::integer, int64_t> {};
template <> struct Kind<float> : Stored<AttrKind::real, double> {};
template <> struct Kind<double> : Stored<AttrKind::real, double> {};
template <> struct Kind<std::string> : Stored<AttrKind::text, std::string> {};
template <> struct Kind<DType> : Stored<AttrKind::dtype, DType> {};
template <> struct Kind<Shape> : Stored<AttrKind::shape, Shape> {};
template <> struct Kind<Axis> : Stored<AttrKind::integers, std::vector<int64_t>> {};
template <> struct Kind<std::vector<int64_t>> : Stored<AttrKind::integers, std::vector<int64_t>> {};
template <> struct Kind<std::vector<double>> : Stored<AttrKind::reals, std::vector<double>> {};
template <> struct Kind<std::vector<float>> : Stored<AttrKind::reals, std::vector<double>> {};
template <> struct Kind<std::vector<std::string>> : Stored<AttrKind::texts, std::vector<std::string>> {};
template <> struct Kind<std::vector<DType>> : Stored<AttrKind::dtypes, std::vector<DType>> {};
template <> struct Kind<Tensor> : Stored<AttrKind::tensor, Tensor> {};
template <> struct Kind<std::vector<Shape>> : Stored<AttrKind::shapes, std::vector<Shape>> {};
template <> struct Kind<FunctionAttr> : Stored<AttrKind::function, FunctionAttr> {};
template <> struct Kind<std::vector<FunctionAttr>> : Stored<AttrKind::functions, std::vector<FunctionAttr>> {};
template <class T> struct Kind<std::optional<T>> : Kind<T> {};

template <class T> inline constexpr bool is_optional = false;
template <class T> inline constexpr bool is_optional<std::optional<T>> = true;
template <> inline constexpr bool is_optional<Axis> = true;
template <> inline constexpr bool is_optional<DType> = true;
template <> inline constexpr bool is_optional<Tensor> = true;

template <class T> AttrValue get_value(const T& m) {
  if constexpr (std::is_same_v<T, std::vector<float>>) return std::vector<double>(m.begin(), m.end());
  else return static_cast<typename Kind<T>::Storage>(m);
}
AttrValue get_value(const Axis& m) { return m.given() ? AttrValue(m.axes()) : AttrValue(); }
AttrValue get_value(const DType& m) { return m == DType::invalid ? AttrValue() : AttrValue(m); }
AttrValue get_value(const Tensor& m) { return m.defined() ? AttrValue(m) : AttrValue(); }
template <class T> AttrValue get_value(const std::optional<T>& m) { return m ? get_value(*m) : AttrValue(); }

template <class T> bool set_value(T& m, const AttrValue& v) {
  using S = typename Kind<T>::Storage;
  if constexpr (std::is_same_v<S, double>) {
    if (auto* i = std::get_if<int64_t>(&v)) return m = static_cast<T>(*i), true;
  }
  if constexpr (std::is_same_v<S, std::vector<double>>) {
    if (auto* i = std::get_if<std::vector<int64_t>>(&v)) return m.assign(i->begin(), i->end()), true;
  }
  if constexpr (std::is_same_v<S, Shape>) {
    if (std::holds_alternative<std::monostate>(v)) return m = Shape::unknown_rank(), true;
    if (auto* i = std::get_if<std::vector<int64_t>>(&v)) return m = Shape(*i), true;
  }
  if constexpr (!std::is_same_v<S, std::string>) {  // an empty list has no kind of its own
    if constexpr (requires { m.clear(); }) {
      if (auto* i = std::get_if<std::vector<int64_t>>(&v); i && i->empty()) return m.clear(), true;
    }
  }
  auto* stored = std::get_if<S>(&v);
  if (!stored) return false;
  if constexpr (std::is_same_v<T, int>) {
    if (*stored < std::numeric_limits<int>::min() || *stored > std::numeric_limits<int>::max()) return false;
  }
  if constexpr (std::is_same_v<T, std::vector<float>>) m.assign(stored->begin(), stored->end());
  else m = static_cast<T>(*stored);
  return true;
}
template <> bool set_value(Axis& m, const AttrValue& v) {
  if (std::holds_alternative<std::monostate>(v)) return m = Axis(), true;
  if (auto* i = std::get_if<int64_t>(&v)) return m = Axis(*i), true;
  if (auto* i = std::get_if<std::vector<int64_t>>(&v)) return m = Axis(*i), true;
  return false;
}
template <> bool set_value(DType& m, const AttrValue& v) {
  if (std::holds_alternative<std::monostate>(v)) return m = DType::invalid, true;
  if (auto* text = std::get_if<std::string>(&v)) return (m = dtype_named(*text)) != DType::invalid;
  if (auto* t = std::get_if<DType>(&v)) return m = *t, true;
  return false;
}
template <> bool set_value(Tensor& m, const AttrValue& v) {
  if (std::holds_alternative<std::monostate>(v)) return m = Tensor(), true;
  if (auto* t = std::get_if<Tensor>(&v)) return m = *t, true;
  if (auto* i = std::get_if<int64_t>(&v)) return m = Tensor(static_cast<int32_t>(*i)), true;
  if (auto* d = std::get_if<double>(&v)) return m = Tensor(*d), true;
  return false;
}
template <class T> bool set_value(std::optional<T>& m, const AttrValue& v) {
  if (std::holds_alternative<std::monostate>(v)) return m.reset(), true;
  T value{};
  if (!set_value(value, v)) return false;
  m = std::move(value);
  return true;
}

struct ToText {
  std::string operator()(std::monostate) const { return "None"; }
  std::string operator()(bool v) const { return v ? "true" : "false"; }
  std::string operator()(int64_t v) const { return std::to_string(v); }
  std::string operator()(double v) const { return std::to_string(v); }
  std::string operator()(const std::string& v) const { return '"' + v + '"'; }
  std::string operator()(DType v) const { return std::string(name_of(v)); }
  std::string operator()(const Shape& v) const { return v.brackets(); }
  std::string operator()(const Tensor& v) const { return v.str(); }
  std::string operator()(const FunctionAttr& v) const { return v ? "a function" : "None"; }
  template <class T> std::string operator()(const std::vector<T>& v) const {
    std::string text = "[";
    for (const T& item : v) text += (text.size() > 1 ? ", " : "") + (*this)(item);
    return text + "]";
  }
};

}  // namespace

template <class T> const MemberType& member_type() {
  static const MemberType type{Kind<T>::kind, is_optional<T>,
                               [](const void* p) { return get_value(*static_cast<const T*>(p)); },
                               [](void* p, const AttrValue& v) { return set_value(*static_cast<T*>(p), v); }};
  return type;
}
template const MemberType& member_type<bool>();
template const MemberType& member_type<Flag>();
template const MemberType& member_type<int>();
template const MemberType& member_type<int64_t>();
template const MemberType& member_type<float>();
template const MemberType& member_type<double>();
template const MemberType& member_type<std::string>();
template const MemberType& member_type<DType>();
template const MemberType& member_type<Shape>();
template const MemberType& member_type<Axis>();
template const MemberType& member_type<Tensor>();
template const MemberType& member_type<std::vector<int64_t>>();
template const MemberType& member_type<std::vector<float>>();
template const MemberType& member_type<std::vector<double>>();
template const MemberType& member_type<std::vector<std::string>>();
template const MemberType& member_type<std::vector<DType>>();
template const MemberType& member_type<std::vector<Shape>>();
template const MemberType& member_type<FunctionAttr>();
template const MemberType& member_type<std::vector<FunctionAttr>>();
template const MemberType& member_type<std::optional<bool>>();
template const MemberType& member_type<std::optional<int64_t>>();
template const MemberType& member_type<std::optional<double>>();
template const MemberType& member_type<std::optional<std::string>>();
template const MemberType& member_type<std::optional<Shape>>();
template const MemberType& member_type<std::optional<std::vector<int64_t>>>();

int AttrType::find(std::string_view name) const {
  for (size_t i = 0; i < rows.size(); ++i)
    if (rows[i].name == name) return static_cast<int>(i);
  return -1;
}

std::string to_string(const AttrValue& value) { return std::visit(ToText{}, value); }

}  // namespace thalweg
