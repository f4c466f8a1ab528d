// Where in a program the nodes of a graph were made: noted in a few nanoseconds, put into words when an error needs it.
#pragma once
#include <cstdint>
#include <string>

#include "thalweg/core/export.h"

namespace thalweg::graph {

/// A place in a program.
struct Where {
  enum Kind : uint8_t { unknown, address, text };
  Kind kind = unknown;
  const void* at = nullptr;           // the place a call returns to, or a std::string that is there forever
  const void* next = nullptr;         // the place after that; where `at` is null, a list of them
  const char* gradient_of = nullptr;  // the op, where a gradient made the node
};

/// Where the program is now: the innermost caller outside of this library.
Where where_now();
/// `train.cc:12 in step(), for the gradient of MatMul`; empty where nothing is known.
THALWEG_API std::string describe(const Where& where);
/// For programs in another language: says which of its lines runs now (a string that stays), or null.
THALWEG_API void set_line_source(const std::string* (*current_line)());

}  // namespace thalweg::graph
