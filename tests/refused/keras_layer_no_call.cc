// error: a layer or model is a struct with one member function `call`
#include <thalweg/thalweg.h>

namespace keras = thalweg::keras;
using thalweg::Variable;

struct Scale {
  Variable scale = {};
};
void make() { keras::Layer layer = Scale{}; }
