// A tour of tensors, from literals to the time of 200 matrix products.
#include <thalweg/thalweg.h>

#include <chrono>
#include <iostream>

namespace tf = thalweg;

namespace {

void title(const char* text) { std::cout << "\n== " << text << "\n"; }

// Seconds for `steps` products of a matrix with itself.
double time_products(const tf::Tensor& x, int steps) {
  tf::Tensor y = tf::matmul(x, x);  // the first call prepares the kernels
  auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < steps; ++i) y = tf::matmul(x, x);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int main() {
  std::cout << "Thalweg " << tf::version() << ", " << tf::num_threads() << " threads\n";

  title("Literals are tensors, operators work element by element");
  tf::Tensor x = {{2.0f, 3.0f}, {4.0f, 5.0f}};
  auto y = tf::matmul(x, x) + 1.0;
  std::cout << "x @ x + 1 = " << y << "\n";

  title("Indexing: all rows, a new axis, all but the last column");
  std::cout << y(tf::all, tf::newaxis, tf::slice(0, -1)) << "\n";

  title("Reductions, broadcasting, comparison");
  auto mean = tf::reduce_mean(y, 0, {.keepdims = true});
  std::cout << "columns' means: " << mean << "\n";
  std::cout << "above them:     " << (y > mean) << "\n";

  title("The two largest sums of rows");
  auto [values, indices] = tf::math::top_k(tf::reduce_sum(x * x, {.axis = 1}), 2);
  std::cout << values << "\n" << indices << "\n";

  title("Integers divide as in Python; dtypes never mix silently");
  tf::Tensor n = {7, -7, 8};
  std::cout << "n / 2 = " << n / 2 << "\nn % 3 = " << n % 3 << "\n";
  try {
    std::cout << x + n << "\n";
  } catch (const tf::Error& error) {
    std::cout << error.type() << ": " << error.what() << "\n";
  }

  title("Text");
  tf::Tensor words = {"river", "bed", "thalweg"};
  std::cout << words << "\n";

  constexpr int size = 1000, steps = 200;
  title("200 products of 1000 x 1000 matrices");
  double seconds = time_products(tf::cast(tf::eye(size), tf::float32) * 0.5 + 0.001, steps);
  double operations = 2.0 * size * size * size * steps;
  std::cout << seconds << " s, " << operations / seconds * 1e-9 << " GFLOP/s\n";
}
