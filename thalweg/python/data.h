// Datasets of the engine as Python holds them.
#pragma once
#include "thalweg/data/stage.h"

namespace thalweg::python {

/// What a tf.data.Dataset of the package holds.
struct DatasetStage {
  data::StagePtr stage;
};

}  // namespace thalweg::python
