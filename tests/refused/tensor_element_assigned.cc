// error: a tensor never changes, and x[0] is a new one: write x = tensor_scatter_nd_update(x, indices, updates), or
// make x a Variable and write x(0).assign(...)
#include <thalweg/thalweg.h>

void change(thalweg::Tensor x) { x[0] = 1.0f; }
