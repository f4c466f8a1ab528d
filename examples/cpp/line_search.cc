// Steepest descent with a line search: how far to go is decided by plain C++ control flow, step by step.
#include <thalweg/thalweg.h>

#include <cstdio>

namespace tf = thalweg;

// Rosenbrock's function: a long bent valley whose lowest place is (1, 1).
tf::Tensor valley(const tf::Tensor& point) {
  auto x = point[0], y = point[1];
  return 100.0 * tf::square(y - tf::square(x)) + tf::square(1.0 - x);
}

// One step against the gradient, halved until it goes down far enough (Armijo's rule).
double descend(tf::Tensor& point, double rate = 1.0, double enough = 1e-4) {
  auto [here, gradient] = tf::value_and_grad(valley)(point);
  auto steepness = tf::reduce_sum(tf::square(gradient));
  while (valley(point - rate * gradient) > here - enough * rate * steepness) rate /= 2;
  point = point - rate * gradient;
  return rate;
}

int main() {
  tf::Tensor point(std::vector<double>{-1.2, 1.0});
  for (int step = 1; step <= 5; ++step) {
    double rate = descend(point);
    std::printf("step %d: rate %.6f, value %.6f, at [%.6f, %.6f]\n", step, rate, valley(point).item<double>(),
                point[0].item<double>(), point[1].item<double>());
  }
}
