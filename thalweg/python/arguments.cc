#include "thalweg/python/arguments.h"

#include <structmember.h>

#include "thalweg/core/error.h"
#include "thalweg/python/convert.h"

namespace thalweg::python {

void Parameters::add(std::string_view name) {
  if (names.size() == most) throw ValueError(callable + " has more than " + std::to_string(most) + " parameters");
  PyObject* text = checked(PyUnicode_FromStringAndSize(name.data(), static_cast<Py_ssize_t>(name.size())));
  PyUnicode_InternInPlace(&text);
  names.push_back(text);
}

size_t Parameters::find(PyObject* keyword) const {
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i] == keyword) return i;
  for (size_t i = 0; i < names.size(); ++i)
    if (PyUnicode_Compare(names[i], keyword) == 0) return i;
  raise(PyExc_TypeError, callable + "() got an unexpected keyword argument " + repr_of(keyword));
}

void Parameters::refuse_positional(size_t given) const {
  if (keyword_only) {
    std::string keys;
    for (size_t i = 0; i + unlisted < names.size(); ++i) keys += (i ? ", " : "") + repr_of(names[i]);
    raise(PyExc_TypeError, callable + " only takes keyword args (possible keys: [" + keys +
                               "]). Please pass these args as kwargs instead.");
  }
  std::string count = std::to_string(names.size());
  if (required < names.size()) count = "from " + std::to_string(required) + " to " + count;
  raise(PyExc_TypeError, callable + "() takes " + count + " positional argument" + (count == "1" ? "" : "s") + " but " +
                             std::to_string(given) + (given == 1 ? " was given" : " were given"));
}

void Parameters::refuse_missing(PyObject* const* slots) const {
  std::vector<std::string> missing;
  for (size_t i = 0; i < required; ++i)
    if (!slots[i]) missing.push_back(repr_of(names[i]));
  std::string list;
  for (size_t i = 0; i < missing.size(); ++i) {
    if (i) list += missing.size() == 2 ? " and " : i + 1 == missing.size() ? ", and " : ", ";
    list += missing[i];
  }
  raise(PyExc_TypeError, callable + "() missing " + std::to_string(missing.size()) + " required positional argument" +
                             (missing.size() == 1 ? "" : "s") + ": " + list);
}

void Parameters::bind(PyObject* const* args, size_t flags, PyObject* keywords, PyObject** slots) const {
  auto given = static_cast<size_t>(PyVectorcall_NARGS(flags));
  if (given > (keyword_only ? 0 : names.size())) refuse_positional(given);
  for (size_t i = 0; i < given; ++i) slots[i] = args[i];
  for (size_t i = given; i < names.size(); ++i) slots[i] = nullptr;
  Py_ssize_t num_keywords = keywords ? PyTuple_GET_SIZE(keywords) : 0;
  for (Py_ssize_t k = 0; k < num_keywords; ++k) {
    PyObject* keyword = PyTuple_GET_ITEM(keywords, k);
    size_t i = find(keyword);
    if (slots[i]) raise(PyExc_TypeError, callable + "() got multiple values for argument " + repr_of(keyword));
    slots[i] = args[given + static_cast<size_t>(k)];
  }
  for (size_t i = 0; i < required; ++i)
    if (!slots[i]) refuse_missing(slots);
}

PyObject* record_type(const std::string& name, const std::vector<std::string>& fields) {
  nb::object list = owned(PyList_New(0));
  for (const std::string& field : fields) list.attr("append")(nb::str(field.c_str()));
  return checked(PyObject_CallFunction(hook(Hook::named_tuple), "sO", name.c_str(), list.ptr()));
}

nb::object make_record(PyObject* type, std::vector<nb::object> values) {
  nb::object tuple = owned(PyTuple_New(static_cast<Py_ssize_t>(values.size())));
  for (size_t i = 0; i < values.size(); ++i)
    PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i), values[i].release().ptr());
  if (type == plain_tuple()) return tuple;
  return owned(PyObject_CallObject(type, tuple.ptr()));
}

nb::object make_list(std::vector<Tensor> tensors) {
  nb::object list = owned(PyList_New(static_cast<Py_ssize_t>(tensors.size())));
  for (size_t i = 0; i < tensors.size(); ++i)
    PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i), wrap(std::move(tensors[i])));
  return list;
}

PyTypeObject* make_callable_type(const char* name, size_t size, size_t call_offset, destructor drop, reprfunc show,
                                 PyGetSetDef* attributes, PyCFunction reduce) {
  auto* methods = new PyMethodDef[2]{{"__reduce__", reduce, METH_NOARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};
  PyMemberDef members[] = {
      {"__vectorcalloffset__", T_PYSSIZET, static_cast<Py_ssize_t>(call_offset), READONLY, nullptr},
      {nullptr, 0, 0, 0, nullptr},
  };
  PyType_Slot slots[] = {
      {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
      {Py_tp_members, members},
      {Py_tp_getset, attributes},
      {Py_tp_methods, methods},
      {Py_tp_dealloc, reinterpret_cast<void*>(drop)},
      {Py_tp_repr, reinterpret_cast<void*>(show)},
      {0, nullptr},
  };
  constexpr unsigned flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION;
  PyType_Spec spec = {name, static_cast<int>(size), 0, flags, slots};
  return reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
}

}  // namespace thalweg::python
