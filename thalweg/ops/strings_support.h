// What the families of string ops share.
#pragma once
#include <string>

#include "thalweg/core/threads.h"
#include "thalweg/ops/op.h"

namespace thalweg::strings {

inline constexpr Traits text_traits{.not_differentiable = "text has no derivative"};
inline constexpr double nanoseconds_per_string = 60;

/// Calls `body(i)` for every i below n, on several threads where n is large.
template <class Body> void for_each_string(int64_t n, const Body& body) {
  parallel_for(n, nanoseconds_per_string, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) body(i);
  });
}

/// Output 0 is `convert` of each string of input 0.
template <class Out, class Convert> void run_each(const KernelCall& c, const Convert& convert) {
  const std::string* in = c.input<std::string>(0);
  Out* out = c.output<Out>();
  for_each_string(c.count(0), [&](int64_t i) { out[i] = convert(in[i]); });
}

constexpr bool is_white_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// Input i has no dimensions; `what` begins the message: "Pattern must be scalar, but received [1]".
inline void require_scalar(const InferCall& c, int i, const char* what) {
  if (c.shape(i).has_rank() && c.shape(i).rank() != 0)
    c.fail(std::string(what) + " must be scalar, but received " + c.shape(i).brackets());
}

}  // namespace thalweg::strings
