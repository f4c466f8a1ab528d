// Derivatives of derivatives: functions of functions, hessians, and products with a vector.
#include <thalweg/thalweg.h>

#include <iostream>

namespace tf = thalweg;

int main() {
  // x^4 has derivatives 4 x^3, 12 x^2, 24 x.
  auto power = [](const tf::Tensor& x) { return tf::pow(x, 4); };
  auto first = tf::grad(power);
  auto second = tf::grad(first);
  auto third = tf::grad(second);
  std::cout << "x^4 at 2: " << power(2.0f) << " " << first(2.0f) << " " << second(2.0f) << " " << third(2.0f) << "\n";

  auto f = [](const tf::Tensor& p) { return tf::sin(p[0]) * tf::square(p[1]); };
  tf::Tensor point = {1.0f, 2.0f};
  std::cout << "gradient: " << tf::grad(f)(point) << "\n";

  // The hessian is the jacobian of the gradient.
  tf::GradientTape tape;
  tape.watch(point);
  auto gradient = tf::grad(f)(point);
  std::cout << "hessian: " << tape.jacobian(gradient, point) << "\n";

  // Its product with a vector, without the hessian: forwards over backwards.
  auto [at, product] = tf::jvp(tf::grad(f), point, tf::Tensor{1.0f, -1.0f});
  std::cout << "hessian times direction: " << product << "\n";
}
