#include "thalweg/core/name_scope.h"

#include <algorithm>
#include <utility>

#include "thalweg/core/error.h"
#include "thalweg/core/unique_names.h"

namespace thalweg {
namespace {

struct Naming {
  std::string scope;             // "outer/dense/", or nothing
  UniqueNames* names = nullptr;  // those of the graph that is being built
};
thread_local Naming naming;

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

void check_graph_scope(std::string_view name, bool is_root) {
  constexpr std::string_view others = "_.\\/>-";
  bool valid = std::all_of(name.begin(), name.end(),
                           [&](char c) { return is_letter_or_digit(c) || others.find(c) != std::string_view::npos; });
  if (is_root) valid = valid && (is_letter_or_digit(name[0]) || name[0] == '.');
  if (valid) return;
  std::string what = is_root ? "root scope name" : "scope name";
  throw ValueError("'" + std::string(name) + "' is not a valid " + what + ". A " + what +
                   " has to match the following pattern: ^" + (is_root ? "[A-Za-z0-9.]" : "") +
                   "[A-Za-z0-9_.\\\\/>-]*$");
}

std::string scope_of(std::string_view name) {
  if (name.empty() || name.back() == '/') return std::string(name);
  std::string whole = naming.scope + std::string(name);
  if (naming.names) {
    check_graph_scope(name, naming.scope.empty());
    whole = naming.names->make(whole);
  }
  return whole + "/";
}

}  // namespace

NameScope::NameScope(std::string_view name) : before_(detail::enter_name_scope(name)), name_(naming.scope) {}
NameScope::~NameScope() { detail::restore_name_scope(std::move(before_)); }

const std::string& current_name_scope() { return naming.scope; }

std::string scoped_name(std::string_view name) {
  if (name.empty()) return {};
  if (name.back() == '/') return std::string(name.substr(0, name.size() - 1));
  return naming.scope + std::string(name);
}

GraphNameScope::GraphNameScope(UniqueNames& names)
    : scope_before_(std::exchange(naming.scope, {})), names_before_(std::exchange(naming.names, &names)) {}
GraphNameScope::~GraphNameScope() {
  naming.names = names_before_;
  naming.scope = std::move(scope_before_);
}

namespace detail {
std::string enter_name_scope(std::string_view name) { return std::exchange(naming.scope, scope_of(name)); }
void restore_name_scope(std::string scope) noexcept { naming.scope = std::move(scope); }
}  // namespace detail

}  // namespace thalweg
