// Functions: traced once for each kind of arguments, then run from a plan; `if` and `while` may ask for values.
#include <thalweg/thalweg.h>

#include <iomanip>
#include <iostream>

namespace tf = thalweg;
using tf::Tensor;

int main() {
  std::cout << std::fixed << std::setprecision(4);

  tf::Variable w(tf::zeros({2, 1})), b(0.0f);
  auto step = tf::function([&](const Tensor& x, const Tensor& y) {
    std::cout << "tracing a step for batches of shape " << x.shape().str() << "\n";  // not seen when the plan runs
    tf::GradientTape tape;
    Tensor loss = tf::reduce_mean(tf::square(tf::matmul(x, w) + b - y));
    auto [dw, db] = tape.gradient(loss, w, b);
    w.assign_sub(0.05f * dw);
    b.assign_sub(0.05f * db);
    return loss;
  });
  Tensor x = tf::reshape(tf::linspace(-1.0f, 1.0f, 24), {12, 2});
  Tensor y = tf::matmul(x, Tensor{{2.0f}, {-1.0f}}) + 0.5f;
  for (int epoch = 0; epoch <= 8; ++epoch) {
    Tensor loss;
    for (int64_t row = 0; row < 12; row += 5)  // 5 rows, 5 rows, 2 rows
      loss = step(x(tf::slice(row, row + 5)), y(tf::slice(row, row + 5)));
    if (epoch % 4 == 0) std::cout << "epoch " << epoch << ": loss " << loss.item<float>() << "\n";
  }
  std::cout << "traced " << step.experimental_get_tracing_count() << " times, b = " << b.item<float>() << "\n";

  // A loop whose end depends on values, written as such.
  auto root = tf::function([](const Tensor& a) {
    Tensor guess = a;
    while (tf::abs(guess * guess - a) > 1e-4f) guess = (guess + a / guess) / 2.0f;
    return guess;
  });
  for (float a : {2.0f, 9.0f, 2.0f}) {
    Tensor input = a;
    tf::GradientTape tape;
    tape.watch(input);
    Tensor result = root(input);
    std::cout << "root of " << a << ": " << result.item<float>() << ", slope "
              << tape.gradient(result, input).item<float>() << "\n";
  }

  // The sum of a row's powers until they are small, for each row.
  Tensor sums = tf::map_fn(
      [](const Tensor& row) {
        auto [power, sum] = tf::while_loop(
            [](const Tensor& power, const Tensor&) { return tf::reduce_max(power) > 0.01f; },
            [&](const Tensor& power, const Tensor& sum) { return std::tuple(power * row, sum + power * row); },
            std::tuple(row, row));
        return sum;
      },
      Tensor{{0.5f, 0.25f}, {0.1f, 0.8f}});
  std::cout << tf::reduce_sum(sums).item<float>() << "\n";
}
