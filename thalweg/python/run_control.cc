// Looking at traced functions from Python, and stopping them: cancellation, Ctrl-C, profiles, the lines of a program.
#include <nanobind/stl/string.h>

#include <map>
#include <optional>

#include "thalweg/graph/cancellation.h"
#include "thalweg/graph/function_core.h"
#include "thalweg/graph/profile.h"
#include "thalweg/graph/run_state.h"
#include "thalweg/python/body.h"
#include "thalweg/python/objects.h"

namespace thalweg::python {
namespace {

// Called by loops that run, with or without the interpreter's lock.
void check_signals() {
  std::optional<nb::python_error> error;
  {
    nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() < 0) error.emplace();
  }
  if (error) throw std::move(*error);
}

/// Files whose lines are not the user's, and the lines that were named before.
struct Lines {
  std::string package;
  std::map<std::pair<PyObject*, int>, std::string> named;  // by code object, which is kept
};
Lines& lines() {
  static auto& kept = *new Lines;
  return kept;
}

std::string line_text(PyCodeObject* code, int line) {
  std::string file = text_of(nb::borrow(code->co_filename));
  file = file.substr(file.find_last_of('/') + 1);
  return file + ":" + std::to_string(line) + " in " + text_of(nb::borrow(code->co_name));
}

// The innermost frame outside of the package.
const std::string* current_line() {
  if (!PyGILState_Check()) return nullptr;
  nb::object frame = nb::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  while (frame.is_valid()) {
    auto* f = reinterpret_cast<PyFrameObject*>(frame.ptr());
    nb::object code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(f)));
    const char* file = PyUnicode_AsUTF8(reinterpret_cast<PyCodeObject*>(code.ptr())->co_filename);
    if (!file) PyErr_Clear();
    if (file && !std::string_view(file).starts_with(lines().package)) {
      int line = PyFrame_GetLineNumber(f);
      auto [place, is_new] = lines().named.try_emplace({code.ptr(), line});
      if (is_new) place->second = line_text(reinterpret_cast<PyCodeObject*>(code.inc_ref().ptr()), line);
      return &place->second;
    }
    frame = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(f)));
  }
  return nullptr;
}

/// While it is entered, functions of this thread run under a manager.
struct CancellationContext {
  CancellationManager manager;
  std::optional<CancellationScope> scope;
};

nb::list rows(const std::vector<Profile::Row>& all) {
  nb::list list;
  for (const Profile::Row& row : all)
    list.append(nb::make_tuple(row.op, row.node, row.count, row.nanoseconds, row.bytes));
  return list;
}
// The table, all times in nanoseconds, and the rows of ops and nodes.
nb::tuple run_profile(const nb::callable& call) {
  Profile measured = profile([&] { call(); });
  return nb::make_tuple(measured.str(), measured.total_nanoseconds, measured.kernels_nanoseconds, rows(measured.ops),
                        rows(measured.nodes));
}

}  // namespace

void define_run_control(nb::module_& module) {
  graph::set_interrupt_check(check_signals);
  module.def("name_lines", [](const std::string& package) {
    lines().package = package;
    graph::set_line_source(current_line);
  });
  nb::class_<CancellationManager>(module, "CancellationManager")
      .def(nb::init<>())
      .def("start_cancel", &CancellationManager::start_cancel)
      .def_prop_ro("is_cancelled", &CancellationManager::is_cancelled);
  nb::class_<CancellationContext>(module, "CancellationContext")
      .def("__init__", [](CancellationContext* self,
                          const CancellationManager& manager) { new (self) CancellationContext{manager, {}}; })
      .def("__enter__", [](CancellationContext& self) { self.scope.emplace(self.manager); })
      .def("__exit__", [](CancellationContext& self, const nb::args&) { self.scope.reset(); });
  module.def("profile", run_profile);
  module.def("summary", [](const Body& self) { return ConcreteFunction(self.body).summary(); });
  module.def("to_dot", [](const Body& self, bool optimized) { return ConcreteFunction(self.body).to_dot(optimized); });
}

}  // namespace thalweg::python
