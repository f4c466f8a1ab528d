// Layers that bring data into the form that models want, some after looking at it.
#pragma once
#include "thalweg/keras/layer.h"

namespace thalweg::keras::layers {

/// One number, or an array of them, or nothing: `.mean = 0.5`, `.mean = {0.5, 2.0}`, `.mean = tensor`.
class THALWEG_API Numbers {
 public:
  Numbers() = default;
  Numbers(double number);                          // NOLINT
  Numbers(std::initializer_list<double> numbers);  // NOLINT
  Numbers(const std::vector<double>& numbers);     // NOLINT
  Numbers(const Tensor& values);                   // NOLINT
  bool given() const { return values_.defined(); }
  /// Them all; None where there are none.
  Tensor tensor(DType dtype) const;

  friend THALWEG_API Value to_value(const Numbers& numbers);
  friend THALWEG_API void from_value(Numbers& numbers, const Value& value);

 private:
  Tensor values_;  // of float64
};

struct RescalingOptions {
  Numbers offset = 0.0;
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// x * scale + offset: `layers::Rescaling(1.0 / 255)`.
THALWEG_API Layer Rescaling(const Numbers& scale, const RescalingOptions& options = {});

struct NormalizationOptions {
  Axis axis = -1;     // along which each place has its own mean and variance; `Axis()` has one for all
  Numbers mean = {};  // with variance: known beforehand, there is nothing to learn
  Numbers variance = {};
  Flag invert = false;  // the way back
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// The handle of a Normalization: `norm->adapt(data)`, `norm->mean()`.
class THALWEG_API NormalizationHandle : public Layer {
 public:
  explicit NormalizationHandle(const Layer& layer) : Layer(layer) {}
  const NormalizationHandle* operator->() const { return this; }
  /// What it takes away, in a shape that broadcasts with inputs; None before it is built.
  Tensor mean() const;
  /// What it divides by the root of.
  Tensor variance() const;
};
/// (x - mean) / sqrt(variance), with mean and variance given, or learnt by `adapt`.
THALWEG_API NormalizationHandle Normalization(const NormalizationOptions& options = {});

// The same with an option by position (docs/decisions/0013).
template <As<Numbers> A = Numbers>
Layer Rescaling(const Numbers& scale, const A& offset, RescalingOptions options = {}) {
  return Rescaling(scale, with(options, options.offset, offset));
}
template <As<Axis> A = Axis> NormalizationHandle Normalization(const A& axis, NormalizationOptions options = {}) {
  return Normalization(with(options, options.axis, axis));
}

}  // namespace thalweg::keras::layers
