#include "thalweg/kernels/onednn.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace thalweg::kernels::onednn {
namespace {

std::vector<float> values(int64_t count, uint32_t state) {
  std::vector<float> x(static_cast<size_t>(count));
  for (float& v : x) v = static_cast<float>((state = state * 1664525u + 1013904223u) >> 8) / 8388608.0f - 1.0f;
  return x;
}

// The engine's own order of activations passes through copies on both sides; the numbers must not notice.
TEST(Engine, BlockedActivationsGiveWhatPlainOnesGive) {
  ConvShape s{.batch = 2, .in_channels = 32, .out_channels = 48};
  for (int axis = 1; axis < 3; ++axis) {
    s.in[axis] = s.out[axis] = 9;
    s.filter[axis] = 3;
    s.pads_before[axis] = 1;
  }
  for (Pass pass : {Pass::forward, Pass::backward_input, Pass::backward_filter}) {
    std::vector<float> results[2];
    for (Method method : {Method::direct, Method::blocked}) {
      auto convolution = find_convolution(pass, method, s);
      if (!convolution) GTEST_SKIP() << "no fast kernel on this machine";
      EXPECT_EQ(convolution, find_convolution(pass, method, s));
      auto in = values(s.batch * s.in_pixels() * s.in_channels, 1), filter = values(s.filter_size(), 2);
      auto out = values(s.batch * s.out_pixels() * s.out_channels, 3);
      std::vector<float> packed(static_cast<size_t>(convolution->packed_size()));
      convolution->pack(filter.data(), packed.data());
      convolution->run(in.data(), packed.data(), out.data());
      if (pass == Pass::backward_filter) convolution->unpack(packed.data(), filter.data());
      results[method == Method::blocked] = pass == Pass::forward ? out : pass == Pass::backward_input ? in : filter;
    }
    for (size_t i = 0; i < results[0].size(); ++i) ASSERT_NEAR(results[0][i], results[1][i], 1e-4);
  }
}

TEST(Engine, RefusesWhatItHasNoFastKernelFor) {
  ConvShape s{.batch = 1, .in_channels = 3, .out_channels = 3, .groups = 3};
  s.in[1] = s.in[2] = 4;
  s.filter[1] = s.filter[2] = 9;
  s.out[1] = s.out[2] = 0;
  EXPECT_EQ(find_convolution(Pass::forward, Method::direct, s), nullptr);
}

}  // namespace
}  // namespace thalweg::kernels::onednn
