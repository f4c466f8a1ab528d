// The losses of Keras: functions that give the loss of each example, and objects that reduce it to one number.
#pragma once
#include "thalweg/keras/loss.h"
#include "thalweg/keras/numbers.h"

namespace thalweg::keras::losses {

/// The mean of (y_true - y_pred)^2 over the last axis.
THALWEG_API Tensor mean_squared_error(const Tensor& y_true, const Tensor& y_pred);
struct MeanSquaredErrorOptions {
  std::string reduction = "auto";
  std::string name = "mean_squared_error";
};
/// The mean over the batch of `mean_squared_error`.
THALWEG_API Loss MeanSquaredError(const MeanSquaredErrorOptions& options = {});

/// The mean of |y_true - y_pred| over the last axis.
THALWEG_API Tensor mean_absolute_error(const Tensor& y_true, const Tensor& y_pred);
struct MeanAbsoluteErrorOptions {
  std::string reduction = "auto";
  std::string name = "mean_absolute_error";
};
/// The mean over the batch of `mean_absolute_error`.
THALWEG_API Loss MeanAbsoluteError(const MeanAbsoluteErrorOptions& options = {});

/// The mean of 100 |y_true - y_pred| / |y_true| over the last axis.
THALWEG_API Tensor mean_absolute_percentage_error(const Tensor& y_true, const Tensor& y_pred);
struct MeanAbsolutePercentageErrorOptions {
  std::string reduction = "auto";
  std::string name = "mean_absolute_percentage_error";
};
/// The mean over the batch of `mean_absolute_percentage_error`.
THALWEG_API Loss MeanAbsolutePercentageError(const MeanAbsolutePercentageErrorOptions& options = {});

/// The mean of (log(y_true + 1) - log(y_pred + 1))^2 over the last axis; negative values count as zero.
THALWEG_API Tensor mean_squared_logarithmic_error(const Tensor& y_true, const Tensor& y_pred);
struct MeanSquaredLogarithmicErrorOptions {
  std::string reduction = "auto";
  std::string name = "mean_squared_logarithmic_error";
};
/// The mean over the batch of `mean_squared_logarithmic_error`.
THALWEG_API Loss MeanSquaredLogarithmicError(const MeanSquaredLogarithmicErrorOptions& options = {});

struct HuberFunctionOptions {
  double delta = 1;
};
/// Half of the squared error up to delta, growing in a straight line beyond; the mean over the last axis.
THALWEG_API Tensor huber(const Tensor& y_true, const Tensor& y_pred, const HuberFunctionOptions& options = {});
struct HuberOptions {
  double delta = 1;
  std::string reduction = "auto";
  std::string name = "huber_loss";
};
/// The mean over the batch of `huber`.
THALWEG_API Loss Huber(const HuberOptions& options = {});

/// The mean of log(cosh(y_pred - y_true)) over the last axis.
THALWEG_API Tensor log_cosh(const Tensor& y_true, const Tensor& y_pred);
struct LogCoshOptions {
  std::string reduction = "auto";
  std::string name = "log_cosh";
};
/// The mean over the batch of `log_cosh`.
THALWEG_API Loss LogCosh(const LogCoshOptions& options = {});

struct CosineSimilarityFunctionOptions {
  int64_t axis = -1;
};
/// Minus the cosine of the angle between y_true and y_pred: -1 where they point the same way.
THALWEG_API Tensor cosine_similarity(const Tensor& y_true, const Tensor& y_pred,
                                     const CosineSimilarityFunctionOptions& options = {});
struct CosineSimilarityOptions {
  int64_t axis = -1;
  std::string reduction = "auto";
  std::string name = "cosine_similarity";
};
/// The mean over the batch of `cosine_similarity`.
THALWEG_API Loss CosineSimilarity(const CosineSimilarityOptions& options = {});

/// The mean of y_pred - y_true log(y_pred) over the last axis.
THALWEG_API Tensor poisson(const Tensor& y_true, const Tensor& y_pred);
struct PoissonOptions {
  std::string reduction = "auto";
  std::string name = "poisson";
};
/// The mean over the batch of `poisson`.
THALWEG_API Loss Poisson(const PoissonOptions& options = {});

/// The sum of y_true log(y_true / y_pred) over the last axis.
THALWEG_API Tensor kl_divergence(const Tensor& y_true, const Tensor& y_pred);
struct KLDivergenceOptions {
  std::string reduction = "auto";
  std::string name = "kl_divergence";
};
/// The mean over the batch of `kl_divergence`.
THALWEG_API Loss KLDivergence(const KLDivergenceOptions& options = {});

/// The mean of max(1 - y_true y_pred, 0) over the last axis; labels 0 and 1 become -1 and 1.
THALWEG_API Tensor hinge(const Tensor& y_true, const Tensor& y_pred);
struct HingeOptions {
  std::string reduction = "auto";
  std::string name = "hinge";
};
/// The mean over the batch of `hinge`.
THALWEG_API Loss Hinge(const HingeOptions& options = {});

/// The mean of max(1 - y_true y_pred, 0)^2 over the last axis; labels 0 and 1 become -1 and 1.
THALWEG_API Tensor squared_hinge(const Tensor& y_true, const Tensor& y_pred);
struct SquaredHingeOptions {
  std::string reduction = "auto";
  std::string name = "squared_hinge";
};
/// The mean over the batch of `squared_hinge`.
THALWEG_API Loss SquaredHinge(const SquaredHingeOptions& options = {});

/// max(neg - pos + 1, 0), where pos is the prediction for the true class and neg the largest of the others.
THALWEG_API Tensor categorical_hinge(const Tensor& y_true, const Tensor& y_pred);
struct CategoricalHingeOptions {
  std::string reduction = "auto";
  std::string name = "categorical_hinge";
};
/// The mean over the batch of `categorical_hinge`.
THALWEG_API Loss CategoricalHinge(const CategoricalHingeOptions& options = {});

struct BinaryCrossentropyFunctionOptions {
  Flag from_logits = false;    // the predictions are logits, not probabilities
  double label_smoothing = 0;  // how much of each label is spread evenly over all classes
  int64_t axis = -1;
};
/// The cross entropy of independent yes-or-no questions; the mean over an axis.
THALWEG_API Tensor binary_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                       const BinaryCrossentropyFunctionOptions& options = {});
struct BinaryCrossentropyOptions {
  Flag from_logits = false;    // the predictions are logits, not probabilities
  double label_smoothing = 0;  // how much of each label is spread evenly over all classes
  int64_t axis = -1;
  std::string reduction = "auto";
  std::string name = "binary_crossentropy";
};
/// The mean over the batch of `binary_crossentropy`.
THALWEG_API Loss BinaryCrossentropy(const BinaryCrossentropyOptions& options = {});

struct BinaryFocalCrossentropyFunctionOptions {
  Flag apply_class_balancing = false;  // weigh ones by alpha and zeros by 1 - alpha
  double alpha = 0.25;
  double gamma = 2;            // how much less easy examples count
  Flag from_logits = false;    // the predictions are logits, not probabilities
  double label_smoothing = 0;  // how much of each label is spread evenly over all classes
  int64_t axis = -1;
};
/// The binary cross entropy times (1 - p)^gamma, p being the probability of the true answer.
THALWEG_API Tensor binary_focal_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                             const BinaryFocalCrossentropyFunctionOptions& options = {});
struct BinaryFocalCrossentropyOptions {
  Flag apply_class_balancing = false;  // weigh ones by alpha and zeros by 1 - alpha
  double alpha = 0.25;
  double gamma = 2;            // how much less easy examples count
  Flag from_logits = false;    // the predictions are logits, not probabilities
  double label_smoothing = 0;  // how much of each label is spread evenly over all classes
  int64_t axis = -1;
  std::string reduction = "auto";
  std::string name = "binary_focal_crossentropy";
};
/// The mean over the batch of `binary_focal_crossentropy`.
THALWEG_API Loss BinaryFocalCrossentropy(const BinaryFocalCrossentropyOptions& options = {});

struct CategoricalCrossentropyFunctionOptions {
  Flag from_logits = false;    // the predictions are logits, not probabilities
  double label_smoothing = 0;  // how much of each label is spread evenly over all classes
  int64_t axis = -1;
};
/// The cross entropy of distributions over classes along an axis.
THALWEG_API Tensor categorical_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                            const CategoricalCrossentropyFunctionOptions& options = {});
struct CategoricalCrossentropyOptions {
  Flag from_logits = false;    // the predictions are logits, not probabilities
  double label_smoothing = 0;  // how much of each label is spread evenly over all classes
  int64_t axis = -1;
  std::string reduction = "auto";
  std::string name = "categorical_crossentropy";
};
/// The mean over the batch of `categorical_crossentropy`.
THALWEG_API Loss CategoricalCrossentropy(const CategoricalCrossentropyOptions& options = {});

struct CategoricalFocalCrossentropyFunctionOptions {
  Tensor alpha = {};           // one number for all classes, or one for each; 0.25 where left out
  double gamma = 2;            // how much less easy examples count
  Flag from_logits = false;    // the predictions are logits, not probabilities
  double label_smoothing = 0;  // how much of each label is spread evenly over all classes
  int64_t axis = -1;
};
/// The categorical cross entropy with each term times alpha (1 - p)^gamma.
THALWEG_API Tensor categorical_focal_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                                  const CategoricalFocalCrossentropyFunctionOptions& options = {});
struct CategoricalFocalCrossentropyOptions {
  Numbers alpha = 0.25;        // for all classes, or one for each
  double gamma = 2;            // how much less easy examples count
  Flag from_logits = false;    // the predictions are logits, not probabilities
  double label_smoothing = 0;  // how much of each label is spread evenly over all classes
  int64_t axis = -1;
  std::string reduction = "auto";
  std::string name = "categorical_focal_crossentropy";
};
/// The mean over the batch of `categorical_focal_crossentropy`.
THALWEG_API Loss CategoricalFocalCrossentropy(const CategoricalFocalCrossentropyOptions& options = {});

struct SparseCategoricalCrossentropyFunctionOptions {
  Flag from_logits = false;  // the predictions are logits, not probabilities
  int64_t axis = -1;
  std::optional<int64_t> ignore_class = {};  // labels of this class count nothing
};
/// -log of the probability that the predictions give the true class, an integer.
THALWEG_API Tensor sparse_categorical_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                                   const SparseCategoricalCrossentropyFunctionOptions& options = {});
struct SparseCategoricalCrossentropyOptions {
  Flag from_logits = false;                  // the predictions are logits, not probabilities
  std::optional<int64_t> ignore_class = {};  // labels of this class count nothing
  std::string reduction = "auto";
  std::string name = "sparse_categorical_crossentropy";
};
/// The mean over the batch of `sparse_categorical_crossentropy`.
THALWEG_API Loss SparseCategoricalCrossentropy(const SparseCategoricalCrossentropyOptions& options = {});

// The same with an option by position (docs/decisions/0013).
template <As<double> A = double> Loss Huber(const A& delta, HuberOptions options = {}) {
  return Huber(with(options, options.delta, delta));
}
template <As<int64_t> A = int64_t> Loss CosineSimilarity(const A& axis, CosineSimilarityOptions options = {}) {
  return CosineSimilarity(with(options, options.axis, axis));
}

}  // namespace thalweg::keras::losses
