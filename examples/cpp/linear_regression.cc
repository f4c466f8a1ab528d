// A line through a thousand noisy points, by gradient descent: variables, a tape, and assignments.
#include <thalweg/thalweg.h>

#include <cstdio>

namespace tf = thalweg;

int main() {
  tf::random::set_seed(7);
  auto x = tf::random::normal({1000});
  auto noise = tf::random::normal({1000});
  auto y = 3.0f * x + 2.0f + 0.5f * noise;

  tf::Variable slope(5.0f, {.name = "slope"});
  tf::Variable offset(10.0f, {.name = "offset"});
  auto loss = [&] { return tf::reduce_mean(tf::square(slope * x + offset - y)); };

  std::printf("before: loss %.4f\n", loss().item<double>());
  for (int step = 1; step <= 200; ++step) {
    tf::GradientTape tape;
    auto value = loss();
    auto [by_slope, by_offset] = tape.gradient(value, slope, offset);
    slope.assign_sub(0.05f * by_slope);
    offset.assign_sub(0.05f * by_offset);
    if (step % 50 == 0) std::printf("step %d: loss %.4f\n", step, value.item<double>());
  }
  std::printf("slope %.4f, offset %.4f\n", slope.item<double>(), offset.item<double>());
}
