// Any bytes must be a tensor, a node or a graph, or a typed error; what was read must come back from what it writes.
#include <cstdlib>
#include <string>

#include "thalweg/core/error.h"
#include "thalweg/io/node_def.h"
#include "thalweg/io/tensor_proto.h"

namespace {
using namespace thalweg;

template <class M> void expect_same_again(const M& message) {
  const std::string bytes = proto::serialize(message);
  if (proto::serialize(proto::parse<M>(bytes)) != bytes) std::abort();
}

void read_tensor(std::string_view bytes) {
  const auto message = proto::parse<proto::TensorProto>(bytes);
  expect_same_again(message);
  const Tensor tensor = io::from_tensor_proto(message);
  for (auto form : {io::TensorProtoForm::brief, io::TensorProtoForm::content, io::TensorProtoForm::list}) {
    const Tensor again = io::from_tensor_proto(io::to_tensor_proto(tensor, form));
    if (again.shape() != tensor.shape() || again.dtype() != tensor.dtype()) std::abort();
  }
}

void read_node(const proto::NodeDef& node, DType dtype) {
  const std::vector<DType> inputs(node.input.size(), dtype);
  const io::NodeCall call = io::read_call(node, inputs, {});
  if (call.arg_counts.size() != call.op->args.size() || call.result_counts.size() != call.op->results.size())
    std::abort();
}

void read_graph(std::string_view bytes) {
  const auto graph = proto::parse<proto::GraphDef>(bytes);
  expect_same_again(graph);
  for (const proto::NodeDef& node : graph.node) {
    for (DType dtype : {DType::float32, DType::int32, DType::string}) {
      try {
        read_node(node, dtype);
      } catch (const Error&) {}
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (auto* read : {read_tensor, read_graph}) {
    try {
      read(bytes);
    } catch (const Error&) {}
  }
  return 0;
}
