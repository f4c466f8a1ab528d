// What the library shows while it works: progress, summaries, what callbacks say.
#pragma once
#include <string>

#include "thalweg/core/export.h"

namespace thalweg {

/// Writes it to stdout at once, or gives it to whoever has asked for it.
THALWEG_API void write_output(const std::string& text);
/// Takes over what is written; null gives it back to stdout. Returns who had it before.
using OutputHandler = void (*)(const std::string& text);
THALWEG_API OutputHandler set_output_handler(OutputHandler handler);

}  // namespace thalweg
