#include "thalweg/keras/layers/core.h"

#include "thalweg/core/error.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_elementary.h"
#include "thalweg/ops/math_rounding.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::keras::layers {
namespace {

struct ActivationLayer {
  keras::Activation activation = {};
  ActivationOptions options = {};
  Tensor call(const Tensor& x) { return activation.defined() ? activation(x) : x; }
  static constexpr bool supports_masking = true;
};

struct MaskingLayer {
  MaskingOptions options = {};
  Tensor counts(const Tensor& x, bool keepdims) const {
    return reduce_any(not_equal(x, cast(Tensor(options.mask_value), x.dtype())), {.axis = -1, .keepdims = keepdims});
  }
  Tensor call(const Tensor& x) { return x * cast(counts(x, true), x.dtype()); }
  Nest compute_mask(const Nest& x, const Nest&) { return counts(x.tensor(), false); }
};

struct IdentityLayer {
  PlainOptions options = {};
  Nest call(const Nest& x) {
    return x.map([](const Tensor& t) { return identity(t); });
  }
};

struct ActivityRegularizationLayer {
  ActivityRegularizationOptions options = {};
  Tensor call(const Tensor& x) {
    // As any regularizer of activities it counts per example, whatever the batch.
    Tensor sum = static_cast<float>(options.l1) * reduce_sum(thalweg::abs(x)) +
                 static_cast<float>(options.l2) * reduce_sum(square(x));
    add_loss(sum / cast(shape(x)(0), x.dtype()));
    return x;
  }
  static constexpr bool supports_masking = true;
};

struct LambdaLayer {
  LambdaOptions options = {};
  LambdaFunction function = {};
  Nest call(const Nest& x, const CallArgs& args) {
    if (!function)
      throw ValueError(
          "this Lambda layer was made from a configuration, which cannot hold its function: use a struct "
          "with `call` instead");
    return function(x, args);
  }
  Nest compute_mask(const Nest& x, const Nest& mask) { return options.mask ? options.mask(x, mask) : Nest(); }
};

}  // namespace

Layer Activation(const keras::Activation& activation, const ActivationOptions& options) {
  return ActivationLayer{activation, options};
}
Layer Masking(const MaskingOptions& options) { return MaskingLayer{options}; }
Layer Identity(const PlainOptions& options) { return IdentityLayer{options}; }
Layer ActivityRegularization(const ActivityRegularizationOptions& options) {
  return ActivityRegularizationLayer{options};
}
Layer Lambda(const LambdaFunction& function, const LambdaOptions& options) { return LambdaLayer{options, function}; }

}  // namespace thalweg::keras::layers
