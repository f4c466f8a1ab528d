// error: a raw pointer hides the variables behind it: hold the struct by value
#include <thalweg/thalweg.h>

namespace keras = thalweg::keras;
using thalweg::Tensor;

struct Wrapper {
  keras::Layer* inner = nullptr;
  Tensor call(const Tensor& x) { return (*inner)(x); }
};
keras::Layer layer = Wrapper{};
