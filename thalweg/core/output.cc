#include "thalweg/core/output.h"

#include <atomic>
#include <iostream>

namespace thalweg {
namespace {
std::atomic<OutputHandler> handler{nullptr};
}  // namespace

void write_output(const std::string& text) {
  if (OutputHandler h = handler.load()) h(text);
  else std::cout << text << std::flush;
}

OutputHandler set_output_handler(OutputHandler next) { return handler.exchange(next); }

}  // namespace thalweg
