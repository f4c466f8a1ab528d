#include "thalweg/ops/fft.h"

#include <cstring>

#include "thalweg/core/complex.h"
#include "thalweg/core/error.h"
#include "thalweg/core/index.h"
#include "thalweg/kernels/fft.h"
#include "thalweg/kernels/strided_copy.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/division.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/infer.h"
#include "thalweg/ops/integers.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_complex.h"
#include "thalweg/ops/ordering.h"
#include "thalweg/ops/padding.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/selection.h"
#include "thalweg/ops/shaping.h"

namespace thalweg {
namespace {

constexpr TypeSet transformed = complex_types, reals = types(DType::float32, DType::float64);

struct RealFftAttrs {
  DType Tcomplex = DType::complex64;
};
struct InverseRealFftAttrs {
  DType Treal = DType::float32;
};

// Complex transforms along the axes [first, last) of a tensor, one after the other.
template <class R>
void transform_axes(const Shape& shape, int first, int last, bool inverse, const std::complex<R>* in,
                    std::complex<R>* out) {
  for (int axis = first; axis < last; ++axis, in = out)
    kernels::fft<R>(shape.count(0, axis), shape.dims()[static_cast<size_t>(axis)], shape.count(axis + 1, shape.rank()),
                    inverse, in, out);
}

template <int Dims, bool Inverse> void run_complex(const KernelCall& c) {
  const Shape& s = c.shape(0);
  if (s.count() == 0) return;
  auto run = [&]<class R>(R) {
    using C = std::complex<R>;
    transform_axes<R>(s, s.rank() - Dims, s.rank(), Inverse, c.input<C>(0), c.output<C>());
  };
  if (c.dtype() == DType::complex64) run(float{});
  else run(double{});
}
template <int Dims> void infer_complex(InferCall& c) {
  c.require_rank_at_least(0, Dims);
  c.output(0, c.shape(0));
}

// How many numbers of a spectrum a real signal of this length needs.
int64_t half_of(int64_t n) { return n == 0 ? 0 : n < 0 ? -1 : n / 2 + 1; }

template <int Dims, bool Inverse> void infer_real(InferCall& c) {
  DType complex_type = Inverse ? c.dtype(0) : c.result_dtype(0), real_type = Inverse ? c.result_dtype(0) : c.dtype(0);
  c.require(complex_of(real_type) == complex_type, "Treal and Tcomplex must have the same precision");
  c.require_rank_at_least(0, Dims);
  c.require_rank(1, 1);
  const Shape &in = c.shape(0), &length = c.shape(1);
  if (length.has_rank() && length[0] >= 0 && length[0] != Dims)
    c.fail("fft_length must have " + std::to_string(Dims) + " elements, got " + std::to_string(length[0]));
  if (in.rank() < Dims) return c.output(0, Shape::unknown_rank());
  Shape out = in;
  if (c.has_value(1)) {
    Integers lengths = integers(c, 1);
    for (int i = 0; i < Dims; ++i) {
      const int axis = in.rank() - Dims + i;
      const bool last = i == Dims - 1;
      if (lengths[i] < 0) c.fail("fft_length must not be negative, got " + std::to_string(lengths[i]));
      const int64_t needed = Inverse && last ? half_of(lengths[i]) : lengths[i];
      const int64_t size = in.dims()[static_cast<size_t>(axis)];
      // A dimension without elements is taken for zeros.
      if (size > 0 && size < needed)
        c.fail("dimension " + std::to_string(axis) + " of the input has length " + std::to_string(size) +
               ", but fft_length needs at least " + std::to_string(needed));
      out[axis] = !Inverse && last ? half_of(lengths[i]) : lengths[i];
    }
    if (lengths[Dims - 1] == 0 && in.is_fully_defined() && in.count() > 0)
      c.fail("fft_length must be at least 1 in the last dimension, got 0");
  } else {
    for (int i = 0; i < Dims; ++i) out[in.rank() - Dims + i] = unknown;
  }
  c.output(0, out);
}

// The first elements of each of the last dimensions, densely.
const void* cropped(const KernelCall& c, const Shape& kept, Tensor& copy) {
  if (kept == c.shape(0)) return c.input(0);
  copy = Tensor::empty(c.dtype(), kept);
  int64_t from[Shape::max_rank], to[Shape::max_rank];
  kernels::dense_strides(c.shape(0), from);
  kernels::dense_strides(kept, to);
  kernels::StridedCopy crop;
  crop.axes(kept, from, to);
  crop.run(c.dtype(), c.input(0), copy.impl()->data);
  return copy.impl()->data;
}

// Whether there is nothing to transform; the result is then 0.
bool is_of_nothing(const KernelCall& c) {
  const int64_t count = c.output_shape().count();
  if (count > 0 && c.count(0) > 0) return false;
  std::memset(c.output(), 0, static_cast<size_t>(count) * size_of(c.output_dtype()));
  return true;
}

template <int Dims> void run_real(const KernelCall& c) {
  const Shape& out = c.output_shape();
  const int rank = out.rank();
  if (is_of_nothing(c)) return;
  const int64_t n = integers(c, 1)[Dims - 1];
  Shape kept = out;
  kept[-1] = n;
  Tensor copy;
  const void* in = cropped(c, kept, copy);
  auto run = [&]<class R>(R) {
    auto* y = c.output<std::complex<R>>();
    kernels::real_fft<R>(out.count(0, rank - 1), n, n, static_cast<const R*>(in), y);
    transform_axes<R>(out, rank - Dims, rank - 1, false, y, y);
  };
  if (c.dtype() == DType::float32) run(float{});
  else run(double{});
}

template <int Dims> void run_inverse_real(const KernelCall& c) {
  const Shape& out = c.output_shape();
  const int rank = out.rank();
  if (is_of_nothing(c)) return;
  const int64_t n = out.dims().back(), half = half_of(n);
  Shape kept = out;
  kept[-1] = half;
  Tensor copy;
  const void* in = cropped(c, kept, copy);
  auto run = [&]<class R>(R) {
    using C = std::complex<R>;
    auto* x = static_cast<const C*>(in);
    if (Dims > 1) {
      if (!copy.defined()) copy = Tensor::empty(c.dtype(), kept);
      transform_axes<R>(kept, rank - Dims, rank - 1, true, x, copy.mutable_data<C>());
      x = copy.mutable_data<C>();
    }
    kernels::inverse_real_fft<R>(out.count(0, rank - 1), n, half, x, c.output<R>());
  };
  if (c.output_dtype() == DType::float32) run(float{});
  else run(double{});
}

// The number of elements of the last dimensions, in a dtype.
Tensor points(const Tensor& x, int dims, DType dtype) { return cast(reduce_prod(shape(x)(slice_from(-dims))), dtype); }
// Zeros after the elements of the last dimensions, up to these lengths (int32, one per dimension); a tensor that is
// known to be empty stays as it is.
Tensor padded_to(const Tensor& x, const Tensor& lengths, int dims) {
  if (x.shape().is_fully_defined() && x.shape().count() == 0) return x;
  Tensor after = maximum(lengths - shape(x)(slice_from(-dims)), 0);
  Tensor none = zeros_like(shape(x)(slice(0, -dims)));
  Tensor all_after = concat({none, after}, 0);
  return pad(x, stack({zeros_like(all_after), all_after}, {.axis = 1}));
}

template <int Dims, bool Inverse> void grad_complex(GradCall& g) {
  const Tensor& d = g.output_grad();
  Tensor n = points(d, Dims, d.dtype());
  auto forward = Dims == 1 ? signal::fft : Dims == 2 ? signal::fft2d : signal::fft3d;
  auto backward = Dims == 1 ? signal::ifft : Dims == 2 ? signal::ifft2d : signal::ifft3d;
  g.input_grad(0, Inverse ? forward(d) / n : backward(d) * n);
}

// The real part of the whole transform of the half that was kept.
template <int Dims> void grad_real(GradCall& g) {
  const Tensor &d = g.output_grad(), &length = g.input(1);
  const Shape& shape_in = g.input(0).shape();
  if (shape_in.is_fully_defined() && shape_in.count() == 0) return g.input_grad(0, zeros_like(g.input(0)));
  Tensor whole = padded_to(d, length, Dims);
  auto backward = Dims == 1 ? signal::ifft : Dims == 2 ? signal::ifft2d : signal::ifft3d;
  Tensor grad = math::real(backward(whole) * points(whole, Dims, d.dtype()));
  g.input_grad(0, padded_to(grad, shape(g.input(0))(slice_from(-Dims)), Dims));
}

// Every number but the first, and the last of an even length, stands for two of the whole spectrum.
template <int Dims> void grad_inverse_real(GradCall& g) {
  const Tensor &d = g.output_grad(), &length = g.input(1);
  const Shape& shape_in = g.input(0).shape();
  if (shape_in.is_fully_defined() && shape_in.count() == 0) return g.input_grad(0, zeros_like(g.input(0)));
  const signal::RfftOptions options = {.fft_length = length};
  Tensor spectrum = Dims == 1   ? signal::rfft(d, options)
                    : Dims == 2 ? signal::rfft2d(d, options)
                                : signal::rfft3d(d, options);
  Tensor k = range(shape(spectrum)(-1));
  Tensor once = logical_or(equal(k, 0), equal(k * 2, length(-1)));
  Tensor weight = where(once, ones_like(k), ones_like(k) * 2);
  Tensor grad = spectrum * cast(weight, spectrum.dtype()) / points(d, Dims, spectrum.dtype());
  g.input_grad(0, padded_to(grad, shape(g.input(0))(slice_from(-Dims)), Dims));
}

template <int Dims, bool Inverse> const Op& define_complex(const char* name, const char* doc) {
  return define_op({.name = name,
                    .doc = doc,
                    .signature = "input: Tcomplex -> output: Tcomplex",
                    .types = {{"Tcomplex", transformed}},
                    .infer = infer_complex<Dims>,
                    .kernel = {run_complex<Dims, Inverse>},
                    .grad = grad_complex<Dims, Inverse>,
                    .grad_reads = reads::nothing});
}
template <int Dims> const Op& define_real(const char* name, const char* doc) {
  return define_op({.name = name,
                    .doc = doc,
                    .signature = "input: Treal, fft_length: int32 -> output: Tcomplex",
                    .types = {{"Treal", reals}, {"Tcomplex", transformed}},
                    .attrs = attrs_of<RealFftAttrs>(),
                    .infer = infer_real<Dims, false>,
                    .kernel = {run_real<Dims>},
                    .grad = grad_real<Dims>,
                    .grad_reads = reads::inputs<1>});
}
template <int Dims> const Op& define_inverse_real(const char* name, const char* doc) {
  return define_op({.name = name,
                    .doc = doc,
                    .signature = "input: Tcomplex, fft_length: int32 -> output: Treal",
                    .types = {{"Tcomplex", transformed}, {"Treal", reals}},
                    .attrs = attrs_of<InverseRealFftAttrs>(),
                    .infer = infer_real<Dims, true>,
                    .kernel = {run_inverse_real<Dims>},
                    .grad = grad_inverse_real<Dims>,
                    .grad_reads = reads::inputs<1>});
}

const Op& FFT = define_complex<1, false>("FFT", "The discrete Fourier transform over the last dimension.");
const Op& IFFT = define_complex<1, true>("IFFT", "The inverse Fourier transform over the last dimension.");
const Op& FFT2D = define_complex<2, false>("FFT2D", "The discrete Fourier transform over the last two dimensions.");
const Op& IFFT2D = define_complex<2, true>("IFFT2D", "The inverse Fourier transform over the last two dimensions.");
const Op& FFT3D = define_complex<3, false>("FFT3D", "The discrete Fourier transform over the last three dimensions.");
const Op& IFFT3D = define_complex<3, true>("IFFT3D", "The inverse Fourier transform over the last three dimensions.");
const Op& RFFT = define_real<1>(
    "RFFT", "The Fourier transform of real numbers over the last dimension: its first fft_length / 2 + 1 numbers.");
const Op& IRFFT = define_inverse_real<1>(
    "IRFFT", "Real numbers from the first half of their Fourier transform over the last dimension.");
const Op& RFFT2D = define_real<2>("RFFT2D", "The Fourier transform of real numbers over the last two dimensions.");
const Op& IRFFT2D = define_inverse_real<2>(
    "IRFFT2D", "Real numbers from half of their Fourier transform over the last two dimensions.");
const Op& RFFT3D = define_real<3>("RFFT3D", "The Fourier transform of real numbers over the last three dimensions.");
const Op& IRFFT3D = define_inverse_real<3>(
    "IRFFT3D", "Real numbers from half of their Fourier transform over the last three dimensions.");

Tensor complex_input(const TensorLike& input) {
  return input.tensor().dtype() == DType::complex128 ? input.tensor() : input.as(DType::complex64);
}

/// A single number is a list of one.
Tensor lengths_of(const signal::RfftOptions& options) {
  const Tensor lengths = cast(options.fft_length, DType::int32);
  return lengths.rank() == 0 ? reshape(lengths, {1}) : lengths;
}

template <int Dims> Tensor forward_real(const Op& op, const TensorLike& input, const signal::RfftOptions& options) {
  Tensor x = input.tensor().impl()->weak == Weak::bare ? input.as(DType::float32) : input.tensor();
  const bool given = options.fft_length.defined();
  Tensor length = given ? lengths_of(options) : shape(x)(slice_from(-Dims));
  if (given) x = padded_to(x, length, Dims);
  return apply1(op, {x, length}, RealFftAttrs{complex_of(x.dtype())});
}
template <int Dims> Tensor backward_real(const Op& op, const TensorLike& input, const signal::RfftOptions& options) {
  Tensor x = complex_input(input), length;
  if (options.fft_length.defined()) {
    length = lengths_of(options);
    Tensor outer = length(slice(0, -1)), last = length(slice_from(-1));
    Tensor half = where(equal(last, 0), zeros_like(last), floordiv(last, 2) + 1);
    x = padded_to(x, concat({outer, half}, 0), Dims);
  } else {
    Tensor sides = shape(x)(slice_from(-Dims));
    length = concat({sides(slice(0, -1)), maximum(2 * (sides(slice_from(-1)) - 1), 0)}, 0);
  }
  return apply1(op, {x, length}, InverseRealFftAttrs{real_of(x.dtype())});
}

Tensor shifted(const TensorLike& x, const Axis& axes, bool back, const char* name) {
  Tensor t = x.own();
  if (!t.shape().has_rank()) throw ValueError(std::string(name) + ": the rank of x must be known");
  std::vector<int64_t> along = axes.axes();
  if (!axes.given())
    for (int i = 0; i < t.rank(); ++i) along.push_back(i);
  if (t.rank() == 0) throw InvalidArgumentError(std::string(name) + ": x must have a dimension or more, got a scalar");
  if (along.empty()) return t;
  std::vector<Tensor> shifts;
  for (int64_t axis : along) {
    if (axis < -t.rank() || axis >= t.rank())
      throw InvalidArgumentError(std::string(name) + ": axis " + std::to_string(axis) + " is out of range for rank " +
                                 std::to_string(t.rank()));
    Tensor half = floordiv(shape(t)(axis), 2);
    shifts.push_back(back ? -half : half);
  }
  return roll(t, stack(shifts), index_list(along));
}

}  // namespace

namespace signal {
Tensor fft(const TensorLike& input) { return apply1(FFT, {complex_input(input)}); }
Tensor ifft(const TensorLike& input) { return apply1(IFFT, {complex_input(input)}); }
Tensor fft2d(const TensorLike& input) { return apply1(FFT2D, {complex_input(input)}); }
Tensor ifft2d(const TensorLike& input) { return apply1(IFFT2D, {complex_input(input)}); }
Tensor fft3d(const TensorLike& input) { return apply1(FFT3D, {complex_input(input)}); }
Tensor ifft3d(const TensorLike& input) { return apply1(IFFT3D, {complex_input(input)}); }
Tensor rfft(const TensorLike& input_tensor, const RfftOptions& options) {
  return forward_real<1>(RFFT, input_tensor, options);
}
Tensor irfft(const TensorLike& input_tensor, const RfftOptions& options) {
  return backward_real<1>(IRFFT, input_tensor, options);
}
Tensor rfft2d(const TensorLike& input_tensor, const RfftOptions& options) {
  return forward_real<2>(RFFT2D, input_tensor, options);
}
Tensor irfft2d(const TensorLike& input_tensor, const RfftOptions& options) {
  return backward_real<2>(IRFFT2D, input_tensor, options);
}
Tensor rfft3d(const TensorLike& input_tensor, const RfftOptions& options) {
  return forward_real<3>(RFFT3D, input_tensor, options);
}
Tensor irfft3d(const TensorLike& input_tensor, const RfftOptions& options) {
  return backward_real<3>(IRFFT3D, input_tensor, options);
}
Tensor fftshift(const TensorLike& x, const FftShiftOptions& options) {
  return shifted(x, options.axes, false, "fftshift");
}
Tensor ifftshift(const TensorLike& x, const FftShiftOptions& options) {
  return shifted(x, options.axes, true, "ifftshift");
}
}  // namespace signal

namespace {
const FunctionDef* const fft_functions[] = {
    &define_function<signal::fft>({"signal.fft"}, {"input"}),
    &define_function<signal::ifft>({"signal.ifft"}, {"input"}),
    &define_function<signal::fft2d>({"signal.fft2d"}, {"input"}),
    &define_function<signal::ifft2d>({"signal.ifft2d"}, {"input"}),
    &define_function<signal::fft3d>({"signal.fft3d"}, {"input"}),
    &define_function<signal::ifft3d>({"signal.ifft3d"}, {"input"}),
    &define_function<Tensor(const TensorLike&, const signal::RfftOptions&), signal::rfft>({"signal.rfft"},
                                                                                          {"input_tensor"}),
    &define_function<Tensor(const TensorLike&, const signal::RfftOptions&), signal::irfft>({"signal.irfft"},
                                                                                           {"input_tensor"}),
    &define_function<Tensor(const TensorLike&, const signal::RfftOptions&), signal::rfft2d>({"signal.rfft2d"},
                                                                                            {"input_tensor"}),
    &define_function<Tensor(const TensorLike&, const signal::RfftOptions&), signal::irfft2d>({"signal.irfft2d"},
                                                                                             {"input_tensor"}),
    &define_function<Tensor(const TensorLike&, const signal::RfftOptions&), signal::rfft3d>({"signal.rfft3d"},
                                                                                            {"input_tensor"}),
    &define_function<Tensor(const TensorLike&, const signal::RfftOptions&), signal::irfft3d>({"signal.irfft3d"},
                                                                                             {"input_tensor"}),
    &define_function<Tensor(const TensorLike&, const signal::FftShiftOptions&), signal::fftshift>({"signal.fftshift"},
                                                                                                  {"x"}),
    &define_function<Tensor(const TensorLike&, const signal::FftShiftOptions&), signal::ifftshift>({"signal.ifftshift"},
                                                                                                   {"x"}),
};
}  // namespace

}  // namespace thalweg
