// error: this tensor is a temporary, and its elements end with it: keep it in a variable first, `Tensor y = ...;
// y.span<float>()`
#include <thalweg/thalweg.h>

std::span<const float> read(const thalweg::Tensor& x) { return (x + 1.0f).span<float>(); }
