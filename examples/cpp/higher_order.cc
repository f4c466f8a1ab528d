// Derivatives of derivatives: functions of functions, hessians, and products with a vector.
#include <thalweg/thalweg.h>

#include <cstdio>

namespace tf = thalweg;

namespace {

// A line of numbers, rounded: the last digits are the machine's own.
void show(const char* title, const tf::Tensor& numbers) {
  std::printf("%s", title);
  for (float number : numbers.span<float>()) std::printf(" %.4f", static_cast<double>(number));
  std::printf("\n");
}

}  // namespace

int main() {
  // x^4 has derivatives 4 x^3, 12 x^2, 24 x.
  auto power = [](const tf::Tensor& x) { return tf::pow(x, 4); };
  auto first = tf::grad(power);
  auto second = tf::grad(first);
  auto third = tf::grad(second);
  show("x^4 at 2:", tf::stack({power(2.0f), first(2.0f), second(2.0f), third(2.0f)}));

  auto f = [](const tf::Tensor& p) { return tf::sin(p[0]) * tf::square(p[1]); };
  tf::Tensor point = {1.0f, 2.0f};
  show("gradient:", tf::grad(f)(point));

  // The hessian is the jacobian of the gradient.
  tf::GradientTape tape;
  tape.watch(point);
  auto gradient = tf::grad(f)(point);
  show("hessian:", tape.jacobian(gradient, point));

  // Its product with a vector, without the hessian: forwards over backwards.
  auto [at, product] = tf::jvp(tf::grad(f), point, tf::Tensor{1.0f, -1.0f});
  show("hessian times direction:", product);
}
