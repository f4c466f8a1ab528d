#include "thalweg/keras/regularizers.h"

#include <cmath>

#include "thalweg/core/error.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/losses.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_rounding.h"
#include "thalweg/ops/matmul.h"
#include "thalweg/ops/norms.h"
#include "thalweg/ops/reduction.h"

namespace thalweg::keras::regularizers {
namespace {

// Keras keeps penalties as float32.
void check_penalty(float penalty) {
  if (std::isfinite(penalty)) return;
  throw ValueError("Value " +
                   std::string(std::isnan(penalty) ? "nan"
                               : penalty < 0       ? "-inf"
                                                   : "inf") +
                   " is not a valid regularization penalty number, an infinite number or NaN are not valid values.");
}
Tensor absolute_sum(const Tensor& x) { return reduce_sum(abs(x)); }

struct L1Regularizer {
  float l1 = 0.01F;
  void check() const { check_penalty(l1); }
  Tensor call(const Tensor& x) { return static_cast<double>(l1) * absolute_sum(x); }
};

struct L2Regularizer {
  float l2 = 0.01F;
  void check() const { check_penalty(l2); }
  Tensor call(const Tensor& x) { return 2.0 * static_cast<double>(l2) * nn::l2_loss(x); }
};

struct L1L2Regularizer {
  float l1 = 0, l2 = 0;
  void check() const {
    check_penalty(l1);
    check_penalty(l2);
  }
  Tensor call(const Tensor& x) {
    Tensor sum = zeros(Shape(), {.dtype = x.dtype()});
    if (l1 != 0) sum = sum + static_cast<double>(l1) * absolute_sum(x);
    if (l2 != 0) sum = sum + 2.0 * static_cast<double>(l2) * nn::l2_loss(x);
    return sum;
  }
};

struct OrthogonalRegularizerRegularizer {
  float factor = 0.01F;
  std::string mode = "rows";
  void check() const {
    check_penalty(factor);
    if (mode != "rows" && mode != "columns")
      throw ValueError("Invalid value for argument `mode`. Expected one of {\"rows\", \"columns\"}. Received: mode=" +
                       mode);
  }
  Tensor call(const Tensor& x) {
    if (x.shape().rank() != 2)
      throw ValueError("Inputs to OrthogonalRegularizer must have rank 2. Received: inputs.shape == " +
                       x.shape().str());
    const bool rows = mode == "rows";
    Tensor unit = math::l2_normalize(x, {.axis = rows ? 1 : 0});
    Tensor cosines = matmul(unit, unit, {.transpose_a = !rows, .transpose_b = rows});
    const int64_t size = x.shape()[rows ? 0 : 1];
    const double pairs = static_cast<double>(size) * (static_cast<double>(size) - 1) / 2;
    return static_cast<double>(factor) * 0.5 * absolute_sum(cosines * (1.0 - eye(size, {.dtype = x.dtype()}))) / pairs;
  }
};

// By name, l1_l2 has penalties where the class has none.
bool register_l1_l2() {
  static_cast<void>(registered<Regularizer::Interface, L1L2Regularizer>);
  return register_class({RegularizerTag::kind, "l1_l2",
                         [](const Value& config) -> std::shared_ptr<Object> {
                           Value all = Value::map({{"l1", 0.01}, {"l2", 0.01}});
                           if (config.is_map())
                             for (const auto& [key, value] : config.map()) all.set(key, value);
                           return make_object(RegularizerTag::kind, "L1L2", all);
                         },
                         []() -> const Rows& { return rows_of(detail::example_of<L1L2Regularizer>()); },
                         [] { return Value::map({{"l1", 0.01}, {"l2", 0.01}}); }, true});
}

const bool names[] = {register_alias("regularizer", "l1", "L1"), register_alias("regularizer", "l2", "L2"),
                      register_alias("regularizer", "orthogonal_regularizer", "OrthogonalRegularizer"),
                      register_l1_l2()};

}  // namespace

Regularizer L1(double l1) { return L1Regularizer{static_cast<float>(l1)}; }
Regularizer L2(double l2) { return L2Regularizer{static_cast<float>(l2)}; }
Regularizer L1L2(const L1L2Options& options) {
  return L1L2Regularizer{static_cast<float>(options.l1), static_cast<float>(options.l2)};
}
Regularizer OrthogonalRegularizer(const OrthogonalRegularizerOptions& options) {
  return OrthogonalRegularizerRegularizer{static_cast<float>(options.factor), options.mode};
}

}  // namespace thalweg::keras::regularizers
