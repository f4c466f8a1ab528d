// error: a derived class may hold variables that a template `fields` of its base does not see
#include "thalweg/ops/module.h"

class Layer {
 public:
  virtual ~Layer() = default;
  template <class F> void fields(F&& f) { f("kernel", kernel_); }

 private:
  thalweg::Variable kernel_;
};
struct Model {
  std::vector<std::unique_ptr<Layer>> layers = {};
};
size_t count(const Model& model) { return thalweg::variables(model).size(); }
