// TensorSpec: what a tensor must look like.
#pragma once
#include <string>
#include <utility>

#include "thalweg/core/tensor.h"

namespace thalweg {

/// A dtype, a shape that may be partly unknown, and a name: `TensorSpec({unknown, 8}, float32, "x")`.
struct TensorSpec {
  TensorSpec(Shape wanted_shape = Shape::unknown_rank(), DType wanted_dtype = DType::float32,  // NOLINT
             std::string wanted_name = "")
      : shape(wanted_shape), dtype(wanted_dtype), name(std::move(wanted_name)) {}

  /// Whether a tensor has this dtype and fits the shape.
  bool is_compatible_with(const Tensor& tensor) const {
    return tensor.dtype() == dtype && shape.is_compatible_with(tensor.shape());
  }
  /// `TensorSpec(shape=(None, 8), dtype=tf.float32, name='x')`
  std::string str() const {
    return "TensorSpec(shape=" + shape.str() + ", dtype=tf." + std::string(name_of(dtype)) +
           ", name=" + (name.empty() ? "None" : "'" + name + "'") + ")";
  }
  friend bool operator==(const TensorSpec& a, const TensorSpec& b) {
    return a.dtype == b.dtype && a.shape == b.shape && a.name == b.name;
  }

  Shape shape;
  DType dtype;
  std::string name;
};

/// TensorFlow's text.
THALWEG_API std::ostream& operator<<(std::ostream& out, const TensorSpec& spec);

namespace detail {
/// A tensor without a value that stands for others of this dtype and shape.
THALWEG_API Tensor stand_in(DType dtype, const Shape& shape);
}  // namespace detail

}  // namespace thalweg
