// error: a struct has more than 32 members, or a C array: put some into a struct of their own
#include "thalweg/ops/module.h"

struct Model {
  int a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0, i = 0, j = 0, k = 0, l = 0, m = 0;
  int n = 0, o = 0, p = 0, q = 0, r = 0, s = 0, t = 0, u = 0, v = 0, w = 0, x = 0, y = 0;
  int a2 = 0, b2 = 0, c2 = 0, d2 = 0, e2 = 0, f2 = 0, g2 = 0, h2 = 0;
  thalweg::Variable kernel = {};
};
size_t count(const Model& model) { return thalweg::variables(model).size(); }
