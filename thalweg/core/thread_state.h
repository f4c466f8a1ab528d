// What one thread is doing: the device it runs ops on, whether it traces, whether a tape listens.
#pragma once
#include <cstdint>

#include "thalweg/core/export.h"

namespace thalweg {

class Tracer;
class Recorder;
struct TensorImpl;

struct ThreadState {
  Tracer* tracer = nullptr;
  Recorder* recorder = nullptr;
  /// While a function is traced: computes what a symbolic tensor stands for, or, with `truth`, whether that is not
  /// zero; throws where it cannot. The caller owns the result.
  TensorImpl* (*reveal)(TensorImpl* symbolic, bool truth) = nullptr;
  uint8_t device = 0;
  bool started = false;  // false until the first op: devices can still be configured
};
THALWEG_API extern constinit thread_local ThreadState thread_state [[gnu::tls_model("initial-exec")]];

}  // namespace thalweg
