// Inner loops of ops whose operands differ in type. Clusters of element-wise ops call them, beside those that records
// hold and kernels/cast.h has.
#pragma once
#include "thalweg/kernels/elementwise.h"

namespace thalweg::kernel {

/// A stride is 1, or 0 where one element stands for all. The result may lie where t or e does.
using SelectLoop = void (*)(const void* condition, int64_t condition_stride, const void* t, int64_t t_stride,
                            const void* e, int64_t e_stride, void* out, int64_t n);
/// The loop of `Select` and `SelectV2`.
SelectLoop select_loop(DType dtype);

}  // namespace thalweg::kernel
