// TensorFlow's messages for tensors, nodes, functions and graphs, as plain structs. They are the same bytes as its own
// (members are named as TensorFlow's .proto files name them) without protobuf's library in the process, of which
// TensorFlow brings a copy of its own. What is not listed is passed over when it is read.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "thalweg/core/export.h"
#include "thalweg/io/boxed.h"

namespace thalweg::proto {

/// A shape: dimensions of size -1 are unknown, and so may the rank be.
struct TensorShapeProto {
  struct Dim {
    int64_t size = 0;
    std::string name = {};
  };
  std::vector<Dim> dim = {};
  bool unknown_rank = false;
};

/// A tensor: its bytes, or its elements in the list of their type, of which the last one fills the rest.
struct TensorProto {
  int32_t dtype = 0;  // the number of a DType, as in all messages
  TensorShapeProto tensor_shape = {};
  int32_t version_number = 0;
  std::string tensor_content = {};
  std::vector<float> float_val = {};
  std::vector<double> double_val = {};
  std::vector<int32_t> int_val = {};  // int32, int16, uint16, int8, uint8
  std::vector<std::string> string_val = {};
  std::vector<float> scomplex_val = {};  // pairs, as dcomplex_val
  std::vector<int64_t> int64_val = {};
  std::vector<bool> bool_val = {};
  std::vector<double> dcomplex_val = {};
  std::vector<int32_t> half_val = {};  // the bits of float16 and bfloat16
  std::vector<uint32_t> uint32_val = {};
  std::vector<uint64_t> uint64_val = {};
};

struct AttrValue;

/// A function by name; `attr` would say which instance of a polymorphic one.
struct NameAttrList {
  std::string name = {};
  std::map<std::string, AttrValue> attr = {};
};

/// A list; the one of its kind is filled.
struct ListValue {
  std::vector<std::string> s = {};
  std::vector<int64_t> i = {};
  std::vector<float> f = {};
  std::vector<bool> b = {};
  std::vector<int32_t> type = {};
  std::vector<TensorShapeProto> shape = {};
  std::vector<TensorProto> tensor = {};
  std::vector<NameAttrList> func = {};
};

/// The number of a DType, or of a type that Thalweg does not have.
enum class TypeNumber : int32_t {};

/// The value of an attribute.
struct AttrValue {
  /// In the order of the numbers 1 to 10, after nothing at all; the boxed text is a placeholder.
  std::variant<std::monostate, Boxed<ListValue>, std::string, int64_t, float, bool, TypeNumber, TensorShapeProto,
               Boxed<TensorProto>, Boxed<std::string>, Boxed<NameAttrList>>
      value = {};
};

/// One op in a graph; `input` holds "node", "node:1" or "^node", inside functions "node:output:0".
struct NodeDef {
  std::string name = {}, op = {};
  std::vector<std::string> input = {};
  std::string device = {};
  std::map<std::string, AttrValue> attr = {};
};

/// What an op takes and gives; of the ops in files, only those that functions are.
struct OpDef {
  struct ArgDef {
    std::string name = {}, description = {};
    int32_t type = 0;
    std::string type_attr = {}, number_attr = {}, type_list_attr = {};
    bool is_ref = false;
  };
  struct AttrDef {
    std::string name = {}, type = {};
    std::optional<AttrValue> default_value = {};
    std::string description = {};
    bool has_minimum = false;
    int64_t minimum = 0;
    std::optional<AttrValue> allowed_values = {};
  };
  std::string name = {};
  std::vector<ArgDef> input_arg = {}, output_arg = {};
  std::vector<AttrDef> attr = {};
  std::string summary = {}, description = {};
  bool is_aggregate = false, is_stateful = false, is_commutative = false, allows_uninitialized_input = false;
  std::vector<std::string> control_output = {};
};

/// A function: its signature, its nodes, and which of their outputs are the results.
struct FunctionDef {
  struct ArgAttrs {
    std::map<std::string, AttrValue> attr = {};
  };
  OpDef signature = {};
  std::vector<NodeDef> node_def = {};
  std::map<std::string, std::string> ret = {};  // name of a result -> "node:output:0"
  std::map<std::string, AttrValue> attr = {};
  std::map<std::string, std::string> control_ret = {};
  std::map<uint32_t, ArgAttrs> arg_attr = {};
  std::map<uint32_t, uint32_t> resource_arg_unique_id = {};
};
struct GradientDef {
  std::string function_name = {}, gradient_func = {};
};
struct RegisteredGradient {
  std::string gradient_func = {}, registered_op_type = {};
};
struct FunctionDefLibrary {
  std::vector<FunctionDef> function = {};
  std::vector<GradientDef> gradient = {};
  std::vector<RegisteredGradient> registered_gradients = {};
};

/// Which versions wrote a graph and may read it.
struct VersionDef {
  int32_t producer = 0, min_consumer = 0;
  std::vector<int32_t> bad_consumers = {};
};
/// A graph and the functions that its nodes name.
struct GraphDef {
  std::vector<NodeDef> node = {};
  std::optional<FunctionDefLibrary> library = {};
  int32_t version = 0;  // what `versions` was once
  std::optional<VersionDef> versions = {};
};

/// The bytes of a message: the same for equal messages.
THALWEG_API std::string serialize(const TensorShapeProto& message);
THALWEG_API std::string serialize(const TensorProto& message);
THALWEG_API std::string serialize(const AttrValue& message);
THALWEG_API std::string serialize(const NodeDef& message);
THALWEG_API std::string serialize(const OpDef& message);
THALWEG_API std::string serialize(const FunctionDef& message);
THALWEG_API std::string serialize(const GraphDef& message);
/// A message from bytes, `parse<GraphDef>(bytes)`; InvalidArgumentError where they are none.
template <class M> M parse(std::string_view bytes) = delete;
template <> THALWEG_API TensorShapeProto parse<TensorShapeProto>(std::string_view bytes);
template <> THALWEG_API TensorProto parse<TensorProto>(std::string_view bytes);
template <> THALWEG_API AttrValue parse<AttrValue>(std::string_view bytes);
template <> THALWEG_API NodeDef parse<NodeDef>(std::string_view bytes);
template <> THALWEG_API OpDef parse<OpDef>(std::string_view bytes);
template <> THALWEG_API FunctionDef parse<FunctionDef>(std::string_view bytes);
template <> THALWEG_API GraphDef parse<GraphDef>(std::string_view bytes);

}  // namespace thalweg::proto
