// Tensors from nothing but numbers and shapes.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "thalweg/ops/options.h"

namespace thalweg {

struct ConstantOptions {
  DType dtype = DType::invalid;     // the value's own where left out
  std::optional<Shape> shape = {};  // one element fills it, more must fit it
};
/// A value as a tensor: `constant({1, 2, 3}, {.dtype = float64, .shape = Shape{3, 1}})`.
THALWEG_API Tensor constant(const TensorLike& value, const ConstantOptions& options = {});

struct ConvertToTensorOptions {
  DType dtype = DType::invalid;
  DType dtype_hint = DType::invalid;  // tried first where dtype is left out
};
/// A value as a tensor. A tensor is never cast: one of another dtype is a ValueError.
THALWEG_API Tensor convert_to_tensor(const TensorLike& value, const ConvertToTensorOptions& options = {});

struct ZerosOptions {
  DType dtype = DType::float32;
};
/// A tensor of zeros (false, empty strings).
THALWEG_API Tensor zeros(const TensorLike& shape, const ZerosOptions& options = {});
/// A tensor of ones.
THALWEG_API Tensor ones(const TensorLike& shape, const ZerosOptions& options = {});

struct LikeOptions {
  DType dtype = DType::invalid;  // the input's where left out
};
/// Zeros in the shape of the input.
THALWEG_API Tensor zeros_like(const TensorLike& input, const LikeOptions& options = {});
/// Ones in the shape of the input.
THALWEG_API Tensor ones_like(const TensorLike& input, const LikeOptions& options = {});
/// A shape filled with one scalar.
THALWEG_API Tensor fill(const TensorLike& dims, const TensorLike& value);

struct RangeOptions {
  Tensor limit = {};  // left out: `start` is the limit and the range begins at 0
  Tensor delta = {};  // 1 where left out
  DType dtype = DType::invalid;
};
/// start, start + delta, ... below the limit: `range(5)`, `range(2, 10, 3)`.
THALWEG_API Tensor range(const TensorLike& start, const RangeOptions& options = {});
THALWEG_API Tensor range(const TensorLike& start, const TensorLike& limit, const TensorLike& delta = 1);

struct EyeOptions {
  std::optional<int64_t> num_columns = {};  // as many as rows where left out
  std::vector<int64_t> batch_shape = {};
  DType dtype = DType::float32;
};
/// A matrix, or a batch of matrices, with ones on the diagonal.
THALWEG_API Tensor eye(int64_t num_rows, const EyeOptions& options = {});

struct MeshgridOptions {
  std::string indexing = "xy";  // or "ij"
};
/// The coordinates of a grid: one tensor of all its points for each axis.
THALWEG_API std::vector<Tensor> meshgrid(const std::vector<Tensor>& args, const MeshgridOptions& options = {});

struct OneHotOptions {
  Tensor on_value = {};   // 1 where left out
  Tensor off_value = {};  // 0 where left out
  std::optional<int64_t> axis = {};
  DType dtype = DType::invalid;
};
/// Vectors of length `depth` with on_value at the index and off_value elsewhere; an index outside has none.
THALWEG_API Tensor one_hot(const TensorLike& indices, const TensorLike& depth, const OneHotOptions& options = {});

/// Zero (false, the empty string) as a scalar.
THALWEG_API Tensor zero_of(DType dtype);
/// One (true) as a scalar; TypeError for dtypes without one.
THALWEG_API Tensor one_of(DType dtype);

// The same with an option by position (docs/decisions/0013).
template <As<DType> A = DType> Tensor constant(const TensorLike& value, const A& dtype, ConstantOptions options = {}) {
  return constant(value, with(options, options.dtype, dtype));
}
template <As<DType> A = DType>
Tensor convert_to_tensor(const TensorLike& value, const A& dtype, ConvertToTensorOptions options = {}) {
  return convert_to_tensor(value, with(options, options.dtype, dtype));
}
template <As<DType> A = DType> Tensor zeros(const TensorLike& shape, const A& dtype, ZerosOptions options = {}) {
  return zeros(shape, with(options, options.dtype, dtype));
}
template <As<DType> A = DType> Tensor ones(const TensorLike& shape, const A& dtype, ZerosOptions options = {}) {
  return ones(shape, with(options, options.dtype, dtype));
}
template <As<DType> A = DType> Tensor zeros_like(const TensorLike& input, const A& dtype, LikeOptions options = {}) {
  return zeros_like(input, with(options, options.dtype, dtype));
}
template <As<DType> A = DType> Tensor ones_like(const TensorLike& input, const A& dtype, LikeOptions options = {}) {
  return ones_like(input, with(options, options.dtype, dtype));
}
template <As<std::optional<int64_t>> A = std::optional<int64_t>>
Tensor eye(int64_t num_rows, const A& num_columns, EyeOptions options = {}) {
  return eye(num_rows, with(options, options.num_columns, num_columns));
}
template <As<Tensor> A = Tensor, As<Tensor> B = Tensor>
Tensor one_hot(const TensorLike& indices, const TensorLike& depth, const A& on_value, const B& off_value,
               OneHotOptions options = {}) {
  return one_hot(indices, depth, with(options, options.on_value, on_value, options.off_value, off_value));
}

}  // namespace thalweg
