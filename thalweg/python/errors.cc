// C++ exceptions as Python's, and the classes and functions of the package that C++ needs.
#include <array>
#include <new>

#include "thalweg/core/error.h"
#include "thalweg/python/objects.h"

namespace thalweg::python {
namespace {

constexpr std::array<const char*, static_cast<size_t>(Hook::count)> hook_names = {
    "dtype", "as_dtype",      "tensor_shape", "errors",           "named_tuple",    "record_names",
    "docs",  "signature",     "reference",    "variable_classes", "variable_enums", "indexed_slices",
    "warn",  "single_values", "conversion",   "numpy_text"};
std::array<PyObject*, hook_names.size()> hooks = {};

// The class of tf.errors with this name, called as TensorFlow calls it: (node_def, op, message).
void set_op_error(const char* type, const char* message) {
  PyObject* errors = hooks[static_cast<size_t>(Hook::errors)];
  PyObject* found = errors ? PyDict_GetItemString(errors, type) : nullptr;
  if (!found) {
    PyErr_SetString(PyExc_RuntimeError, message);
    return;
  }
  PyObject* text = PyUnicode_DecodeUTF8(message, static_cast<Py_ssize_t>(std::strlen(message)), "replace");
  PyObject* error = text ? PyObject_CallFunctionObjArgs(found, Py_None, Py_None, text, nullptr) : nullptr;
  Py_XDECREF(text);
  if (!error) return;
  PyErr_SetObject(found, error);
  Py_DECREF(error);
}

void set_text(PyObject* type, const char* message) {
  PyObject* text = PyUnicode_DecodeUTF8(message, static_cast<Py_ssize_t>(std::strlen(message)), "replace");
  if (!text) return;
  PyErr_SetObject(type, text);
  Py_DECREF(text);
}

}  // namespace

void set_python_error() noexcept {
  try {
    throw;
  } catch (nb::python_error& e) {
    e.restore();
  } catch (const TypeError& e) {
    set_text(PyExc_TypeError, e.what());
  } catch (const ValueError& e) {
    set_text(PyExc_ValueError, e.what());
  } catch (const RuntimeError& e) {
    set_text(PyExc_RuntimeError, e.what());
  } catch (const Error& e) {
    set_op_error(e.type(), e.what());
  } catch (const std::bad_alloc&) {
    set_op_error("ResourceExhaustedError", "the machine has no memory left for this call");
  } catch (const std::exception& e) {
    set_op_error("InternalError", e.what());
  } catch (...) {
    set_op_error("UnknownError", "an exception of an unknown type");
  }
}

std::string text_of(nb::handle text) {
  Py_ssize_t length = 0;
  const char* bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &length);
  if (bytes) return {bytes, static_cast<size_t>(length)};
  nb::python_error ignored;  // no str, or one that UTF-8 does not know
  return std::string("<") + Py_TYPE(text.ptr())->tp_name + ">";
}

std::string repr_of(PyObject* object) {
  constexpr size_t longest = 2000;
  std::string result = text_of(owned(PyObject_Repr(object)));
  if (result.size() > longest) result = result.substr(0, longest) + "...";
  return result;
}

void raise(PyObject* type, const std::string& message) {
  set_text(type, message.c_str());
  throw nb::python_error();
}

PyObject* hook(Hook which) {
  PyObject* found = hooks[static_cast<size_t>(which)];
  if (!found) raise(PyExc_RuntimeError, "import thalweg, not thalweg._thalweg alone");
  return found;
}

void define_hooks(nb::module_& module) {
  module.def(
      "register",
      [](const char* name, nb::object object) {
        for (size_t i = 0; i < hook_names.size(); ++i) {
          if (std::string_view(hook_names[i]) != name) continue;
          Py_XDECREF(hooks[i]);
          hooks[i] = object.release().ptr();
          return;
        }
        raise(PyExc_KeyError, name);
      },
      "Gives the module a class or function of the package that it needs.");
  nb::register_exception_translator([](const std::exception_ptr& error, void*) {
    try {
      std::rethrow_exception(error);
    } catch (const Error&) {
      set_python_error();
    }
  });
}

}  // namespace thalweg::python
