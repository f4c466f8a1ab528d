#include "thalweg/io/serialize_tensor.h"

#include "thalweg/core/error.h"
#include "thalweg/io/tensor_proto.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/function.h"

namespace thalweg::io {
namespace {

constexpr TypeSet value_types = plain_types | types(DType::string);

const Op& SerializeTensor = define_op({
    .name = "SerializeTensor",
    .doc = "The tensor as a scalar string that holds its TensorProto.",
    .signature = "tensor: T -> serialized: string",
    .types = {{"T", value_types}},
    .infer = [](InferCall& c) { c.output(0, Shape{}); },
    .kernel = {[](const KernelCall& c) {
      *c.output<std::string>() = proto::serialize(to_tensor_proto(c.tensor(0), TensorProtoForm::content));
    }},
    .traits = {.not_differentiable = "bytes have no derivative"},
});

struct ParseTensorAttrs {
  DType out_type = DType::invalid;
};
const Op& ParseTensor = define_op({
    .name = "ParseTensor",
    .doc = "The tensor whose TensorProto a scalar string holds.",
    .signature = "serialized: string -> output: out_type",
    .types = {{"out_type", value_types}},
    .attrs = attrs_of<ParseTensorAttrs>(),
    .infer =
        [](InferCall& c) {
          c.require_rank(0, 0);
          c.output(0, Shape::unknown_rank());
        },
    .kernel = {[](const KernelCall& c) {
      Tensor tensor;
      try {
        tensor = from_tensor_proto(proto::parse<proto::TensorProto>(*c.input<std::string>(0)));
      } catch (const InvalidArgumentError& e) {
        c.fail(std::string("cannot parse the tensor: ") + e.what());
      }
      if (tensor.dtype() != c.output_dtype())
        c.fail("Type mismatch between parsed tensor (" + std::string(name_of(tensor.dtype())) + ") and dtype (" +
               std::string(name_of(c.output_dtype())) + ")");
      c.adopt(0, tensor);
    }},
    .traits = {.not_differentiable = "bytes have no derivative"},
});

}  // namespace

Tensor serialize_tensor(const TensorLike& tensor) { return apply1(SerializeTensor, {tensor}); }
Tensor parse_tensor(const TensorLike& serialized, DType out_type) {
  return apply1(ParseTensor, {serialized}, ParseTensorAttrs{out_type});
}

namespace {
const FunctionDef* const serialize_tensor_functions[] = {
    &define_function<serialize_tensor>({"io.serialize_tensor"}, {"tensor"}),
    &define_function<parse_tensor>({"io.parse_tensor"}, {"serialized", "out_type"}),
};
}  // namespace

}  // namespace thalweg::io
