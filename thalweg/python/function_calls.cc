// The public functions: one callable type for every function record. Parameters first, then options, then `name`.
#include <algorithm>
#include <memory>

#include "thalweg/core/error.h"
#include "thalweg/python/arguments.h"
#include "thalweg/python/convert.h"
#include "thalweg/python/keras_functions.h"
#include "thalweg/python/tensor_arguments.h"

namespace thalweg::python {
namespace {

struct FunctionPlan {
  Parameters parameters;
  size_t num_params = 0;
  size_t num_options = 0;
  int name_slot = -1;         // where `name` is no option of its own
  bool takes_rest = false;    // the last parameter is called args: it takes any number of positional arguments
  PyObject* alone = nullptr;  // whether one value may stand for its list: True for a tensor, False for any (borrowed)
  PyObject* record = nullptr;
  std::unique_ptr<TensorArguments> kept;  // where all parameters are single tensors
};

struct PyPublicFunction {
  PyObject_HEAD vectorcallfunc call;
  const FunctionDef* def;
  FunctionPlan* plan;
};
PyTypeObject* public_function_type = nullptr;

std::string last_part(const std::string& name) { return name.substr(name.rfind('.') + 1); }

std::unique_ptr<FunctionPlan> make_plan(const FunctionDef& def) {
  auto plan = std::make_unique<FunctionPlan>();
  Parameters& p = plan->parameters;
  p.callable = last_part(def.names[0]);
  for (const Param& param : def.params) p.add(param.name);
  plan->num_params = p.required = def.params.size();
  plan->takes_rest = !def.params.empty() && def.params.back().name == "args";
  bool has_name = false;
  if (def.options)
    for (const AttrRow& row : def.options->rows) {
      p.add(row.name);
      has_name |= row.name == "name";
    }
  plan->num_options = p.names.size() - plan->num_params;
  bool tensors_alone = std::all_of(def.params.begin(), def.params.end(), [](const Param& param) {
    return param.kind == ParamKind::tensor || param.kind == ParamKind::tensor_like;
  });
  plan->alone = PyDict_GetItemString(hook(Hook::single_values), def.names[0].c_str());
  if (tensors_alone && def.params.size() <= TensorArguments::most) plan->kept = std::make_unique<TensorArguments>();
  if (!has_name) {
    plan->name_slot = static_cast<int>(p.names.size());
    p.add("name");
  }
  return plan;
}

FunctionPlan& plan_of(PyPublicFunction* self) {
  if (!self->plan) self->plan = make_plan(*self->def).release();
  return *self->plan;
}

// top_k -> TopK; the package knows where TensorFlow says otherwise.
std::string record_name(const FunctionDef& def) {
  PyObject* known = PyDict_GetItemString(hook(Hook::record_names), def.names[0].c_str());
  if (known) return text_of(known);
  std::string name;
  bool start = true;
  for (char c : last_part(def.names[0])) {
    if (c != '_') name += start && c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
    start = c == '_';
  }
  return name;
}

PyObject* make_results(PyPublicFunction* self, Results& results) {
  const FunctionDef& def = *self->def;
  switch (def.result) {
    case ResultKind::none:
      return Py_NewRef(Py_None);
    case ResultKind::one:
      return wrap(std::move(results.one));
    case ResultKind::list:
      return make_list(std::move(results.many)).release().ptr();
    case ResultKind::record:
      break;
  }
  FunctionPlan& plan = plan_of(self);
  std::vector<nb::object> values;
  for (Tensor& t : results.many) values.push_back(nb::steal(wrap(std::move(t))));
  if (!plan.record) {
    std::string name = record_name(def);
    plan.record =
        name == "tuple" ? plain_tuple() : record_type(name, {def.result_names.begin(), def.result_names.end()});
  }
  return make_record(plan.record, std::move(values)).release().ptr();
}

// concat(x, 0): one value where a list is expected, which is not taken apart.
bool stands_alone(const FunctionPlan& plan, PyObject* value) {
  if (!plan.alone || PyList_Check(value) || PyTuple_Check(value)) return false;
  return plan.alone == Py_False || is_tensor_or_variable(value);
}

// One parameter's argument; true when its tensors are much work.
bool read_argument(const FunctionDef& def, const FunctionPlan& plan, size_t i, PyObject* value, Argument& argument,
                   Tensor& held) {
  const Param& param = def.params[i];
  switch (param.kind) {
    case ParamKind::tensor:
      argument.tensor = nullptr;           // arguments are kept from call to call
      if (value == Py_None) return false;  // an undefined tensor; a function that needs one says so
      argument.tensor = borrow_natural(value, held);
      return is_heavy(argument.tensor);
    case ParamKind::tensor_like:
      if (value == Py_None) refuse_none(def.names[0], param.name);
      argument.tensor = borrow_weak(value, held);
      return is_heavy(argument.tensor);
    case ParamKind::tensors:
      if (stands_alone(plan, value)) argument.tensors = {natural_tensor(value)};
      else argument.tensors = tensor_list(value, false, last_part(def.names[0]).c_str(), param.name.c_str());
      return std::any_of(argument.tensors.begin(), argument.tensors.end(),
                         [](const Tensor& t) { return is_heavy(t.get()); });
    case ParamKind::value:
      if (value == Py_None && param.type->kind == AttrKind::dtype) to_dtype(value);  // refuses it
      argument.value = to_attr_value(value, *param.type, param.name.c_str(), Strictness::function);
      if (auto* shape = std::get_if<Shape>(&argument.value)) return shape->num_elements() > 16 * 1024;
      return false;
  }
  return false;
}

PyObject* run(PyPublicFunction* self, PyObject* const* slots, Argument* arguments, Tensor* held) {
  const FunctionDef& def = *self->def;
  FunctionPlan& plan = *self->plan;
  bool heavy = false;
  for (size_t i = 0; i < plan.num_params; ++i) heavy |= read_argument(def, plan, i, slots[i], arguments[i], held[i]);
  Attrs kept;
  const void* options = def.options ? def.options->defaults : nullptr;
  for (size_t i = 0; i < plan.num_options; ++i) {
    PyObject* value = slots[plan.num_params + i];
    if (!value) continue;
    if (!kept.get()) kept = Attrs(*def.options);
    options = kept.get();
    set_attr(*def.options, kept.get(), static_cast<int>(i), value, Strictness::function);
  }
  Results results;
  try {
    WithoutGil released(heavy);
    def.call(arguments, options, results);
  } catch (const ValueError& error) {
    // Some functions take None for some of their tensors; where one used it, its own words name no argument.
    bool is_none = std::string_view(error.what()).find("undefined (None)") != std::string_view::npos;
    for (size_t i = 0; is_none && i < plan.num_params; ++i)
      if (slots[i] == Py_None) refuse_none(def.names[0], def.params[i].name);
    throw;
  }
  return make_results(self, results);
}

// Functions that give nothing, or take no argument, are no layers.
bool is_for_models(const FunctionDef& def, const FunctionPlan& plan, PyObject* const* slots) {
  if (def.result == ResultKind::none || plan.num_params == 0) return false;
  for (size_t i = 0; i < plan.num_params + plan.num_options; ++i)
    if (holds_keras_tensor(slots[i])) return true;
  return false;
}

// f(a, *args, option=...): the positional arguments from the last parameter on are its list.
void bind_with_rest(const FunctionPlan& plan, PyObject* const* args, size_t flags, PyObject* keywords, PyObject** slots,
                    nb::object& rest) {
  auto given = static_cast<size_t>(PyVectorcall_NARGS(flags));
  size_t first = plan.num_params - 1;
  size_t num_keywords = keywords ? static_cast<size_t>(PyTuple_GET_SIZE(keywords)) : 0;
  if (given < first) return plan.parameters.bind(args, flags, keywords, slots);
  rest = owned(PyTuple_New(static_cast<Py_ssize_t>(given - first)));
  for (size_t i = first; i < given; ++i)
    PyTuple_SET_ITEM(rest.ptr(), static_cast<Py_ssize_t>(i - first), Py_NewRef(args[i]));
  std::vector<PyObject*> bound(args, args + first);
  bound.push_back(rest.ptr());
  bound.insert(bound.end(), args + given, args + given + num_keywords);
  plan.parameters.bind(bound.data(), plan.num_params, keywords, slots);
}

PyObject* call_function(PyObject* callable, PyObject* const* args, size_t flags, PyObject* keywords) {
  return guarded([&] {
    auto* self = reinterpret_cast<PyPublicFunction*>(callable);
    FunctionPlan& plan = plan_of(self);
    PyObject* slots[Parameters::most];
    nb::object rest;
    if (plan.takes_rest) bind_with_rest(plan, args, flags, keywords, slots, rest);
    else plan.parameters.bind(args, flags, keywords, slots);
    if (has_keras_tensors && is_for_models(*self->def, plan, slots)) [[unlikely]] {
      Results results = call_on_models(*self->def, slots, plan.name_slot < 0 ? nullptr : slots[plan.name_slot]);
      return make_results(self, results);
    }
    if (plan.kept) {
      TensorArguments::Use use(*plan.kept);
      Tensor held[TensorArguments::most];
      if (use.items) [[likely]]
        return run(self, slots, use.items, held);
    }
    std::vector<Argument> arguments(plan.num_params);
    std::vector<Tensor> held(plan.num_params);
    return run(self, slots, arguments.data(), held.data());
  });
}

void drop_function(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(type);
}

const FunctionDef& def_of(PyObject* self) { return *reinterpret_cast<PyPublicFunction*>(self)->def; }

// What docs, signatures and stubs are made of.
nb::dict describe(const FunctionDef& def) {
  nb::dict d;
  nb::list names, params, options, results;
  for (const std::string& name : def.names) names.append(nb::str(name.c_str()));
  for (const Param& p : def.params)
    params.append(nb::make_tuple(p.name.c_str(), static_cast<int>(p.kind), p.type ? static_cast<int>(p.type->kind) : -1,
                                 p.type && p.type->optional));
  for (int row = 0; def.options && row < static_cast<int>(def.options->rows.size()); ++row) {
    const AttrRow& r = def.options->rows[static_cast<size_t>(row)];
    options.append(nb::make_tuple(std::string(r.name).c_str(), static_cast<int>(r.type->kind), r.type->optional,
                                  nb::steal(from_attr_value(def.options->get(def.options->defaults, row)))));
  }
  for (std::string_view name : def.result_names) results.append(nb::str(name.data(), name.size()));
  d["names"] = names;
  d["parameters"] = params;
  d["options"] = options;
  d["result"] = static_cast<int>(def.result);
  d["result_names"] = results;
  return d;
}

PyObject* get_name(PyObject* self, void*) { return unicode(last_part(def_of(self).names[0])); }
// By its name: copies and pickles of a function are the function.
PyObject* reduce(PyObject* self, PyObject*) { return get_name(self, nullptr); }
PyObject* get_module(PyObject* self, void*) {
  const std::string& name = def_of(self).names[0];
  size_t dot = name.rfind('.');
  return unicode(dot == std::string::npos ? "thalweg" : "thalweg." + name.substr(0, dot));
}
PyObject* get_doc(PyObject* self, void*) {
  return guarded([&] { return checked(PyObject_CallOneArg(hook(Hook::docs), describe(def_of(self)).ptr())); });
}
PyObject* get_signature(PyObject* self, void*) {
  return guarded([&] { return checked(PyObject_CallOneArg(hook(Hook::signature), describe(def_of(self)).ptr())); });
}
PyObject* get_description(PyObject* self, void*) {
  return guarded([&] { return describe(def_of(self)).release().ptr(); });
}
PyObject* show(PyObject* self) { return unicode("<function tf." + def_of(self).names[0] + ">"); }

PyGetSetDef public_function_attributes[] = {
    {"__name__", get_name, nullptr, "The function's name.", nullptr},
    {"__qualname__", get_name, nullptr, "The function's name.", nullptr},
    {"__module__", get_module, nullptr, "Where it is found.", nullptr},
    {"__doc__", get_doc, nullptr, "What it computes.", nullptr},
    {"__signature__", get_signature, nullptr, "Its parameters.", nullptr},
    {"_description", get_description, nullptr, "The record, for docs and stubs.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

}  // namespace

void define_function_calls(nb::module_& module) {
  public_function_type =
      make_callable_type("thalweg.PublicFunction", sizeof(PyPublicFunction), offsetof(PyPublicFunction, call),
                         drop_function, show, public_function_attributes, reduce);
  module.def(
      "functions",
      [] {
        nb::dict functions;
        for (const FunctionDef* def : all_functions()) {
          auto* object = PyObject_New(PyPublicFunction, public_function_type);
          if (!object) throw nb::python_error();
          object->call = call_function;
          object->def = def;
          object->plan = nullptr;
          nb::object callable = nb::steal(reinterpret_cast<PyObject*>(object));
          for (const std::string& name : def->names) functions[name.c_str()] = callable;
        }
        return functions;
      },
      "Every public function as a callable, by its dotted names.");
}

}  // namespace thalweg::python
