// What an object of the package holds of the engine: `_core`.
#pragma once
#include <nanobind/stl/unique_ptr.h>

#include "thalweg/python/keras_convert.h"

namespace thalweg::python {

/// The object of the engine behind one of Python's.
class Core {
 public:
  virtual ~Core() = default;
  virtual std::shared_ptr<keras::Object> get() = 0;
};
/// One that the engine made.
class EngineCore : public Core {
 public:
  explicit EngineCore(std::shared_ptr<keras::Object> object) : object_(std::move(object)) {}
  std::shared_ptr<keras::Object> get() override { return object_; }

 private:
  std::shared_ptr<keras::Object> object_;
};
/// One that Python implements: T is an interface and PythonBacked.
template <class T, class Interface> class BackedCore : public Core {
 public:
  template <class... A> explicit BackedCore(A&&... arguments) : backed(std::forward<A>(arguments)...) {}
  std::shared_ptr<keras::Object> get() override { return backed.handle(&backed); }

  T backed;
};

/// Objects of the engine that Python implements know their Python object.
class HasPython {
 public:
  virtual ~HasPython() = default;
  virtual nb::handle python() const = 0;
};

/// The interface behind a core; TypeError where it is another kind.
template <class I> std::shared_ptr<I> as_interface(Core& core) {
  auto found = std::dynamic_pointer_cast<I>(core.get());
  if (!found) raise(PyExc_TypeError, std::string("this object is no ") + I::kind);
  return found;
}
/// Remembers which Python object holds an object of the engine.
void remember(const keras::Object* object, nb::handle python);

/// Registers a function whose arguments may be None where they are Python's objects.
template <class F> void define(nb::module_& module, const char* name, F f) {
  [&]<class R, class... A>(R (F::*)(A...) const) {
    auto argument = []<class T>(std::type_identity<T>) {
      nb::arg made;
      if constexpr (std::derived_from<std::remove_cvref_t<T>, nb::handle>) made.none();
      return made;
    };
    if constexpr ((std::same_as<std::remove_cvref_t<A>, nb::args> || ...)) module.def(name, f);
    else module.def(name, f, argument(std::type_identity<A>{})...);
  }(&F::operator());
}

/// Calls Python from any thread; errors travel on.
template <class F> decltype(auto) with_python(F&& f) {
  nb::gil_scoped_acquire acquire;
  return f();
}

}  // namespace thalweg::python
