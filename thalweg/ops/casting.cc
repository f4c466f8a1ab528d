#include "thalweg/ops/casting.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "thalweg/core/convert.h"
#include "thalweg/core/error.h"
#include "thalweg/core/threads.h"
#include "thalweg/core/warning.h"
#include "thalweg/kernels/cast.h"
#include "thalweg/kernels/strided_copy.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/element_loops.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/infer.h"
#include "thalweg/ops/math.h"

namespace thalweg {
namespace {

struct CastAttrs {
  DType DstT = DType::invalid;  // NOLINT: TensorFlow's name
  bool Truncate = false;        // NOLINT
};

// The bits of a mantissa, without the hidden one.
constexpr int mantissa_bits(DType t) {
  switch (real_of(t)) {
    case DType::float64:
      return 52;
    case DType::float32:
      return 23;
    case DType::float16:
      return 10;
    case DType::bfloat16:
      return 7;
    default:
      return 64;
  }
}

// Rounding toward zero: the bits that will not fit are cleared, so that rounding to nearest has nothing to do.
template <class Bits> void clear_low_bits(const void* in, Bits* out, int64_t count, int bits) {
  const Bits mask = static_cast<Bits>(~Bits{0} << bits);
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<const Bits*>(in)[i] & mask;
}

void convert_truncated(DType from, const void* in, DType to, void* out, int64_t count) {
  constexpr int64_t tile = 256;
  int bits = mantissa_bits(from) - mantissa_bits(to), parts = is_complex(from) ? 2 : 1;
  bool wide = real_of(from) == DType::float64;
  alignas(16) uint64_t cut[2 * tile];
  for (int64_t i = 0; i < count; i += tile) {
    int64_t n = std::min(tile, count - i);
    const void* source = kernels::element(from, in, i);
    if (wide) clear_low_bits(source, cut, n * parts, bits);
    else clear_low_bits(source, reinterpret_cast<uint32_t*>(cut), n * parts, bits);
    kernels::cast(from, cut, to, kernels::element(to, out, i), n);
  }
}

const Op& Cast = define_op({
    .name = "Cast",
    .doc = "The elements as another dtype; Truncate rounds toward zero where a real type is narrowed.",
    .signature = "x: SrcT -> y: DstT",
    .attrs = attrs_of<CastAttrs>(),
    .infer =
        [](InferCall& c) {
          DType to = c.attrs<CastAttrs>().DstT, from = c.dtype(0);
          if (to != from && (!plain_types.has(to) || !plain_types.has(from)))
            throw UnimplementedError("Cast: there is no cast from " + std::string(name_of(from)) + " to " +
                                     std::string(name_of(to)));
          c.output(0, to, c.shape(0));
        },
    .dims = dims::like_first,
    .kernel = {[](const KernelCall& c) {
      DType from = c.dtype(0), to = c.output_dtype();
      if (from == to) return c.share(0, 0);
      c.allocate(0, c.shape(0));
      bool floats = (is_floating(from) || is_complex(from)) && (is_floating(to) || is_complex(to));
      bool truncate = c.attrs<CastAttrs>().Truncate && floats && mantissa_bits(to) < mantissa_bits(from);
      const void* in = c.input(0);
      void* out = c.output();
      parallel_for(c.count(0), 0.3, [&](int64_t begin, int64_t end) {
        (truncate ? convert_truncated : kernels::cast)(from, kernels::element(from, in, begin), to,
                                                       kernels::element(to, out, begin), end - begin);
      });
    }},
    .grad =
        [](GradCall& g) {
          DType from = g.input().dtype(), to = g.output_grad().dtype();
          bool smooth = (is_floating(from) || is_complex(from)) && (is_floating(to) || is_complex(to));
          if (smooth) g.input_grad(0, cast(g.output_grad(), from));
        },
    .grad_reads = reads::nothing,
    .traits = {.view = true},
});

struct BitcastAttrs {
  DType type = DType::invalid;
};
const Op& Bitcast = define_op({
    .name = "Bitcast",
    .doc = "The same bytes read as another type; the last dimension makes up for a difference in size.",
    .signature = "input: T -> output: type",
    .types = {{"T", number_types}, {"type", number_types}},
    .attrs = attrs_of<BitcastAttrs>(),
    .infer =
        [](InferCall& c) {
          DType to = c.result_dtype(0);
          auto from_size = static_cast<int64_t>(size_of(c.dtype(0))), to_size = static_cast<int64_t>(size_of(to));
          Shape out = c.shape(0);
          if (!out.has_rank() || from_size == to_size) return c.output(0, to, out);
          if (from_size > to_size) {
            out.push_back(from_size / to_size);
          } else {
            int64_t parts = to_size / from_size;
            if (out.rank() == 0 || (out[-1] >= 0 && out[-1] != parts))
              c.fail("the last dimension must be " + std::to_string(parts) + " to make " + std::string(name_of(to)) +
                     " of " + std::string(name_of(c.dtype(0))));
            out.erase(out.rank() - 1);
          }
          c.output(0, to, out);
        },
    .kernel = {[](const KernelCall& c) {
      // Small data lies in the block itself, whose copy counts elements of the output: copy bytes instead.
      if (c.tensor(0).impl()->buffer) return c.share(0, 0);
      c.allocate(0, c.output_shape());
      std::copy_n(c.input<char>(0), c.tensor(0).nbytes(), c.output<char>());
    }},
    .traits = {.view = true, .not_differentiable = "bits have no gradient"},
});

// The ends of a real dtype; long double holds all of them exactly.
struct Ends {
  long double low, high;
};
template <class T> constexpr Ends ends = {std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max()};
Ends ends_of(DType t) {
  switch (t) {
    case DType::int8:
      return ends<int8_t>;
    case DType::int16:
      return ends<int16_t>;
    case DType::int32:
      return ends<int32_t>;
    case DType::int64:
      return ends<int64_t>;
    case DType::uint8:
      return ends<uint8_t>;
    case DType::uint16:
      return ends<uint16_t>;
    case DType::uint32:
      return ends<uint32_t>;
    case DType::uint64:
      return ends<uint64_t>;
    case DType::bool_:
      return ends<bool>;
    case DType::float16:
      return {-65504, 65504};
    case DType::bfloat16:
      return {-0x1.fep127L, 0x1.fep127L};
    case DType::float32:
      return ends<float>;
    default:
      return ends<double>;
  }
}
// The value of dtype `t` nearest to `end` that is not beyond it: 2147483647 is 2147483520 as a float32.
Tensor inside(DType t, long double end) {
  Tensor made = Tensor::empty(t, {});
  void* data = made.impl()->data;
  if (t == DType::int64 || t == DType::uint64) {
    auto whole = end < 0 ? static_cast<uint64_t>(static_cast<int64_t>(end)) : static_cast<uint64_t>(end);
    std::memcpy(data, &whole, sizeof whole);
    return made;
  }
  int drop = is_floating(t) ? 52 - mantissa_bits(t) : 0;
  auto value = static_cast<double>(end);
  if (std::abs(static_cast<long double>(value)) > std::abs(end)) value = std::nextafter(value, 0.0);
  auto bits = __builtin_bit_cast(uint64_t, value) & (~uint64_t{0} << drop);
  value = __builtin_bit_cast(double, bits);
  convert_elements(DType::float64, &value, t, data, 1);
  return made;
}

}  // namespace

Tensor cast(const TensorLike& x, DType dtype) {
  const Tensor& given = x.tensor();
  if (given.impl()->weak == Weak::strong && given.dtype() == dtype) return given;
  return apply1(Cast, {x}, CastAttrs{dtype});
}

Tensor saturate_cast(const TensorLike& value, DType dtype) {
  Tensor from = value.own();
  if (is_complex(from.dtype()) && !is_complex(dtype)) from = cast(from, real_of(from.dtype()));
  if (!is_complex(from.dtype()) && from.dtype() != DType::bool_ && plain_types.has(from.dtype()) &&
      plain_types.has(dtype)) {
    Ends own = ends_of(from.dtype()), wanted = ends_of(real_of(dtype));
    if (own.low < wanted.low) from = maximum(from, inside(from.dtype(), wanted.low));
    if (own.high > wanted.high) from = minimum(from, inside(from.dtype(), wanted.high));
  }
  return cast(from, dtype);
}

Tensor bitcast(const Tensor& input, DType type) { return apply1(Bitcast, {input}, BitcastAttrs{type}); }

namespace {

SaySeldom about_imaginary_parts(5);

// What programs call; gradients and other functions cast complex numbers without a word.
Tensor cast_with_warning(const TensorLike& x, DType dtype) {
  DType from = x.tensor().dtype();
  if (is_complex(from) && !is_complex(dtype))
    about_imaginary_parts.warn("You are casting an input of type " + std::string(name_of(from)) +
                               " to an incompatible dtype " + std::string(name_of(dtype)) +
                               ". This discards the imaginary part; tf.math.real and tf.math.abs say what is meant.");
  return cast(x, dtype);
}

const FunctionDef* const casting_functions[] = {
    &define_function<cast_with_warning>({"cast", "dtypes.cast"}, {"x", "dtype"}),
    &define_function<saturate_cast>({"saturate_cast", "dtypes.saturate_cast"}, {"value", "dtype"}),
    &define_function<bitcast>({"bitcast"}, {"input", "type"}),
};
}  // namespace

}  // namespace thalweg
