// What a call comes to.
#pragma once
#include <string>

#include "thalweg/core/error.h"

namespace thalweg {

/// The type and text of the error a call raises, as "Type: text"; "passes" where it raises none.
template <class F> std::string outcome(F call) {
  try {
    call();
  } catch (const Error& e) {
    return std::string(e.type()) + ": " + e.what();
  }
  return "passes";
}

}  // namespace thalweg
