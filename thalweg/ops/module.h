// Modules: what tf.Module is in Python. A module is a plain struct; its variables are found through its members:
//
//   struct Dense {
//     int64_t inputs = 1, units = 1;
//     Variable kernel = Variable(random::normal({inputs, units}), {.name = "kernel"});
//     Variable bias = Variable(zeros({units}), {.name = "bias"});
//     Tensor operator()(const Tensor& x) const { return matmul(x, kernel) + bias; }
//   };
//   struct Model {
//     std::vector<Dense> blocks = {{4, 8}, {8, 8}};
//     Dense head = {8, 1};
//   };
//   Model model;
//   for (auto& [path, variable] : named_variables(model)) ...  // blocks/0/bias, blocks/0/kernel, ..., head/kernel
//   auto variables = trainable_variables(model);
//   auto gradients = tape.gradient(loss, variables);
//
// Members are variables, modules, numbers and strings, and vectors, arrays, maps, tuples, optionals, variants,
// shared_ptrs and unique_ptrs of those. Copies of a struct share its variables; a variable that has not been made yet
// (`Variable kernel = {};`) is passed over. A class with private members, a constructor or a base lists what it holds:
//
//   template <class F> void fields(F&& f) { f("kernel", kernel_); f("blocks", blocks_); }
//
// and one with virtual functions, held by pointer, `virtual void fields(module::Parts& f)`. A member whose variables
// would not be found, such as a raw pointer, does not compile, and the compiler's message says what to do instead.
#pragma once
#include "thalweg/ops/module_parts.h"

namespace thalweg {

/// A variable and the way to it through members, numbers in lists and keys of maps: `blocks/0/kernel`.
struct NamedVariable {
  std::string path;
  Variable variable;
};

/// A module inside another: a struct that holds variables, or could.
struct Submodule {
  std::string path;
  std::string_view type;  // as the compiler spells it
  const void* object;
  const module::Type* erased;
  std::shared_ptr<const void> kept = {};  // the object, where nothing else holds it
  /// The struct, when it is a T; else null.
  template <class T> const T* as() const {
    if constexpr (module::role_of<T>() != module::Role::module) return nullptr;
    else return erased == &module::type_of<T> ? static_cast<const T*>(object) : nullptr;
  }
};

namespace module {
enum class Wanted : uint8_t { all, trainable, non_trainable };
THALWEG_API std::vector<Variable> find_variables(const Parts& root, Wanted wanted);
THALWEG_API std::vector<NamedVariable> find_named_variables(const Parts& root);
THALWEG_API std::vector<Submodule> find_submodules(const Parts& root);
template <class T> Parts root_of(const T& object) {
  Parts root;
  root({}, object);
  return root;
}
}  // namespace module

/// The variables of a module, each once: its own by the names of the members, then those of each submodule in turn, as
/// in TensorFlow.
template <class T> std::vector<Variable> variables(const T& module) {
  return module::find_variables(module::root_of(module), module::Wanted::all);
}
/// Those that tapes watch and optimizers change.
template <class T> std::vector<Variable> trainable_variables(const T& module) {
  return module::find_variables(module::root_of(module), module::Wanted::trainable);
}
/// The others: counts, averages, state.
template <class T> std::vector<Variable> non_trainable_variables(const T& module) {
  return module::find_variables(module::root_of(module), module::Wanted::non_trainable);
}
/// The variables in the same order, with their paths; one that several paths lead to has the first.
template <class T> std::vector<NamedVariable> named_variables(const T& module) {
  return module::find_named_variables(module::root_of(module));
}
/// The modules inside a module, each once, each before those inside it. They stay where they are: the result points to
/// them.
template <class T> std::vector<Submodule> submodules(const T& module) {
  return module::find_submodules(module::root_of(module));
}

}  // namespace thalweg
