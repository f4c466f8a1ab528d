// What follows a contraction: done to each finished part of its result while that is in the cache.
#pragma once
#include "thalweg/kernels/elementwise.h"

namespace thalweg::kernels {

/// One number per channel is added, or each channel is normalised; then perhaps an array of the result's shape is
/// added; then an activation. It calls the loops of the ops that it stands for, in their order, so that every bit is
/// theirs. It points to arrays of the caller, and to working memory of the thread that made it: it serves one
/// contraction at a time, whose other threads may use it too.
class Epilogue {
 public:
  /// Of rows of `channels` elements of this type, float32 or float64.
  Epilogue(DType dtype, int64_t channels) : bytes_(static_cast<int64_t>(size_of(dtype))), channels_(channels) {}

  /// result + bias[channel].
  void add(BinaryLoop loop, const void* bias);
  /// (result - mean) / sqrt(variance + epsilon) * scale + offset of float32, as batch normalisation computes it.
  void normalize(const float* scale, const float* offset, const float* mean, const float* variance, float epsilon);
  /// result + other, which lies as the whole result does, whose first element is at `whole`: channels last.
  void add_array(BinaryLoop loop, const void* whole, const void* other);
  /// activation(result); the attributes must live as long as this.
  void activate(UnaryLoop loop, const void* attrs);

  /// Finishes rows of all channels, which lie one after the other.
  void finish(void* result, int64_t rows) const;
  /// Finishes channels [first, first + count) of rows that lie `stride` elements apart; `result` is the first of them.
  void finish(void* result, int64_t rows, int64_t stride, int64_t first, int64_t count) const;

 private:
  void find_group() { group_ = channels_ > 0 && channels_ < group_elements ? group_elements / channels_ : 1; }
  void run(char* result, const void* bias, int64_t rows, int64_t first, int64_t count) const;

  static constexpr int64_t group_elements = 512;

  int64_t bytes_, channels_;
  int64_t group_ = 1;  // rows that one call of a loop does: short ones would cost a call each
  BinaryLoop add_ = nullptr;
  const void *bias_ = nullptr, *repeated_ = nullptr;
  const float *slope_ = nullptr, *offset_ = nullptr, *mean_ = nullptr;
  BinaryLoop add_array_ = nullptr;
  const char *whole_ = nullptr, *other_ = nullptr;
  UnaryLoop activation_ = nullptr;
  const void* attrs_ = nullptr;
};

}  // namespace thalweg::kernels
