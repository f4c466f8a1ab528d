// Uses Thalweg as an installed library: the version is the one announced, ops are registered, they compute, and the
// data that comes with the library is found.
#include <thalweg/keras/datasets.h>
#include <thalweg/ops/op.h>
#include <thalweg/thalweg.h>

#include <cstring>
#include <iostream>

namespace tf = thalweg;

// Computed before main, however the library is linked.
const tf::Tensor before_main = tf::reduce_sum(tf::ones({3}) + 1, 0);
const tf::keras::Layer made_before_main = tf::keras::layers::Dense(2, "relu");

int main(int argc, char** argv) {
  tf::Tensor x = {{2.0f, 3.0f}, {4.0f, 5.0f}};
  auto y = tf::matmul(x, x) + 1.0;
  std::cout << "Thalweg " << tf::version() << ", " << tf::all_ops().size() << " ops\n" << y << "\n";
  auto traced = tf::function(
      [](const tf::Tensor& a) { return tf::cond(tf::reduce_sum(a) > 0, [&] { return a * 2; }, [&] { return a; }); });
  auto concrete = traced.get_concrete_function(tf::TensorSpec({tf::unknown, 2}));
  std::cout << concrete.graph();
  bool right = y[0][0].item<float>() == 17.0f && tf::all_ops().size() > 200 && traced(x)[0][0].item<float>() == 4.0f;
  right = right && tf::keras::datasets::mnist::load_data().test.x.shape() == tf::Shape{10000, 28, 28};
  right = right && before_main.item<float>() == 6.0f && made_before_main(x).shape() == tf::Shape{2, 2};
  return argc == 2 && std::strcmp(argv[1], tf::version()) == 0 && right ? 0 : 1;
}
