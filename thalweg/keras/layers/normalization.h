// Layers that bring their inputs to mean 0 and deviation 1, over the batch, over features, or over groups of them.
#pragma once
#include "thalweg/keras/layer.h"

namespace thalweg::keras::layers {

/// How far batch renormalisation may go: bounds of the factor r and of the distance d; none where nothing is given.
struct RenormClipping {
  std::optional<double> rmin = {}, rmax = {}, dmax = {};
  friend THALWEG_API Value to_value(const RenormClipping& clipping);
  friend THALWEG_API void from_value(RenormClipping& clipping, const Value& value);
};
struct THALWEG_API AdjustmentTag {
  static constexpr const char* kind = "adjustment";
};
/// From the shape of the inputs, a scale and an offset for what is normalised in training: a lambda. Configurations
/// leave it out.
using Adjustment = FunctionHandle<AdjustmentTag, std::pair<Tensor, Tensor>, Tensor>;
inline Value to_value(const Adjustment&) { return {}; }

struct BatchNormalizationOptions {
  Axis axis = -1;  // that of the features; it may be several
  double momentum = 0.99;
  double epsilon = 1e-3;
  Flag center = true;
  Flag scale = true;
  Initializer beta_initializer = "zeros", gamma_initializer = "ones";
  Initializer moving_mean_initializer = "zeros", moving_variance_initializer = "ones";
  Regularizer beta_regularizer = {}, gamma_regularizer = {};
  Constraint beta_constraint = {}, gamma_constraint = {};
  Flag synchronized = false;  // over devices: there is one
  Flag renorm = false;        // in training too, values are brought near those that the averages give
  RenormClipping renorm_clipping = {};
  double renorm_momentum = 0.99;                   // of the averages that this goes by
  std::optional<bool> fused = {};                  // one kernel for images; left out: where there is one
  std::optional<int64_t> virtual_batch_size = {};  // examples that are normalised together; it divides the batch
  Adjustment adjustment = {};
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// Normalises each feature: in training with mean and variance of the batch, of which it keeps moving averages, else
/// with these. One that is not trainable always uses the averages.
THALWEG_API Layer BatchNormalization(const BatchNormalizationOptions& options = {});

struct LayerNormalizationOptions {
  Axis axis = -1;  // over which each example is normalised
  double epsilon = 1e-3;
  Flag center = true;
  Flag scale = true;
  Initializer beta_initializer = "zeros", gamma_initializer = "ones";
  Regularizer beta_regularizer = {}, gamma_regularizer = {};
  Constraint beta_constraint = {}, gamma_constraint = {};
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// Normalises each example by itself, over its features.
THALWEG_API Layer LayerNormalization(const LayerNormalizationOptions& options = {});

struct GroupNormalizationOptions {
  int64_t groups = 32;  // -1: each feature by itself
  int64_t axis = -1;    // that of the features
  double epsilon = 1e-3;
  Flag center = true;
  Flag scale = true;
  Initializer beta_initializer = "zeros", gamma_initializer = "ones";
  Regularizer beta_regularizer = {}, gamma_regularizer = {};
  Constraint beta_constraint = {}, gamma_constraint = {};
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// Normalises each group of features of each example by itself.
THALWEG_API Layer GroupNormalization(const GroupNormalizationOptions& options = {});

/// The axes along which a UnitNormalization makes lengths 1; it refuses others in words of its own.
struct UnitAxis : Axis {
  using Axis::Axis;
  friend THALWEG_API void from_value(UnitAxis& axis, const Value& value);
};
struct UnitNormalizationOptions {
  UnitAxis axis = -1;
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// Scales each example to length 1.
THALWEG_API Layer UnitNormalization(const UnitNormalizationOptions& options = {});

struct SpectralNormalizationOptions {
  int64_t power_iterations = 1;
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// A layer whose kernel is divided by its largest singular value before each step of training.
THALWEG_API Layer SpectralNormalization(const Layer& layer, const SpectralNormalizationOptions& options = {});

// The same with an option by position (docs/decisions/0013).
template <As<Axis> A = Axis> Layer LayerNormalization(const A& axis, LayerNormalizationOptions options = {}) {
  return LayerNormalization(with(options, options.axis, axis));
}
template <As<int64_t> A = int64_t> Layer GroupNormalization(const A& groups, GroupNormalizationOptions options = {}) {
  return GroupNormalization(with(options, options.groups, groups));
}
template <As<UnitAxis> A = UnitAxis> Layer UnitNormalization(const A& axis, UnitNormalizationOptions options = {}) {
  return UnitNormalization(with(options, options.axis, axis));
}
template <As<int64_t> A = int64_t>
Layer SpectralNormalization(const Layer& layer, const A& power_iterations, SpectralNormalizationOptions options = {}) {
  return SpectralNormalization(layer, with(options, options.power_iterations, power_iterations));
}

}  // namespace thalweg::keras::layers
