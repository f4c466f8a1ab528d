// error: this tensor is a temporary, and its elements end with it: keep it in a variable first, `Tensor y = ...;
// y.data<float>()`
#include <thalweg/thalweg.h>

const float* read(const thalweg::Variable& w) { return w.value().data<float>(); }
