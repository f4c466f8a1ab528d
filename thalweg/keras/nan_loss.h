// A loss that became NaN: nothing good comes after it, so fit ends and says where it came from.
#pragma once
#include "thalweg/keras/model.h"

namespace thalweg::keras {

/// InvalidArgumentError that names what is not finite first: an input, labels, sample weights, the weight of a layer,
/// or nothing of these. `data` are the arrays, or the batch, that the model was trained on.
[[noreturn]] void refuse_nan_loss(const Model& model, const Nest& data, int epoch);

}  // namespace thalweg::keras
