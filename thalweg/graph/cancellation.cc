#include "thalweg/graph/cancellation.h"

#include "thalweg/graph/run_state.h"

namespace thalweg {

CancellationScope::CancellationScope(CancellationManager manager)
    : manager_(std::move(manager)), outer_(graph::run_state.cancellation) {
  graph::run_state.cancellation = this;
  graph::run_state.update();
}
CancellationScope::~CancellationScope() {
  graph::run_state.cancellation = outer_;
  graph::run_state.update();
}

}  // namespace thalweg
