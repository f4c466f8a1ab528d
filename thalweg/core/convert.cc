#include "thalweg/core/convert.h"

#include <immintrin.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "thalweg/core/complex.h"
#include "thalweg/core/resource.h"

namespace thalweg {
namespace {

// Each element passes through one of four wide types, so that 13 x 13 casts need 13 x 4 loops twice.
template <class T>
using Wide = std::conditional_t<
    std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>, std::complex<double>,
    std::conditional_t<std::is_floating_point_v<T> || std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, double,
                       std::conditional_t<std::is_same_v<T, uint64_t>, uint64_t, int64_t>>>;

template <class F> void with_type(DType t, F f) {
  switch (t) {
    case DType::float32:
      return f(float{});
    case DType::float64:
      return f(double{});
    case DType::float16:
      return f(Half{});
    case DType::bfloat16:
      return f(BFloat16{});
    case DType::int8:
      return f(int8_t{});
    case DType::int16:
      return f(int16_t{});
    case DType::int32:
      return f(int32_t{});
    case DType::int64:
      return f(int64_t{});
    case DType::uint8:
      return f(uint8_t{});
    case DType::uint16:
      return f(uint16_t{});
    case DType::uint32:
      return f(uint32_t{});
    case DType::uint64:
      return f(uint64_t{});
    case DType::bool_:
      return f(bool{});
    case DType::complex64:
      return f(std::complex<float>{});
    case DType::complex128:
      return f(std::complex<double>{});
    default:
      return;
  }
}

template <class T> constexpr bool is_storage = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

template <class T> Wide<T> load(T v) {
  if constexpr (is_storage<T>) return static_cast<double>(static_cast<float>(v));
  else return static_cast<Wide<T>>(v);
}

// Out of range floats: x86's cvttss2si gives the smallest integer; narrower types take its low bits.
template <class T> T integer_of(double v) {
  if constexpr (std::is_same_v<T, uint64_t>) {
    if (v >= 9223372036854775808.0 && v < 18446744073709551616.0) return static_cast<uint64_t>(v);
  }
  if constexpr (sizeof(T) <= 4 && !std::is_same_v<T, uint32_t>) {
    int32_t i = v > -2147483649.0 && v < 2147483648.0 ? static_cast<int32_t>(v) : INT32_MIN;
    return static_cast<T>(i);
  } else {
    int64_t i = v >= -9223372036854775808.0 && v < 9223372036854775808.0 ? static_cast<int64_t>(v) : INT64_MIN;
    return static_cast<T>(i);
  }
}

template <class T, class W> T store(W w) {
  if constexpr (std::is_same_v<W, std::complex<double>>) {
    if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) return T(w);
    else return store<T>(w.real());  // bool too: only the real part counts
  } else if constexpr (std::is_same_v<T, bool>) {
    return w != W{};
  } else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
    return T(static_cast<typename T::value_type>(w));
  } else if constexpr (is_storage<T>) {
    return T(static_cast<float>(w));
  } else if constexpr (std::is_same_v<W, double> && std::is_integral_v<T>) {
    return integer_of<T>(w);
  } else {
    return static_cast<T>(w);
  }
}

template <class W> void from_wide(const W* in, DType to, void* out, int64_t count) {
  with_type(to, [&](auto example) {
    using T = decltype(example);
    for (int64_t i = 0; i < count; ++i) static_cast<T*>(out)[i] = store<T>(in[i]);
  });
}

[[gnu::target("avx,f16c")]] void halves_to_floats(const uint16_t* x, float* y, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps(y + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i))));
  for (; i < n; ++i) y[i] = _cvtsh_ss(x[i]);
}
[[gnu::target("avx,f16c")]] void floats_to_halves(const float* x, uint16_t* y, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(y + i), _mm256_cvtps_ph(_mm256_loadu_ps(x + i), 0));
  for (; i < n; ++i) y[i] = static_cast<uint16_t>(_cvtss_sh(x[i], 0));
}
[[gnu::always_inline]] inline void floats_to_bfloat16s_body(const float* x, uint16_t* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = BFloat16(x[i]).bits;
}
void floats_to_bfloat16s(const float* x, uint16_t* y, int64_t n) { floats_to_bfloat16s_body(x, y, n); }
[[gnu::target("avx2")]] void floats_to_bfloat16s_avx2(const float* x, uint16_t* y, int64_t n) {
  floats_to_bfloat16s_body(x, y, n);
}
const bool has_avx2 = [] {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") != 0;
}();
const bool has_f16c = [] {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx") && __builtin_cpu_supports("f16c");
}();

}  // namespace

void convert_elements(DType from, const void* in, DType to, void* out, int64_t count) {
  if (from == to) return copy_elements(from, in, out, count);
  if (is_half(from) && to == DType::float32)
    return widen_halves(from, static_cast<const uint16_t*>(in), static_cast<float*>(out), count);
  if (from == DType::float32 && is_half(to))
    return narrow_halves(to, static_cast<const float*>(in), static_cast<uint16_t*>(out), count);
  constexpr int64_t tile = 512;
  with_type(from, [&](auto example) {
    using T = decltype(example);
    Wide<T> wide[tile];
    for (int64_t i = 0; i < count; i += tile) {
      int64_t n = std::min(tile, count - i);
      for (int64_t k = 0; k < n; ++k) wide[k] = load(static_cast<const T*>(in)[i + k]);
      from_wide(wide, to, static_cast<std::byte*>(out) + static_cast<size_t>(i) * size_of(to), n);
    }
  });
}

void copy_elements(DType dtype, const void* in, void* out, int64_t count) {
  if (dtype == DType::string) std::copy_n(static_cast<const std::string*>(in), count, static_cast<std::string*>(out));
  else if (is_object(dtype))
    std::copy_n(static_cast<const ResourceHandle*>(in), count, static_cast<ResourceHandle*>(out));
  else if (count) std::memcpy(out, in, static_cast<size_t>(count) * size_of(dtype));
}

void widen_halves(DType from, const uint16_t* in, float* out, int64_t count) {
  if (from == DType::bfloat16) {
    for (int64_t i = 0; i < count; ++i) out[i] = __builtin_bit_cast(float, static_cast<uint32_t>(in[i]) << 16);
  } else if (has_f16c) {
    halves_to_floats(in, out, count);
  } else {
    for (int64_t i = 0; i < count; ++i) out[i] = static_cast<float>(__builtin_bit_cast(_Float16, in[i]));
  }
}

void narrow_halves(DType to, const float* in, uint16_t* out, int64_t count) {
  if (to == DType::bfloat16) {
    (has_avx2 ? floats_to_bfloat16s_avx2 : floats_to_bfloat16s)(in, out, count);
  } else if (has_f16c) {
    floats_to_halves(in, out, count);
  } else {
    for (int64_t i = 0; i < count; ++i) out[i] = Half(in[i]).bits;
  }
}

}  // namespace thalweg
