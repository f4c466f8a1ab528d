#include "thalweg/ops/parameter.h"

#include "thalweg/core/error.h"

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

namespace {

// Generic callers may have made a tensor of a bare number already: a scalar of a dtype that bare numbers take is bare
// again, so that `maxval=1` goes with every dtype.
Tensor bare_again(const Tensor& tensor) {
  if (!tensor.defined() || tensor.is_symbolic() || tensor.rank() != 0 ||
      (tensor.dtype() != int32 && tensor.dtype() != float32))
    return tensor;
  Tensor bare = tensor.dtype() == int32 ? Tensor(tensor.item<int32_t>()) : Tensor(tensor.item<float>());
  bare.impl()->weak = Weak::bare;
  return bare;
}

}  // namespace

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
                                   return parameter = Parameter(bare_again(*tensor)), true;
                                 if (auto* integer = std::get_if<int64_t>(&value))
                                   return parameter = Parameter(*integer), true;
                                 if (auto* real = std::get_if<double>(&value))
                                   return parameter = Parameter(*real), true;
                                 return false;
                               }};
  return type;
}

}  // namespace thalweg
