// What weights become after each step of training.
#pragma once
#include "thalweg/keras/functions.h"

namespace thalweg::keras::constraints {

struct MaxNormOptions {
  double max_value = 2;
  Axis axis = 0;  // along which norms are taken
};
/// Scales down what has a larger norm.
THALWEG_API Constraint MaxNorm(const MaxNormOptions& options = {});

struct MinMaxNormOptions {
  double min_value = 0, max_value = 1;
  double rate = 1;  // the part of the way to the nearest of them that is gone in each step
  Axis axis = 0;
};
/// Scales norms to between two values.
THALWEG_API Constraint MinMaxNorm(const MinMaxNormOptions& options = {});

/// Negative values become zero.
THALWEG_API Constraint NonNeg();

struct UnitNormOptions {
  Axis axis = 0;
};
/// Scales norms to 1.
THALWEG_API Constraint UnitNorm(const UnitNormOptions& options = {});

/// Makes the filters of [height, width, inputs, outputs] the same all around their middle; they must be square.
THALWEG_API Constraint RadialConstraint();

// The same with an option by position (docs/decisions/0013).
template <As<double> A = double> Constraint MaxNorm(const A& max_value, MaxNormOptions options = {}) {
  return MaxNorm(with(options, options.max_value, max_value));
}
template <As<double> A = double, As<double> B = double>
Constraint MinMaxNorm(const A& min_value, const B& max_value, MinMaxNormOptions options = {}) {
  return MinMaxNorm(with(options, options.min_value, min_value, options.max_value, max_value));
}
template <As<Axis> A = Axis> Constraint UnitNorm(const A& axis, UnitNormOptions options = {}) {
  return UnitNorm(with(options, options.axis, axis));
}

}  // namespace thalweg::keras::constraints
