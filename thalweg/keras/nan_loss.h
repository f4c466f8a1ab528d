// A loss that became NaN: fit goes on, as sweeps of learning rates want it, and says once where it came from.
#pragma once
#include "thalweg/keras/model.h"

namespace thalweg::keras {

/// Warns, and names what is not finite first: an input, labels, sample weights, the weight of a layer, or nothing of
/// these. `data` are the arrays, or the batch, that the model was trained on.
void warn_of_nan_loss(const Model& model, const Nest& data, int epoch);

}  // namespace thalweg::keras
