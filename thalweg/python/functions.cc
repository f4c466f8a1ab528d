// Tracing for Python: bodies of functions, made by calling Python with symbolic tensors.
#include <nanobind/stl/string.h>

#include "thalweg/core/error.h"
#include "thalweg/graph/init_scope.h"
#include "thalweg/graph/optimizer_options.h"
#include "thalweg/graph/over_rows.h"
#include "thalweg/graph/trace.h"
#include "thalweg/graph/vectorize.h"
#include "thalweg/python/body.h"
#include "thalweg/python/convert.h"

namespace thalweg::python {

// function_type.cc
PyObject* make_function_type();
void set_ready(PyObject* function, FunctionAttr body);
// run_control.cc
void define_run_control(nb::module_& module);

namespace {

/// While it is entered, ops run at once, whatever is being traced.
struct Untraced {
  std::optional<InitScope> scope;
  void enter() { scope.emplace(); }
  void exit(const nb::args&) { scope.reset(); }
};

std::vector<Tensor> tensors_of(nb::handle objects) {
  std::vector<Tensor> all;
  for (nb::handle object : objects) all.push_back(natural_tensor(object.ptr()));
  return all;
}
nb::list wrap_all(std::vector<Tensor> tensors) {
  nb::list list;
  for (Tensor& t : tensors) list.append(nb::steal(wrap(std::move(t))));
  return list;
}

nb::list call_body(const Body& self, nb::handle arguments) {
  std::vector<Tensor> held = tensors_of(arguments);
  std::vector<TensorRef> in(held.begin(), held.end());
  std::vector<Tensor> results;
  if (thread_state.tracer) results = graph::call(self.body, in);
  else {
    nb::gil_scoped_release release;
    results = graph::call(self.body, in);
  }
  return wrap_all(std::move(results));
}

nb::list specs(const FunctionBody& body, bool of_arguments) {
  nb::list list;
  size_t count = of_arguments ? body.num_arguments() : body.num_results();
  for (size_t i = 0; i < count; ++i) {
    const graph::Spec& spec = of_arguments ? body.argument(i) : body.result(i);
    list.append(nb::make_tuple(nb::steal(wrap_dtype(spec.dtype)), nb::steal(wrap_shape(spec.shape))));
  }
  return list;
}

/// The traces of one Python function. Structures of results are Python's own.
class Traces {
 public:
  explicit Traces(FunctionOptions options) : core_(std::move(options)) {}

  // `tensors` are tensors, or (dtype, shape, name) for those without a value; each is named by its parameter. A number
  // for `describe`, or (results, structure) where tracing had to run the function, or None where it is part of the
  // function around it.
  nb::object find(const nb::list& tensors, const nb::list& parameters, const std::string& rest,
                  const nb::callable& function, bool needs_graph) {
    std::vector<Tensor> held;
    std::vector<std::string> names;
    for (size_t i = 0; i < tensors.size(); ++i) {
      nb::handle item = tensors[i];
      bool is_spec = nb::isinstance<nb::tuple>(item);
      held.push_back(is_spec ? stand_in(item) : natural_tensor(item.ptr()));
      const bool has_name = is_spec && !nb::object(item[2]).is_none();
      names.push_back(nb::cast<std::string>(has_name ? nb::object(item[2]) : nb::object(parameters[i])));
    }
    std::vector<TensorRef> in(held.begin(), held.end());
    graph::TraceBody body = structured_body(function);
    if (needs_graph) return key_of(core_.find_graph(in, rest, body, names));
    graph::FunctionCore::Found got = core_.find(in, rest, body, names);
    if (got.outcome) return outcome(std::move(*got.outcome));
    if (!got.trace || (got.trace->paths && thread_state.tracer)) return nb::none();
    return got.trace->paths ? outcome(got.trace->paths->run(in, body)) : key_of(*got.trace);
  }
  // A trace: body, (dtype, shape) of the arguments, structure of the results.
  nb::tuple describe(size_t key) const {
    const graph::Trace& trace = *told_.at(key);
    return nb::make_tuple(Body(trace.body), specs(*trace.body, true), structure_of(trace.structure));
  }
  int tracing_count() const { return core_.tracing_count(); }

 private:
  static Tensor stand_in(nb::handle spec) {
    return detail::stand_in(to_dtype(nb::object(spec[0]).ptr()), to_shape(nb::object(spec[1]).ptr()));
  }
  // The function returns its tensors, and their structure.
  static graph::TraceBody structured_body(const nb::callable& function) {
    return [&function](std::span<const Tensor> arguments) {
      nb::list list;
      for (const Tensor& t : arguments) list.append(nb::steal(wrap(t)));
      nb::object results = function(*list);
      nb::object structure = results[1];
      return graph::Traced{tensors_of(nb::object(results[0])),
                           std::shared_ptr<const void>(structure.release().ptr(), [](const void* object) {
                             nb::gil_scoped_acquire acquire;
                             Py_DECREF(static_cast<PyObject*>(const_cast<void*>(object)));
                           })};
    };
  }
  static nb::object structure_of(const std::shared_ptr<const void>& structure) {
    return nb::borrow(static_cast<PyObject*>(const_cast<void*>(structure.get())));
  }
  static nb::object outcome(graph::Traced&& traced) {
    return nb::make_tuple(wrap_all(std::move(traced.tensors)), structure_of(traced.structure));
  }
  nb::object key_of(const graph::Trace& trace) {
    size_t key = 0;
    while (key < told_.size() && told_[key] != &trace) ++key;
    if (key == told_.size()) told_.push_back(&trace);
    return nb::int_(key);
  }

  graph::FunctionCore core_;
  std::vector<const graph::Trace*> told_;  // by key
};

graph::TraceBody python_body(const nb::callable& function) {
  return [function](std::span<const Tensor> arguments) {
    nb::list list;
    for (const Tensor& t : arguments) list.append(nb::steal(wrap(t)));
    nb::object results = function(*list);
    return graph::Traced{tensors_of(results), nullptr};
  };
}

}  // namespace

void define_functions(nb::module_& module) {
  define_run_control(module);
  nb::class_<Body>(module, "FunctionBody", nb::type_slots(body_slots))
      .def_prop_ro("name", [](const Body& self) { return nb::str(self.body->name().c_str()); })
      .def_prop_ro("text", [](const Body& self) { return nb::str(self.body->graph().str().c_str()); })
      .def_prop_ro("optimized_text",
                   [](const Body& self) { return nb::str(self.body->optimized_graph().str().c_str()); })
      .def_prop_ro("arguments", [](const Body& self) { return specs(*self.body, true); })
      .def_prop_ro("results", [](const Body& self) { return specs(*self.body, false); })
      .def_prop_ro("inputs",
                   [](const Body& self) {
                     std::vector<Tensor> all;
                     for (graph::Node* n : self.body->graph().arguments)
                       all.push_back(self.body->graph().symbol_of({n, 0}));
                     return wrap_all(std::move(all));
                   })
      .def_prop_ro("outputs",
                   [](const Body& self) {
                     std::vector<Tensor> all;
                     for (graph::Value v : self.body->graph().results) all.push_back(self.body->graph().symbol_of(v));
                     return wrap_all(std::move(all));
                   })
      .def_prop_ro("num_nodes", [](const Body& self) { return self.body->graph().nodes().size(); })
      .def_prop_ro("variables",
                   [](const Body& self) {
                     nb::list list;
                     for (const Tensor& handle : self.body->variables()) list.append(nb::steal(wrap_variable(handle)));
                     return list;
                   })
      .def("call", call_body);
  nb::class_<Untraced>(module, "Untraced")
      .def(nb::init<>())
      .def("__enter__", &Untraced::enter)
      .def("__exit__", &Untraced::exit);
  module.attr("FunctionBase") = nb::steal(make_function_type());
  module.def("set_ready", [](nb::handle function, nb::handle body) {
    set_ready(function.ptr(), body.is_none() ? nullptr : nb::cast<Body&>(body).body);
  });
  module.def("run_functions_eagerly", config::run_functions_eagerly);
  module.def("functions_run_eagerly", config::functions_run_eagerly);
  nb::class_<Traces>(module, "Traces")
      .def("__init__",
           [](Traces* self, const std::string& name, const std::string& described_as, const nb::list& signature,
              bool reduce_retracing, bool jit_compile, bool autograph) {
             FunctionOptions options{{}, reduce_retracing, jit_compile, autograph, name, described_as};
             for (nb::handle spec : signature)
               options.input_signature.emplace_back(
                   to_shape(nb::object(spec[1]).ptr()), to_dtype(nb::object(spec[0]).ptr()),
                   nb::object(spec[2]).is_none() ? std::string() : nb::cast<std::string>(spec[2]));
             new (self) Traces(std::move(options));
           })
      .def("find", &Traces::find)
      .def("describe", &Traces::describe)
      .def_prop_ro("tracing_count", &Traces::tracing_count);
  module.def("set_jit", config::optimizer::set_jit);
  module.def("get_jit", config::optimizer::get_jit);
  module.def("set_optimizer_option",
             [](const std::string& name, bool value) { config::optimizer::set_experimental_options({{name, value}}); });
  module.def("known_dims", [](nb::handle vector) {
    const Tensor& t = tensor_of(vector.ptr());
    return nb::steal(wrap_shape(thread_state.tracer && t.rank() == 1 && is_integer(t.dtype())
                                    ? thread_state.tracer->known_dims(*t.impl())
                                    : Shape::unknown_rank()));
  });
  module.def("is_tracing", [] { return thread_state.tracer != nullptr; });
  module.def("cond", [](nb::handle predicate, const nb::callable& then, const nb::callable& otherwise) {
    return wrap_all(graph::cond(natural_tensor(predicate.ptr()), python_body(then), python_body(otherwise)));
  });
  module.def("switch_case", [](nb::handle index, const nb::list& branches) {
    std::vector<graph::TraceBody> bodies;
    for (nb::handle branch : branches) bodies.push_back(python_body(nb::borrow<nb::callable>(branch)));
    return wrap_all(graph::switch_case(natural_tensor(index.ptr()), bodies));
  });
  module.def("vectorized_map", [](const nb::callable& function, const nb::list& elems, bool fallback, bool warn) {
    return wrap_all(graph::vectorized_map(python_body(function), tensors_of(elems), {fallback, warn}));
  });
  module.def("while_loop", [](const nb::callable& condition, const nb::callable& body, const nb::list& values,
                              const nb::list& shapes, int64_t maximum_iterations, int64_t parallel_iterations) {
    std::vector<Shape> invariants;
    for (nb::handle shape : shapes) invariants.push_back(to_shape(shape.ptr()));
    return wrap_all(graph::while_loop(python_body(condition), python_body(body), tensors_of(values), invariants,
                                      maximum_iterations, parallel_iterations));
  });
  module.def("over_rows", [](const nb::callable& body, const nb::list& tensors, const nb::list& state, bool backwards) {
    return wrap_all(graph::over_rows(python_body(body), tensors_of(tensors), tensors_of(state), backwards));
  });
  module.def("split_first_row", [](const nb::list& tensors, bool backwards) {
    graph::FirstRow first = graph::split_first_row(tensors_of(tensors), backwards);
    return nb::make_tuple(wrap_all(first.row), wrap_all(first.rest));
  });
  module.def("with_first_row", [](const nb::list& row, const nb::list& rows, bool backwards) {
    return wrap_all(graph::with_first_row(tensors_of(row), tensors_of(rows), backwards));
  });
}

}  // namespace thalweg::python
