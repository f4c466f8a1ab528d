// Tracing for Python: bodies of functions, made by calling Python with symbolic tensors.
#include <nanobind/stl/string.h>

#include "thalweg/core/error.h"
#include "thalweg/graph/control_flow.h"
#include "thalweg/graph/function_core.h"
#include "thalweg/graph/init_scope.h"
#include "thalweg/graph/optimizer_options.h"
#include "thalweg/graph/vectorize.h"
#include "thalweg/python/body.h"
#include "thalweg/python/convert.h"

namespace thalweg::python {

// function_type.cc
PyObject* make_function_type();
void set_ready(PyObject* function, FunctionAttr body);

namespace {

using graph::GraphTracer;

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

// Calls `function` with one symbolic tensor per (dtype, shape, name); it returns the list of its results.
nb::tuple trace(const std::string& name, const nb::list& specs, const nb::callable& function,
                bool may_create_variables) {
  GraphTracer tracer(graph::current_tracer());
  tracer.may_create_variables = may_create_variables;
  {
    graph::Tracing tracing(&tracer);
    nb::list arguments;
    for (nb::handle spec : specs) {
      nb::object shape = spec[1], wanted = spec[2];
      Tensor t = tracer.argument(to_dtype(nb::object(spec[0]).ptr()), to_shape(shape.ptr()),
                                 wanted.is_none() ? std::string() : nb::cast<std::string>(wanted));
      arguments.append(nb::steal(wrap(std::move(t))));
    }
    nb::object results = function(*arguments);
    for (const Tensor& t : tensors_of(results)) tracer.graph().results.push_back(tracer.value_of(t));
  }
  if (!tracer.captures().empty())
    throw TypeError(name + " uses a symbolic tensor of the function that calls it: pass it as an argument instead");
  bool created = !tracer.created_variables().empty();
  return nb::make_tuple(Body(std::make_shared<FunctionBody>(name, std::move(tracer.graph()))), created);
}

nb::list call(const Body& self, nb::handle arguments) {
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
  nb::class_<Body>(module, "FunctionBody", nb::type_slots(body_slots))
      .def_prop_ro("name", [](const Body& self) { return nb::str(self.body->name().c_str()); })
      .def_prop_ro("text", [](const Body& self) { return nb::str(self.body->graph().str().c_str()); })
      .def_prop_ro("optimized_text",
                   [](const Body& self) { return nb::str(self.body->optimized_graph().str().c_str()); })
      .def_prop_ro("arguments", [](const Body& self) { return specs(*self.body, true); })
      .def_prop_ro("results", [](const Body& self) { return specs(*self.body, false); })
      .def_prop_ro("num_nodes", [](const Body& self) { return self.body->graph().nodes().size(); })
      .def_prop_ro("variables",
                   [](const Body& self) {
                     nb::list list;
                     for (const Tensor& handle : self.body->variables()) list.append(nb::steal(wrap_variable(handle)));
                     return list;
                   })
      .def("call", call);
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
  module.def("trace", trace);
  module.def("set_optimizer_option",
             [](const std::string& name, bool value) { config::optimizer::set_experimental_options({{name, value}}); });
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
}

}  // namespace thalweg::python
