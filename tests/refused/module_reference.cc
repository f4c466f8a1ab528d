// error: the members of this struct cannot be found, since one is a reference or has no default
#include "thalweg/ops/module.h"

struct Dense {
  thalweg::Variable kernel = {};
};
struct Model {
  int units = 1;
  Dense& dense;
};
size_t count(const Model& model) { return thalweg::variables(model).size(); }
