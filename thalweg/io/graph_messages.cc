#include "thalweg/io/graph_messages.h"

#include "thalweg/io/wire.h"

namespace thalweg::proto {
namespace {
using io::wire::choice;
using io::wire::field;
}  // namespace

constexpr auto fields_of(const TensorShapeProto::Dim*) {
  using M = TensorShapeProto::Dim;
  return std::tuple(field(1, &M::size), field(2, &M::name));
}
constexpr auto fields_of(const TensorShapeProto*) {
  using M = TensorShapeProto;
  return std::tuple(field(2, &M::dim), field(3, &M::unknown_rank));
}
constexpr auto fields_of(const TensorProto*) {
  using M = TensorProto;
  return std::tuple(field(1, &M::dtype), field(2, &M::tensor_shape), field(3, &M::version_number),
                    field(4, &M::tensor_content), field(5, &M::float_val), field(6, &M::double_val),
                    field(7, &M::int_val), field(8, &M::string_val), field(9, &M::scomplex_val),
                    field(10, &M::int64_val), field(11, &M::bool_val), field(12, &M::dcomplex_val),
                    field(13, &M::half_val), field(16, &M::uint32_val), field(17, &M::uint64_val));
}
constexpr auto fields_of(const NameAttrList*) {
  using M = NameAttrList;
  return std::tuple(field(1, &M::name), field(2, &M::attr));
}
constexpr auto fields_of(const ListValue*) {
  using M = ListValue;
  return std::tuple(field(2, &M::s), field(3, &M::i), field(4, &M::f), field(5, &M::b), field(6, &M::type),
                    field(7, &M::shape), field(8, &M::tensor), field(9, &M::func));
}
constexpr auto fields_of(const AttrValue*) {
  return []<size_t... I>(std::index_sequence<I...>) {
    return std::tuple(choice<I + 1>(static_cast<uint32_t>(I + 1), &AttrValue::value)...);
  }(std::make_index_sequence<10>{});
}
constexpr auto fields_of(const NodeDef*) {
  using M = NodeDef;
  return std::tuple(field(1, &M::name), field(2, &M::op), field(3, &M::input), field(4, &M::device),
                    field(5, &M::attr));
}
constexpr auto fields_of(const OpDef::ArgDef*) {
  using M = OpDef::ArgDef;
  return std::tuple(field(1, &M::name), field(2, &M::description), field(3, &M::type), field(4, &M::type_attr),
                    field(5, &M::number_attr), field(6, &M::type_list_attr), field(16, &M::is_ref));
}
constexpr auto fields_of(const OpDef::AttrDef*) {
  using M = OpDef::AttrDef;
  return std::tuple(field(1, &M::name), field(2, &M::type), field(3, &M::default_value), field(4, &M::description),
                    field(5, &M::has_minimum), field(6, &M::minimum), field(7, &M::allowed_values));
}
constexpr auto fields_of(const OpDef*) {
  using M = OpDef;
  return std::tuple(field(1, &M::name), field(2, &M::input_arg), field(3, &M::output_arg), field(4, &M::attr),
                    field(5, &M::summary), field(6, &M::description), field(16, &M::is_aggregate),
                    field(17, &M::is_stateful), field(18, &M::is_commutative),
                    field(19, &M::allows_uninitialized_input), field(20, &M::control_output));
}
constexpr auto fields_of(const FunctionDef::ArgAttrs*) { return std::tuple(field(1, &FunctionDef::ArgAttrs::attr)); }
constexpr auto fields_of(const FunctionDef*) {
  using M = FunctionDef;
  return std::tuple(field(1, &M::signature), field(3, &M::node_def), field(4, &M::ret), field(5, &M::attr),
                    field(6, &M::control_ret), field(7, &M::arg_attr), field(8, &M::resource_arg_unique_id));
}
constexpr auto fields_of(const GradientDef*) {
  return std::tuple(field(1, &GradientDef::function_name), field(2, &GradientDef::gradient_func));
}
constexpr auto fields_of(const RegisteredGradient*) {
  return std::tuple(field(1, &RegisteredGradient::gradient_func), field(2, &RegisteredGradient::registered_op_type));
}
constexpr auto fields_of(const FunctionDefLibrary*) {
  using M = FunctionDefLibrary;
  return std::tuple(field(1, &M::function), field(2, &M::gradient), field(3, &M::registered_gradients));
}
constexpr auto fields_of(const VersionDef*) {
  using M = VersionDef;
  return std::tuple(field(1, &M::producer), field(2, &M::min_consumer), field(3, &M::bad_consumers));
}
constexpr auto fields_of(const GraphDef*) {
  using M = GraphDef;
  return std::tuple(field(1, &M::node), field(2, &M::library), field(3, &M::version), field(4, &M::versions));
}

std::string serialize(const TensorShapeProto& message) { return io::wire::serialize(message); }
std::string serialize(const TensorProto& message) { return io::wire::serialize(message); }
std::string serialize(const AttrValue& message) { return io::wire::serialize(message); }
std::string serialize(const NodeDef& message) { return io::wire::serialize(message); }
std::string serialize(const OpDef& message) { return io::wire::serialize(message); }
std::string serialize(const FunctionDef& message) { return io::wire::serialize(message); }
std::string serialize(const GraphDef& message) { return io::wire::serialize(message); }

template <> TensorShapeProto parse<TensorShapeProto>(std::string_view bytes) {
  return io::wire::parse<TensorShapeProto>(bytes, "TensorShapeProto");
}
template <> TensorProto parse<TensorProto>(std::string_view bytes) {
  return io::wire::parse<TensorProto>(bytes, "TensorProto");
}
template <> AttrValue parse<AttrValue>(std::string_view bytes) {
  return io::wire::parse<AttrValue>(bytes, "AttrValue");
}
template <> NodeDef parse<NodeDef>(std::string_view bytes) { return io::wire::parse<NodeDef>(bytes, "NodeDef"); }
template <> OpDef parse<OpDef>(std::string_view bytes) { return io::wire::parse<OpDef>(bytes, "OpDef"); }
template <> FunctionDef parse<FunctionDef>(std::string_view bytes) {
  return io::wire::parse<FunctionDef>(bytes, "FunctionDef");
}
template <> GraphDef parse<GraphDef>(std::string_view bytes) { return io::wire::parse<GraphDef>(bytes, "GraphDef"); }

}  // namespace thalweg::proto
