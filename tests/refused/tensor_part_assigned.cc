// error: a tensor never changes, and x[0] is a new one
#include <thalweg/thalweg.h>

void change(thalweg::Tensor x) { x(0, 0) = {5.0f, 6.0f}; }
