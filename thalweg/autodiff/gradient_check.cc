#include "thalweg/autodiff/gradient_check.h"

#include <cmath>

#include "thalweg/autodiff/tape.h"
#include "thalweg/core/error.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::test {
namespace {

// The elements as float64.
std::vector<double> doubles_of(const Tensor& t) {
  Tensor wide = cast(t, DType::float64);
  return {wide.data<double>(), wide.data<double>() + wide.size()};
}

Tensor theoretical(const std::function<Tensor(const std::vector<Tensor>&)>& f, const std::vector<Tensor>& x, size_t i) {
  autodiff::Tape tape({});
  tape.start();
  tape.watch(x[i]);
  Tensor y = f(x);
  Tensor jacobian = tape.jacobian(y, {&x[i], 1}, UnconnectedGradients::zero)[0];
  return reshape(jacobian, {y.size(), x[i].size()});
}

Tensor numerical(const std::function<Tensor(const std::vector<Tensor>&)>& f, const std::vector<Tensor>& x, size_t i,
                 double delta) {
  std::vector<double> at = doubles_of(x[i]);
  auto value = [&](size_t k, double by) {
    std::vector<double> moved = at;
    moved[k] += by;
    std::vector<Tensor> arguments = x;
    arguments[i] = cast(Tensor(moved, x[i].shape()), x[i].dtype());
    return doubles_of(f(arguments));
  };
  int64_t rows = f(x).size(), columns = x[i].size();
  Tensor jacobian = Tensor::empty(DType::float64, {rows, columns});
  for (size_t k = 0; k < at.size(); ++k) {
    std::vector<double> high = value(k, delta), low = value(k, -delta);
    for (size_t r = 0; r < high.size(); ++r)
      jacobian.mutable_data<double>()[r * at.size() + k] = (high[r] - low[r]) / (2 * delta);
  }
  return cast(jacobian, x[i].dtype());
}

}  // namespace

Jacobians compute_gradient(const std::function<Tensor(const std::vector<Tensor>&)>& f, const std::vector<Tensor>& x,
                           double delta) {
  if (!(delta > 0)) throw ValueError("compute_gradient: delta must be positive, got " + std::to_string(delta));
  Jacobians found;
  for (size_t i = 0; i < x.size(); ++i) {
    if (!is_floating(x[i].dtype()))
      throw ValueError("compute_gradient: argument " + std::to_string(i) + " must be real, it is " +
                       std::string(name_of(x[i].dtype())));
    found.theoretical.push_back(theoretical(f, x, i));
    found.numerical.push_back(numerical(f, x, i, delta));
  }
  return found;
}

double max_error(const Jacobians& jacobians) {
  double worst = 0;
  for (size_t i = 0; i < jacobians.theoretical.size(); ++i) {
    std::vector<double> a = doubles_of(jacobians.theoretical[i]), b = doubles_of(jacobians.numerical[i]);
    for (size_t k = 0; k < a.size(); ++k) worst = std::max(worst, std::abs(a[k] - b[k]));
  }
  return worst;
}

}  // namespace thalweg::test
