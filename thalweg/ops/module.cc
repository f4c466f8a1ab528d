#include "thalweg/ops/module.h"

#include <set>

namespace thalweg::module {
namespace {

using Kind = Type::Kind;

/// Goes through a module in TensorFlow's order and tells `visit` of every variable and submodule, each once.
template <class Visit> class Walk {
 public:
  explicit Walk(Visit visit) : visit_(visit) {}

  void start(const Parts& root) {
    for (const Part& part : root.list()) {
      seen_.insert(identity(part));
      if (part.type->kind == Kind::variable) visit_(std::string(), part);
      else enter(part, {});
    }
  }

 private:
  struct Found {
    std::string path;
    Part part;
  };

  // What is in a module directly comes before what is in its submodules.
  void enter(const Part& module, const std::string& path) {
    std::vector<Found> inside;
    list(module, path, inside);
    for (const Found& found : inside) enter(found.part, found.path);
  }

  void list(const Part& whole, const std::string& path, std::vector<Found>& modules) {
    Parts parts;
    whole.type->list_parts(whole.object, parts);
    if (whole.type->kind == Kind::module)
      std::sort(parts.list().begin(), parts.list().end(), [](const Part& a, const Part& b) { return a.name < b.name; });
    for (const Part& part : parts.list()) {
      std::string here = path.empty() ? part.name : path + "/" + part.name;
      if (part.type->kind == Kind::container) {
        list(part, here, modules);
      } else if (seen_.insert(identity(part)).second) {
        visit_(here, part);
        if (part.type->kind == Kind::module) modules.push_back({here, part});
      }
    }
  }

  // Copies of a variable or of another handle are one; a struct and its first member have one address.
  static std::pair<const void*, const Type*> identity(const Part& part) {
    if (part.type->kind == Kind::variable)
      return {static_cast<const Variable*>(part.object)->handle().get(), part.type};
    if (const Shared* shared = part.type->shared(part.object)) return {shared, nullptr};
    return {part.object, part.type};
  }

  Visit visit_;
  std::set<std::pair<const void*, const Type*>> seen_;
};

template <class Visit> void walk(const Parts& root, Visit visit) { Walk<Visit>(visit).start(root); }

}  // namespace

Shared::~Shared() = default;

void Parts::add(std::string_view name, const void* object, const Type* type) {
  list_.push_back({std::string(name), object, type});
}

std::vector<Variable> find_variables(const Parts& root, Wanted wanted) {
  std::vector<Variable> found;
  walk(root, [&](const std::string&, const Part& part) {
    if (part.type->kind != Kind::variable) return;
    const auto& variable = *static_cast<const Variable*>(part.object);
    if (wanted == Wanted::all || variable.trainable() == (wanted == Wanted::trainable)) found.push_back(variable);
  });
  return found;
}

std::vector<NamedVariable> find_named_variables(const Parts& root) {
  std::vector<NamedVariable> found;
  walk(root, [&](const std::string& path, const Part& part) {
    if (part.type->kind == Kind::variable) found.push_back({path, *static_cast<const Variable*>(part.object)});
  });
  return found;
}

std::vector<Submodule> find_submodules(const Parts& root) {
  std::vector<Submodule> found;
  walk(root, [&](const std::string& path, const Part& part) {
    if (part.type->kind == Kind::module) found.push_back({path, part.type->name, part.object, part.type, part.kept});
  });
  return found;
}

}  // namespace thalweg::module
