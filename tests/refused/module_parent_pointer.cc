// error: a raw pointer hides the variables behind it: hold the struct by value
#include "thalweg/ops/module.h"

struct Node {
  thalweg::Variable value = {};
  Node* parent = nullptr;
};
size_t count(const Node& node) { return thalweg::variables(node).size(); }
