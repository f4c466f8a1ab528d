#include "thalweg/ops/conv_rules.h"

#include <algorithm>

namespace thalweg {
namespace {

const std::string& name_of_input(const InferCall& c, int i) { return c.op.args[static_cast<size_t>(i)].name; }

// Depthwise convolutions with nothing are 0. Others refuse it, those of images unless there is no output.
void check_filter(const InferCall& c, const ConvRule& rule, const Shape& filter, const Shape& out) {
  bool may_be_empty = !out.is_fully_defined() || out.count() == 0;
  if (rule.channels == Channels::depthwise || (rule.spatial == 2 && may_be_empty)) return;
  for (int64_t dim : filter.dims())
    if (dim == 0) c.fail("the filter " + filter.brackets() + " is empty");
}

// How many output channels these filters make of the input.
int64_t output_channels(const InferCall& c, Channels kind, const Shape& input, const Shape& filter, int channel_axis) {
  int64_t in = input[channel_axis], seen = filter[-2], last = filter[-1], result = last;
  if (kind == Channels::depthwise) {
    if (in >= 0 && seen >= 0 && in != seen)
      c.fail("the filter " + filter.brackets() + " is for " + std::to_string(seen) + " channels, the input " +
             input.brackets() + " has " + std::to_string(in));
    if (in < 0) in = seen;
    if (in < 0 || last < 0) return unknown;
    if (__builtin_mul_overflow(in, last, &result))
      c.fail("the filter " + filter.brackets() + " makes too many channels");
    return result;
  }
  if (seen == 0) c.fail("the filter " + filter.brackets() + " is for no channels");
  if (in < 0 || seen < 0) return result;
  if (kind == Channels::whole ? in != seen : in % seen != 0)
    c.fail("the input " + input.brackets() + " has " + std::to_string(in) + " channels, which must be " +
           (kind == Channels::whole ? "" : "a multiple of ") + "the " + std::to_string(seen) + " that the filter " +
           filter.brackets() + " is for");
  int64_t groups = std::max<int64_t>(1, in / seen);
  if (last >= 0 && last % groups != 0)
    c.fail("the " + std::to_string(last) + " filters of " + filter.brackets() + " cannot be divided into " +
           std::to_string(groups) + " groups");
  return result;
}

// The shape of a convolution's result; the shapes have the right rank.
Shape conv_output(const InferCall& c, const ConvRule& rule, const Geometry& g, const Shape& input,
                  const Shape& filter) {
  if (rule.channels == Channels::depthwise)
    for (int i = 1; i < g.spatial(); ++i)
      if (g.stride(i) != g.stride(0)) c.fail("strides must be equal along height and width");
  int64_t space[3];
  for (int i = 0; i < g.spatial(); ++i) space[i] = windows_along(c, g, i, input[g.axis(i)], filter[i]).count;
  return g.arrange(input[0], {space, static_cast<size_t>(g.spatial())},
                   output_channels(c, rule.channels, input, filter, g.channel_axis()));
}

Shape shape_of_rank(const InferCall& c, int i, int rank) {
  c.require_rank(i, rank);
  return c.shape(i).has_rank() ? c.shape(i) : Shape::of_rank(rank);
}

void check_out_backprop(const InferCall& c, const Shape& expected, const Shape& got, const Shape& input,
                        const Shape& filter) {
  if (!expected.is_compatible_with(got))
    c.fail(name_of_input(c, 2) + " has shape " + got.brackets() + ", but the convolution of an input " +
           input.brackets() + " with a filter " + filter.brackets() + " has shape " + expected.brackets());
}

kernels::ConvShape conv_shape(const KernelCall& c, const ConvRule& rule, const Geometry& g, const Shape& input,
                              const Shape& filter, const Shape& out) {
  kernels::ConvShape s;
  s.batch = input[0];
  s.in_channels = input[g.channel_axis()];
  s.out_channels = out[g.channel_axis()];
  s.groups = rule.channels == Channels::depthwise ? s.in_channels : s.in_channels / filter[-2];
  s.groups = std::max<int64_t>(1, s.groups);
  s.channels_first = g.channels_first();
  for (int i = 0; i < g.spatial(); ++i) {
    int to = 3 - g.spatial() + i;
    s.in[to] = input[g.axis(i)];
    s.filter[to] = filter[i];
    s.out[to] = out[g.axis(i)];
    s.strides[to] = g.stride(i);
    s.dilations[to] = g.dilation(i);
    s.pads_before[to] = windows_along(c, g, i, s.in[to], s.filter[to]).before;
  }
  return s;
}

}  // namespace

void infer_conv(InferCall& c, const ConvRule& rule) {
  Geometry g = read_geometry(c, rule.spatial, rule.window);
  Shape filter = shape_of_rank(c, 1, g.rank());
  Shape out = conv_output(c, rule, g, shape_of_rank(c, 0, g.rank()), filter);
  check_filter(c, rule, filter, out);
  c.output(0, out);
}

void run_conv(const KernelCall& c, const ConvRule& rule, const kernels::Epilogue* epilogue, kernels::KeptFilter* kept) {
  Geometry g = read_geometry(c, rule.spatial, rule.window);
  kernels::conv_forward(c.dtype(), conv_shape(c, rule, g, c.shape(0), c.shape(1), c.output_shape()), c.input(0),
                        c.input(1), c.output(), epilogue, kept);
}

void infer_conv_filter_grad(InferCall& c, const ConvRule& rule) {
  Geometry g = read_geometry(c, rule.spatial, rule.window);
  Shape input = shape_of_rank(c, 0, g.rank()), filter = sizes_input(c, 1, g.rank());
  Shape out_backprop = shape_of_rank(c, 2, g.rank());
  check_out_backprop(c, conv_output(c, rule, g, input, filter), out_backprop, input, filter);
  c.output(0, filter);
}

void run_conv_filter_grad(const KernelCall& c, const ConvRule& rule) {
  Geometry g = read_geometry(c, rule.spatial, rule.window);
  kernels::conv_backward_filter(c.dtype(), conv_shape(c, rule, g, c.shape(0), c.output_shape(), c.shape(2)), c.input(0),
                                c.input(2), c.output());
}

void infer_conv_input_grad(InferCall& c, const ConvRule& rule) {
  Geometry g = read_geometry(c, rule.spatial, rule.window);
  Shape filter = shape_of_rank(c, 1, g.rank()), out_backprop = shape_of_rank(c, 2, g.rank());
  Shape sizes = c.shape_value(0), input;
  if (sizes.rank() == 2 && rule.spatial == 2) {  // height and width alone
    int64_t space[] = {sizes[0], sizes[1]};
    input = g.arrange(out_backprop[0], space, filter[-2]);
  } else {
    input = sizes_input(c, 0, g.rank());
  }
  check_out_backprop(c, conv_output(c, rule, g, input, filter), out_backprop, input, filter);
  if (input[0] < 0) input[0] = out_backprop[0];
  c.output(0, input);
}

void run_conv_input_grad(const KernelCall& c, const ConvRule& rule) {
  Geometry g = read_geometry(c, rule.spatial, rule.window);
  kernels::conv_backward_input(c.dtype(1), conv_shape(c, rule, g, c.output_shape(), c.shape(1), c.shape(2)), c.input(1),
                               c.input(2), c.output());
}

}  // namespace thalweg
