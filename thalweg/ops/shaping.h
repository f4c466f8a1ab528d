// The same elements under another shape, and questions about shapes.
#pragma once
#include <vector>

#include "thalweg/ops/options.h"

namespace thalweg {

/// The same value.
THALWEG_API Tensor identity(const TensorLike& input);
/// The same values; their gradients pass through together.
THALWEG_API std::vector<Tensor> identity_n(const std::vector<Tensor>& input);
/// The same value, for which no gradient flows back.
THALWEG_API Tensor stop_gradient(const TensorLike& input);

/// The elements in another shape of the same size; one dimension may be -1 and follows from the others. No copy.
THALWEG_API Tensor reshape(const TensorLike& tensor, const TensorLike& shape);
/// A new dimension of length 1 before `axis`; negative axes count from the end of the result.
THALWEG_API Tensor expand_dims(const TensorLike& input, const TensorLike& axis);

struct SqueezeOptions {
  Axis axis = {};  // all dimensions of length 1 where left out
};
/// Without the dimensions of length 1, or without those named.
THALWEG_API Tensor squeeze(const TensorLike& input, const SqueezeOptions& options = {});
/// The input, checked to have this shape as far as it is known.
THALWEG_API Tensor ensure_shape(const Tensor& x, const Shape& shape);

struct ShapeOptions {
  DType out_type = DType::int32;
};
/// The dimensions as a vector, known only when it runs.
THALWEG_API Tensor shape(const TensorLike& input, const ShapeOptions& options = {});
/// The shapes of several tensors.
THALWEG_API std::vector<Tensor> shape_n(const std::vector<Tensor>& input, const ShapeOptions& options = {});
/// The number of elements as a scalar.
THALWEG_API Tensor size(const TensorLike& input, const ShapeOptions& options = {});
/// The number of dimensions as an int32 scalar.
THALWEG_API Tensor rank(const TensorLike& input);

// The same with an option by position (docs/decisions/0013).
template <As<Axis> A = Axis> Tensor squeeze(const TensorLike& input, const A& axis, SqueezeOptions options = {}) {
  return squeeze(input, with(options, options.axis, axis));
}
template <As<DType> A = DType> Tensor shape(const TensorLike& input, const A& out_type, ShapeOptions options = {}) {
  return shape(input, with(options, options.out_type, out_type));
}
template <As<DType> A = DType>
std::vector<Tensor> shape_n(const std::vector<Tensor>& input, const A& out_type, ShapeOptions options = {}) {
  return shape_n(input, with(options, options.out_type, out_type));
}
template <As<DType> A = DType> Tensor size(const TensorLike& input, const A& out_type, ShapeOptions options = {}) {
  return size(input, with(options, options.out_type, out_type));
}

namespace debugging {
/// The tensor, or InvalidArgumentError with `message` when it holds NaN or an infinity.
THALWEG_API Tensor check_numerics(const Tensor& tensor, const std::string& message);
}  // namespace debugging

}  // namespace thalweg
