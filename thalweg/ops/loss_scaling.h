// Losses as averages over the examples of all replicas.
#pragma once
#include "thalweg/ops/options.h"

namespace thalweg::nn {

struct AverageLossOptions {
  Tensor sample_weight = {};      // a weight for each example
  Tensor global_batch_size = {};  // an integer scalar; the size of the first axis where left out
};
/// The sum of the losses of examples divided by the number of examples in the whole batch.
THALWEG_API Tensor compute_average_loss(const Tensor& per_example_loss, const AverageLossOptions& options = {});
/// The sum of a regularisation loss divided by the number of replicas, which is one.
THALWEG_API Tensor scale_regularization_loss(const Tensor& regularization_loss);

}  // namespace thalweg::nn
