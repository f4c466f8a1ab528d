// error: is ambiguous
#include <thalweg/thalweg.h>

namespace keras = thalweg::keras;
using thalweg::Tensor;

void train(const keras::Model& model, const Tensor& x) { model.fit(x, {.epochs = 2}); }
