#include "thalweg/kernels/cast.h"

#include <immintrin.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <type_traits>

#include "thalweg/core/convert.h"
#include "thalweg/kernels/strided_copy.h"

namespace thalweg::kernels {
namespace {

// Out of range: the smallest integer of 32 bits, or of 64 where the type needs them, of which narrow types take the low
// bits. The comparisons are what x86's own conversion does, and keep C++ from having no opinion.
template <class To, class From> [[gnu::always_inline]] inline To integer_of(From v) {
  using Wide = std::conditional_t<sizeof(To) <= 4 && !std::is_same_v<To, uint32_t>, int32_t, int64_t>;
  constexpr bool is_exact =
      sizeof(From) > sizeof(Wide);  // whether From has numbers between the lowest Wide and the next
  constexpr From end = sizeof(Wide) == 4 ? From(0x1p31) : From(0x1p63);
  bool fits = (is_exact ? v > -end - From(1) : v >= -end) && v < end;
  Wide whole = fits ? static_cast<Wide>(v) : std::numeric_limits<Wide>::min();
  if constexpr (std::is_same_v<To, uint64_t>) {
    if (v >= end && v < From(0x1p64)) return static_cast<uint64_t>(v);
  }
  return static_cast<To>(whole);
}

template <class To, class From> [[gnu::always_inline]] inline To converted(From v) {
  if constexpr (std::is_same_v<To, bool>) return v != From{};
  else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) return integer_of<To>(v);
  else return static_cast<To>(v);
}

template <class From, class To> struct Step {
  [[gnu::always_inline]] static void body(const void* in, void* out, int64_t n) {
    auto* from = static_cast<const From*>(in);
    auto* to = static_cast<To*>(out);
    int64_t begin = 0;
    if constexpr (std::is_same_v<From, float> && std::is_same_v<To, int32_t>)  // the instruction needs no comparisons
      for (; begin + 4 <= n; begin += 4)
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to + begin), _mm_cvttps_epi32(_mm_loadu_ps(from + begin)));
#pragma GCC ivdep
    for (int64_t i = begin; i < n; ++i) to[i] = converted<To>(from[i]);
  }
  static void plain(const void* in, void* out, int64_t n, const void*) { body(in, out, n); }
  THALWEG_AVX2 static void v2(const void* in, void* out, int64_t n, const void*) { body(in, out, n); }
  THALWEG_AVX512 static void v3(const void* in, void* out, int64_t n, const void*) { body(in, out, n); }
};

template <class From, class To> UnaryLoop step() {
  constexpr UnaryLoop loops[num_isas] = {Step<From, To>::plain, Step<From, To>::v2, Step<From, To>::v3};
  return loops[isa];
}

template <class From> UnaryLoop step_to(DType to) {
  switch (to) {
    case DType::float32:
      return step<From, float>();
    case DType::float64:
      return step<From, double>();
    case DType::int8:
      return step<From, int8_t>();
    case DType::int16:
      return step<From, int16_t>();
    case DType::int32:
      return step<From, int32_t>();
    case DType::int64:
      return step<From, int64_t>();
    case DType::uint8:
      return step<From, uint8_t>();
    case DType::uint16:
      return step<From, uint16_t>();
    case DType::uint32:
      return step<From, uint32_t>();
    case DType::uint64:
      return step<From, uint64_t>();
    case DType::bool_:
      return step<From, bool>();
    default:
      return nullptr;
  }
}

// The narrowest type with loops to all others that has every number of a dtype; narrow integers need no loops of their
// own then.
DType stage_of(DType from) {
  switch (from) {
    case DType::int8:
    case DType::int16:
    case DType::uint16:
      return DType::int32;
    case DType::uint32:
      return DType::int64;
    case DType::float16:
    case DType::bfloat16:
    case DType::complex64:
      return DType::float32;
    case DType::complex128:
      return DType::float64;
    default:
      return from;
  }
}

template <class Part> void take_real_parts(const void* in, void* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) static_cast<Part*>(out)[i] = static_cast<const Part*>(in)[2 * i];
}
template <class Part> void make_complex(const void* in, void* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    static_cast<Part*>(out)[2 * i] = static_cast<const Part*>(in)[i];
    static_cast<Part*>(out)[2 * i + 1] = Part(0);
  }
}

// Zero and one, of which a half type has the bits.
void mark_halves(const uint8_t* in, uint16_t one, uint16_t* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = in[i] != 0 ? one : uint16_t{0};
}

// The elements as their stage, which is `in` itself where nothing changes.
const void* widened(DType from, const void* in, void* buffer, int64_t n) {
  DType stage = stage_of(from);
  if (stage == from) return in;
  if (is_half(from)) widen_halves(from, static_cast<const uint16_t*>(in), static_cast<float*>(buffer), n);
  else if (from == DType::complex64) take_real_parts<float>(in, buffer, n);
  else if (from == DType::complex128) take_real_parts<double>(in, buffer, n);
  else if (from == DType::int8) step<int8_t, int32_t>()(in, buffer, n, nullptr);
  else if (from == DType::int16) step<int16_t, int32_t>()(in, buffer, n, nullptr);
  else if (from == DType::uint16) step<uint16_t, int32_t>()(in, buffer, n, nullptr);
  else step<uint32_t, int64_t>()(in, buffer, n, nullptr);
  return buffer;
}

}  // namespace

UnaryLoop cast_loop(DType from, DType to) {
  switch (from) {
    case DType::float32:
      return step_to<float>(to);
    case DType::float64:
      return step_to<double>(to);
    case DType::int32:
      return step_to<int32_t>(to);
    case DType::int64:
      return step_to<int64_t>(to);
    case DType::uint64:
      return step_to<uint64_t>(to);
    case DType::uint8:
    case DType::bool_:
      return step_to<uint8_t>(to);  // the same bytes: GCC makes loops over bool nine times slower
    default:
      return nullptr;
  }
}

void cast(DType from, const void* in, DType to, void* out, int64_t n) {
  if (is_complex(from) && is_complex(to)) return cast(real_of(from), in, real_of(to), out, 2 * n);
  bool same_bits = from == to || (size_of(from) == size_of(to) && is_integer(from) && is_integer(to));
  if (same_bits) return copy_elements(to, in, out, n);
  if (from == DType::int8 && to == DType::bool_) from = DType::uint8;  // the same bytes are zero
  if (from == DType::bool_ && is_half(to))
    return mark_halves(static_cast<const uint8_t*>(in), to == DType::float16 ? 0x3c00 : 0x3f80,
                       static_cast<uint16_t*>(out), n);
  DType stage = stage_of(from), last = is_half(to) ? DType::float32 : real_of(to);
  if (UnaryLoop direct = cast_loop(from, to)) return direct(in, out, n, nullptr);
  constexpr int64_t tile = 512;
  alignas(64) std::byte first[tile * 8], second[tile * 8];
  UnaryLoop loop = stage == last ? nullptr : cast_loop(stage, last);
  for (int64_t i = 0; i < n; i += tile) {
    int64_t m = std::min(tile, n - i);
    void* results = element(to, out, i);
    const void* at = widened(from, element(from, in, i), !loop && last == to ? results : first, m);
    if (loop) {
      loop(at, last == to ? results : second, m, nullptr);
      at = second;
    }
    if (is_half(to)) narrow_halves(to, static_cast<const float*>(at), static_cast<uint16_t*>(results), m);
    else if (to == DType::complex64) make_complex<float>(at, results, m);
    else if (to == DType::complex128) make_complex<double>(at, results, m);
  }
}

}  // namespace thalweg::kernels
