// A gradient of one's own: where the formula that computes a value well is not the one to differentiate.
#include <thalweg/thalweg.h>

#include <iostream>

namespace tf = thalweg;

int main() {
  auto softplus = [](const tf::Tensor& x) { return tf::math::log(1.0 + tf::exp(x)); };
  auto stable_softplus = tf::custom_gradient([](const tf::Tensor& x) {
    auto e = tf::exp(x);
    auto gradient = [e](const tf::Tensor& upstream) { return upstream * (1.0 - 1.0 / (1.0 + e)); };  // no inf / inf
    return std::pair(tf::math::log(1.0 + e), gradient);
  });
  // The identity, through which gradients pass no longer than 1.
  auto clipped = tf::custom_gradient([](const tf::Tensor& x) {
    return std::pair(x, [](const tf::Tensor& upstream) { return tf::clip_by_norm(upstream, 1.0); });
  });

  for (float at : {0.0f, 100.0f})
    std::cout << "at " << at << ": plain " << tf::grad(softplus)(at) << ", stable " << tf::grad(stable_softplus)(at)
              << "\n";

  tf::Tensor point = {1.0f, 2.0f}, weights = {3.0f, 4.0f};
  auto sum = [&](const tf::Tensor& x) { return tf::reduce_sum(x * weights); };
  auto clipped_sum = [&](const tf::Tensor& x) { return tf::reduce_sum(clipped(x) * weights); };
  std::cout << "unclipped " << tf::grad(sum)(point) << "\n";
  std::cout << "clipped   " << tf::grad(clipped_sum)(point) << "\n";
}
