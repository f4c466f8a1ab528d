// The operators of Tensor. Each is a public function, looked up by name when it is first used.
#include <array>

#include "thalweg/core/complex.h"
#include "thalweg/core/error.h"
#include "thalweg/python/convert.h"
#include "thalweg/python/keras_functions.h"
#include "thalweg/python/tensor_arguments.h"
#include "thalweg/python/tensor_slots.h"

namespace thalweg::python {
namespace {

struct Operator {
  const char* symbol;
  const char* function;
  const char* in_models;           // what Keras calls the layer of it
  const char* of_bools = nullptr;  // where truth values have a function of their own
};
enum Which : size_t {
  plus,
  minus,
  times,
  over,
  floor_over,
  remainder,
  power,
  product,
  bit_and,
  bit_or,
  bit_xor,
  less,
  less_equal,
  equal,
  not_equal,
  greater,
  greater_equal,
  negation,
  magnitude,
  inversion,
  num_operators
};
constexpr std::array<Operator, num_operators> operators = {{
    {"+", "add", "__operators__.add"},
    {"-", "subtract", "math.subtract"},
    {"*", "multiply", "math.multiply"},
    {"/", "divide", "math.truediv"},
    {"//", "math.floordiv", "compat.v1.floor_div"},
    {"%", "math.floormod", "math.floormod"},
    {"**", "pow", "math.pow"},
    {"@", "matmul", "linalg.matmul"},
    {"&", "bitwise.bitwise_and", "bitwise.bitwise_and", "math.logical_and"},
    {"|", "bitwise.bitwise_or", "bitwise.bitwise_or", "math.logical_or"},
    {"^", "bitwise.bitwise_xor", "bitwise.bitwise_xor", "math.logical_xor"},
    {"<", "less", "math.less"},
    {"<=", "less_equal", "math.less_equal"},
    {"==", "equal", "__operators__.eq"},
    {"!=", "not_equal", "__operators__.ne"},
    {">", "greater", "math.greater"},
    {">=", "greater_equal", "math.greater_equal"},
    {"-", "negative", "math.negative"},
    {"abs", "abs", "math.abs"},
    {"~", "bitwise.invert", "bitwise.invert", "math.logical_not"},
}};

// Registration is over before Python runs, so a name that is found stays found.
const FunctionDef& function_of(Which which, bool of_bools) {
  static const FunctionDef* found[num_operators][2] = {};
  const FunctionDef*& def = found[which][of_bools];
  if (def) [[likely]]
    return *def;
  const Operator& op = operators[which];
  const char* name = of_bools && op.of_bools ? op.of_bools : op.function;
  def = find_function(name);
  if (!def)
    raise(PyExc_TypeError, std::string("the operator ") + op.symbol + " needs tf." + name + ", which this build lacks");
  return *def;
}

PyObject* call(const FunctionDef& def, Argument* arguments, TensorImpl* left, TensorImpl* right) {
  arguments[0].tensor = left;
  arguments[1].tensor = right;
  bool heavy = (left->buffer && is_heavy(left)) || (right && right->buffer && is_heavy(right));
  Results results;
  {
    WithoutGil released(heavy);
    def.call(arguments, def.options ? def.options->defaults : nullptr, results);
  }
  return wrap(std::move(results.one));
}
PyObject* call(const FunctionDef& def, TensorImpl* left, TensorImpl* right) {
  static TensorArguments& kept = *new TensorArguments;
  TensorArguments::Use use(kept);
  if (use.items) [[likely]]
    return call(def, use.items, left, right);
  Argument own[2];
  return call(def, own, left, right);
}

// Whether an operand is a tensor of a model; the layer is named after the operator.
bool is_for_models(PyObject* left, PyObject* right) {
  return has_keras_tensors && (is_keras_tensor(left) || (right && is_keras_tensor(right)));
}
PyObject* in_models(Which which, PyObject* left, PyObject* right) {
  const Operator& op = operators[which];
  const bool of_bools = tensor_of(is_keras_tensor(left) ? left : right).dtype() == bool_ && op.of_bools;
  if (which == bit_xor && of_bools) {  // four layers, as in Keras
    nb::object both = owned(in_models(bit_and, left, right)), either = owned(in_models(bit_or, left, right));
    return in_models(bit_and, either.ptr(), owned(in_models(inversion, both.ptr(), nullptr)).ptr());
  }
  return operate_on_models(of_bools ? op.of_bools : op.in_models, left, right);
}

// Null for what is neither a tensor nor a variable.
TensorImpl* impl_of(PyObject* object, Tensor& held) {
  if (is_tensor(object)) return tensor_of(object).get();
  return is_variable(object) ? (held = value_of_variable(object)).get() : nullptr;
}

// Arithmetic with what does not fit the tensor on the left is refused by the op, which knows both dtypes.
template <Which W> Tensor right_operand(PyObject* right, DType dtype) {
  if constexpr (W > bit_xor) return operand_like(right, dtype);
  try {
    return operand_like(right, dtype);
  } catch (const TypeError&) {
    return natural_tensor(right);
  }
}

template <Which W> PyObject* binary(PyObject* left, PyObject* right) {
  return guarded([&] {
    if (is_for_models(left, right)) [[unlikely]]
      return in_models(W, left, right);
    Tensor held_left, held_right;
    TensorImpl *x = impl_of(left, held_left), *y = impl_of(right, held_right);
    DType dtype = (x ? x : y)->dtype;
    if (!x) x = (held_left = operand_like(left, dtype)).get();
    else if (!y) y = (held_right = right_operand<W>(right, dtype)).get();
    return call(function_of(W, dtype == bool_), x, y);
  });
}

template <Which W> PyObject* unary(PyObject* self) {
  return guarded([&] {
    if (is_for_models(self, nullptr)) [[unlikely]]
      return in_models(W, self, nullptr);
    Tensor held;
    const Tensor& x = value_of(self, held);
    return call(function_of(W, x.dtype() == bool_), x.get(), nullptr);
  });
}

PyObject* raise_to(PyObject* base, PyObject* exponent, PyObject* modulus) {
  if (modulus != Py_None) {
    PyErr_SetString(PyExc_TypeError, "pow() of a tensor takes no modulus");
    return nullptr;
  }
  return binary<power>(base, exponent);
}

PyObject* same(PyObject* self) { return Py_NewRef(self); }

// Shapes that cannot meet are simply not equal, as in TensorFlow.
PyObject* compare_equal(PyObject* self, PyObject* other, bool wanted) {
  if (other == Py_None && is_tensor(self)) return PyBool_FromLong(!wanted);
  return guarded([&] {
    if (is_for_models(self, other)) [[unlikely]]
      return in_models(wanted ? equal : not_equal, self, other);
    Tensor held;
    const Tensor& left = value_of(self, held);
    Tensor right = is_tensor(other) ? tensor_of(other) : operand_like(other, left.dtype());
    Shape ignored;
    if (left.dtype() == right.dtype() && !broadcast_shapes(left.shape(), right.shape(), ignored))
      return wrap(Tensor(!wanted));
    return call(function_of(wanted ? equal : not_equal, left.dtype() == bool_), left.get(), right.get());
  });
}

PyObject* compare(PyObject* self, PyObject* other, int how) {
  switch (how) {
    case Py_EQ:
      return compare_equal(self, other, true);
    case Py_NE:
      return compare_equal(self, other, false);
    case Py_LT:
      return binary<less>(self, other);
    case Py_LE:
      return binary<less_equal>(self, other);
    case Py_GT:
      return binary<greater>(self, other);
    default:
      return binary<greater_equal>(self, other);
  }
}

int truth(PyObject* self) {
  return guarded([&]() -> int {
    Tensor held;
    const Tensor& t = value_of(self, held);
    if (!t.is_symbolic() && t.size() == 0) return 0;
    if (!t.is_symbolic() && t.size() > 1)
      throw ValueError("The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()");
    return static_cast<bool>(t) ? 1 : 0;
  });
}

void require_one(const Tensor& t) {
  if (t.size() != 1) throw TypeError("only length-1 arrays can be converted to Python scalars");
}

PyObject* whole_number(const Tensor& t) {
  if (t.dtype() == uint64) return PyLong_FromUnsignedLongLong(t.item<uint64_t>());
  return PyLong_FromLongLong(t.item<int64_t>());
}

PyObject* as_int(PyObject* self) {
  return guarded([&]() -> PyObject* {
    Tensor held;
    const Tensor& t = value_of(self, held);
    require_one(t);
    if (is_floating(t.dtype())) return checked(PyLong_FromDouble(t.item<double>()));
    if (t.dtype() == string || is_complex(t.dtype())) return checked(PyNumber_Long(owned(to_numpy(t)).ptr()));
    return checked(whole_number(t));
  });
}

PyObject* as_float(PyObject* self) {
  return guarded([&]() -> PyObject* {
    Tensor held;
    const Tensor& t = value_of(self, held);
    require_one(t);
    if (t.dtype() == string) return checked(PyFloat_FromString(owned(to_numpy(t)).ptr()));
    if (is_complex(t.dtype())) throw TypeError("can't convert complex to float");
    return checked(PyFloat_FromDouble(t.item<double>()));
  });
}

PyObject* as_index(PyObject* self) {
  return guarded([&]() -> PyObject* {
    const Tensor& t = tensor_of(self);
    if (t.rank() != 0 || !is_integer(t.dtype()))
      throw TypeError("only integer scalar arrays can be converted to a scalar index");
    return checked(whole_number(t));
  });
}

// What tensors and variables share.
void add_common_slots(std::vector<PyType_Slot>& slots) {
  slots.insert(slots.end(), {
                                slot(Py_nb_add, binary<plus>),
                                slot(Py_nb_subtract, binary<minus>),
                                slot(Py_nb_multiply, binary<times>),
                                slot(Py_nb_true_divide, binary<over>),
                                slot(Py_nb_floor_divide, binary<floor_over>),
                                slot(Py_nb_remainder, binary<remainder>),
                                slot(Py_nb_power, raise_to),
                                slot(Py_nb_matrix_multiply, binary<product>),
                                slot(Py_nb_and, binary<bit_and>),
                                slot(Py_nb_or, binary<bit_or>),
                                slot(Py_nb_xor, binary<bit_xor>),
                                slot(Py_nb_negative, unary<negation>),
                                slot(Py_nb_absolute, unary<magnitude>),
                                slot(Py_nb_invert, unary<inversion>),
                                slot(Py_nb_bool, truth),
                                slot(Py_nb_int, as_int),
                                slot(Py_nb_float, as_float),
                                slot(Py_tp_richcompare, compare),
                            });
}

}  // namespace

void add_operator_slots(std::vector<PyType_Slot>& slots) {
  add_common_slots(slots);
  slots.insert(slots.end(), {slot(Py_nb_positive, same), slot(Py_nb_index, as_index)});
}

void add_variable_operator_slots(std::vector<PyType_Slot>& slots) { add_common_slots(slots); }

}  // namespace thalweg::python
