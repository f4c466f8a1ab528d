// A gradient of one's own: where the formula that computes a value well is not the one to differentiate.
#include <thalweg/thalweg.h>

#include <cmath>
#include <cstdio>

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

  auto size = [](const tf::Tensor& slope) { return std::abs(slope.item<double>()); };  // no sign for a NaN
  for (float at : {0.0f, 100.0f})
    std::printf("at %.1f: plain %.4f, stable %.4f\n", at, size(tf::grad(softplus)(at)),
                size(tf::grad(stable_softplus)(at)));

  tf::Tensor point = {1.0f, 2.0f}, weights = {3.0f, 4.0f};
  auto sum = [&](const tf::Tensor& x) { return tf::reduce_sum(x * weights); };
  auto clipped_sum = [&](const tf::Tensor& x) { return tf::reduce_sum(clipped(x) * weights); };
  auto show = [](const char* title, const tf::Tensor& gradient) {
    std::printf("%s [%.4f, %.4f]\n", title, gradient[0].item<double>(), gradient[1].item<double>());
  };
  show("unclipped", tf::grad(sum)(point));
  show("clipped  ", tf::grad(clipped_sum)(point));
}
