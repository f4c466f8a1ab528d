// Things a user should know that are no errors.
#pragma once
#include <string>

#include "thalweg/core/export.h"

namespace thalweg {

/// Says it on stderr, or to whoever has asked to hear warnings.
THALWEG_API void warn(const std::string& text);
/// Takes over warnings; null gives them back to stderr. Returns who heard them before.
using WarningHandler = void (*)(const char* text);
THALWEG_API WarningHandler set_warning_handler(WarningHandler handler);

/// Counts how often something was said, and stops after a few times.
class SaySeldom {
 public:
  explicit constexpr SaySeldom(int most) : left_(most) {}
  THALWEG_API void warn(const std::string& text);

 private:
  int left_;
};

}  // namespace thalweg
