// error: the members of a base class cannot be found: make it a member, or list them
#include "thalweg/ops/module.h"

struct Dense {
  thalweg::Variable kernel = {};
};
struct Scaled : Dense {
  thalweg::Variable scale = {};
};
size_t count(const Scaled& model) { return thalweg::variables(model).size(); }
