// Bits of integers.
#pragma once
#include "thalweg/core/tensor.h"

namespace thalweg::bitwise {

/// x & y, bit by bit.
THALWEG_API Tensor bitwise_and(const TensorLike& x, const TensorLike& y);
/// x | y, bit by bit.
THALWEG_API Tensor bitwise_or(const TensorLike& x, const TensorLike& y);
/// x ^ y, bit by bit.
THALWEG_API Tensor bitwise_xor(const TensorLike& x, const TensorLike& y);
/// x shifted left by y bits; distances below 0 or past the width are held to it.
THALWEG_API Tensor left_shift(const TensorLike& x, const TensorLike& y);
/// x shifted right by y bits; signed numbers keep their sign.
THALWEG_API Tensor right_shift(const TensorLike& x, const TensorLike& y);
/// Every bit turned over.
THALWEG_API Tensor invert(const Tensor& x);

}  // namespace thalweg::bitwise
