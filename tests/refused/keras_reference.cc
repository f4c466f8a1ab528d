// error: the members of this struct cannot be found, since one is a reference or has no default
#include <thalweg/thalweg.h>

namespace keras = thalweg::keras;
using thalweg::Tensor;

struct Wrapper {
  keras::Layer& inner;
  Tensor call(const Tensor& x) { return inner(x); }
};
keras::Layer wrap(keras::Layer& inner) { return Wrapper{inner}; }
