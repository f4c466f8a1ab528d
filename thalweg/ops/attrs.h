// Attributes of ops and options of functions: plain structs whose members generic code can list by name.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "thalweg/core/reflect.h"
#include "thalweg/ops/options.h"

namespace thalweg {

class FunctionBody;
/// A traced function as an attribute: a branch of a conditional, the body of a loop.
using FunctionAttr = std::shared_ptr<const FunctionBody>;

/// A value of an attribute as generic code passes it around; nothing at all is Python's None.
using AttrValue = std::variant<std::monostate, bool, int64_t, double, std::string, DType, Shape, std::vector<int64_t>,
                               std::vector<double>, std::vector<std::string>, std::vector<DType>, Tensor,
                               std::vector<Shape>, FunctionAttr, std::vector<FunctionAttr>>;
std::string to_string(const AttrValue& value);

/// What kinds of member a struct may have.
enum class AttrKind : uint8_t {
  boolean,
  integer,
  real,
  text,
  dtype,
  shape,
  integers,
  reals,
  texts,
  dtypes,
  tensor,
  shapes,
  function,
  functions,
};

/// How generic code reads and writes one member; one constant per C++ type, not per member.
struct MemberType {
  AttrKind kind;
  bool optional;  // None is a value
  AttrValue (*get)(const void* member);
  /// False when the value is of another kind or out of range.
  bool (*set)(void* member, const AttrValue& value);
};

struct AttrRow {
  std::string_view name;
  uint32_t offset;
  const MemberType* type;
};

/// What generic code knows of an attribute or options struct.
struct AttrType {
  std::span<const AttrRow> rows;
  void* (*clone)(const void*);
  void (*destroy)(void*);
  const void* defaults;

  /// The position of a name, or -1.
  int find(std::string_view name) const;
  AttrValue get(const void* object, int row) const {
    const AttrRow& r = rows[static_cast<size_t>(row)];
    return r.type->get(static_cast<const char*>(object) + r.offset);
  }
  bool set(void* object, int row, const AttrValue& value) const {
    const AttrRow& r = rows[static_cast<size_t>(row)];
    return r.type->set(static_cast<char*>(object) + r.offset, value);
  }
};

namespace detail {
template <class O> inline const O default_attrs{};

template <class O> const AttrType& make_attr_type() {
  static const auto rows = []<size_t... I>(std::index_sequence<I...>) {
    auto pointers = reflect::members(default_attrs<O>);
    auto base = reinterpret_cast<const char*>(&default_attrs<O>);
    return std::array<AttrRow, sizeof...(I)>{
        AttrRow{reflect::member_name<O, I>(),
                static_cast<uint32_t>(reinterpret_cast<const char*>(std::get<I>(pointers)) - base),
                &member_type<std::remove_cvref_t<decltype(*std::get<I>(pointers))>>()}...};
  }(std::make_index_sequence<reflect::count_members<O>()>{});
  static const AttrType type{rows, [](const void* p) -> void* { return new O(*static_cast<const O*>(p)); },
                             [](void* p) { delete static_cast<O*>(p); }, &default_attrs<O>};
  return type;
}
}  // namespace detail

/// The rows of a struct: `.attrs = attrs_of<MatMulAttrs>()`.
template <class O> const AttrType* attrs_of() { return &detail::make_attr_type<O>(); }

/// The attributes of one call: a pointer to the caller's struct, free in eager mode.
struct AttrsRef {
  const void* p = nullptr;
  template <class O> const O& as() const { return *static_cast<const O*>(p); }
  AttrsRef() = default;
  template <class O>
    requires std::is_aggregate_v<O>
  AttrsRef(const O& attrs) : p(&attrs) {}  // NOLINT
  explicit AttrsRef(const void* q) : p(q) {}
};

/// Attributes that are kept: by a tape, by a node, by a call from Python.
class Attrs {
 public:
  Attrs() = default;
  explicit Attrs(const AttrType& type) : Attrs(type, AttrsRef(type.defaults)) {}
  Attrs(const AttrType& type, AttrsRef from) : type_(&type), p_(type.clone(from.p)) {}
  Attrs(Attrs&& other) noexcept : type_(other.type_), p_(std::exchange(other.p_, nullptr)) {}
  Attrs& operator=(Attrs&& other) noexcept {
    std::swap(type_, other.type_);
    std::swap(p_, other.p_);
    return *this;
  }
  ~Attrs() {
    if (p_) type_->destroy(p_);
  }
  void* get() const { return p_; }
  operator AttrsRef() const { return AttrsRef(static_cast<const void*>(p_)); }  // NOLINT

 private:
  const AttrType* type_ = nullptr;
  void* p_ = nullptr;
};

}  // namespace thalweg
