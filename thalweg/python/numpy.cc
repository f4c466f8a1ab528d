// Tensors and NumPy arrays, through the buffer protocol: NumPy is imported when it is first needed, not built against.
#include <cstring>
#include <memory>

#include "thalweg/core/complex.h"
#include "thalweg/core/convert.h"
#include "thalweg/core/error.h"
#include "thalweg/python/convert.h"
#include "thalweg/python/tensor_slots.h"

namespace thalweg::python {
namespace {

constexpr size_t long_copy = 1 << 20;

const char* buffer_format(DType dtype) {
  switch (dtype) {
    case float16:
      return "e";
    case float32:
      return "f";
    case float64:
      return "d";
    case int8:
      return "b";
    case int16:
      return "h";
    case int32:
      return "i";
    case int64:
      return sizeof(long) == 8 ? "l" : "q";  // what NumPy itself calls int64
    case uint8:
      return "B";
    case uint16:
      return "H";
    case uint32:
      return "I";
    case uint64:
      return sizeof(long) == 8 ? "L" : "Q";
    case bool_:
      return "?";
    case complex64:
      return "Zf";
    case complex128:
      return "Zd";
    default:
      return nullptr;
  }
}

DType whole_dtype(bool has_sign, Py_ssize_t bytes) {
  switch (bytes) {
    case 1:
      return has_sign ? int8 : uint8;
    case 2:
      return has_sign ? int16 : uint16;
    case 4:
      return has_sign ? int32 : uint32;
    case 8:
      return has_sign ? int64 : uint64;
    default:
      return DType::invalid;
  }
}

DType dtype_of_format(const char* format, Py_ssize_t bytes) {
  std::string_view f = format ? format : "B";
  if (!f.empty() && (f[0] == '@' || f[0] == '=' || f[0] == '<')) f.remove_prefix(1);
  if (f == "Zf") return complex64;
  if (f == "Zd") return complex128;
  if (f.size() != 1) return DType::invalid;
  switch (f[0]) {
    case '?':
      return bool_;
    case 'e':
      return float16;
    case 'f':
      return float32;
    case 'd':
      return float64;
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
      return whole_dtype(true, bytes);
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
      return whole_dtype(false, bytes);
    default:
      return DType::invalid;
  }
}

nb::object numpy() {
  static PyObject* module = checked(PyImport_ImportModule("numpy"));
  return nb::borrow(module);
}

/// The NumPy type of a dtype's elements: `tf.DType.as_numpy_dtype`, remembered.
PyObject* numpy_type(DType dtype) {
  static PyObject* types[num_dtypes] = {};
  PyObject*& found = types[static_cast<size_t>(dtype)];
  if (!found) found = checked(PyObject_GetAttrString(nb::steal(wrap_dtype(dtype)).ptr(), "as_numpy_dtype"));
  return found;
}

struct NumpyTypes {
  PyTypeObject* array = nullptr;
  PyTypeObject* scalar = nullptr;
};
// An object cannot be NumPy's before NumPy was imported by someone.
const NumpyTypes& numpy_types() {
  static NumpyTypes types;
  if (types.array) return types;
  static PyObject* name = PyUnicode_InternFromString("numpy");
  PyObject* module = PyImport_GetModule(name);
  if (!module) {
    PyErr_Clear();
    return types;
  }
  nb::object kept = nb::steal(module);
  PyObject* scalar = PyObject_GetAttrString(module, "generic");
  PyObject* array = scalar ? PyObject_GetAttrString(module, "ndarray") : nullptr;
  if (!array) {  // still being imported
    PyErr_Clear();
    return types;
  }
  types = {reinterpret_cast<PyTypeObject*>(array), reinterpret_cast<PyTypeObject*>(scalar)};
  return types;
}

/// A buffer that is given back at the end.
class BufferView {
 public:
  BufferView() = default;
  BufferView(const BufferView&) = delete;
  BufferView& operator=(const BufferView&) = delete;
  ~BufferView() { close(); }
  bool open(PyObject* object, int flags) {
    close();
    open_ = PyObject_GetBuffer(object, &view_, flags) == 0;
    if (!open_) PyErr_Clear();
    return open_;
  }
  void close() {
    if (open_) PyBuffer_Release(&view_);
    open_ = false;
  }
  const Py_buffer* operator->() const { return &view_; }
  const Py_buffer& view() const { return view_; }

 private:
  Py_buffer view_ = {};
  bool open_ = false;
};

void release_view(void* context) {
  if (!Py_IsInitialized()) return;  // the interpreter is gone and took the array along
  nb::gil_scoped_acquire gil;
  delete static_cast<BufferView*>(context);
}

// Read-only is not enough: the array may show the memory of another that is not. It must own its memory, or show that
// of bytes or of a tensor.
bool never_changes(PyObject* array) {
  nb::object base = owned(PyObject_GetAttrString(array, "base"));
  if (base.is_none() || PyBytes_Check(base.ptr()) || is_tensor(base.ptr())) return true;
  if (!PyMemoryView_Check(base.ptr())) return false;
  PyObject* owner = PyMemoryView_GET_BUFFER(base.ptr())->obj;
  return owner && (PyBytes_Check(owner) || is_tensor(owner));
}

Shape shape_of(const Py_buffer& view) {
  if (view.ndim > Shape::max_rank)
    throw InvalidArgumentError("a tensor has at most " + std::to_string(Shape::max_rank) +
                               " dimensions, this array has " + std::to_string(view.ndim));
  Shape shape;
  for (int i = 0; i < view.ndim; ++i) shape.push_back(view.shape[i]);
  return shape;
}

void copy_bytes(void* to, const void* from, size_t bytes) {
  WithoutGil released(bytes > long_copy);
  if (bytes) std::memcpy(to, from, bytes);
}

Tensor soft(Tensor tensor) {
  tensor.impl()->weak = Weak::soft;
  return tensor;
}

Tensor copy_of(const Py_buffer& view, DType dtype) {
  Tensor made = Tensor::empty(dtype, shape_of(view));
  copy_bytes(made.mutable_data<void>(), view.buf, static_cast<size_t>(view.len));
  return soft(std::move(made));
}

std::string text_bytes(PyObject* object) {
  Py_ssize_t size = 0;
  if (PyUnicode_Check(object)) {
    const char* text = PyUnicode_AsUTF8AndSize(object, &size);
    if (!text) throw nb::python_error();
    return std::string(text, static_cast<size_t>(size));
  }
  return std::string(PyBytes_AS_STRING(object), static_cast<size_t>(PyBytes_GET_SIZE(object)));
}

Tensor strings_of(const nb::object& array) {
  nb::object flat = array.attr("ravel")().attr("tolist")();
  Shape shape = to_shape(array.attr("shape").ptr());
  if (shape.num_elements() != PyList_GET_SIZE(flat.ptr())) throw ValueError("a NumPy array changed while it was read");
  Tensor made = Tensor::empty(string, shape);
  auto* out = made.mutable_data<std::string>();
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(flat.ptr()); ++i) {
    PyObject* item = PyList_GET_ITEM(flat.ptr(), i);
    if (!PyUnicode_Check(item) && !PyBytes_Check(item))
      throw ValueError(std::string("Failed to convert a NumPy array to a Tensor (Unsupported object type ") +
                       Py_TYPE(item)->tp_name + ").");
    out[i] = text_bytes(item);
  }
  return soft(std::move(made));
}

// What the buffer protocol does not carry: strings, bfloat16, other byte orders; and what TensorFlow refuses.
Tensor from_special(const nb::object& array) {
  nb::object dtype = array.attr("dtype");
  std::string kind = text_of(dtype.attr("kind"));
  if (kind == "O" || kind == "U" || kind == "S") return strings_of(array);
  if (text_of(dtype.attr("name")) == "bfloat16") {
    Tensor bits = from_numpy(array.attr("view")("uint16").ptr());
    bits.impl()->dtype = bfloat16;
    return bits;
  }
  if (text_of(dtype.attr("byteorder")) == ">")
    return from_numpy(array.attr("astype")(dtype.attr("newbyteorder")("=")).ptr());
  const char* name = kind == "M"   ? "DATETIME"
                     : kind == "m" ? "TIMEDELTA"
                     : kind == "V" ? "VOID"
                     : kind == "c" ? "CLONGDOUBLE"
                                   : "LONGDOUBLE";
  throw ValueError(std::string("Failed to convert a NumPy array to a Tensor (Unsupported numpy type: NPY_") + name +
                   ").");
}

nb::object empty_array(const Shape& shape, PyObject* type) {
  static PyObject* empty = nb::object(numpy().attr("empty")).release().ptr();
  return owned(PyObject_CallFunctionObjArgs(empty, shape_tuple(shape).ptr(), type, nullptr));
}

nb::object string_array(const Tensor& tensor) {
  nb::object array = empty_array(tensor.shape(), reinterpret_cast<PyObject*>(&PyBaseObject_Type));
  BufferView view;
  if (!view.open(array.ptr(), PyBUF_WRITABLE | PyBUF_STRIDES | PyBUF_FORMAT))
    throw ValueError("NumPy made an array that cannot be written");
  auto** slots = static_cast<PyObject**>(view->buf);
  auto values = tensor.span<std::string>();
  for (size_t i = 0; i < values.size(); ++i) {
    PyObject* bytes = checked(PyBytes_FromStringAndSize(values[i].data(), static_cast<Py_ssize_t>(values[i].size())));
    Py_XSETREF(slots[i], bytes);
  }
  return array;
}

nb::object plain_array(const Tensor& tensor) {
  bool brain = tensor.dtype() == bfloat16;  // NumPy knows it only by name
  nb::object array = empty_array(tensor.shape(), numpy_type(brain ? uint16 : tensor.dtype()));
  BufferView view;
  if (!view.open(array.ptr(), PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS) || static_cast<size_t>(view->len) != tensor.nbytes())
    throw ValueError("NumPy made an array that cannot be filled");
  copy_bytes(view->buf, tensor.impl()->data, tensor.nbytes());
  view.close();
  if (brain && numpy_type(bfloat16) != numpy_type(uint16)) return array.attr("view")(nb::handle(numpy_type(bfloat16)));
  return array;
}

nb::object scalar(const Tensor& t) {
  if (t.dtype() == string) {
    const std::string& text = *t.data<std::string>();
    return owned(PyBytes_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
  }
  nb::object value;
  if (is_complex(t.dtype())) {
    auto z = t.item<std::complex<double>>();
    value = owned(PyComplex_FromDoubles(z.real(), z.imag()));
  } else if (is_floating(t.dtype())) {
    value = owned(PyFloat_FromDouble(t.item<double>()));
  } else if (t.dtype() == bool_) {
    value = nb::borrow(t.item<bool>() ? Py_True : Py_False);
  } else {
    value = owned(t.dtype() == uint64 ? PyLong_FromUnsignedLongLong(t.item<uint64_t>())
                                      : PyLong_FromLongLong(t.item<int64_t>()));
  }
  return owned(PyObject_CallOneArg(numpy_type(t.dtype()), value.ptr()));
}

void require_value(const Tensor& tensor) {
  if (tensor.is_symbolic()) throw TypeError("a symbolic tensor has no value to show NumPy: it is being traced");
  if (!plain_types.has(tensor.dtype()) && tensor.dtype() != string)
    throw InvalidArgumentError("Cannot convert a Tensor of dtype " + std::string(name_of(tensor.dtype())) +
                               " to a NumPy array.");
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  const Tensor& tensor = tensor_of(self);
  const char* format = buffer_format(tensor.dtype());
  view->obj = nullptr;
  if (!format || tensor.is_symbolic() || (flags & PyBUF_WRITABLE) == PyBUF_WRITABLE) {
    PyErr_SetString(PyExc_BufferError, format ? "a tensor is read-only" : "a tensor of this dtype has no buffer");
    return -1;
  }
  int rank = tensor.rank();
  auto* strides = static_cast<Py_ssize_t*>(PyMem_Malloc(sizeof(Py_ssize_t) * static_cast<size_t>(rank ? rank : 1)));
  if (!strides) {
    PyErr_NoMemory();
    return -1;
  }
  auto stride = static_cast<Py_ssize_t>(size_of(tensor.dtype()));
  view->itemsize = stride;
  for (int i = rank - 1; i >= 0; --i) {
    strides[i] = stride;
    stride *= tensor.shape()[i];
  }
  view->obj = Py_NewRef(self);
  view->buf = tensor.impl()->data;
  view->len = static_cast<Py_ssize_t>(tensor.nbytes());
  view->readonly = 1;
  view->ndim = rank;
  view->format = (flags & PyBUF_FORMAT) ? const_cast<char*>(format) : nullptr;
  view->shape = const_cast<Py_ssize_t*>(reinterpret_cast<const Py_ssize_t*>(tensor.shape().begin()));
  view->strides = strides;
  view->suboffsets = nullptr;
  view->internal = strides;
  return 0;
}
static_assert(sizeof(Py_ssize_t) == sizeof(int64_t));

void release_buffer(PyObject*, Py_buffer* view) { PyMem_Free(view->internal); }

}  // namespace

bool is_numpy(PyObject* object) {
  const NumpyTypes& types = numpy_types();
  return types.array && (PyObject_TypeCheck(object, types.array) || PyObject_TypeCheck(object, types.scalar));
}

Tensor from_numpy(PyObject* object) {
  nb::object array = PyObject_TypeCheck(object, numpy_types().array)
                         ? nb::borrow(object)
                         : nb::object(numpy().attr("asarray")(nb::handle(object)));
  auto view = std::make_unique<BufferView>();
  if (!view->open(array.ptr(), PyBUF_STRIDES | PyBUF_FORMAT)) return from_special(array);
  DType dtype = dtype_of_format((*view)->format, (*view)->itemsize);
  if (dtype == DType::invalid) return from_special(array);
  if (!PyBuffer_IsContiguous(&view->view(), 'C')) {
    array = numpy().attr("ascontiguousarray")(array);
    if (!view->open(array.ptr(), PyBUF_C_CONTIGUOUS | PyBUF_FORMAT))
      throw ValueError("NumPy could not make this array contiguous");
  }
  constexpr Py_ssize_t worth_sharing = 4096;
  bool aligned = reinterpret_cast<uintptr_t>((*view)->buf) % size_of(dtype) == 0;
  if (!(*view)->readonly || (*view)->len < worth_sharing || !aligned || !never_changes(array.ptr()))
    return copy_of(view->view(), dtype);
  Shape shape = shape_of(view->view());
  void* data = (*view)->buf;
  return soft(Tensor::view(dtype, shape, data, release_view, view.release()));
}

PyObject* to_numpy(const Tensor& tensor) {
  require_value(tensor);
  if (tensor.rank() == 0) {
    if (tensor.dtype() == bfloat16 && numpy_type(bfloat16) == numpy_type(uint16))
      return plain_array(tensor).attr("item")().release().ptr();
    return scalar(tensor).release().ptr();
  }
  return (tensor.dtype() == string ? string_array(tensor) : plain_array(tensor)).release().ptr();
}

PyObject* to_array(PyObject* self, PyObject* const* args, Py_ssize_t num_args, PyObject* keywords) {
  return guarded([&] {
    nb::object dtype = nb::none();
    Py_ssize_t num_keywords = keywords ? PyTuple_GET_SIZE(keywords) : 0;
    if (num_args > 2) throw TypeError("__array__() takes at most 2 arguments");
    if (num_args > 0) dtype = nb::borrow(args[0]);
    for (Py_ssize_t i = 0; i < num_keywords; ++i)
      if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(keywords, i), "dtype") == 0)
        dtype = nb::borrow(args[num_args + i]);
    const Tensor& tensor = tensor_of(self);
    require_value(tensor);
    nb::object array = tensor.dtype() == string ? string_array(tensor) : plain_array(tensor);
    if (!dtype.is_none()) array = array.attr("astype")(dtype);
    return array.release().ptr();
  });
}

void add_buffer_slots(std::vector<PyType_Slot>& slots) {
  slots.insert(slots.end(), {slot(Py_bf_getbuffer, get_buffer), slot(Py_bf_releasebuffer, release_buffer)});
}

}  // namespace thalweg::python
