// How Python's arguments meet named parameters, with the errors Python itself would give.
#pragma once
#include <string>
#include <vector>

#include "thalweg/ops/attrs.h"
#include "thalweg/python/objects.h"

namespace thalweg::python {

/// The parameters of one callable.
struct Parameters {
  static constexpr size_t most = 48;
  std::string callable;          // as errors name it
  std::vector<PyObject*> names;  // interned
  size_t required = 0;           // the first so many
  bool keyword_only = false;
  size_t unlisted = 0;  // the last so many are accepted but not named in errors

  void add(std::string_view name);
  /// Fills `slots` (one per name; null: not given) from a vectorcall.
  void bind(PyObject* const* args, size_t flags, PyObject* keywords, PyObject** slots) const;

 private:
  size_t find(PyObject* keyword) const;
  [[noreturn]] void refuse_positional(size_t given) const;
  [[noreturn]] void refuse_missing(PyObject* const* slots) const;
};

/// Raw ops take a truth value only where one is meant; public functions also 0 and 1, and None for a default.
enum class Strictness : uint8_t { raw_op, function };
/// Python's value for a member of this type; TypeError names the argument: "Expected bool for argument 'keepdims'
/// not 1."
AttrValue to_attr_value(PyObject* object, const MemberType& type, const char* name, Strictness strictness);
/// Writes the value into a member of an options or attribute struct.
void set_attr(const AttrType& type, void* object, int row, PyObject* value, Strictness strictness);
/// An attribute as Python shows it, for defaults in signatures (new reference).
PyObject* from_attr_value(const AttrValue& value);

/// `TopKV2(values=..., indices=...)`: the named tuple type of several results (borrowed; made once per name).
PyObject* record_type(const std::string& name, const std::vector<std::string>& fields);
/// What makes a tuple of a list of values, as `record_type` does a named one (borrowed).
inline PyObject* plain_tuple() { return reinterpret_cast<PyObject*>(&PyTuple_Type); }
/// A named tuple or a plain list of the values; takes the references.
nb::object make_record(PyObject* type, std::vector<nb::object> values);
nb::object make_list(std::vector<Tensor> tensors);

/// A Python type whose objects are callables of this layout: PyObject_HEAD, then `vectorcallfunc call`. `reduce` gives
/// the name by which copies and pickles find them.
PyTypeObject* make_callable_type(const char* name, size_t size, size_t call_offset, destructor drop, reprfunc show,
                                 PyGetSetDef* attributes, PyCFunction reduce);

}  // namespace thalweg::python
