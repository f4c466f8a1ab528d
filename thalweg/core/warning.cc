#include "thalweg/core/warning.h"

#include <atomic>
#include <cstdio>

namespace thalweg {
namespace {
std::atomic<WarningHandler> handler{nullptr};
}  // namespace

void warn(const std::string& text) {
  if (WarningHandler h = handler.load()) h(text.c_str());
  else std::fprintf(stderr, "WARNING: %s\n", text.c_str());
}

WarningHandler set_warning_handler(WarningHandler next) { return handler.exchange(next); }

void SaySeldom::warn(const std::string& text) {
  if (std::atomic_ref(left_).fetch_sub(1) > 0) thalweg::warn(text);
}

}  // namespace thalweg
