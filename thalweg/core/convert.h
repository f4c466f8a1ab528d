// Elements from one dtype to another, as TensorFlow's CPU casts them.
#pragma once
#include <cstdint>

#include "thalweg/core/dtype.h"

namespace thalweg {

/// Converts `count` elements between plain dtypes (numbers and bool). NaN and values out of range become integers as
/// x86 converts them: the smallest integer for signed types, modulo 2^n through int64 for unsigned ones.
void convert_elements(DType from, const void* in, DType to, void* out, int64_t count);
/// Copies `count` elements, objects too.
void copy_elements(DType dtype, const void* in, void* out, int64_t count);

/// Many halves or bfloat16s to float and back; with F16C where the machine has it.
void widen_halves(DType from, const uint16_t* in, float* out, int64_t count);
void narrow_halves(DType to, const float* in, uint16_t* out, int64_t count);

}  // namespace thalweg
