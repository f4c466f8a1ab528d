// tf.raw_ops: one callable type for every op record. Inputs and attributes are keywords with TensorFlow's names.
#include <algorithm>
#include <cctype>
#include <memory>

#include "thalweg/core/error.h"
#include "thalweg/ops/apply.h"
#include "thalweg/python/arguments.h"
#include "thalweg/python/convert.h"

namespace thalweg::python {
namespace {

/// What a call needs to know of an op, derived at its first call. Names: inputs, attributes, `name`, type attributes.
struct OpPlan {
  Parameters parameters;
  std::vector<int> attr_rows;           // the rows of the attribute names, in their order
  std::vector<std::string> type_attrs;  // T and the like, which the inputs decide
  PyObject* record = nullptr;           // the named tuple of several results
};

struct PyOp {
  PyObject_HEAD vectorcallfunc call;
  const Op* op;
  OpPlan* plan;
};
PyTypeObject* op_type = nullptr;

// AddV2 -> add_v2, Conv2D -> conv2d: the name TensorFlow's Python gives an op, which its errors show.
std::string snake_case(std::string_view name) {
  auto upper = [&](size_t i) { return std::isupper(static_cast<unsigned char>(name[i])) != 0; };
  auto lower = [&](size_t i) { return std::islower(static_cast<unsigned char>(name[i])) != 0; };
  std::string result;
  for (size_t i = 0; i < name.size(); ++i) {
    if (upper(i) && i > 0 && (lower(i - 1) || (i + 1 < name.size() && lower(i + 1)))) result += '_';
    result += static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
  }
  return result;
}

/// Where TensorFlow's Python calls an input or attribute otherwise than its graphs do.
struct Renamed {
  std::string_view op;  // empty: every op
  std::string_view in_graph, in_python;
};
constexpr Renamed renamed[] = {
    {"", "reduction_indices", "axis"}, {"", "split_dim", "axis"}, {"", "squeeze_dims", "axis"},
    {"ExpandDims", "dim", "axis"},     {"Select", "t", "x"},      {"Select", "e", "y"},
    {"Where", "input", "condition"},
};
std::string_view python_name(const Op& op, std::string_view name) {
  for (const Renamed& r : renamed)
    if (r.in_graph == name && (r.op.empty() || r.op == op.name)) return r.in_python;
  return name;
}

// A type attribute that no input decides has no default: `DstT` of Cast. `Tout` of Real and its like follows T.
bool is_required(const AttrType& attrs, int row) {
  const AttrRow& r = attrs.rows[static_cast<size_t>(row)];
  return r.type->kind == AttrKind::dtype && r.name != "Tout" &&
         std::holds_alternative<std::monostate>(attrs.get(attrs.defaults, row));
}

std::unique_ptr<OpPlan> make_plan(const Op& op) {
  auto plan = std::make_unique<OpPlan>();
  Parameters& p = plan->parameters;
  p.callable = snake_case(op.name);
  p.keyword_only = true;
  for (const Arg& arg : op.args) p.add(python_name(op, arg.name));
  int num_rows = op.attrs ? static_cast<int>(op.attrs->rows.size()) : 0;
  for (bool required : {true, false})
    for (int row = 0; row < num_rows; ++row)
      if (is_required(*op.attrs, row) == required) {
        p.add(python_name(op, op.attrs->rows[static_cast<size_t>(row)].name));
        plan->attr_rows.push_back(row);
        p.required = required ? p.names.size() : p.required;
      }
  p.required = std::max(p.required, op.args.size());
  p.add("name");
  for (const TypeAttr& attr : op.type_attrs) {
    if (op.attrs && op.attrs->find(attr.name) >= 0) continue;
    p.add(attr.name);
    plan->type_attrs.push_back(attr.name);
  }
  p.unlisted = plan->type_attrs.size();
  return plan;
}

OpPlan& plan_of(PyOp* self) {
  if (!self->plan) self->plan = make_plan(*self->op).release();
  return *self->plan;
}

/// The attributes of one call: the defaults, or a copy with what was given.
AttrsRef read_attrs(const Op& op, const OpPlan& plan, PyObject* const* slots, Attrs& kept) {
  if (!op.attrs) return {};
  bool changed = false;
  for (size_t i = 0; i < plan.attr_rows.size(); ++i) {
    PyObject* value = slots[op.args.size() + i];
    if (!value) continue;
    if (!changed) kept = Attrs(*op.attrs);
    changed = true;
    set_attr(*op.attrs, kept.get(), plan.attr_rows[i], value, Strictness::raw_op);
  }
  return changed ? static_cast<AttrsRef>(kept) : op.default_attrs();
}

// T=tf.float32: the inputs of that type attribute must be, or become, float32.
DType given_type(const Op& op, const OpPlan& plan, const Arg& arg, PyObject* const* slots) {
  for (size_t i = 0; i < plan.type_attrs.size(); ++i) {
    PyObject* value = slots[op.args.size() + plan.attr_rows.size() + 1 + i];
    if (value && value != Py_None && plan.type_attrs[i] == arg.type_attr && !arg.mixed) return to_dtype(value);
  }
  return DType::invalid;
}

void read_list(const Op& op, const Arg& arg, PyObject* value, std::vector<Tensor>& inputs,
               std::optional<size_t>& length) {
  std::vector<Tensor> list = tensor_list(value, true, snake_case(op.name).c_str(), arg.name.c_str());
  if (length && *length != list.size())
    throw ValueError("List argument '" + arg.name + "' to '" + op.name + "' Op with length " +
                     std::to_string(list.size()) + " must match length " + std::to_string(*length) +
                     " of the other list.");
  length = list.size();
  for (Tensor& t : list) inputs.push_back(std::move(t));
}

PyObject* make_results(PyOp* self, std::span<TensorImpl* const> out) {
  const Op& op = *self->op;
  if (op.results.empty()) return Py_NewRef(Py_None);
  if (op.results.size() == 1 && !op.results[0].is_list()) return wrap(Tensor(out[0]));
  std::vector<Tensor> tensors;
  for (TensorImpl* t : out) tensors.emplace_back(t);
  auto num_lists = static_cast<size_t>(
      std::count_if(op.results.begin(), op.results.end(), [](const Arg& a) { return a.is_list(); }));
  size_t singles = op.results.size() - num_lists;
  size_t each = num_lists ? (tensors.size() - singles) / num_lists : 0;
  std::vector<nb::object> values;
  size_t next = 0;
  for (const Arg& result : op.results) {
    if (!result.is_list()) {
      values.push_back(nb::steal(wrap(std::move(tensors[next++]))));
      continue;
    }
    std::vector<Tensor> list(tensors.begin() + static_cast<std::ptrdiff_t>(next),
                             tensors.begin() + static_cast<std::ptrdiff_t>(next + each));
    next += each;
    values.push_back(make_list(std::move(list)));
  }
  if (values.size() == 1) return values[0].release().ptr();
  OpPlan& plan = plan_of(self);
  if (!plan.record) {
    std::vector<std::string> fields;
    for (const Arg& result : op.results) fields.push_back(result.name);
    plan.record = record_type(op.name, fields);
  }
  return make_record(plan.record, std::move(values)).release().ptr();
}

PyObject* run(PyOp* self, std::span<const TensorRef> in, AttrsRef attrs) {
  constexpr size_t few = 8;
  TensorImpl* few_outputs[few];
  std::vector<TensorImpl*> many_outputs;
  int count = self->op->count_outputs(in.size(), attrs);
  if (count < 0) throw InvalidArgumentError(std::string(self->op->name) + ": the number of results is negative");
  auto size = static_cast<size_t>(count);
  if (size > few) many_outputs.resize(size);
  std::span<TensorImpl*> out =
      size > few ? std::span<TensorImpl*>(many_outputs) : std::span<TensorImpl*>(few_outputs, size);
  bool heavy = std::any_of(in.begin(), in.end(), [](const TensorRef& t) { return is_heavy(t.p); });
  {
    WithoutGil released(heavy);
    apply(*self->op, in, attrs, out);
  }
  return make_results(self, out);
}

PyObject* call_op(PyObject* callable, PyObject* const* args, size_t flags, PyObject* keywords) {
  return guarded([&] {
    auto* self = reinterpret_cast<PyOp*>(callable);
    const Op& op = *self->op;
    OpPlan& plan = plan_of(self);
    PyObject* slots[Parameters::most];
    plan.parameters.bind(args, flags, keywords, slots);
    Attrs kept;
    AttrsRef attrs = read_attrs(op, plan, slots, kept);
    constexpr size_t few = 8;
    if (op.num_lists == 0 && op.args.size() <= few) {
      Tensor held[few];
      TensorImpl* in[few];
      for (size_t i = 0; i < op.args.size(); ++i) {
        if (slots[i] == Py_None) refuse_none(op.name, op.args[i].name);
        DType type = plan.type_attrs.empty() ? DType::invalid : given_type(op, plan, op.args[i], slots);
        if (type != DType::invalid) in[i] = (held[i] = tensor_as(slots[i], type)).get();
        else in[i] = borrow_weak(slots[i], held[i]);
      }
      return run(self, {reinterpret_cast<TensorRef*>(in), op.args.size()}, attrs);
    }
    std::vector<Tensor> inputs;
    std::optional<size_t> length;
    for (size_t i = 0; i < op.args.size(); ++i) {
      if (op.args[i].is_list()) read_list(op, op.args[i], slots[i], inputs, length);
      else if (slots[i] == Py_None) refuse_none(op.name, op.args[i].name);
      else inputs.push_back(weak_tensor(slots[i]));
    }
    return run(self, {reinterpret_cast<TensorRef*>(inputs.data()), inputs.size()}, attrs);
  });
}

void drop_op(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(type);
}

const Op& op_of(PyObject* self) { return *reinterpret_cast<PyOp*>(self)->op; }

nb::list describe_args(const Op& op, const std::vector<Arg>& args) {
  nb::list list;
  for (const Arg& arg : args)
    list.append(nb::make_tuple(std::string(python_name(op, arg.name)).c_str(), arg.is_list()));
  return list;
}

// What docs, signatures and stubs are made of.
nb::dict describe(const Op& op) {
  nb::dict d;
  nb::list attrs;
  for (int row = 0; op.attrs && row < static_cast<int>(op.attrs->rows.size()); ++row) {
    const AttrRow& r = op.attrs->rows[static_cast<size_t>(row)];
    attrs.append(nb::make_tuple(std::string(python_name(op, r.name)).c_str(), static_cast<int>(r.type->kind),
                                r.type->optional, nb::steal(from_attr_value(op.attrs->get(op.attrs->defaults, row))),
                                is_required(*op.attrs, row)));
  }
  d["name"] = op.name;
  d["doc"] = op.doc;
  d["signature"] = op.signature;
  d["inputs"] = describe_args(op, op.args);
  d["outputs"] = describe_args(op, op.results);
  d["attributes"] = attrs;
  return d;
}

PyObject* get_name(PyObject* self, void*) { return PyUnicode_FromString(op_of(self).name); }
PyObject* reduce(PyObject* self, PyObject*) { return get_name(self, nullptr); }
PyObject* get_module(PyObject*, void*) { return PyUnicode_FromString("thalweg.raw_ops"); }
PyObject* get_doc(PyObject* self, void*) { return PyUnicode_FromString(op_of(self).doc); }
PyObject* get_signature(PyObject* self, void*) {
  return guarded([&] {
    return checked(PyObject_CallFunctionObjArgs(hook(Hook::signature), describe(op_of(self)).ptr(), nullptr));
  });
}
PyObject* get_description(PyObject* self, void*) {
  return guarded([&] { return describe(op_of(self)).release().ptr(); });
}
PyObject* show(PyObject* self) { return PyUnicode_FromFormat("<op tf.raw_ops.%s>", op_of(self).name); }

PyGetSetDef op_attributes[] = {
    {"__name__", get_name, nullptr, "The op's name.", nullptr},
    {"__qualname__", get_name, nullptr, "The op's name.", nullptr},
    {"__module__", get_module, nullptr, "thalweg.raw_ops", nullptr},
    {"__doc__", get_doc, nullptr, "What the op computes.", nullptr},
    {"__signature__", get_signature, nullptr, "Its inputs and attributes.", nullptr},
    {"_description", get_description, nullptr, "The record, for docs and stubs.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

}  // namespace

void define_op_calls(nb::module_& module) {
  op_type =
      make_callable_type("thalweg.RawOp", sizeof(PyOp), offsetof(PyOp, call), drop_op, show, op_attributes, reduce);
  module.def(
      "raw_ops",
      [] {
        nb::dict ops;
        for (const Op* op : all_ops()) {
          auto* object = PyObject_New(PyOp, op_type);
          if (!object) throw nb::python_error();
          object->call = call_op;
          object->op = op;
          object->plan = nullptr;
          ops[op->name] = nb::steal(reinterpret_cast<PyObject*>(object));
        }
        return ops;
      },
      "Every op as a callable, by name.");
}

}  // namespace thalweg::python
