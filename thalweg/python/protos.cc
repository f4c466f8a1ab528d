// TensorProto for Python programs that read and write one: fields, bytes, tensors. No protobuf package is needed.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "thalweg/core/error.h"
#include "thalweg/io/tensor_proto.h"
#include "thalweg/python/convert.h"
#include "thalweg/python/objects.h"

namespace thalweg::python {
namespace {

using proto::TensorProto;
using proto::TensorShapeProto;

std::string_view bytes_of(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }
nb::bytes to_bytes(const std::string& text) { return nb::bytes(text.data(), text.size()); }

/// `M(field=value, ...)`, and the methods of protobuf's messages that programs call.
template <class M> nb::class_<M> define_message(nb::module_& module, const char* name) {
  nb::class_<M> type(module, name);
  type.def("__init__", [](M* self, const nb::kwargs& fields) {
    M message;
    nb::object seen = nb::cast(&message, nb::rv_policy::reference);
    for (auto [field, value] : fields) nb::setattr(seen, field, value);
    new (self) M(std::move(message));
  });
  return type;
}
template <class M> void define_bytes(nb::class_<M>& type) {
  type.def("SerializeToString", [](const M& m) { return to_bytes(proto::serialize(m)); });
  type.def("ByteSize", [](const M& m) { return proto::serialize(m).size(); });
  type.def_static("FromString", [](const nb::bytes& bytes) { return proto::parse<M>(bytes_of(bytes)); });
  type.def("ParseFromString", [](M& m, const nb::bytes& bytes) {
    m = proto::parse<M>(bytes_of(bytes));
    return bytes.size();
  });
  type.def("CopyFrom", [](M& m, const M& other) { m = other; });
  type.def("__eq__", [](const M& a, const M& b) { return proto::serialize(a) == proto::serialize(b); });
}

io::TensorProtoForm form_named(const std::string& name) {
  if (name == "list") return io::TensorProtoForm::list;
  return name == "content" ? io::TensorProtoForm::content : io::TensorProtoForm::brief;
}

}  // namespace

void define_protos(nb::module_& module) {
  define_message<TensorShapeProto::Dim>(module, "TensorShapeProtoDim")
      .def_rw("size", &TensorShapeProto::Dim::size)
      .def_rw("name", &TensorShapeProto::Dim::name);
  auto shape = define_message<TensorShapeProto>(module, "TensorShapeProto");
  // Copies of the dimensions: the list may change while somebody holds one.
  shape
      .def_prop_rw(
          "dim", [](const TensorShapeProto& m) { return std::vector(m.dim); },
          [](TensorShapeProto& m, std::vector<TensorShapeProto::Dim> dim) { m.dim = std::move(dim); },
          nb::rv_policy::move)
      .def_rw("unknown_rank", &TensorShapeProto::unknown_rank);
  define_bytes(shape);
  auto tensor = define_message<TensorProto>(module, "TensorProto");
  tensor.def_rw("dtype", &TensorProto::dtype)
      .def_rw("tensor_shape", &TensorProto::tensor_shape)
      .def_rw("version_number", &TensorProto::version_number)
      .def_prop_rw(
          "tensor_content", [](const TensorProto& m) { return to_bytes(m.tensor_content); },
          [](TensorProto& m, const nb::bytes& content) { m.tensor_content = bytes_of(content); })
      .def_prop_rw(
          "string_val",
          [](const TensorProto& m) {
            nb::list list;
            for (const std::string& s : m.string_val) list.append(to_bytes(s));
            return list;
          },
          [](TensorProto& m, const std::vector<nb::bytes>& values) {
            m.string_val.clear();
            for (const nb::bytes& value : values) m.string_val.emplace_back(bytes_of(value));
          })
      .def_rw("float_val", &TensorProto::float_val)
      .def_rw("double_val", &TensorProto::double_val)
      .def_rw("int_val", &TensorProto::int_val)
      .def_rw("scomplex_val", &TensorProto::scomplex_val)
      .def_rw("int64_val", &TensorProto::int64_val)
      .def_rw("bool_val", &TensorProto::bool_val)
      .def_rw("dcomplex_val", &TensorProto::dcomplex_val)
      .def_rw("half_val", &TensorProto::half_val)
      .def_rw("uint32_val", &TensorProto::uint32_val)
      .def_rw("uint64_val", &TensorProto::uint64_val);
  define_bytes(tensor);

  module.def("shape_to_proto", [](nb::handle value) { return io::to_shape_proto(to_shape(value.ptr())); });
  module.def("tensor_to_proto", [](nb::handle value, const std::string& form) {
    return io::to_tensor_proto(natural_tensor(value.ptr()), form_named(form));
  });
  module.def("tensor_from_proto",
             [](const TensorProto& message) { return nb::steal(wrap(io::from_tensor_proto(message))); });
}

}  // namespace thalweg::python
