#include "thalweg/keras/config.h"

#include "thalweg/core/convert.h"
#include "thalweg/core/error.h"
#include "thalweg/keras/object.h"

namespace thalweg::keras {

Value to_value(DType dtype) { return dtype == DType::invalid ? Value() : Value(name_of(dtype)); }
void from_value(DType& dtype, const Value& value) {
  if (value.is_none()) {
    dtype = DType::invalid;
    return;
  }
  // Keras also writes a policy: {"class_name": "Policy", "config": {"name": "float32"}}.
  const std::string& text = value.is_map() ? value["config"]["name"].text() : value.text();
  dtype = dtype_named(text);
  if (dtype == DType::invalid) throw ValueError("there is no dtype '" + text + "'");
}

Value to_value(const Shape& shape) {
  if (!shape.has_rank()) return {};
  Value::List dims;
  for (int64_t dim : shape) {
    if (dim < 0) dims.emplace_back();
    else dims.emplace_back(dim);
  }
  return dims;
}
void from_value(Shape& shape, const Value& value) {
  if (value.is_none()) {
    shape = Shape::unknown_rank();
    return;
  }
  Shape made;
  if (value.is_number()) made.push_back(value.integer());
  else
    for (const Value& dim : value.list()) made.push_back(dim.is_none() ? unknown : dim.integer());
  shape = made;
}

Value to_value(const Axis& axis) {
  if (!axis.given()) return {};
  if (axis.is_single()) return axis.axes()[0];
  return to_value(axis.axes());
}
void from_value(Axis& axis, const Value& value) {
  if (value.is_none()) {
    axis = Axis();
  } else if (value.is_list()) {
    std::vector<int64_t> axes;
    from_value(axes, value);
    axis = Axis(std::move(axes));
  } else {
    axis = Axis(value.integer());
  }
}

namespace {

// Elements in row-major order as lists of lists.
template <class F> Value nested(const Shape& shape, int axis, const F& element, int64_t& next) {
  if (axis == shape.rank()) return element(next++);
  Value::List items;
  for (int64_t i = 0; i < shape[axis]; ++i) items.push_back(nested(shape, axis + 1, element, next));
  return items;
}

void flatten(const Value& value, int depth, const Shape& shape, std::vector<double>& numbers, bool& real) {
  if (value.is_list() != (depth < shape.rank())) throw ValueError("lists of different depths are no tensor");
  if (!value.is_list()) {
    real |= value.is_real();
    numbers.push_back(value.is_bool() ? value.boolean() : value.number());
    return;
  }
  if (static_cast<int64_t>(value.list().size()) != shape[depth])
    throw ValueError("lists of different lengths are no tensor");
  for (const Value& item : value.list()) flatten(item, depth + 1, shape, numbers, real);
}

// Without an op: to look at a configuration starts no device, and no tape or trace sees it.
Tensor converted(const Tensor& tensor, DType dtype) {
  Tensor made = Tensor::empty(dtype, tensor.shape());
  convert_elements(tensor.dtype(), tensor.impl()->data, dtype, made.impl()->data, tensor.size());
  return made;
}

}  // namespace

Value to_value(const Tensor& tensor) {
  if (!tensor.defined()) return {};
  int64_t next = 0;
  if (tensor.dtype() == DType::string)
    return nested(tensor.shape(), 0, [&](int64_t i) { return Value(tensor.data<std::string>()[i]); }, next);
  if (is_integer(tensor.dtype())) {
    const Tensor whole = converted(tensor, DType::int64);
    return nested(tensor.shape(), 0, [&](int64_t i) { return Value(whole.data<int64_t>()[i]); }, next);
  }
  const bool is_truth = tensor.dtype() == DType::bool_;
  const Tensor reals = converted(tensor, DType::float64);
  auto element = [&](int64_t i) {
    const double number = reals.data<double>()[i];
    return is_truth ? Value(number != 0) : Value(number);
  };
  return nested(tensor.shape(), 0, element, next);
}
void from_value(Tensor& tensor, const Value& value) {
  if (value.is_none()) {
    tensor = Tensor();
    return;
  }
  Shape shape;
  for (const Value* first = &value; first->is_list(); first = &first->list().front()) {
    shape.push_back(static_cast<int64_t>(first->list().size()));
    if (first->list().empty()) break;
  }
  std::vector<double> numbers;
  bool real = false;
  flatten(value, 0, shape, numbers, real);
  tensor = converted(Tensor(numbers, shape), real ? DType::float32 : DType::int32);
}

const Member* Rows::find(std::string_view name) const {
  for (const Member& member : members)
    if (member.name == name) return &member;
  return nullptr;
}

void* Rows::find(std::string_view name, const MemberKind& kind, void* object) const {
  const Member* found = find(name);
  return found && *found->kind == kind ? static_cast<char*>(object) + found->offset : nullptr;
}

bool Rows::is_same(const Rows& other) const {
  // A program and the library have tables of their own; but names of files' own structs may stand for several.
  return this == &other || (struct_name == other.struct_name && struct_name.find("anonymous") == struct_name.npos);
}

Value Rows::get(const void* object) const {
  Value::Map config;
  for (const Member& member : members)
    config.emplace_back(member.name, member.kind->get(static_cast<const char*>(object) + member.offset));
  return config;
}

void Rows::set(void* object, const Value& config) const {
  for (const auto& [name, value] : config.map()) {
    const Member* member = find(name);
    if (!member) {
      std::string known;
      for (const Member& other : members) known.append(known.empty() ? "" : ", ").append(other.name);
      throw ValueError(
          detail::class_name_of(struct_name).append(" has no option '").append(name).append("'; it has: ") + known);
    }
    if (member->kind == &member_kind<Axis> && value.is_text())
      throw TypeError("Expected an int or a list/tuple of ints for the argument '" + name + "', but received: '" +
                      value.text() + "'");
    if (member->kind == &member_kind<int64_t> && value.is_real())
      throw TypeError("Expected an integer value for `" + name + "`, got <class 'float'>.");
    try {
      member->kind->set(static_cast<char*>(object) + member->offset, value);
    } catch (Error& error) {
      error.add_context(" (option '" + name + "' of " + detail::class_name_of(struct_name) + ")");
      throw;
    }
  }
}

}  // namespace thalweg::keras
