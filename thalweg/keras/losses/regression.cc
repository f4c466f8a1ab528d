#include <numbers>

#include "thalweg/keras/backend.h"
#include "thalweg/keras/loss_support.h"
#include "thalweg/keras/losses.h"
#include "thalweg/ops/activation.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_elementary.h"
#include "thalweg/ops/math_rounding.h"
#include "thalweg/ops/norms.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/selection.h"

namespace thalweg::keras::losses {

Tensor mean_squared_error(const Tensor& y_true, const Tensor& y_pred) {
  return reduce_mean(math::squared_difference(y_pred, cast(y_true, y_pred.dtype())), {.axis = -1});
}
Tensor mean_absolute_error(const Tensor& y_true, const Tensor& y_pred) {
  return reduce_mean(abs(y_pred - cast(y_true, y_pred.dtype())), {.axis = -1});
}
Tensor mean_absolute_percentage_error(const Tensor& y_true, const Tensor& y_pred) {
  Tensor truth = cast(y_true, y_pred.dtype());
  return 100.0 * reduce_mean(abs((truth - y_pred) / maximum(abs(truth), backend::epsilon())), {.axis = -1});
}
Tensor mean_squared_logarithmic_error(const Tensor& y_true, const Tensor& y_pred) {
  auto logarithm = [](const Tensor& x) { return log(maximum(x, backend::epsilon()) + 1.0); };
  return reduce_mean(math::squared_difference(logarithm(y_pred), logarithm(cast(y_true, y_pred.dtype()))),
                     {.axis = -1});
}
Tensor huber(const Tensor& y_true, const Tensor& y_pred, const HuberFunctionOptions& options) {
  // float32 whatever comes in, as in Keras.
  Tensor error = cast(y_pred, DType::float32) - cast(y_true, DType::float32), size = abs(error);
  const double delta = options.delta;
  return reduce_mean(where(size <= delta, 0.5 * square(error), delta * size - 0.5 * delta * delta), {.axis = -1});
}
Tensor log_cosh(const Tensor& y_true, const Tensor& y_pred) {
  Tensor error = y_pred - cast(y_true, y_pred.dtype());
  return reduce_mean(error + nn::softplus(-2.0 * error) - std::numbers::ln2, {.axis = -1});
}
Tensor cosine_similarity(const Tensor& y_true, const Tensor& y_pred, const CosineSimilarityFunctionOptions& options) {
  return -reduce_sum(
      nn::l2_normalize(y_true, {.axis = options.axis}) * nn::l2_normalize(y_pred, {.axis = options.axis}),
      {.axis = options.axis});
}
Tensor poisson(const Tensor& y_true, const Tensor& y_pred) {
  return reduce_mean(y_pred - cast(y_true, y_pred.dtype()) * log(y_pred + backend::epsilon()), {.axis = -1});
}
Tensor kl_divergence(const Tensor& y_true, const Tensor& y_pred) {
  Tensor truth = clip_by_value(cast(y_true, y_pred.dtype()), backend::epsilon(), 1.0);
  return reduce_sum(truth * log(truth / clip_by_value(y_pred, backend::epsilon(), 1.0)), {.axis = -1});
}

namespace {

struct MeanSquaredErrorLoss {
  static constexpr const char* fn = "mean_squared_error";
  MeanSquaredErrorOptions options = {};
  Tensor call(const Tensor& y_true, const Tensor& y_pred) { return mean_squared_error(y_true, y_pred); }
};
struct MeanAbsoluteErrorLoss {
  static constexpr const char* fn = "mean_absolute_error";
  MeanAbsoluteErrorOptions options = {};
  Tensor call(const Tensor& y_true, const Tensor& y_pred) { return mean_absolute_error(y_true, y_pred); }
};
struct MeanAbsolutePercentageErrorLoss {
  static constexpr const char* fn = "mean_absolute_percentage_error";
  MeanAbsolutePercentageErrorOptions options = {};
  Tensor call(const Tensor& y_true, const Tensor& y_pred) { return mean_absolute_percentage_error(y_true, y_pred); }
};
struct MeanSquaredLogarithmicErrorLoss {
  static constexpr const char* fn = "mean_squared_logarithmic_error";
  MeanSquaredLogarithmicErrorOptions options = {};
  Tensor call(const Tensor& y_true, const Tensor& y_pred) { return mean_squared_logarithmic_error(y_true, y_pred); }
};
struct HuberLoss {
  static constexpr const char* fn = "huber";
  HuberOptions options = {};
  Tensor call(const Tensor& y_true, const Tensor& y_pred) { return huber(y_true, y_pred, {.delta = options.delta}); }
};
struct LogCoshLoss {
  static constexpr const char* fn = "log_cosh";
  LogCoshOptions options = {};
  Tensor call(const Tensor& y_true, const Tensor& y_pred) { return log_cosh(y_true, y_pred); }
};
struct CosineSimilarityLoss {
  static constexpr const char* fn = "cosine_similarity";
  CosineSimilarityOptions options = {};
  Tensor call(const Tensor& y_true, const Tensor& y_pred) {
    return cosine_similarity(y_true, y_pred, {.axis = options.axis});
  }
};
struct PoissonLoss {
  static constexpr const char* fn = "poisson";
  PoissonOptions options = {};
  Tensor call(const Tensor& y_true, const Tensor& y_pred) { return poisson(y_true, y_pred); }
};
struct KLDivergenceLoss {
  static constexpr const char* fn = "kl_divergence";
  KLDivergenceOptions options = {};
  Tensor call(const Tensor& y_true, const Tensor& y_pred) { return kl_divergence(y_true, y_pred); }
};

const bool regression_names[] = {
    register_named<LossInterface, mean_squared_error>("mean_squared_error"),
    register_alias("loss", "mse", "mean_squared_error"),
    register_alias("loss", "MSE", "mean_squared_error"),
    register_named<LossInterface, mean_absolute_error>("mean_absolute_error"),
    register_alias("loss", "mae", "mean_absolute_error"),
    register_alias("loss", "MAE", "mean_absolute_error"),
    register_named<LossInterface, mean_absolute_percentage_error>("mean_absolute_percentage_error"),
    register_alias("loss", "mape", "mean_absolute_percentage_error"),
    register_alias("loss", "MAPE", "mean_absolute_percentage_error"),
    register_named<LossInterface, mean_squared_logarithmic_error>("mean_squared_logarithmic_error"),
    register_alias("loss", "msle", "mean_squared_logarithmic_error"),
    register_alias("loss", "MSLE", "mean_squared_logarithmic_error"),
    register_named<LossInterface, huber>("huber"),
    register_alias("loss", "huber_loss", "huber"),
    register_named<LossInterface, log_cosh>("log_cosh"),
    register_alias("loss", "logcosh", "log_cosh"),
    register_named<LossInterface, cosine_similarity>("cosine_similarity"),
    register_named<LossInterface, poisson>("poisson"),
    register_named<LossInterface, kl_divergence>("kl_divergence"),
    register_alias("loss", "kullback_leibler_divergence", "kl_divergence"),
    register_alias("loss", "kld", "kl_divergence"),
    register_alias("loss", "KLD", "kl_divergence"),
};

}  // namespace

Loss MeanSquaredError(const MeanSquaredErrorOptions& options) { return MeanSquaredErrorLoss{options}; }
Loss MeanAbsoluteError(const MeanAbsoluteErrorOptions& options) { return MeanAbsoluteErrorLoss{options}; }
Loss MeanAbsolutePercentageError(const MeanAbsolutePercentageErrorOptions& options) {
  return MeanAbsolutePercentageErrorLoss{options};
}
Loss MeanSquaredLogarithmicError(const MeanSquaredLogarithmicErrorOptions& options) {
  return MeanSquaredLogarithmicErrorLoss{options};
}
Loss Huber(const HuberOptions& options) { return HuberLoss{options}; }
Loss LogCosh(const LogCoshOptions& options) { return LogCoshLoss{options}; }
Loss CosineSimilarity(const CosineSimilarityOptions& options) { return CosineSimilarityLoss{options}; }
Loss Poisson(const PoissonOptions& options) { return PoissonLoss{options}; }
Loss KLDivergence(const KLDivergenceOptions& options) { return KLDivergenceLoss{options}; }

}  // namespace thalweg::keras::losses
