// What programs set once for all of Keras.
#pragma once
#include "thalweg/keras/call_types.h"
#include "thalweg/keras/object.h"

namespace thalweg::keras::backend {

/// How far probabilities are kept from 0 and 1, and norms from 0: 1e-7, until another is set.
THALWEG_API double epsilon();
THALWEG_API void set_epsilon(double value);

/// Whether layers that nobody tells train; open where nothing was set, which means that they do not.
THALWEG_API Choice learning_phase();
THALWEG_API void set_learning_phase(Choice training);

}  // namespace thalweg::keras::backend
