// Where the time of traced functions goes: `std::cout << profile([&] { step(x, y); });`.
#pragma once
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "thalweg/core/export.h"

namespace thalweg {

/// What was measured while functions ran. Times of ops that run functions are those of the ops inside, which are rows
/// of their own, and of what is left.
struct THALWEG_API Profile {
  /// One node of a graph, or all nodes of an op.
  struct Row {
    std::string op;
    std::string node;        // empty: the sum over all nodes of the op
    int64_t count = 0;       // how often it ran
    double nanoseconds = 0;  // in all
    int64_t bytes = 0;       // of inputs and results, in all
  };
  std::vector<Row> ops, nodes;     // both with the longest time first
  double total_nanoseconds = 0;    // of the call
  double kernels_nanoseconds = 0;  // of the steps
  /// A table of the ops that took most of the time: total, share, count, mean, bytes.
  std::string str(size_t most_rows = 12) const;
};
/// The table.
THALWEG_API std::ostream& operator<<(std::ostream& out, const Profile& profile);

/// Calls a function and says where the time went, as far as traced functions run in it on this thread. What takes time
/// in the first call alone (tracing and planning) is kept out by a call before.
THALWEG_API Profile profile(const std::function<void()>& call);
/// The same for a function and its arguments: `profile(step, x, y)`.
template <class F, class... A>
  requires(sizeof...(A) > 0)
Profile profile(const F& function, const A&... arguments) {
  return profile([&] { function(arguments...); });
}

}  // namespace thalweg
