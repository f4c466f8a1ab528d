#include "thalweg/kernels/epilogue.h"

#include <algorithm>
#include <cstring>

#include "thalweg/kernels/norm.h"
#include "thalweg/kernels/scratch.h"

namespace thalweg::kernels {

void Epilogue::add(BinaryLoop loop, const void* bias) {
  add_ = loop;
  bias_ = repeated_ = bias;
  find_group();
  if (group_ == 1) return;
  const auto row = static_cast<size_t>(channels_ * bytes_);
  char* to = static_cast<char*>(scratch(Scratch::epilogue, row * static_cast<size_t>(group_)));
  for (int64_t i = 0; i < group_; ++i) std::memcpy(to + static_cast<size_t>(i) * row, bias, row);
  repeated_ = to;
}

void Epilogue::normalize(const float* scale, const float* offset, const float* mean, const float* variance,
                         float epsilon) {
  float* slope = scratch<float>(Scratch::epilogue, channels_);
  batch_norm_slopes(channels_, scale, variance, epsilon, slope);
  slope_ = slope;
  offset_ = offset;
  mean_ = mean;
  find_group();
}

void Epilogue::add_array(BinaryLoop loop, const void* whole, const void* other) {
  add_array_ = loop;
  whole_ = static_cast<const char*>(whole);
  other_ = static_cast<const char*>(other);
  find_group();
}

void Epilogue::activate(UnaryLoop loop, const void* attrs) {
  activation_ = loop;
  attrs_ = attrs;
  find_group();
}

// Rows without a gap between them, or one row.
void Epilogue::run(char* result, const void* bias, int64_t rows, int64_t first, int64_t count) const {
  const int64_t n = rows * count;
  if (add_) add_(result, bias, result, n, vector_vector, nullptr);
  if (slope_) {
    auto* x = reinterpret_cast<float*>(result);
    batch_norm_rows(x, rows, count, mean_ + first, slope_ + first, offset_ + first, x);
  }
  if (add_array_) add_array_(result, other_ + (result - whole_), result, n, vector_vector, nullptr);
  if (activation_) activation_(result, result, n, attrs_);
}

void Epilogue::finish(void* result, int64_t rows) const {
  char* at = static_cast<char*>(result);
  for (int64_t row = 0; row < rows; row += group_)
    run(at + row * channels_ * bytes_, repeated_, std::min(group_, rows - row), 0, channels_);
}

void Epilogue::finish(void* result, int64_t rows, int64_t stride, int64_t first, int64_t count) const {
  if (count == channels_ && stride == channels_) return finish(result, rows);
  char* at = static_cast<char*>(result);
  const void* bias = static_cast<const char*>(bias_) + (bias_ ? first * bytes_ : 0);
  for (int64_t row = 0; row < rows; ++row) run(at + row * stride * bytes_, bias, 1, first, count);
}

}  // namespace thalweg::kernels
