// The arguments of calls that take tensors alone, kept from call to call.
#pragma once
#include "thalweg/ops/function.h"

namespace thalweg::python {

/// Making and dropping an Argument's unused parts (a list, a value) costs as much as a small op, so one set is kept and
/// used again. The GIL guards it; a call that comes while another one computes without the GIL makes its own.
class TensorArguments {
 public:
  static constexpr size_t most = 4;
  /// Holds the set for the time of one call; `items` is null when it is taken.
  class Use {
   public:
    explicit Use(TensorArguments& kept) : items(kept.taken_ ? nullptr : kept.items_), kept_(kept) {
      if (items) kept_.taken_ = true;
    }
    ~Use() {
      if (items) kept_.taken_ = false;
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    Argument* const items;

   private:
    TensorArguments& kept_;
  };

 private:
  Argument items_[most];
  bool taken_ = false;
};

}  // namespace thalweg::python
