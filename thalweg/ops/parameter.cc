#include "thalweg/ops/parameter.h"

#include "thalweg/core/error.h"
#include "thalweg/ops/attrs.h"

namespace thalweg {

Tensor Parameter::as(DType dtype, const char* what) const {
  if (!given()) throw ValueError(std::string(what) + " is None");
  if (tensor_.impl()->weak != Weak::strong) return strengthen(tensor_, dtype);
  if (tensor_.dtype() != dtype)
    throw ValueError(std::string(what) + " is a tensor of dtype " + std::string(name_of(tensor_.dtype())) +
                     ", expected " + std::string(name_of(dtype)) + ". Convert it with tf.cast.");
  return tensor_;
}

bool Parameter::is_number(double number) const {
  if (!given() || tensor_.impl()->weak != Weak::bare || tensor_.rank() != 0 || is_object(tensor_.dtype())) return false;
  return strengthen(tensor_, is_complex(tensor_.dtype()) ? complex128 : float64).item<double>() == number;
}

template <> const MemberType& member_type<Parameter>() {
  static const MemberType type{AttrKind::tensor, true,
                               [](const void* p) {
                                 const Parameter& parameter = *static_cast<const Parameter*>(p);
                                 return parameter.given() ? AttrValue(parameter.tensor()) : AttrValue();
                               },
                               [](void* p, const AttrValue& value) {
                                 Parameter& parameter = *static_cast<Parameter*>(p);
                                 if (std::holds_alternative<std::monostate>(value))
                                   return parameter = Parameter(), true;
                                 if (auto* tensor = std::get_if<Tensor>(&value))
                                   return parameter = Parameter(*tensor), true;
                                 if (auto* integer = std::get_if<int64_t>(&value))
                                   return parameter = Parameter(*integer), true;
                                 if (auto* real = std::get_if<double>(&value))
                                   return parameter = Parameter(*real), true;
                                 return false;
                               }};
  return type;
}

}  // namespace thalweg
