// error: this class has private members, a constructor or virtual functions, so its weights and options cannot be found
#include <thalweg/thalweg.h>

namespace keras = thalweg::keras;
using thalweg::Tensor, thalweg::Variable;

class Scale {
 public:
  Tensor call(const Tensor& x) { return x * scale_; }

 private:
  Variable scale_ = {};
};
keras::Layer layer = Scale{};
