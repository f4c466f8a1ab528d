// error: variables are not found in this class of the standard library: use std::vector
#include <stack>

#include "thalweg/ops/module.h"

struct Model {
  std::stack<thalweg::Variable> variables = {};
};
size_t count(const Model& model) { return thalweg::variables(model).size(); }
