// Discrete cosine transforms, types 1 to 4, through Fourier transforms of real numbers.
#include <cmath>
#include <numbers>

#include "thalweg/core/error.h"
#include "thalweg/core/index.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/fft.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/integers.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_complex.h"
#include "thalweg/ops/padding.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/signal.h"

namespace thalweg::signal {
namespace {

constexpr int64_t longest_transform = int64_t{1} << 30;

void check(const Tensor& x, const DctOptions& options, const char* name) {
  auto refuse = [&](const std::string& why) { throw ValueError(std::string(name) + ": " + why); };
  if (options.axis != -1)
    throw UnimplementedError(std::string(name) + ": axis must be -1, got " + std::to_string(options.axis) +
                             "; transpose the input first");
  if (options.n && (*options.n < 1 || *options.n > longest_transform))
    refuse("n must be positive and at most 2^30, got " + std::to_string(*options.n));
  if (options.type < 1 || options.type > 4) refuse("type must be 1, 2, 3 or 4, got " + std::to_string(options.type));
  if (!options.norm.empty() && options.norm != "ortho")
    refuse("norm must be None or 'ortho', got '" + options.norm + "'");
  if (options.type == 1 && !options.norm.empty()) refuse("Normalization is not supported for the Type-I DCT.");
  if (x.dtype() != DType::float32 && x.dtype() != DType::float64)
    throw TypeError(std::string(name) + ": input must be float32 or float64, got " + std::string(name_of(x.dtype())));
  if (!x.shape().has_rank() || x.rank() < 1 || x.shape()[-1] < 0)
    refuse("input needs a last dimension of known length, got shape " + x.shape().brackets());
  if (options.type == 1 && x.shape()[-1] < 2)
    refuse("Type-I DCT requires the dimension to be greater than one, got shape " + x.shape().brackets());
}

Tensor with_length(const Tensor& x, int64_t length) {
  const int64_t has = x.shape()[-1];
  if (has > length) return x(ellipsis, slice(0, length));
  if (has == length) return x;
  std::vector<int64_t> paddings(static_cast<size_t>(2 * x.rank()));
  paddings.back() = length - has;
  return pad(x, reshape(index_list(paddings), {x.rank(), 2}));
}

// 2 exp(sign i pi k / (2 n)) for k below n.
Tensor turn(int64_t n, double sign, DType real) {
  Tensor cosines = Tensor::empty(DType::float64, Shape{n}), sines = Tensor::empty(DType::float64, Shape{n});
  for (int64_t k = 0; k < n; ++k) {
    const double angle = std::numbers::pi * 0.5 * static_cast<double>(k) / static_cast<double>(n);
    cosines.mutable_data<double>()[k] = 2 * std::cos(angle);
    sines.mutable_data<double>()[k] = 2 * sign * std::sin(angle);
  }
  return complex(cast(cosines, real), cast(sines, real));
}

// One factor for the first element, another for all others.
Tensor weights(int64_t n, double first, double others, DType dtype) {
  Tensor values = Tensor::empty(DType::float64, Shape{n});
  std::fill_n(values.mutable_data<double>(), n, others);
  if (n > 0) *values.mutable_data<double>() = first;
  return cast(values, dtype);
}

Tensor length_of(int64_t n) { return index_list({{n}}); }

Tensor type_1(const Tensor& x) {
  Tensor mirrored = concat({x, x(ellipsis, Slice{-2, 0, -1})}, -1);
  return math::real(rfft(mirrored, {.fft_length = length_of(mirrored.shape()[-1])}));
}

Tensor type_2(const Tensor& x, bool ortho) {
  const int64_t n = x.shape()[-1];
  Tensor spectrum = rfft(x, {.fft_length = length_of(2 * n)})(ellipsis, slice(0, n));
  Tensor result = math::real(spectrum * turn(n, -1, x.dtype()));
  if (!ortho) return result;
  const double first = 0.5 / std::sqrt(static_cast<double>(n));
  return result * weights(n, first, first * std::numbers::sqrt2, x.dtype());
}

Tensor type_3(const Tensor& x, bool ortho) {
  const int64_t n = x.shape()[-1];
  const double length = static_cast<double>(n), root = std::sqrt(length);
  Tensor scaled = ortho ? x * weights(n, root, root * std::sqrt(0.5), x.dtype()) : x * cast(length, x.dtype());
  Tensor turned = complex(scaled, zeros_like(scaled)) * turn(n, 1, x.dtype());
  return irfft(turned, {.fft_length = length_of(2 * n)})(ellipsis, slice(0, n));
}

Tensor type_4(const Tensor& x, bool ortho) {
  const int64_t n = x.shape()[-1];
  Tensor odd = type_2(with_length(x, 2 * n), false)(ellipsis, Slice{1, {}, 2});
  return ortho ? odd * cast(std::sqrt(0.5 / static_cast<double>(n)), x.dtype()) : odd;
}

Tensor transform(const TensorLike& input, const DctOptions& options, const char* name) {
  Tensor x = input.own();
  check(x, options, name);
  if (options.n) x = with_length(x, *options.n);
  if (x.shape()[-1] == 0) return x;
  if (x.size() == 0) return x;
  const bool ortho = !options.norm.empty();
  switch (options.type) {
    case 1:
      return x.shape()[-1] == 1 ? x : type_1(x);
    case 2:
      return type_2(x, ortho);
    case 3:
      return type_3(x, ortho);
    default:
      return type_4(x, ortho);
  }
}

}  // namespace

Tensor dct(const TensorLike& input, const DctOptions& options) { return transform(input, options, "signal.dct"); }

Tensor idct(const TensorLike& input, const DctOptions& options) {
  DctOptions inverse = options;
  if (options.type == 2 || options.type == 3) inverse.type = 5 - options.type;
  return transform(input, inverse, "signal.idct");
}

namespace {
const FunctionDef* const signal_dct_functions[] = {
    &define_function<dct>({"signal.dct"}, {"input"}),
    &define_function<idct>({"signal.idct"}, {"input"}),
};
}  // namespace

}  // namespace thalweg::signal
