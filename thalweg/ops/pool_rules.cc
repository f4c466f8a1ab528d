#include "thalweg/ops/pool_rules.h"

namespace thalweg {

Shape pool_input(const InferCall& c, const Geometry& g, int i) {
  c.require_rank(i, g.rank());
  return c.shape(i).has_rank() ? c.shape(i) : Shape::of_rank(g.rank());
}

void require_shape(const InferCall& c, int i, const Shape& expected) {
  if (!c.shape(i).is_compatible_with(expected))
    c.fail(c.op.args[static_cast<size_t>(i)].name + " must have shape " + expected.brackets() + ", got " +
           c.shape(i).brackets());
}

Shape pooled_shape(const InferCall& c, const Geometry& g, const Shape& input, bool over_channels) {
  int64_t space[3], channels = input[g.channel_axis()], window = g.channel_window();
  for (int i = 0; i < g.spatial(); ++i) {
    if (window > 1 && (g.window(i) != 1 || g.stride(i) != 1))
      c.fail("pooling over channels and over space at once is not supported: one of the windows must be 1");
    space[i] = windows_along(c, g, i, input[g.axis(i)], g.window(i)).count;
  }
  if (window > 1) {
    if (!over_channels) c.fail("pooling over channels is not supported: ksize must be 1 along them");
    if (channels > 0 && channels % window != 0)
      c.fail("the " + std::to_string(channels) + " channels of the input cannot be divided into windows of " +
             std::to_string(window));
    if (channels >= 0) channels /= window;
  }
  return g.arrange(input[0], {space, static_cast<size_t>(g.spatial())}, channels);
}

kernels::PoolShape pool_shape(const KernelCall& c, const Geometry& g, const Shape& input, const Shape& out) {
  kernels::PoolShape s;
  if (g.channel_window() > 1) {  // a line of channels at every pixel
    s.batch = g.channels_first() ? input[0] : input.count(0, g.rank() - 1);
    s.channels = g.channels_first() ? input.count(2, g.rank()) : 1;
    s.in[2] = input[g.channel_axis()];
    s.out[2] = out[g.channel_axis()];
    s.window[2] = s.strides[2] = g.channel_window();
    return s;
  }
  s.batch = input[0];
  s.channels = input[g.channel_axis()];
  s.channels_first = g.channels_first();
  for (int i = 0; i < g.spatial(); ++i) {
    int to = 3 - g.spatial() + i;
    s.in[to] = input[g.axis(i)];
    s.out[to] = out[g.axis(i)];
    s.window[to] = g.window(i);
    s.strides[to] = g.stride(i);
    s.pads_before[to] = windows_along(c, g, i, s.in[to], s.window[to]).before;
  }
  return s;
}

}  // namespace thalweg
