// Names and lines of code, from the program's own debug information.
#pragma once
#include <string>

namespace thalweg::graph {

/// Whether the function that a call returns to is one of this library's, or the standard library's.
bool is_library_symbol(const void* return_address);
/// `train.cc:12 in step(thalweg::Tensor)`, without debug information `step(...)+0x1c`; empty where nothing is known.
std::string describe_code(const void* return_address);

}  // namespace thalweg::graph
