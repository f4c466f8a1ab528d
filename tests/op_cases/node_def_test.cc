// Every row's call is a NodeDef and comes back from it. tests/interop/node_defs.py lets TensorFlow judge the same
// nodes: THALWEG_NODES_OUT names a file that gets them, THALWEG_NODES_IN one with those that TensorFlow made of the
// rows.
#include "thalweg/io/node_def.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <numeric>

#include "tests/op_cases/golden.h"
#include "thalweg/core/error.h"
#include "thalweg/io/tensor_proto.h"

namespace thalweg::testing {
namespace {

const char* const row_attr = "_row";

std::string key_of(const Case& c) { return c.family + "|" + c.op + "|" + std::to_string(c.row) + "|" + c.variant; }

std::vector<DType> dtypes_of(const std::vector<Tensor>& tensors) {
  std::vector<DType> dtypes;
  for (const Tensor& t : tensors) dtypes.push_back(t.dtype());
  return dtypes;
}

/// The calls that rows make and that succeed, by key.
const std::map<std::string, const Case*>& good_rows() {
  static const std::map<std::string, const Case*> rows = [] {
    std::map<std::string, const Case*> list;
    for (const Case& c : all_cases())
      if (!c.is_function && c.error.empty() && find_op(c.op)) list.emplace(key_of(c), &c);
    return list;
  }();
  return rows;
}

proto::NodeDef node_of(const Case& c, const Call& call, AttrsRef attrs) {
  proto::NodeDef node;
  node.name = "call";
  for (size_t i = 0; i < call.inputs.size(); ++i) node.input.push_back("input_" + std::to_string(i));
  io::write_call(*call.op, attrs, dtypes_of(call.inputs), dtypes_of(c.outputs), {}, node);
  return node;
}

/// The node must say the row's call and nothing else.
void expect_call(const proto::NodeDef& node, const Case& c, const Call& call) {
  const std::vector<DType> inputs = dtypes_of(call.inputs);
  io::NodeCall read = io::read_call(node, inputs, {});
  EXPECT_EQ(read.op, call.op) << c.describe();
  EXPECT_EQ(std::accumulate(read.arg_counts.begin(), read.arg_counts.end(), size_t{0}), inputs.size());
  EXPECT_EQ(std::accumulate(read.result_counts.begin(), read.result_counts.end(), size_t{0}), c.outputs.size())
      << c.describe();
  EXPECT_EQ(proto::serialize(node_of(c, call, read.attrs)), proto::serialize(node_of(c, call, call.attrs)))
      << c.describe();
}

TEST(NodeDefs, EveryRowComesBack) {
  for (const auto& [key, c] : good_rows()) {
    const Call call = make_call(*c);
    proto::NodeDef node = node_of(*c, call, call.attrs);
    expect_call(proto::parse<proto::NodeDef>(proto::serialize(node)), *c, call);
    // What inputs decide may be left out.
    for (auto attr = node.attr.begin(); attr != node.attr.end();)
      attr = call.op->attrs && call.op->attrs->find(attr->first) >= 0 ? std::next(attr) : node.attr.erase(attr);
    expect_call(node, *c, call);
  }
  std::cout << good_rows().size() << " rows are NodeDefs\n";
}

/// Each of these changes to the node of a row must be refused, or change nothing.
TEST(NodeDefs, WrongAttributesAreRefused) {
  auto refused = [](const proto::NodeDef& node, const std::vector<DType>& inputs, const std::string& attr) {
    try {
      io::read_call(node, inputs, {});
    } catch (const InvalidArgumentError& e) {
      EXPECT_NE(std::string(e.what()).find("'call' (" + node.op), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find("'" + attr + "'"), std::string::npos) << e.what();
      return true;
    }
    return false;
  };
  std::map<const Op*, const Case*> first_rows;
  for (const auto& [key, c] : good_rows()) first_rows.emplace(find_op(c->op), c);
  for (const auto& [op, c] : first_rows) {
    const Call call = make_call(*c);
    const proto::NodeDef node = node_of(*c, call, call.attrs);
    const std::vector<DType> inputs = dtypes_of(call.inputs);
    for (const auto& [name, value] : node.attr) {
      for (const proto::AttrValue& other :
           {proto::AttrValue{}, proto::AttrValue{Boxed(proto::ListValue{.b = {true}})},
            proto::AttrValue{Boxed(std::string("T"))}, proto::AttrValue{static_cast<proto::TypeNumber>(11)},
            proto::AttrValue{static_cast<proto::TypeNumber>(1 << 20)}}) {
        proto::NodeDef changed = node;
        changed.attr[name] = other;
        EXPECT_TRUE(refused(changed, inputs, name)) << c->describe() << ", attribute " << name;
      }
    }
    proto::NodeDef more = node;
    more.attr["more"].value = true;
    EXPECT_TRUE(refused(more, inputs, "more")) << c->describe();
    std::vector<DType> too_many = inputs;
    too_many.insert(too_many.end(), 7, DType::float32);
    if (op->num_lists == 0) {
      EXPECT_THROW(io::read_call(node, too_many, {}), InvalidArgumentError) << c->describe();
    }
  }
}

void write_part(std::ofstream& file, const std::string& bytes) {
  const auto size = static_cast<uint32_t>(bytes.size());
  file.write(reinterpret_cast<const char*>(&size), sizeof size);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

TEST(NodeDefs, AreWrittenForTensorFlow) {
  const char* path = std::getenv("THALWEG_NODES_OUT");
  if (!path) return;
  std::ofstream file(path, std::ios::binary);
  for (const auto& [key, c] : good_rows()) {
    const Call call = make_call(*c);
    proto::GraphDef graph;
    graph.versions = proto::VersionDef{.producer = 26};  // MatrixExponential is gone in later ones
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      proto::NodeDef& input = graph.node.emplace_back();
      input.name = "input_" + std::to_string(i);
      input.op = "Placeholder";
      input.attr["dtype"].value = static_cast<proto::TypeNumber>(call.inputs[i].dtype());
      input.attr["shape"].value = io::to_shape_proto(call.inputs[i].shape());
    }
    graph.node.push_back(node_of(*c, call, call.attrs));
    graph.node.back().attr[row_attr].value = key;
    write_part(file, proto::serialize(graph));
  }
}

TEST(NodeDefs, OfTensorFlowAreRead) {
  const char* path = std::getenv("THALWEG_NODES_IN");
  if (!path) return;
  std::ifstream file(path, std::ios::binary);
  int count = 0;
  for (uint32_t size = 0; file.read(reinterpret_cast<char*>(&size), sizeof size); ++count) {
    std::string bytes(size, '\0');
    file.read(bytes.data(), static_cast<std::streamsize>(size));
    const auto node = proto::parse<proto::NodeDef>(bytes);
    const Case& c = *good_rows().at(std::get<std::string>(node.attr.at(row_attr).value));
    const Call call = make_call(c);
    try {
      expect_call(node, c, call);
    } catch (const Error& e) {
      ADD_FAILURE() << c.describe() << ": " << e.what();
    }
  }
  std::cout << count << " NodeDefs of TensorFlow read\n";
}

}  // namespace
}  // namespace thalweg::testing
