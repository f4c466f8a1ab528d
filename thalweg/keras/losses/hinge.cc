#include "thalweg/keras/losses.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_elementary.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/selection.h"

namespace thalweg::keras::losses {
namespace {

/// max(1 - y_true y_pred, 0). Labels that are all 0 or 1 become -1 and 1, chosen without a branch.
Tensor margins(const Tensor& y_true, const Tensor& y_pred) {
  Tensor truth = cast(y_true, y_pred.dtype());
  Tensor binary = reduce_all(logical_or(equal(truth, 0.0), equal(truth, 1.0)));
  return maximum(1.0 - where(binary, 2.0 * truth - 1.0, truth) * y_pred, 0.0);
}

struct HingeLoss {
  static constexpr const char* fn = "hinge";
  HingeOptions options = {};
  Tensor call(const Tensor& y_true, const Tensor& y_pred) { return hinge(y_true, y_pred); }
};
struct SquaredHingeLoss {
  static constexpr const char* fn = "squared_hinge";
  SquaredHingeOptions options = {};
  Tensor call(const Tensor& y_true, const Tensor& y_pred) { return squared_hinge(y_true, y_pred); }
};
struct CategoricalHingeLoss {
  static constexpr const char* fn = "categorical_hinge";
  CategoricalHingeOptions options = {};
  Tensor call(const Tensor& y_true, const Tensor& y_pred) { return categorical_hinge(y_true, y_pred); }
};

const bool hinge_names[] = {
    register_named<LossInterface, hinge>("hinge"),
    register_named<LossInterface, squared_hinge>("squared_hinge"),
    register_named<LossInterface, categorical_hinge>("categorical_hinge"),
};

}  // namespace

Tensor hinge(const Tensor& y_true, const Tensor& y_pred) { return reduce_mean(margins(y_true, y_pred), {.axis = -1}); }
Tensor squared_hinge(const Tensor& y_true, const Tensor& y_pred) {
  return reduce_mean(square(margins(y_true, y_pred)), {.axis = -1});
}
Tensor categorical_hinge(const Tensor& y_true, const Tensor& y_pred) {
  Tensor truth = cast(y_true, y_pred.dtype());
  Tensor positive = reduce_sum(truth * y_pred, {.axis = -1});
  Tensor negative = reduce_max((1.0 - truth) * y_pred, {.axis = -1});
  return maximum(negative - positive + 1.0, 0.0);
}

Loss Hinge(const HingeOptions& options) { return HingeLoss{options}; }
Loss SquaredHinge(const SquaredHingeOptions& options) { return SquaredHingeLoss{options}; }
Loss CategoricalHinge(const CategoricalHingeOptions& options) { return CategoricalHingeLoss{options}; }

}  // namespace thalweg::keras::losses
