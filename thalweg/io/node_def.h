// One call of an op as a NodeDef's attributes, and back, generically over records.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "thalweg/io/graph_messages.h"
#include "thalweg/ops/op.h"

namespace thalweg::io {

/// The name under which a function stands in the library of the graph.
using FunctionNamer = std::function<std::string(const FunctionAttr& function)>;
/// The function with this name; throws, or gives none, where there is none.
using FunctionResolver = std::function<FunctionAttr(const std::string& name)>;

/// Sets the op and every attribute TensorFlow's op has: the record's, and those that the dtypes and numbers of inputs
/// and outputs decide (T, N, lists of types).
THALWEG_API void write_call(const Op& op, AttrsRef attrs, std::span<const DType> inputs, std::span<const DType> outputs,
                            const FunctionNamer& namer, proto::NodeDef& node);

/// What a NodeDef says of its call.
struct NodeCall {
  const Op* op = nullptr;
  Attrs attrs;  // empty where the op has none
  /// How many tensors each argument and each result of the signature is: one, unless it is a list.
  std::vector<int> arg_counts, result_counts;
};
/// Reads op and attributes, and checks them against the record and the dtypes of the data inputs. Attributes that the
/// inputs decide may be left out; those that begin with `_` are passed over. InvalidArgumentError names node, op and
/// attribute.
THALWEG_API NodeCall read_call(const proto::NodeDef& node, std::span<const DType> inputs,
                               const FunctionResolver& resolver);

}  // namespace thalweg::io
