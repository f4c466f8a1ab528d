// Tensors and shapes as TensorFlow's messages: what constants of graphs, and tensors in files, are.
#pragma once
#include <string>
#include <string_view>

#include "thalweg/core/tensor.h"
#include "thalweg/io/graph_messages.h"

namespace thalweg::io {

THALWEG_API proto::TensorShapeProto to_shape_proto(const Shape& shape);
/// InvalidArgumentError for dimensions below -1, more of them than a shape can have, or some beside an unknown rank.
THALWEG_API Shape from_shape_proto(const proto::TensorShapeProto& message);

/// Where a TensorProto keeps its elements.
enum class TensorProtoForm : uint8_t {
  brief,    // as `tf.make_tensor_proto`: one element in the list of its type, several as bytes
  content,  // as `tf.io.serialize_tensor`: bytes, whatever the number of elements
  list,     // in the list of their type
};
/// The message of a tensor; strings are always in their list, handles are refused.
THALWEG_API proto::TensorProto to_tensor_proto(const Tensor& tensor, TensorProtoForm form = TensorProtoForm::brief);

/// The tensor of a message, which may say it in any of TensorFlow's ways. InvalidArgumentError, before anything is
/// allocated, where shape and values do not fit; the last value may stand for those that follow it, up to 64 MB.
THALWEG_API Tensor from_tensor_proto(const proto::TensorProto& message);

/// The dtype with this number in messages; InvalidArgumentError, which begins with `what`, where Thalweg has none.
THALWEG_API DType dtype_of_number(int64_t number, const std::string& what);

}  // namespace thalweg::io
