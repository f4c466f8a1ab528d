// Penalties on the values of weights, added to the loss.
#pragma once
#include "thalweg/keras/functions.h"

namespace thalweg::keras::regularizers {

/// l1 * sum(|x|).
THALWEG_API Regularizer L1(double l1 = 0.01);
/// l2 * sum(x^2).
THALWEG_API Regularizer L2(double l2 = 0.01);
struct L1L2Options {
  double l1 = 0, l2 = 0;
};
/// Both: l1 * sum(|x|) + l2 * sum(x^2).
THALWEG_API Regularizer L1L2(const L1L2Options& options = {});

struct OrthogonalRegularizerOptions {
  double factor = 0.01;
  std::string mode = "rows";  // or columns
};
/// Penalises the rows (or columns) of a matrix by the cosines between them.
THALWEG_API Regularizer OrthogonalRegularizer(const OrthogonalRegularizerOptions& options = {});

// The same as functions.
inline Regularizer l1(double l1 = 0.01) { return L1(l1); }
inline Regularizer l2(double l2 = 0.01) { return L2(l2); }
struct l1_l2Options {
  double l1 = 0.01, l2 = 0.01;
};
inline Regularizer l1_l2(const l1_l2Options& options = {}) { return L1L2({.l1 = options.l1, .l2 = options.l2}); }
inline Regularizer orthogonal_regularizer(const OrthogonalRegularizerOptions& options = {}) {
  return OrthogonalRegularizer(options);
}

// The same with an option by position (docs/decisions/0013).
template <As<double> A = double, As<double> B = double>
Regularizer L1L2(const A& l1, const B& l2, L1L2Options options = {}) {
  return L1L2(with(options, options.l1, l1, options.l2, l2));
}
template <As<double> A = double>
Regularizer OrthogonalRegularizer(const A& factor, OrthogonalRegularizerOptions options = {}) {
  return OrthogonalRegularizer(with(options, options.factor, factor));
}
template <As<double> A = double, As<double> B = double>
Regularizer l1_l2(const A& l1, const B& l2, l1_l2Options options = {}) {
  return l1_l2(with(options, options.l1, l1, options.l2, l2));
}
template <As<double> A = double>
Regularizer orthogonal_regularizer(const A& factor, OrthogonalRegularizerOptions options = {}) {
  return orthogonal_regularizer(with(options, options.factor, factor));
}

}  // namespace thalweg::keras::regularizers
