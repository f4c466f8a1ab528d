#include "thalweg/io/attr_proto.h"

#include "thalweg/core/error.h"
#include "thalweg/io/tensor_proto.h"

namespace thalweg::io {
namespace {

using proto::ListValue;
using proto::TypeNumber;

[[noreturn]] void refuse_attr(const std::string& what, const std::string& why) {
  throw InvalidArgumentError(what + why);
}

const char* name_of_kind(AttrKind kind) {
  constexpr const char* names[] = {
      "a bool",   "an int",           "a float",          "a string",           "a type",
      "a shape",  "a list of ints",   "a list of floats", "a list of strings",  "a list of types",
      "a tensor", "a list of shapes", "a function",       "a list of functions"};
  return names[static_cast<size_t>(kind)];
}

const char* name_of_value(const proto::AttrValue& message) {
  constexpr const char* names[] = {"nothing", "a list",  "a string", "an int",        "a float",   "a bool",
                                   "a type",  "a shape", "a tensor", "a placeholder", "a function"};
  return names[message.value.index()];
}

TypeNumber type_number(DType dtype) { return static_cast<TypeNumber>(dtype); }

/// A value in the message; lists fill the member of their kind.
struct ToProto {
  const FunctionNamer& namer;
  const std::string& what;
  proto::AttrValue& out;

  ListValue& list() const { return *out.value.emplace<Boxed<ListValue>>(); }
  proto::NameAttrList named(const FunctionAttr& function) const {
    if (!function) refuse_attr(what, " has no function");
    if (!namer) refuse_attr(what, " is a function, and nobody names it");
    return {namer(function), {}};
  }
  void operator()(std::monostate) const { refuse_attr(what, " has no value"); }
  void operator()(bool v) const { out.value = v; }
  void operator()(int64_t v) const { out.value = v; }
  void operator()(double v) const { out.value = static_cast<float>(v); }
  void operator()(const std::string& v) const { out.value = v; }
  void operator()(DType v) const { out.value = type_number(v); }
  void operator()(const Shape& v) const { out.value = to_shape_proto(v); }
  void operator()(const Tensor& v) const { out.value = Boxed(to_tensor_proto(v)); }
  void operator()(const FunctionAttr& v) const { out.value = Boxed(named(v)); }
  void operator()(const std::vector<int64_t>& v) const { list().i = v; }
  void operator()(const std::vector<double>& v) const { list().f.assign(v.begin(), v.end()); }
  void operator()(const std::vector<std::string>& v) const { list().s = v; }
  void operator()(const std::vector<DType>& v) const {
    std::vector<int32_t>& types = list().type;
    for (DType t : v) types.push_back(static_cast<int32_t>(t));
  }
  void operator()(const std::vector<Shape>& v) const {
    std::vector<proto::TensorShapeProto>& shapes = list().shape;
    for (const Shape& s : v) shapes.push_back(to_shape_proto(s));
  }
  void operator()(const std::vector<FunctionAttr>& v) const {
    std::vector<proto::NameAttrList>& functions = list().func;
    for (const FunctionAttr& f : v) functions.push_back(named(f));
  }
};

FunctionAttr find_function(const proto::NameAttrList& message, const FunctionResolver& resolver,
                           const std::string& what) {
  for (const auto& [name, value] : message.attr)
    if (!name.starts_with('_'))
      refuse_attr(what, " names an instance of the function '" + message.name + "' by its attribute '" + name +
                            "': functions here have fixed types");
  FunctionAttr function = resolver ? resolver(message.name) : nullptr;
  if (!function) refuse_attr(what, " names the function '" + message.name + "', which is not in the library");
  return function;
}

size_t count_items(const ListValue& list) {
  return list.s.size() + list.i.size() + list.f.size() + list.b.size() + list.type.size() + list.shape.size() +
         list.tensor.size() + list.func.size();
}

}  // namespace

proto::AttrValue to_attr_proto(const AttrValue& value, AttrKind kind, const FunctionNamer& namer,
                               const std::string& what) {
  proto::AttrValue message;
  if (kind == AttrKind::shape && std::holds_alternative<std::monostate>(value))
    message.value = to_shape_proto(Shape::unknown_rank());
  else std::visit(ToProto{namer, what, message}, value);
  return message;
}

AttrValue from_attr_proto(const proto::AttrValue& message, AttrKind kind, const FunctionResolver& resolver,
                          const std::string& what) {
  auto wrong_kind = [&](const char* got) {
    refuse_attr(what, " is " + std::string(got) + ", expected " + name_of_kind(kind));
  };
  auto one = [&]<class T>(std::type_identity<T>) -> const T& {
    const T* value = std::get_if<T>(&message.value);
    if (!value) wrong_kind(name_of_value(message));
    return *value;
  };
  auto items = [&](auto ListValue::* member) -> const auto& {
    const ListValue& list = *one(std::type_identity<Boxed<ListValue>>{});
    if (count_items(list) != (list.*member).size()) wrong_kind("a list of another kind");
    return list.*member;
  };
  switch (kind) {
    case AttrKind::boolean:
      return one(std::type_identity<bool>{});
    case AttrKind::integer:
      return one(std::type_identity<int64_t>{});
    case AttrKind::real:
      return static_cast<double>(one(std::type_identity<float>{}));
    case AttrKind::text:
      return one(std::type_identity<std::string>{});
    case AttrKind::dtype:
      return dtype_of_number(static_cast<int64_t>(one(std::type_identity<TypeNumber>{})), what);
    case AttrKind::shape:
      return from_shape_proto(one(std::type_identity<proto::TensorShapeProto>{}));
    case AttrKind::integers:
      return items(&ListValue::i);
    case AttrKind::reals: {
      const std::vector<float>& list = items(&ListValue::f);
      return std::vector<double>(list.begin(), list.end());
    }
    case AttrKind::texts:
      return items(&ListValue::s);
    case AttrKind::dtypes: {
      std::vector<DType> types;
      for (int32_t number : items(&ListValue::type)) types.push_back(dtype_of_number(number, what));
      return types;
    }
    case AttrKind::tensor:
      return from_tensor_proto(*one(std::type_identity<Boxed<proto::TensorProto>>{}));
    case AttrKind::shapes: {
      std::vector<Shape> shapes;
      for (const proto::TensorShapeProto& shape : items(&ListValue::shape)) shapes.push_back(from_shape_proto(shape));
      return shapes;
    }
    case AttrKind::function:
      return find_function(*one(std::type_identity<Boxed<proto::NameAttrList>>{}), resolver, what);
    case AttrKind::functions: {
      std::vector<FunctionAttr> functions;
      for (const proto::NameAttrList& each : items(&ListValue::func))
        functions.push_back(find_function(each, resolver, what));
      return functions;
    }
  }
  return {};
}

}  // namespace thalweg::io
