#include "thalweg/ops/function.h"

#include <map>
#include <stdexcept>

namespace thalweg {
namespace {
struct Functions {
  std::vector<const FunctionDef*> list;
  std::map<std::string, const FunctionDef*, std::less<>> by_name;
};
Functions& functions() {
  static Functions& f = *new Functions;
  return f;
}
}  // namespace

const FunctionDef& register_function(FunctionDef def) {
  auto* kept = new FunctionDef(std::move(def));
  for (const Param& p : kept->params)
    if (p.name.empty()) throw std::logic_error("function " + kept->names[0] + ": a parameter has no name");
  for (const std::string& name : kept->names)
    if (!functions().by_name.emplace(name, kept).second)
      throw std::logic_error("function " + name + " is defined twice");
  functions().list.push_back(kept);
  return *kept;
}

std::span<const FunctionDef* const> all_functions() { return functions().list; }

const FunctionDef* find_function(std::string_view name) {
  auto found = functions().by_name.find(name);
  return found == functions().by_name.end() ? nullptr : found->second;
}

}  // namespace thalweg
