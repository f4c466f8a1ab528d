// Elements from one dtype to another, with the values of core/convert.h: its loops for many elements.
#pragma once
#include "thalweg/kernels/elementwise.h"

namespace thalweg::kernels {

/// The single loop from one plain dtype to another; null where a cast takes more than one.
UnaryLoop cast_loop(DType from, DType to);

/// Converts n elements between plain dtypes.
void cast(DType from, const void* in, DType to, void* out, int64_t n);

}  // namespace thalweg::kernels
