// error: use of deleted function
#include "thalweg/ops/variable.h"

void replace(thalweg::Variable w, const thalweg::Tensor& value) { w = value; }
