#include <algorithm>
#include <limits>

#include "thalweg/core/convert.h"
#include "thalweg/core/error.h"
#include "thalweg/kernels/norm.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/conv_geometry.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_elementary.h"
#include "thalweg/ops/normalization.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/shaping.h"

namespace thalweg {
namespace {

struct BatchNormAttrs {
  float epsilon = 1e-4f;
  float exponential_avg_factor = 1;
  std::string data_format = "NHWC";
  bool is_training = true;
};
struct BatchNormGradAttrs {
  float epsilon = 1e-4f;
  std::string data_format = "NHWC";
  bool is_training = true;
};

// The rank that a layout is for; only the newest ops know volumes.
int rank_of(const InferCall& c, const std::string& data_format, bool volumes) {
  if (data_format == "NHWC" || data_format == "NCHW") return 4;
  if (volumes && (data_format == "NDHWC" || data_format == "NCDHW")) return 5;
  c.fail(std::string("data_format must be \"NHWC\" or \"NCHW\"") + (volumes ? ", \"NDHWC\" or \"NCDHW\"" : "") +
         ", got \"" + data_format + '"');
}
// The shape of input i, as far as it is known: images or volumes, whichever of the two the layout is named after.
Shape norm_input(const InferCall& c, int i, const std::string& data_format, bool volumes) {
  int rank = rank_of(c, data_format, volumes);
  const Shape& x = c.shape(i);
  if (x.has_rank() && (x.rank() == 4 || x.rank() == 5)) return x;
  c.require_rank(i, rank);
  return x.has_rank() ? x : Shape::of_rank(rank);
}

// The number of channels that x and the vectors agree on.
int64_t common_channels(const InferCall& c, const Shape& x, int axis, std::initializer_list<int> vectors) {
  int64_t channels = x[axis];
  for (int i : vectors) {
    c.require_rank(i, 1);
    int64_t n = c.shape(i).has_rank() ? c.shape(i)[0] : unknown;
    if (n >= 0 && channels >= 0 && n != channels)
      c.fail(c.op.args[static_cast<size_t>(i)].name + " must have one element for each of the " +
             std::to_string(channels) + " channels, got " + std::to_string(n));
    if (n >= 0) channels = n;
  }
  return channels;
}

template <bool volumes> void infer_batch_norm(InferCall& c) {
  const auto& a = c.attrs<BatchNormAttrs>();
  Shape x = norm_input(c, 0, a.data_format, volumes);
  int axis = channel_axis(a.data_format, x.rank());
  int64_t channels = common_channels(c, x, axis, {1, 2});
  for (int i : {3, 4}) {
    c.require_rank(i, 1);
    // While training with factor 1 the running statistics are not read: they may have any length.
    if (!a.is_training || a.exponential_avg_factor != 1) channels = common_channels(c, x, axis, {1, 2, i});
  }
  if (x[axis] < 0) x[axis] = channels;
  c.output(0, c.shape(0).has_rank() ? x : Shape::unknown_rank());
  for (int i = 1; i < 5; ++i) c.output(i, {channels});
  if (c.num_outputs() > 5) c.output(5, Shape());
}

kernels::NormShape norm_shape(const Shape& x, const std::string& data_format) {
  kernels::NormShape s;
  int axis = channel_axis(data_format, x.rank());
  s.batch = x[0];
  s.channels = x[axis];
  s.channels_first = axis == 1;
  s.pixels = s.channels_first ? x.count(2, x.rank()) : x.count(1, x.rank() - 1);
  return s;
}

/// A vector as floats, for reading.
class Floats {
 public:
  Floats(const KernelCall& c, int i) : data_(c.input<float>(i)) {
    if (c.dtype(i) == DType::float32) return;
    wide_.resize(static_cast<size_t>(c.count(i)));
    convert_elements(c.dtype(i), c.input(i), DType::float32, wide_.data(), c.count(i));
    data_ = wide_.data();
  }
  const float* data() const { return data_; }

 private:
  const float* data_;
  std::vector<float> wide_;
};
/// A vector of floats that becomes an output at the end.
class FloatsOut {
 public:
  FloatsOut(const KernelCall& c, int i) : c_(c), i_(i), data_(c.output<float>(i)) {
    if (c.output_dtype(i) == DType::float32) return;
    wide_.resize(static_cast<size_t>(c.output_shape(i).count()));
    data_ = wide_.data();
  }
  ~FloatsOut() {
    if (!wide_.empty())
      convert_elements(DType::float32, wide_.data(), c_.output_dtype(i_), c_.output(i_),
                       static_cast<int64_t>(wide_.size()));
  }
  FloatsOut(const FloatsOut&) = delete;
  FloatsOut& operator=(const FloatsOut&) = delete;
  float* data() const { return data_; }

 private:
  const KernelCall& c_;
  int i_;
  float* data_;
  std::vector<float> wide_;
};

void run_batch_norm(const KernelCall& c) {
  const auto& a = c.attrs<BatchNormAttrs>();
  kernels::NormShape s = norm_shape(c.shape(0), a.data_format);
  Floats scale(c, 1), offset(c, 2), mean(c, 3), variance(c, 4);
  FloatsOut new_mean(c, 1), new_variance(c, 2), saved_mean(c, 3), saved_variance(c, 4);
  if (c.num_outputs() > 5) std::fill_n(c.output<char>(5), size_of(c.output_dtype(5)), char{});
  if (c.count(0) == 0) {  // no statistics of nothing
    for (const FloatsOut* out : {&new_mean, &new_variance, &saved_mean, &saved_variance})
      std::fill_n(out->data(), s.channels, std::numeric_limits<float>::quiet_NaN());
    return;
  }
  if (a.is_training) {
    kernels::batch_norm_train(c.dtype(0), s, c.input(0), scale.data(), offset.data(), mean.data(), variance.data(),
                              a.epsilon, a.exponential_avg_factor, c.output(0),
                              {new_mean.data(), new_variance.data(), saved_mean.data(), saved_variance.data()});
    return;
  }
  kernels::batch_norm_infer(c.dtype(0), s, c.input(0), scale.data(), offset.data(), mean.data(), variance.data(),
                            a.epsilon, c.output(0));
  if (c.count(0) == 0) {  // of nothing there is no mean, TensorFlow says
    float nan = std::numeric_limits<float>::quiet_NaN();
    for (float* to : {new_mean.data(), new_variance.data(), saved_mean.data(), saved_variance.data()})
      std::fill_n(to, s.channels, nan);
    return;
  }
  for (float* to : {new_mean.data(), saved_mean.data()}) std::copy_n(mean.data(), s.channels, to);
  for (float* to : {new_variance.data(), saved_variance.data()}) std::copy_n(variance.data(), s.channels, to);
}

template <bool volumes> void infer_batch_norm_grad(InferCall& c) {
  const auto& a = c.attrs<BatchNormGradAttrs>();
  Shape x = norm_input(c, 0, a.data_format, volumes), same = norm_input(c, 1, a.data_format, volumes);
  if (!c.shape(0).is_compatible_with(c.shape(1)))
    c.fail("y_backprop and x must have the same shape, got " + c.shape(0).brackets() + " and " + c.shape(1).brackets());
  x = c.shape(0).has_rank() ? x.merge_with(c.shape(1)) : same;
  int axis = channel_axis(a.data_format, x.rank());
  int64_t channels = common_channels(c, x, axis, {2, 3, 4});
  if (x[axis] < 0) x[axis] = channels;
  c.output(0, c.shape(0).has_rank() || c.shape(1).has_rank() ? x : Shape::unknown_rank());
  c.output(1, {channels});
  c.output(2, {channels});
  c.output(3, {0});
  c.output(4, {0});
}

void run_batch_norm_grad(const KernelCall& c) {
  const auto& a = c.attrs<BatchNormGradAttrs>();
  if (c.count(1) == 0) {  // of nothing there is no mean, but the sums are 0
    for (int i : {1, 2}) std::fill_n(c.output<float>(i), c.output_shape(i).count(), 0.0f);
    return;
  }
  kernels::batch_norm_grad(c.dtype(0), norm_shape(c.shape(1), a.data_format), a.is_training, c.input(0), c.input(1),
                           c.input<float>(2), c.input<float>(3), c.input<float>(4), a.epsilon, c.output(0),
                           c.output<float>(1), c.output<float>(2));
}

// A vector of channels, ready to be multiplied with images.
Tensor along_channels(const Tensor& vector, const std::string& data_format, int rank) {
  if (!is_channels_first(data_format)) return vector;
  std::vector<int64_t> dims(static_cast<size_t>(rank), 1);
  dims[1] = -1;
  return reshape(vector, dims);
}
// With h = (x - mean) r, r = (variance + epsilon)^-1/2 and means over the pixels of each channel, the gradient of x is
// scale r (d - mean(d) - h mean(d h)) in training, else scale r d; of scale sum(d h), of offset sum(d). In training the
// statistics are those of x, whatever was saved: they move with it.
void grad_of_batch_norm_grad(GradCall& g) {
  const auto& attrs = g.attrs<BatchNormGradAttrs>();
  const DType dtype = g.input(1).dtype();
  auto wide = [&](const Tensor& t) { return is_half(t.dtype()) ? cast(t, DType::float32) : t; };
  auto narrow = [&](const Tensor& t) { return is_half(dtype) ? cast(t, dtype) : t; };
  Tensor d = wide(g.input(0)), x = wide(g.input(1)), v = wide(g.output_grad(0));
  const int rank = x.rank();
  if (rank < 0) throw ValueError("the gradient of " + std::string(g.op.name) + " needs images of known rank");
  std::vector<int64_t> pixels;
  for (int i = 0; i < rank; ++i)
    if (i != channel_axis(attrs.data_format, rank)) pixels.push_back(i);
  auto channels = [&](const Tensor& t) { return along_channels(t, attrs.data_format, rank); };
  auto mean = [&](const Tensor& t) { return reduce_mean(t, {.axis = pixels, .keepdims = true}); };
  auto sum = [&](const Tensor& t) { return reduce_sum(t, {.axis = pixels}); };
  Tensor scale = channels(g.input(2)), by_scale = channels(g.output_grad(1)), by_offset = channels(g.output_grad(2));
  if (!attrs.is_training) {
    Tensor r = rsqrt(channels(g.input(4)) + attrs.epsilon), h = (x - channels(g.input(3))) * r;
    if (g.wants(0)) g.input_grad(0, narrow(v * scale * r + by_scale * h + by_offset));
    if (g.wants(1)) g.input_grad(1, narrow(by_scale * r * d));
    if (g.wants(2)) g.input_grad(2, sum(v * d * r));
    return;
  }
  Tensor centred = x - mean(x), r = rsqrt(mean(square(centred)) + attrs.epsilon), h = centred * r;
  auto along = [&](const Tensor& t) { return t - mean(t) - h * mean(t * h); };
  Tensor moved = r * along(d);
  if (g.wants(0)) g.input_grad(0, narrow(scale * r * along(v) + by_scale * h + by_offset));
  if (g.wants(2)) g.input_grad(2, sum(v * moved));
  if (!g.wants(1)) return;
  Tensor by_h = by_scale * d - scale * r * (v * mean(d * h) + d * mean(v * h));
  g.input_grad(1, narrow(r * (along(by_h) - h * scale * mean(v * moved))));
}

constexpr TypeSet norm_types = half_types | types(float32);

const Op& FusedBatchNormGrad = define_op({
    .name = "FusedBatchNormGrad",
    .doc = "The gradients of FusedBatchNorm for x, scale and offset.",
    .signature = "y_backprop: T, x: T, scale: T, reserve_space_1: T, reserve_space_2: T -> "
                 "x_backprop: T, scale_backprop: T, offset_backprop: T, reserve_space_3: T, reserve_space_4: T",
    .types = {{"T", types(float32)}},
    .attrs = attrs_of<BatchNormGradAttrs>(),
    .infer = infer_batch_norm_grad<false>,
    .kernel = {run_batch_norm_grad},
    .grad = grad_of_batch_norm_grad,
    .grad_reads = reads::inputs<0, 1, 2, 3, 4>,
});

const Op& FusedBatchNormGradV2 = define_op({
    .name = "FusedBatchNormGradV2",
    .doc = "The gradients of FusedBatchNormV2 for x, scale and offset.",
    .signature = "y_backprop: T, x: T, scale: float, reserve_space_1: U, reserve_space_2: U -> "
                 "x_backprop: T, scale_backprop: U, offset_backprop: U, reserve_space_3: U, reserve_space_4: U",
    .types = {{"T", norm_types}, {"U", types(float32)}},
    .attrs = attrs_of<BatchNormGradAttrs>(),
    .infer = infer_batch_norm_grad<false>,
    .kernel = {run_batch_norm_grad},
    .grad = grad_of_batch_norm_grad,
    .grad_reads = reads::inputs<0, 1, 2, 3, 4>,
});

const Op& FusedBatchNormGradV3 = define_op({
    .name = "FusedBatchNormGradV3",
    .doc = "The gradients of FusedBatchNormV3 for x, scale and offset.",
    .signature = "y_backprop: T, x: T, scale: float, reserve_space_1: U, reserve_space_2: U, reserve_space_3: U -> "
                 "x_backprop: T, scale_backprop: U, offset_backprop: U, reserve_space_4: U, reserve_space_5: U",
    .types = {{"T", norm_types}, {"U", types(float32)}},
    .attrs = attrs_of<BatchNormGradAttrs>(),
    .infer = infer_batch_norm_grad<true>,
    .kernel = {run_batch_norm_grad},
    .grad = grad_of_batch_norm_grad,
    .grad_reads = reads::inputs<0, 1, 2, 3, 4>,
});

// In training the statistics of the batch were saved; else the running ones were used.
BatchNormGradAttrs grad_attrs(const GradCall& g) {
  const auto& a = g.attrs<BatchNormAttrs>();
  return {a.epsilon, a.data_format, a.is_training};
}
void set_grads(GradCall& g, std::span<const Tensor> grads) {
  for (int i = 0; i < 3; ++i) g.input_grad(i, grads[static_cast<size_t>(i)]);
}
void grad_of_batch_norm(GradCall& g, const Op& op) {
  BatchNormGradAttrs attrs = grad_attrs(g);
  const Tensor &mean = attrs.is_training ? g.output(3) : g.input(3),
               &variance = attrs.is_training ? g.output(4) : g.input(4);
  set_grads(g, apply_n<5>(op, {g.output_grad(0), g.input(0), g.input(1), mean, variance}, attrs));
}

const Op& FusedBatchNorm = define_op({
    .name = "FusedBatchNorm",
    .doc = "Batch normalisation of images over all dimensions but the channels.",
    .signature = "x: T, scale: T, offset: T, mean: T, variance: T -> "
                 "y: T, batch_mean: T, batch_variance: T, reserve_space_1: T, reserve_space_2: T",
    .types = {{"T", types(float32)}},
    .attrs = attrs_of<BatchNormAttrs>(),
    .infer = infer_batch_norm<false>,
    .kernel = {run_batch_norm},
    .grad = [](GradCall& g) { grad_of_batch_norm(g, FusedBatchNormGrad); },
    .grad_reads = reads::inputs<0, 1, 3, 4> | reads::outputs<3, 4>,
    .traits = {.layout = Layout::follows},
});

const Op& FusedBatchNormV2 = define_op({
    .name = "FusedBatchNormV2",
    .doc = "FusedBatchNorm whose images may be of half precision.",
    .signature = "x: T, scale: U, offset: U, mean: U, variance: U -> "
                 "y: T, batch_mean: U, batch_variance: U, reserve_space_1: U, reserve_space_2: U",
    .types = {{"T", norm_types}, {"U", types(float32)}},
    .attrs = attrs_of<BatchNormAttrs>(),
    .infer = infer_batch_norm<false>,
    .kernel = {run_batch_norm},
    .grad = [](GradCall& g) { grad_of_batch_norm(g, FusedBatchNormGradV2); },
    .grad_reads = reads::inputs<0, 1, 3, 4> | reads::outputs<3, 4>,
    .traits = {.layout = Layout::follows},
});

const Op& FusedBatchNormV3 = define_op({
    .name = "FusedBatchNormV3",
    .doc = "FusedBatchNormV2 for volumes too; reserve_space_3 is a scalar that only GPUs need.",
    .signature = "x: T, scale: U, offset: U, mean: U, variance: U -> "
                 "y: T, batch_mean: U, batch_variance: U, reserve_space_1: U, reserve_space_2: U, reserve_space_3: U",
    .types = {{"T", norm_types}, {"U", types(bfloat16, float32)}},
    .attrs = attrs_of<BatchNormAttrs>(),
    .infer = infer_batch_norm<true>,
    .kernel = {run_batch_norm},
    .grad =
        [](GradCall& g) {
          BatchNormGradAttrs attrs = grad_attrs(g);
          const Tensor& mean = attrs.is_training ? g.output(3) : g.input(3);
          const Tensor& variance = attrs.is_training ? g.output(4) : g.input(4);
          set_grads(g, apply_n<5>(FusedBatchNormGradV3,
                                  {g.output_grad(0), g.input(0), g.input(1), mean, variance, g.output(5)}, attrs));
        },
    .grad_reads = reads::inputs<0, 1, 3, 4> | reads::outputs<3, 4, 5>,
    .traits = {.layout = Layout::follows},
});

}  // namespace

namespace nn {

struct FusedBatchNorm fused_batch_norm(const Tensor& x, const Tensor& scale, const Tensor& offset,
                                       const FusedBatchNormOptions& o) {
  Tensor none = Tensor::empty(scale.dtype(), {0});
  // The least epsilon that cuDNN takes: as TensorFlow does, so that models mean the same everywhere.
  BatchNormAttrs attrs{std::max(static_cast<float>(o.epsilon), 1.001e-5f), static_cast<float>(o.exponential_avg_factor),
                       o.data_format, o.is_training};
  auto all =
      apply_n<6>(FusedBatchNormV3,
                 {x, scale, offset, o.mean.defined() ? o.mean : none, o.variance.defined() ? o.variance : none}, attrs);
  return {all[0], all[1], all[2]};
}

}  // namespace nn

namespace {
const FunctionDef* const batch_norm_functions[] = {
    &define_function<nn::fused_batch_norm>({"compat.v1.nn.fused_batch_norm"}, {"x", "scale", "offset"}),
};
}  // namespace

}  // namespace thalweg
