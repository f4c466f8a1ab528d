// GraphDef for Python programs that look at one, write it to a file, or run one that TensorFlow wrote.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "thalweg/io/graph_def.h"
#include "thalweg/python/body.h"
#include "thalweg/python/convert.h"
#include "thalweg/python/objects.h"

namespace thalweg::python {
namespace {

template <class M> void define_bytes(nb::class_<M>& type) {
  type.def("SerializeToString", [](const M& m) {
    const std::string bytes = proto::serialize(m);
    return nb::bytes(bytes.data(), bytes.size());
  });
  type.def_static("FromString", [](const nb::bytes& bytes) { return proto::parse<M>({bytes.c_str(), bytes.size()}); });
  type.def("__eq__", [](const M& a, const M& b) { return proto::serialize(a) == proto::serialize(b); });
}

/// The member of an AttrValue that holds a T, or protobuf's default.
template <class T> T value_or_default(const proto::AttrValue& attr) {
  const T* value = std::get_if<T>(&attr.value);
  return value ? *value : T();
}

void define_messages(nb::module_& module) {
  nb::class_<proto::AttrValue> attr(module, "AttrValue");
  attr.def_prop_ro("i", value_or_default<int64_t>)
      .def_prop_ro("f", value_or_default<float>)
      .def_prop_ro("b", value_or_default<bool>)
      .def_prop_ro("type",
                   [](const proto::AttrValue& a) { return static_cast<int>(value_or_default<proto::TypeNumber>(a)); })
      .def_prop_ro("s",
                   [](const proto::AttrValue& a) {
                     const auto text = value_or_default<std::string>(a);
                     return nb::bytes(text.data(), text.size());
                   })
      .def_prop_ro("shape", value_or_default<proto::TensorShapeProto>)
      .def_prop_ro("tensor", [](const proto::AttrValue& a) { return *value_or_default<Boxed<proto::TensorProto>>(a); });
  define_bytes(attr);
  nb::class_<proto::NodeDef> node(module, "NodeDef");
  node.def_ro("name", &proto::NodeDef::name)
      .def_ro("op", &proto::NodeDef::op)
      .def_ro("device", &proto::NodeDef::device)
      .def_prop_ro(
          "input", [](const proto::NodeDef& n) { return std::vector(n.input); }, nb::rv_policy::move)
      .def_prop_ro(
          "attr", [](const proto::NodeDef& n) { return std::map(n.attr); }, nb::rv_policy::move)
      .def("__repr__", [](const proto::NodeDef& n) { return "<NodeDef '" + n.name + "' op=" + n.op + ">"; });
  define_bytes(node);
  nb::class_<proto::OpDef::ArgDef>(module, "ArgDef")
      .def_ro("name", &proto::OpDef::ArgDef::name)
      .def_ro("type", &proto::OpDef::ArgDef::type);
  nb::class_<proto::OpDef>(module, "OpDef")
      .def_ro("name", &proto::OpDef::name)
      .def_ro("is_stateful", &proto::OpDef::is_stateful)
      .def_prop_ro(
          "input_arg", [](const proto::OpDef& o) { return std::vector(o.input_arg); }, nb::rv_policy::move)
      .def_prop_ro("output_arg", [](const proto::OpDef& o) { return std::vector(o.output_arg); }, nb::rv_policy::move);
  nb::class_<proto::FunctionDef> function(module, "FunctionDef");
  function.def_ro("signature", &proto::FunctionDef::signature)
      .def_prop_ro(
          "node_def", [](const proto::FunctionDef& f) { return std::vector(f.node_def); }, nb::rv_policy::move)
      .def_prop_ro("ret", [](const proto::FunctionDef& f) { return std::map(f.ret); }, nb::rv_policy::move);
  define_bytes(function);
  nb::class_<proto::FunctionDefLibrary>(module, "FunctionDefLibrary")
      .def_prop_ro(
          "function", [](const proto::FunctionDefLibrary& l) { return std::vector(l.function); }, nb::rv_policy::move);
  nb::class_<proto::GraphDef> graph(module, "GraphDef");
  graph.def(nb::init<>())
      .def_prop_ro(
          "node", [](const proto::GraphDef& g) { return std::vector(g.node); }, nb::rv_policy::move)
      .def_prop_ro("library", [](const proto::GraphDef& g) { return g.library.value_or(proto::FunctionDefLibrary()); })
      .def("ParseFromString", [](proto::GraphDef& g, const nb::bytes& bytes) {
        g = proto::parse<proto::GraphDef>({bytes.c_str(), bytes.size()});
        return bytes.size();
      });
  define_bytes(graph);
}

using Names = std::optional<std::vector<std::string>>;

}  // namespace

void define_graph_defs(nb::module_& module) {
  define_messages(module);
  // The graph, the names of arguments and results, and of the placeholders of variables with these.
  module.def("graph_def_of", [](const Body& body) {
    io::GraphExport made = io::to_graph_def(*body.body);
    nb::list captures;
    for (const auto& [name, handle] : made.captures)
      captures.append(nb::make_tuple(name, nb::steal(wrap_variable(handle))));
    return nb::make_tuple(std::move(made.graph), made.arguments, made.results, captures, made.effects);
  });
  nb::class_<ConcreteFunction>(module, "ImportedFunction")
      .def_prop_ro("text", [](const ConcreteFunction& f) { return f.graph().str(); })
      .def_prop_ro("body", [](const ConcreteFunction& f) { return Body(f.body()); })
      .def("__call__", [](const ConcreteFunction& f, const nb::args& arguments) {
        std::vector<Tensor> in;
        for (nb::handle argument : arguments) in.push_back(natural_tensor(argument.ptr()));
        nb::list results;
        for (Tensor& t : f(in)) results.append(nb::steal(wrap(std::move(t))));
        return results;
      });
  module.def(
      "function_from_graph_def",
      [](const nb::bytes& bytes, Names inputs, Names outputs) {
        io::ImportOptions options{.inputs = std::move(inputs), .outputs = std::move(outputs)};
        return ConcreteFunction(
            io::from_graph_def(proto::parse<proto::GraphDef>({bytes.c_str(), bytes.size()}), options));
      },
      nb::arg("bytes"), nb::arg("inputs") = nb::none(), nb::arg("outputs") = nb::none());
}

}  // namespace thalweg::python
