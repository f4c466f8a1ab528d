#include "thalweg/io/tensor_proto.h"

#include <algorithm>
#include <limits>

#include "thalweg/core/complex.h"
#include "thalweg/core/error.h"
#include "thalweg/io/wire.h"

namespace thalweg::io {
namespace {

using proto::TensorProto;

constexpr int64_t most_repeated_bytes = int64_t{64} << 20;

[[noreturn]] void refuse(const std::string& why) { throw InvalidArgumentError("TensorProto: " + why); }

std::string text(auto number) { return std::to_string(number); }

// What make_tensor_proto writes as bytes.
constexpr TypeSet content_types = float_types | signed_types | types(uint8, uint32, uint64);

template <class T> using Tag = std::type_identity<T>;

/// Calls `f(list, Tag<element type>, numbers per element)` with the list that holds elements of this dtype.
template <class M, class F> void with_list(DType dtype, M& message, F&& f) {
  switch (dtype) {
    case DType::float32:
      return f(message.float_val, Tag<float>{}, 1);
    case DType::float64:
      return f(message.double_val, Tag<double>{}, 1);
    case DType::int32:
      return f(message.int_val, Tag<int32_t>{}, 1);
    case DType::uint8:
      return f(message.int_val, Tag<uint8_t>{}, 1);
    case DType::int16:
      return f(message.int_val, Tag<int16_t>{}, 1);
    case DType::int8:
      return f(message.int_val, Tag<int8_t>{}, 1);
    case DType::uint16:
      return f(message.int_val, Tag<uint16_t>{}, 1);
    case DType::int64:
      return f(message.int64_val, Tag<int64_t>{}, 1);
    case DType::uint32:
      return f(message.uint32_val, Tag<uint32_t>{}, 1);
    case DType::uint64:
      return f(message.uint64_val, Tag<uint64_t>{}, 1);
    case DType::bool_:
      return f(message.bool_val, Tag<bool>{}, 1);
    case DType::float16:
    case DType::bfloat16:
      return f(message.half_val, Tag<uint16_t>{}, 1);
    case DType::complex64:
      return f(message.scomplex_val, Tag<float>{}, 2);
    case DType::complex128:
      return f(message.dcomplex_val, Tag<double>{}, 2);
    case DType::string:
      return f(message.string_val, Tag<std::string>{}, 1);
    default:
      throw InvalidArgumentError("a tensor of dtype " + std::string(name_of(dtype)) +
                                 " is a handle on an object: it has no value that a TensorProto could hold");
  }
}

// N lengths, then the bytes of all strings.
Tensor strings_of_content(const std::string& content, const Shape& shape, int64_t count) {
  if (static_cast<uint64_t>(count) > content.size())
    refuse("its " + text(content.size()) + " bytes of content are too few for " + text(count) + " strings");
  wire::Reader in(content, "list of strings");
  Tensor tensor;
  std::vector<uint64_t> lengths;
  lengths.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) lengths.push_back(in.varint());
  tensor = Tensor::empty(DType::string, shape);
  for (int64_t i = 0; i < count; ++i) tensor.mutable_data<std::string>()[i] = in.take(lengths[static_cast<size_t>(i)]);
  if (!in.at_end()) refuse("its content goes on after the last string");
  return tensor;
}

Tensor tensor_of_content(DType dtype, const std::string& content, const Shape& shape, int64_t count) {
  if (is_object(dtype)) return strings_of_content(content, shape, count);
  const size_t width = size_of(dtype);
  if (content.size() % width || content.size() / width != static_cast<uint64_t>(count))
    refuse("its content has " + text(content.size()) + " bytes, but shape " + shape.brackets() + " and dtype " +
           std::string(name_of(dtype)) + " need " + text(count) + " times " + text(width));
  if (dtype == DType::bool_ && !std::all_of(content.begin(), content.end(), [](char c) { return c == 0 || c == 1; }))
    refuse("a bool is neither 0 nor 1");
  Tensor tensor = Tensor::empty(dtype, shape);
  std::memcpy(tensor.mutable_data<char>(), content.data(), content.size());
  return tensor;
}

template <class T, class N> T narrow(N value) {
  if constexpr (std::integral<T> && !std::same_as<T, bool>) {
    if (value < std::numeric_limits<T>::min() || value > std::numeric_limits<T>::max())
      refuse("the value " + text(value) + " does not fit its dtype");
  }
  return static_cast<T>(value);
}
template <> std::string narrow(std::string value) { return value; }

// The last of the values stands for those that are missing; without any, they are zeros.
template <class T, class List>
Tensor tensor_of_list(DType dtype, const List& list, size_t parts, const Shape& shape, int64_t count) {
  const auto given = static_cast<int64_t>(list.size() / parts);
  if (list.size() % parts) refuse("half of a complex number is missing");
  if (given > count)
    refuse("it has " + text(given) + " values for the " + text(count) + " elements of shape " + shape.brackets());
  int64_t width = static_cast<int64_t>(size_of(dtype)), rest = count - given;
  if constexpr (std::same_as<T, std::string>) width += list.empty() ? 0 : static_cast<int64_t>(list.back().size());
  if (rest > most_repeated_bytes / width)
    refuse("shape " + shape.brackets() + " and dtype " + std::string(name_of(dtype)) + " claim " + text(count) +
           " elements, but it holds " + text(given) + "; values are repeated up to 64 MB only");
  Tensor tensor = Tensor::empty(dtype, shape);
  T* out = tensor.mutable_data<T>();
  for (size_t i = 0; i < list.size(); ++i) out[i] = narrow<T>(list[i]);
  for (size_t i = list.size(); i < static_cast<size_t>(count) * parts; ++i) out[i] = i < parts ? T{} : out[i - parts];
  return tensor;
}

}  // namespace

DType dtype_of_number(int64_t number, const std::string& what) {
  const auto dtype = static_cast<DType>(number > 0 && number < num_dtypes ? number : 0);
  if (size_of(dtype) == 0)
    throw InvalidArgumentError(what + " has the type with number " + text(number) +
                               (number > 100 && number < 200 ? ", a reference" : "") + ", which Thalweg does not have");
  return dtype;
}

proto::TensorShapeProto to_shape_proto(const Shape& shape) {
  proto::TensorShapeProto message;
  message.unknown_rank = !shape.has_rank();
  for (int64_t dim : shape) message.dim.push_back({dim, {}});
  return message;
}

Shape from_shape_proto(const proto::TensorShapeProto& message) {
  if (message.unknown_rank) {
    if (!message.dim.empty())
      throw InvalidArgumentError("TensorShapeProto: an unknown rank and " + text(message.dim.size()) + " dimensions");
    return Shape::unknown_rank();
  }
  if (message.dim.size() > Shape::max_rank)
    throw InvalidArgumentError("TensorShapeProto: " + text(message.dim.size()) + " dimensions; a shape has at most " +
                               text(Shape::max_rank));
  Shape shape;
  for (const auto& dim : message.dim) {
    if (dim.size < -1) throw InvalidArgumentError("TensorShapeProto: a dimension of size " + text(dim.size));
    shape.push_back(dim.size);
  }
  return shape;
}

TensorProto to_tensor_proto(const Tensor& tensor, TensorProtoForm form) {
  if (!tensor.defined()) throw ValueError("None values not supported: a TensorProto needs a tensor");
  if (tensor.impl()->form != Form::array)
    throw TypeError("a TensorProto needs a value, which a symbolic tensor has only when its graph runs");
  const DType dtype = tensor.dtype();
  if (!is_object(dtype) && tensor.nbytes() > static_cast<size_t>(std::numeric_limits<int32_t>::max()))
    throw ValueError("Cannot create a tensor proto whose content is larger than 2GB.");
  TensorProto message;
  message.dtype = static_cast<int32_t>(dtype);
  message.tensor_shape = to_shape_proto(tensor.shape());
  const auto count = static_cast<size_t>(tensor.size());
  const bool as_bytes = form == TensorProtoForm::brief ? count > 1 && content_types.has(dtype)
                                                       : form == TensorProtoForm::content && !is_object(dtype);
  if (as_bytes) {
    if (count) message.tensor_content.assign(tensor.mutable_data<const char>(), tensor.nbytes());
    return message;
  }
  with_list(dtype, message, [&]<class List, class T>(List& list, Tag<T>, size_t parts) {
    const T* values = tensor.mutable_data<const T>();
    list.assign(values, values + count * parts);
  });
  return message;
}

Tensor from_tensor_proto(const TensorProto& message) {
  const DType dtype = dtype_of_number(message.dtype, "a TensorProto");
  const Shape shape = from_shape_proto(message.tensor_shape);
  const int64_t count = shape.is_fully_defined() ? shape.num_elements() : -1;
  if (count < 0) refuse("no tensor has the shape " + shape.brackets());
  Tensor tensor;
  with_list(dtype, message, [&]<class List, class T>(const List& list, Tag<T>, size_t parts) {
    tensor = message.tensor_content.empty() ? tensor_of_list<T>(dtype, list, parts, shape, count)
                                            : tensor_of_content(dtype, message.tensor_content, shape, count);
  });
  return tensor;
}

}  // namespace thalweg::io
