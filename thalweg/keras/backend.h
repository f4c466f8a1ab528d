// What programs set once for all of Keras.
#pragma once
#include "thalweg/keras/call_types.h"
#include "thalweg/keras/object.h"

namespace thalweg::keras::backend {

/// How far probabilities are kept from 0 and 1, and norms from 0: 1e-7, until another is set.
THALWEG_API double epsilon();
THALWEG_API void set_epsilon(double value);

/// What real numbers are where nobody says otherwise: float32, until another is set. set_floatx(float64) makes it so
/// for layers made afterwards, for keras::Input, and for bare `double` literals of the program (set_double_literals).
THALWEG_API DType floatx();
THALWEG_API void set_floatx(const DTypeOrName& dtype);

/// Whether layers that nobody tells train; open where nothing was set, which means that they do not.
THALWEG_API Choice learning_phase();
THALWEG_API void set_learning_phase(Choice training);

}  // namespace thalweg::keras::backend
