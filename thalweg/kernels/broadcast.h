// Broadcasting as loops: adjacent axes that behave alike are merged, so most calls have one or two.
#pragma once
#include <algorithm>
#include <cstdint>

#include "thalweg/core/shape.h"

namespace thalweg::kernels {

/// N operands over one output shape. Strides count elements; 0 repeats the operand along that axis.
template <int N> struct BroadcastPlan {
  int rank = 0;
  int64_t size[Shape::max_rank] = {};
  int64_t stride[N][Shape::max_rank] = {};

  BroadcastPlan(const Shape& out, const Shape* const (&shapes)[N]) {
    // From the innermost axis outward.
    int64_t next[N];
    std::fill(next, next + N, 1);
    bool repeats[N] = {};
    for (int i = 0; i < out.rank(); ++i) {
      int64_t n = out[out.rank() - 1 - i];
      if (n == 1) continue;
      bool now[N];
      for (int k = 0; k < N; ++k) {
        int axis = shapes[k]->rank() - 1 - i;
        now[k] = axis < 0 || (*shapes[k])[axis] == 1;
      }
      if (rank && std::equal(now, now + N, repeats)) {
        size[rank - 1] *= n;
      } else {
        for (int k = 0; k < N; ++k) stride[k][rank] = now[k] ? 0 : next[k];
        std::copy(now, now + N, repeats);
        size[rank++] = n;
      }
      for (int k = 0; k < N; ++k)
        if (!now[k]) next[k] *= n;
    }
    if (rank == 0) {
      size[rank++] = 1;
      for (int k = 0; k < N; ++k) stride[k][0] = 0;
    }
  }
  /// Whether operand k is read straight through, once.
  bool contiguous(int k) const { return rank == 1 && stride[k][0] == 1; }
};

/// Walks the rows (all axes but the innermost) of a plan from row `row` on, keeping each operand's offset.
template <int N> class RowWalk {
 public:
  RowWalk(const BroadcastPlan<N>& plan, int64_t row) : plan_(plan) {
    for (int d = 1; d < plan.rank; ++d) {
      if (plan.size[d] == 0) return;  // nothing to walk
      at_[d] = row % plan.size[d];
      row /= plan.size[d];
      for (int k = 0; k < N; ++k) offset[k] += at_[d] * plan.stride[k][d];
    }
  }
  void next() {
    for (int d = 1; d < plan_.rank; ++d) {
      for (int k = 0; k < N; ++k) offset[k] += plan_.stride[k][d];
      if (++at_[d] < plan_.size[d]) return;
      for (int k = 0; k < N; ++k) offset[k] -= plan_.size[d] * plan_.stride[k][d];
      at_[d] = 0;
    }
  }
  int64_t offset[N] = {};

 private:
  const BroadcastPlan<N>& plan_;
  int64_t at_[Shape::max_rank] = {};
};

}  // namespace thalweg::kernels
