// error: a raw pointer hides the variables behind it: hold the struct by value
#include "thalweg/ops/module.h"

struct Dense {
  thalweg::Variable kernel = {};
};
struct Model {
  int units = 1;
  Dense* dense = nullptr;
};
size_t count(const Model& model) { return thalweg::variables(model).size(); }
