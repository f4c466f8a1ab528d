// Tensors and shapes as TensorFlow's messages: what constants of graphs, and tensors in files, are.
#pragma once
#include <string>
#include <string_view>

#include "thalweg/core/tensor.h"
#include "thalweg/io/graph_messages.h"
#include "thalweg/ops/attrs.h"

namespace thalweg::io {

THALWEG_API proto::TensorShapeProto to_shape_proto(const Shape& shape);
/// InvalidArgumentError for dimensions below -1, more of them than a shape can have, or some beside an unknown rank.
THALWEG_API Shape from_shape_proto(const proto::TensorShapeProto& message);

struct TensorProtoOptions {
  Flag content = {};  // bytes whatever the dtype (strings aside) and number of elements, as `serialize_tensor`
};
/// What `tf.make_tensor_proto` makes: one element in the list of its type, several as bytes. Handles are refused.
THALWEG_API proto::TensorProto to_tensor_proto(const Tensor& tensor, const TensorProtoOptions& options = {});

/// The tensor of a message, which may say it in any of TensorFlow's ways. InvalidArgumentError, before anything is
/// allocated, where shape and values do not fit; the last value may stand for those that follow it, up to 64 MB.
THALWEG_API Tensor from_tensor_proto(const proto::TensorProto& message);

/// The dtype with this number in messages; InvalidArgumentError, which begins with `what`, where Thalweg has none.
THALWEG_API DType dtype_of_number(int64_t number, const std::string& what);

}  // namespace thalweg::io
