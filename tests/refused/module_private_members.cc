// error: this class has private members or a constructor, so its variables cannot be found: add `template <class F>
#include "thalweg/ops/module.h"

class Dense {
 public:
  Dense() : kernel_(1.0f) {}

 private:
  thalweg::Variable kernel_;
};
struct Model {
  std::vector<Dense> layers = {};
};
size_t count(const Model& model) { return thalweg::variables(model).size(); }
