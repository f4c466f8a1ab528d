// Name scopes: what the names of variables (and, while a function is traced, of nodes) begin with.
#pragma once
#include <string>
#include <string_view>

#include "thalweg/core/export.h"

namespace thalweg {

class UniqueNames;

/// Puts a scope in front of the names of what is made in it, in this thread: `NameScope scope("dense");` makes
/// variables `dense/kernel:0`. Scopes nest; a name that ends with `/` is taken as it is, whatever is around it; an
/// empty one leaves all scopes. A scope may be entered twice: its name is not counted up, except in a graph (see
/// GraphNameScope).
class THALWEG_API NameScope {
 public:
  [[nodiscard]] explicit NameScope(std::string_view name);
  ~NameScope();
  NameScope(const NameScope&) = delete;
  NameScope& operator=(const NameScope&) = delete;

  /// The whole of it: `outer/dense/`. Given to another NameScope it leads back here.
  const std::string& name() const { return name_; }

 private:
  std::string before_;
  std::string name_;
};
/// `auto scope = name_scope("dense");`
[[nodiscard]] inline NameScope name_scope(std::string_view name) { return NameScope(name); }

/// The scope of this thread: `outer/dense/`, or nothing.
THALWEG_API const std::string& current_name_scope();
/// The name of something that is made now: `outer/dense/kernel` for `kernel`. A name that ends with `/` is taken as it
/// is, without that.
THALWEG_API std::string scoped_name(std::string_view name);

/// While one lives, this thread builds a graph: its scopes begin anew and have names that are unique in `names` and
/// that TensorFlow accepts for nodes; ValueError for others.
class THALWEG_API GraphNameScope {
 public:
  [[nodiscard]] explicit GraphNameScope(UniqueNames& names);
  ~GraphNameScope();
  GraphNameScope(const GraphNameScope&) = delete;
  GraphNameScope& operator=(const GraphNameScope&) = delete;

 private:
  std::string scope_before_;
  UniqueNames* names_before_;
};

namespace detail {
// The two halves of NameScope, for languages whose scopes are no objects on the stack.
/// Enters a scope; returns the one before.
THALWEG_API std::string enter_name_scope(std::string_view name);
/// Makes this the scope again.
THALWEG_API void restore_name_scope(std::string scope) noexcept;
}  // namespace detail

}  // namespace thalweg
