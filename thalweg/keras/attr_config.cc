#include "thalweg/keras/attr_config.h"

#include <limits>

#include "thalweg/ops/casting.h"

namespace thalweg::keras {
namespace {

template <class T> AttrValue read(const Value& value) {
  T made{};
  from_value(made, value);
  return made;
}
/// One item stands for a list of one.
template <class T> AttrValue read_list(const Value& value) {
  return read<std::vector<T>>(value.is_list() ? value : Value(Value::List{value}));
}

/// What a literal holds, in row-major order.
struct Items {
  std::vector<double> numbers;
  std::vector<std::string> texts;
  bool has_real = false, has_truth = false;

  void add(const Value& value, int depth, const Shape& shape) {
    if (value.is_list() != (depth < shape.rank())) throw ValueError("lists of different depths are no tensor");
    if (value.is_list()) {
      if (static_cast<int64_t>(value.list().size()) != shape[depth])
        throw ValueError("lists of different lengths are no tensor");
      for (const Value& item : value.list()) add(item, depth + 1, shape);
    } else if (value.is_text()) {
      texts.push_back(value.text());
    } else {
      has_real |= value.is_real();
      has_truth |= value.is_bool();
      numbers.push_back(value.is_bool() ? value.boolean() : value.number());
    }
  }
  bool needs_int64() const {
    for (double number : numbers)
      if (number < std::numeric_limits<int32_t>::min() || number > std::numeric_limits<int32_t>::max()) return true;
    return false;
  }
};

}  // namespace

Value attr_to_value(const AttrValue& attr, std::string_view owner) {
  return std::visit(
      [&]<class T>(const T& held) -> Value {
        if constexpr (std::same_as<T, std::monostate>) return {};
        else if constexpr (Configurable<T>) return to_value(held);
        else
          throw ValueError("a layer of the op " + std::string(owner) +
                           " has functions inside, which a configuration cannot hold");
      },
      attr);
}

AttrValue attr_from_value(const Value& value, const MemberType& type) {
  if (value.is_none()) return std::monostate();
  switch (type.kind) {
    case AttrKind::boolean:
      return value.is_integer() ? value.integer() != 0 : value.boolean();
    case AttrKind::integer:
      return value.integer();
    case AttrKind::real:
      return value.number();
    case AttrKind::text:
      return value.text();
    case AttrKind::dtype:
      return read<DType>(value);
    case AttrKind::shape:
      return read<Shape>(value.is_integer() ? Value(Value::List{value}) : value);
    case AttrKind::integers:
      if (!value.is_list() && &type == &member_type<Axis>()) return value.integer();
      return read_list<int64_t>(value);
    case AttrKind::reals:
      return read_list<double>(value);
    case AttrKind::texts:
      return read_list<std::string>(value);
    case AttrKind::dtypes:
      return read_list<DType>(value);
    case AttrKind::tensor:
      return literal_from_value(value);
    case AttrKind::shapes:
      return read<std::vector<Shape>>(value);
    case AttrKind::function:
    case AttrKind::functions:
      break;
  }
  throw ValueError("a configuration cannot hold functions");
}

Tensor literal_from_value(const Value& value) {
  Shape shape;
  for (const Value* first = &value; first->is_list(); first = &first->list().front()) {
    shape.push_back(static_cast<int64_t>(first->list().size()));
    if (first->list().empty()) break;
  }
  Items items;
  items.add(value, 0, shape);
  if (!items.texts.empty()) {
    if (!items.numbers.empty()) throw ValueError("texts beside numbers are no tensor: " + value.json());
    return Tensor(items.texts, shape);
  }
  Tensor made(items.numbers, shape);
  if (items.has_truth) made = cast(made, DType::bool_);
  else if (!items.has_real && !items.numbers.empty())
    made = cast(made, items.needs_int64() ? DType::int64 : DType::int32);
  made.impl()->weak = Weak::bare;
  return made;
}

}  // namespace thalweg::keras
