// The metrics of Keras: numbers that accumulate over batches, and the functions whose means many of them are.
#pragma once
#include "thalweg/keras/losses.h"
#include "thalweg/keras/metric.h"
#include "thalweg/keras/numbers.h"

namespace thalweg::keras::metrics {

using losses::binary_crossentropy, losses::binary_focal_crossentropy, losses::categorical_crossentropy,
    losses::categorical_focal_crossentropy, losses::categorical_hinge, losses::hinge, losses::kl_divergence,
    losses::log_cosh, losses::mean_absolute_error, losses::mean_absolute_percentage_error, losses::mean_squared_error,
    losses::mean_squared_logarithmic_error, losses::poisson, losses::sparse_categorical_crossentropy,
    losses::squared_hinge;

// Of values.

struct MeanOptions {
  std::string name = "mean";
  DType dtype = DType::float32;
};
/// The mean of values, by weight where weights are given.
THALWEG_API Metric Mean(const MeanOptions& options = {});

struct SumOptions {
  std::string name = "sum";
  DType dtype = DType::float32;
};
/// The sum of values, each times its weight where weights are given.
THALWEG_API Metric Sum(const SumOptions& options = {});

struct MeanTensorOptions {
  std::string name = "mean_tensor";
  DType dtype = DType::float32;
  std::optional<Shape> shape = {};  // that of the first values where left out
};
/// The mean of tensors of one shape, element by element.
THALWEG_API Metric MeanTensor(const MeanTensorOptions& options = {});

// Regression.

struct MeanSquaredErrorOptions {
  std::string name = "mean_squared_error";
  DType dtype = DType::float32;
};
/// The mean of the squared errors.
THALWEG_API Metric MeanSquaredError(const MeanSquaredErrorOptions& options = {});

struct RootMeanSquaredErrorOptions {
  std::string name = "root_mean_squared_error";
  DType dtype = DType::float32;
};
/// The root of the mean of the squared errors.
THALWEG_API Metric RootMeanSquaredError(const RootMeanSquaredErrorOptions& options = {});

struct MeanAbsoluteErrorOptions {
  std::string name = "mean_absolute_error";
  DType dtype = DType::float32;
};
/// The mean of the absolute errors.
THALWEG_API Metric MeanAbsoluteError(const MeanAbsoluteErrorOptions& options = {});

struct MeanAbsolutePercentageErrorOptions {
  std::string name = "mean_absolute_percentage_error";
  DType dtype = DType::float32;
};
/// The mean of the absolute errors in percent of the labels.
THALWEG_API Metric MeanAbsolutePercentageError(const MeanAbsolutePercentageErrorOptions& options = {});

struct MeanSquaredLogarithmicErrorOptions {
  std::string name = "mean_squared_logarithmic_error";
  DType dtype = DType::float32;
};
/// The mean of the squared differences of logarithms.
THALWEG_API Metric MeanSquaredLogarithmicError(const MeanSquaredLogarithmicErrorOptions& options = {});

struct MeanRelativeErrorOptions {
  std::string name = "";  // from the class where left out
  DType dtype = DType::float32;
};
/// The mean of the absolute errors divided by the normalizer.
THALWEG_API Metric MeanRelativeError(const Tensor& normalizer, const MeanRelativeErrorOptions& options = {});

struct LogCoshErrorOptions {
  std::string name = "logcosh";
  DType dtype = DType::float32;
};
/// The mean of log(cosh(error)).
THALWEG_API Metric LogCoshError(const LogCoshErrorOptions& options = {});

struct CosineSimilarityOptions {
  std::string name = "cosine_similarity";
  DType dtype = DType::float32;
  int64_t axis = -1;
};
/// The mean cosine of the angle between labels and predictions: 1 where they point the same way.
THALWEG_API Metric CosineSimilarity(const CosineSimilarityOptions& options = {});

struct R2ScoreOptions {
  std::optional<std::string> class_aggregation =
      "uniform_average";       // "variance_weighted_average", or none: one per output
  int64_t num_regressors = 0;  // the adjusted score where it is positive
  std::string name = "r2_score";
  DType dtype = DType::float32;
};
/// How much of the variance of the labels the predictions explain: 1 is all of it.
THALWEG_API Metric R2Score(const R2ScoreOptions& options = {});

// Probabilities.

struct PoissonOptions {
  std::string name = "poisson";
  DType dtype = DType::float32;
};
/// The mean of y_pred - y_true log(y_pred).
THALWEG_API Metric Poisson(const PoissonOptions& options = {});

struct KLDivergenceOptions {
  std::string name = "kullback_leibler_divergence";
  DType dtype = DType::float32;
};
/// The mean of the Kullback-Leibler divergences.
THALWEG_API Metric KLDivergence(const KLDivergenceOptions& options = {});

struct BinaryCrossentropyOptions {
  std::string name = "binary_crossentropy";
  DType dtype = DType::float32;
  Flag from_logits = false;
  double label_smoothing = 0;
};
/// The mean of the cross entropies of yes-or-no questions.
THALWEG_API Metric BinaryCrossentropy(const BinaryCrossentropyOptions& options = {});

struct CategoricalCrossentropyOptions {
  std::string name = "categorical_crossentropy";
  DType dtype = DType::float32;
  Flag from_logits = false;
  double label_smoothing = 0;
  int64_t axis = -1;
};
/// The mean of the cross entropies of distributions over classes.
THALWEG_API Metric CategoricalCrossentropy(const CategoricalCrossentropyOptions& options = {});

struct SparseCategoricalCrossentropyOptions {
  std::string name = "sparse_categorical_crossentropy";
  DType dtype = DType::float32;
  Flag from_logits = false;
  std::optional<int64_t> ignore_class = {};  // labels of this class count nothing
  int64_t axis = -1;
};
/// The mean of the cross entropies where labels are the numbers of classes.
THALWEG_API Metric SparseCategoricalCrossentropy(const SparseCategoricalCrossentropyOptions& options = {});

// Margins.

struct HingeOptions {
  std::string name = "hinge";
  DType dtype = DType::float32;
};
/// The mean of the hinge losses.
THALWEG_API Metric Hinge(const HingeOptions& options = {});

struct SquaredHingeOptions {
  std::string name = "squared_hinge";
  DType dtype = DType::float32;
};
/// The mean of the squared hinge losses.
THALWEG_API Metric SquaredHinge(const SquaredHingeOptions& options = {});

struct CategoricalHingeOptions {
  std::string name = "categorical_hinge";
  DType dtype = DType::float32;
};
/// The mean of the categorical hinge losses.
THALWEG_API Metric CategoricalHinge(const CategoricalHingeOptions& options = {});

// Accuracies.

/// 1 where y_pred equals y_true, else 0.
THALWEG_API Tensor accuracy(const Tensor& y_true, const Tensor& y_pred);
struct BinaryAccuracyFunctionOptions {
  double threshold = 0.5;
};
/// The share of predictions on the side of the threshold where the labels, 0 or 1, are; over the last axis.
THALWEG_API Tensor binary_accuracy(const Tensor& y_true, const Tensor& y_pred,
                                   const BinaryAccuracyFunctionOptions& options = {});
/// 1 where the largest prediction is at the place of the largest label, else 0.
THALWEG_API Tensor categorical_accuracy(const Tensor& y_true, const Tensor& y_pred);
/// 1 where the largest prediction is at the place that the label names, else 0.
THALWEG_API Tensor sparse_categorical_accuracy(const Tensor& y_true, const Tensor& y_pred);
struct TopKFunctionOptions {
  int64_t k = 5;
};
/// 1 where the place of the largest label is among those of the k largest predictions, else 0.
THALWEG_API Tensor top_k_categorical_accuracy(const Tensor& y_true, const Tensor& y_pred,
                                              const TopKFunctionOptions& options = {});
/// 1 where the place that the label names is among those of the k largest predictions, else 0.
THALWEG_API Tensor sparse_top_k_categorical_accuracy(const Tensor& y_true, const Tensor& y_pred,
                                                     const TopKFunctionOptions& options = {});
/// The cosine of the angle between y_true and y_pred: 1 where they point the same way.
THALWEG_API Tensor cosine_similarity(const Tensor& y_true, const Tensor& y_pred,
                                     const losses::CosineSimilarityFunctionOptions& options = {});

struct AccuracyOptions {
  std::string name = "accuracy";
  DType dtype = DType::float32;
};
/// How often predictions equal labels.
THALWEG_API Metric Accuracy(const AccuracyOptions& options = {});

struct BinaryAccuracyOptions {
  std::string name = "binary_accuracy";
  DType dtype = DType::float32;
  double threshold = 0.5;
};
/// How often predictions are on the side of the threshold where the labels are.
THALWEG_API Metric BinaryAccuracy(const BinaryAccuracyOptions& options = {});

struct CategoricalAccuracyOptions {
  std::string name = "categorical_accuracy";
  DType dtype = DType::float32;
};
/// How often the largest prediction is that of the true class, labels being one-hot.
THALWEG_API Metric CategoricalAccuracy(const CategoricalAccuracyOptions& options = {});

struct SparseCategoricalAccuracyOptions {
  std::string name = "sparse_categorical_accuracy";
  DType dtype = DType::float32;
};
/// How often the largest prediction is that of the true class, labels being numbers of classes.
THALWEG_API Metric SparseCategoricalAccuracy(const SparseCategoricalAccuracyOptions& options = {});

struct TopKCategoricalAccuracyOptions {
  int64_t k = 5;
  std::string name = "top_k_categorical_accuracy";
  DType dtype = DType::float32;
};
/// How often the true class is among the k largest predictions, labels being one-hot.
THALWEG_API Metric TopKCategoricalAccuracy(const TopKCategoricalAccuracyOptions& options = {});

struct SparseTopKCategoricalAccuracyOptions {
  int64_t k = 5;
  std::string name = "sparse_top_k_categorical_accuracy";
  DType dtype = DType::float32;
};
/// How often the true class is among the k largest predictions, labels being numbers of classes.
THALWEG_API Metric SparseTopKCategoricalAccuracy(const SparseTopKCategoricalAccuracyOptions& options = {});

// Counts of right and wrong answers to yes-or-no questions.

/// Where predictions begin to mean yes.
using Thresholds = Numbers;

struct TruePositivesOptions {
  Thresholds thresholds = {};  // 0.5 where left out
  std::string name = "";       // from the class where left out
  DType dtype = DType::float32;
};
/// How many predictions of yes are right, for each threshold.
THALWEG_API Metric TruePositives(const TruePositivesOptions& options = {});

struct TrueNegativesOptions {
  Thresholds thresholds = {};  // 0.5 where left out
  std::string name = "";       // from the class where left out
  DType dtype = DType::float32;
};
/// How many predictions of no are right, for each threshold.
THALWEG_API Metric TrueNegatives(const TrueNegativesOptions& options = {});

struct FalsePositivesOptions {
  Thresholds thresholds = {};  // 0.5 where left out
  std::string name = "";       // from the class where left out
  DType dtype = DType::float32;
};
/// How many predictions of yes are wrong, for each threshold.
THALWEG_API Metric FalsePositives(const FalsePositivesOptions& options = {});

struct FalseNegativesOptions {
  Thresholds thresholds = {};  // 0.5 where left out
  std::string name = "";       // from the class where left out
  DType dtype = DType::float32;
};
/// How many predictions of no are wrong, for each threshold.
THALWEG_API Metric FalseNegatives(const FalseNegativesOptions& options = {});

struct PrecisionOptions {
  Thresholds thresholds = {};            // 0.5 where left out
  std::optional<int64_t> top_k = {};     // only the k largest predictions of each example can be yes
  std::optional<int64_t> class_id = {};  // only this class counts
  std::string name = "";                 // from the class where left out
  DType dtype = DType::float32;
};
/// The share of right ones among the predictions of yes.
THALWEG_API Metric Precision(const PrecisionOptions& options = {});

struct RecallOptions {
  Thresholds thresholds = {};            // 0.5 where left out
  std::optional<int64_t> top_k = {};     // only the k largest predictions of each example can be yes
  std::optional<int64_t> class_id = {};  // only this class counts
  std::string name = "";                 // from the class where left out
  DType dtype = DType::float32;
};
/// The share of the true ones that predictions of yes find.
THALWEG_API Metric Recall(const RecallOptions& options = {});

struct SensitivityAtSpecificityOptions {
  int64_t num_thresholds = 200;
  std::optional<int64_t> class_id = {};  // only this class counts
  std::string name = "";                 // from the class where left out
  DType dtype = DType::float32;
};
/// The best sensitivity at thresholds where the specificity is at least this.
THALWEG_API Metric SensitivityAtSpecificity(double specificity, const SensitivityAtSpecificityOptions& options = {});

struct SpecificityAtSensitivityOptions {
  int64_t num_thresholds = 200;
  std::optional<int64_t> class_id = {};  // only this class counts
  std::string name = "";                 // from the class where left out
  DType dtype = DType::float32;
};
/// The best specificity at thresholds where the sensitivity is at least this.
THALWEG_API Metric SpecificityAtSensitivity(double sensitivity, const SpecificityAtSensitivityOptions& options = {});

struct PrecisionAtRecallOptions {
  int64_t num_thresholds = 200;
  std::optional<int64_t> class_id = {};  // only this class counts
  std::string name = "";                 // from the class where left out
  DType dtype = DType::float32;
};
/// The best precision at thresholds where the recall is at least this.
THALWEG_API Metric PrecisionAtRecall(double recall, const PrecisionAtRecallOptions& options = {});

struct RecallAtPrecisionOptions {
  int64_t num_thresholds = 200;
  std::optional<int64_t> class_id = {};  // only this class counts
  std::string name = "";                 // from the class where left out
  DType dtype = DType::float32;
};
/// The best recall at thresholds where the precision is at least this.
THALWEG_API Metric RecallAtPrecision(double precision, const RecallAtPrecisionOptions& options = {});

struct AUCOptions {
  int64_t num_thresholds = 200;
  std::string curve = "ROC";                       // or "PR"
  std::string summation_method = "interpolation";  // or "minoring", "majoring"
  std::string name = "";                           // from the class where left out
  DType dtype = DType::float32;
  std::optional<std::vector<double>> thresholds = {};  // besides 0 and 1; evenly spread where left out
  Flag multi_label = false;                            // an area for each label, then their mean
  std::optional<int64_t> num_labels = {};
  Tensor label_weights = {};
  Flag from_logits = false;
};
/// The area under a curve over thresholds: sensitivity over false alarms, or precision over recall.
THALWEG_API Metric AUC(const AUCOptions& options = {});

// Overlap of predicted and true regions, from a matrix of counts by true and predicted class.

struct IoUOptions {
  std::string name = "";  // from the class where left out
  DType dtype = DType::float32;
  std::optional<int64_t> ignore_class = {};
  Flag sparse_y_true = true;  // numbers of classes, else a value for each class
  Flag sparse_y_pred = true;
  int64_t axis = -1;
};
/// The mean over some classes of intersection over union.
THALWEG_API Metric IoU(int64_t num_classes, const std::vector<int64_t>& target_class_ids,
                       const IoUOptions& options = {});

struct BinaryIoUOptions {
  std::vector<int64_t> target_class_ids = {0, 1};
  double threshold = 0.5;
  std::string name = "";  // from the class where left out
  DType dtype = DType::float32;
};
/// The same for two classes, predictions being on one side of a threshold or the other.
THALWEG_API Metric BinaryIoU(const BinaryIoUOptions& options = {});

struct MeanIoUOptions {
  std::string name = "";  // from the class where left out
  DType dtype = DType::float32;
  std::optional<int64_t> ignore_class = {};
  Flag sparse_y_true = true;  // numbers of classes, else a value for each class
  Flag sparse_y_pred = true;
  int64_t axis = -1;
};
/// The mean over all classes of intersection over union.
THALWEG_API Metric MeanIoU(int64_t num_classes, const MeanIoUOptions& options = {});

struct OneHotIoUOptions {
  std::string name = "";  // from the class where left out
  DType dtype = DType::float32;
  std::optional<int64_t> ignore_class = {};
  Flag sparse_y_pred = false;
  int64_t axis = -1;
};
/// The mean over some classes of intersection over union, labels being one-hot.
THALWEG_API Metric OneHotIoU(int64_t num_classes, const std::vector<int64_t>& target_class_ids,
                             const OneHotIoUOptions& options = {});

struct OneHotMeanIoUOptions {
  std::string name = "";  // from the class where left out
  DType dtype = DType::float32;
  std::optional<int64_t> ignore_class = {};
  Flag sparse_y_pred = false;
  int64_t axis = -1;
};
/// The mean over all classes of intersection over union, labels being one-hot.
THALWEG_API Metric OneHotMeanIoU(int64_t num_classes, const OneHotMeanIoUOptions& options = {});

// F-scores.

struct FBetaScoreOptions {
  std::optional<std::string> average = {};  // "micro", "macro" or "weighted"; one score for each class where left out
  double beta = 1;
  std::optional<double> threshold = {};  // the largest prediction is yes where left out
  std::string name = "fbeta_score";
  DType dtype = DType::float32;
};
/// The weighted harmonic mean of precision and recall, recall counting beta times.
THALWEG_API Metric FBetaScore(const FBetaScoreOptions& options = {});

struct F1ScoreOptions {
  std::optional<std::string> average = {};  // "micro", "macro" or "weighted"; one score for each class where left out
  std::optional<double> threshold = {};     // the largest prediction is yes where left out
  std::string name = "f1_score";
  DType dtype = DType::float32;
};
/// The harmonic mean of precision and recall.
THALWEG_API Metric F1Score(const F1ScoreOptions& options = {});

// The same with an option by position (docs/decisions/0013).
template <As<std::string> A = std::string> Metric Mean(const A& name, MeanOptions options = {}) {
  return Mean(with(options, options.name, name));
}
template <As<std::string> A = std::string> Metric Sum(const A& name, SumOptions options = {}) {
  return Sum(with(options, options.name, name));
}
template <As<std::string> A = std::string> Metric MeanTensor(const A& name, MeanTensorOptions options = {}) {
  return MeanTensor(with(options, options.name, name));
}
template <As<std::string> A = std::string>
Metric MeanSquaredError(const A& name, MeanSquaredErrorOptions options = {}) {
  return MeanSquaredError(with(options, options.name, name));
}
template <As<std::string> A = std::string>
Metric RootMeanSquaredError(const A& name, RootMeanSquaredErrorOptions options = {}) {
  return RootMeanSquaredError(with(options, options.name, name));
}
template <As<std::string> A = std::string>
Metric MeanAbsoluteError(const A& name, MeanAbsoluteErrorOptions options = {}) {
  return MeanAbsoluteError(with(options, options.name, name));
}
template <As<std::string> A = std::string>
Metric MeanAbsolutePercentageError(const A& name, MeanAbsolutePercentageErrorOptions options = {}) {
  return MeanAbsolutePercentageError(with(options, options.name, name));
}
template <As<std::string> A = std::string>
Metric MeanSquaredLogarithmicError(const A& name, MeanSquaredLogarithmicErrorOptions options = {}) {
  return MeanSquaredLogarithmicError(with(options, options.name, name));
}
template <As<std::string> A = std::string>
Metric MeanRelativeError(const Tensor& normalizer, const A& name, MeanRelativeErrorOptions options = {}) {
  return MeanRelativeError(normalizer, with(options, options.name, name));
}
template <As<std::string> A = std::string> Metric LogCoshError(const A& name, LogCoshErrorOptions options = {}) {
  return LogCoshError(with(options, options.name, name));
}
template <As<std::string> A = std::string>
Metric CosineSimilarity(const A& name, CosineSimilarityOptions options = {}) {
  return CosineSimilarity(with(options, options.name, name));
}
template <As<std::optional<std::string>> A = std::optional<std::string>>
Metric R2Score(const A& class_aggregation, R2ScoreOptions options = {}) {
  return R2Score(with(options, options.class_aggregation, class_aggregation));
}
template <As<std::string> A = std::string> Metric Poisson(const A& name, PoissonOptions options = {}) {
  return Poisson(with(options, options.name, name));
}
template <As<std::string> A = std::string> Metric KLDivergence(const A& name, KLDivergenceOptions options = {}) {
  return KLDivergence(with(options, options.name, name));
}
template <As<std::string> A = std::string>
Metric BinaryCrossentropy(const A& name, BinaryCrossentropyOptions options = {}) {
  return BinaryCrossentropy(with(options, options.name, name));
}
template <As<std::string> A = std::string>
Metric CategoricalCrossentropy(const A& name, CategoricalCrossentropyOptions options = {}) {
  return CategoricalCrossentropy(with(options, options.name, name));
}
template <As<std::string> A = std::string>
Metric SparseCategoricalCrossentropy(const A& name, SparseCategoricalCrossentropyOptions options = {}) {
  return SparseCategoricalCrossentropy(with(options, options.name, name));
}
template <As<std::string> A = std::string> Metric Hinge(const A& name, HingeOptions options = {}) {
  return Hinge(with(options, options.name, name));
}
template <As<std::string> A = std::string> Metric SquaredHinge(const A& name, SquaredHingeOptions options = {}) {
  return SquaredHinge(with(options, options.name, name));
}
template <As<std::string> A = std::string>
Metric CategoricalHinge(const A& name, CategoricalHingeOptions options = {}) {
  return CategoricalHinge(with(options, options.name, name));
}
template <As<std::string> A = std::string> Metric Accuracy(const A& name, AccuracyOptions options = {}) {
  return Accuracy(with(options, options.name, name));
}
template <As<std::string> A = std::string> Metric BinaryAccuracy(const A& name, BinaryAccuracyOptions options = {}) {
  return BinaryAccuracy(with(options, options.name, name));
}
template <As<std::string> A = std::string>
Metric CategoricalAccuracy(const A& name, CategoricalAccuracyOptions options = {}) {
  return CategoricalAccuracy(with(options, options.name, name));
}
template <As<std::string> A = std::string>
Metric SparseCategoricalAccuracy(const A& name, SparseCategoricalAccuracyOptions options = {}) {
  return SparseCategoricalAccuracy(with(options, options.name, name));
}
template <As<int64_t> A = int64_t>
Metric TopKCategoricalAccuracy(const A& k, TopKCategoricalAccuracyOptions options = {}) {
  return TopKCategoricalAccuracy(with(options, options.k, k));
}
template <As<int64_t> A = int64_t>
Metric SparseTopKCategoricalAccuracy(const A& k, SparseTopKCategoricalAccuracyOptions options = {}) {
  return SparseTopKCategoricalAccuracy(with(options, options.k, k));
}
template <As<Thresholds> A = Thresholds> Metric TruePositives(const A& thresholds, TruePositivesOptions options = {}) {
  return TruePositives(with(options, options.thresholds, thresholds));
}
template <As<Thresholds> A = Thresholds> Metric TrueNegatives(const A& thresholds, TrueNegativesOptions options = {}) {
  return TrueNegatives(with(options, options.thresholds, thresholds));
}
template <As<Thresholds> A = Thresholds>
Metric FalsePositives(const A& thresholds, FalsePositivesOptions options = {}) {
  return FalsePositives(with(options, options.thresholds, thresholds));
}
template <As<Thresholds> A = Thresholds>
Metric FalseNegatives(const A& thresholds, FalseNegativesOptions options = {}) {
  return FalseNegatives(with(options, options.thresholds, thresholds));
}
template <As<Thresholds> A = Thresholds> Metric Precision(const A& thresholds, PrecisionOptions options = {}) {
  return Precision(with(options, options.thresholds, thresholds));
}
template <As<Thresholds> A = Thresholds> Metric Recall(const A& thresholds, RecallOptions options = {}) {
  return Recall(with(options, options.thresholds, thresholds));
}
template <As<int64_t> A = int64_t>
Metric SensitivityAtSpecificity(double specificity, const A& num_thresholds,
                                SensitivityAtSpecificityOptions options = {}) {
  return SensitivityAtSpecificity(specificity, with(options, options.num_thresholds, num_thresholds));
}
template <As<int64_t> A = int64_t>
Metric SpecificityAtSensitivity(double sensitivity, const A& num_thresholds,
                                SpecificityAtSensitivityOptions options = {}) {
  return SpecificityAtSensitivity(sensitivity, with(options, options.num_thresholds, num_thresholds));
}
template <As<int64_t> A = int64_t>
Metric PrecisionAtRecall(double recall, const A& num_thresholds, PrecisionAtRecallOptions options = {}) {
  return PrecisionAtRecall(recall, with(options, options.num_thresholds, num_thresholds));
}
template <As<int64_t> A = int64_t>
Metric RecallAtPrecision(double precision, const A& num_thresholds, RecallAtPrecisionOptions options = {}) {
  return RecallAtPrecision(precision, with(options, options.num_thresholds, num_thresholds));
}
template <As<int64_t> A = int64_t> Metric AUC(const A& num_thresholds, AUCOptions options = {}) {
  return AUC(with(options, options.num_thresholds, num_thresholds));
}
template <As<std::string> A = std::string>
Metric IoU(int64_t num_classes, const std::vector<int64_t>& target_class_ids, const A& name, IoUOptions options = {}) {
  return IoU(num_classes, target_class_ids, with(options, options.name, name));
}
template <As<std::vector<int64_t>> A = std::vector<int64_t>>
Metric BinaryIoU(const A& target_class_ids, BinaryIoUOptions options = {}) {
  return BinaryIoU(with(options, options.target_class_ids, target_class_ids));
}
template <As<std::string> A = std::string>
Metric MeanIoU(int64_t num_classes, const A& name, MeanIoUOptions options = {}) {
  return MeanIoU(num_classes, with(options, options.name, name));
}
template <As<std::string> A = std::string>
Metric OneHotIoU(int64_t num_classes, const std::vector<int64_t>& target_class_ids, const A& name,
                 OneHotIoUOptions options = {}) {
  return OneHotIoU(num_classes, target_class_ids, with(options, options.name, name));
}
template <As<std::string> A = std::string>
Metric OneHotMeanIoU(int64_t num_classes, const A& name, OneHotMeanIoUOptions options = {}) {
  return OneHotMeanIoU(num_classes, with(options, options.name, name));
}
template <As<std::optional<std::string>> A = std::optional<std::string>>
Metric FBetaScore(const A& average, FBetaScoreOptions options = {}) {
  return FBetaScore(with(options, options.average, average));
}
template <As<std::optional<std::string>> A = std::optional<std::string>>
Metric F1Score(const A& average, F1ScoreOptions options = {}) {
  return F1Score(with(options, options.average, average));
}

}  // namespace thalweg::keras::metrics
