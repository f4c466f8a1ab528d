#include "thalweg/kernels/random_normal.h"

#include <bit>
#include <cmath>

#include "thalweg/kernels/random_bits.h"

namespace thalweg::kernels {
namespace {

// 1/c and log(c) for c near the middle of each sixteenth of the range of fractions.
constexpr double inverse_c[16] = {
    0x1.661ec79f8f3bep+0, 0x1.571ed4aaf883dp+0, 0x1.49539f0f010bp+0,  0x1.3c995b0b80385p+0, 0x1.30d190c8864a5p+0,
    0x1.25e227b0b8eap+0,  0x1.1bb4a4a1a343fp+0, 0x1.12358f08ae5bap+0, 0x1.0953f419900a7p+0, 0x1p+0,
    0x1.e608cfd9a47acp-1, 0x1.ca4b31f026aap-1,  0x1.b2036576afce6p-1, 0x1.9c2d163a1aa2dp-1, 0x1.886e6037841edp-1,
    0x1.767dcf5534862p-1};
constexpr double log_c[16] = {
    -0x1.57bf7808caadep-2, -0x1.2bef0a7c06ddbp-2, -0x1.01eae7f513a67p-2, -0x1.b31d8a68224e9p-3, -0x1.6574f0ac07758p-3,
    -0x1.1aa2bc79c81p-3,   -0x1.a4e76ce8c0e5ep-4, -0x1.1973c5a611cccp-4, -0x1.252f438e10c1ep-5, 0x0p+0,
    0x1.aa5aa5df25984p-5,  0x1.c5e53aa362eb4p-4,  0x1.526e57720db08p-3,  0x1.bc2860d22477p-3,   0x1.1058bc8a07ee1p-2,
    0x1.4043057b6ee09p-2};

// sqrt(-2 log u) with log u = k log 2 + log c + log1p(z / c - 1), where u = 2**k z.
template <int num_lanes> [[gnu::always_inline]] inline void radii(const float* u, float* radius) {
  constexpr uint32_t offset = 0x3f330000;
  double inverse[num_lanes], start[num_lanes], z[num_lanes];
  for (int i = 0; i < num_lanes; ++i) {
    uint32_t bits = std::bit_cast<uint32_t>(u[i]), shifted = bits - offset;
    uint32_t entry = shifted >> 19 & 15;
    inverse[i] = inverse_c[entry];
    start[i] = log_c[entry] + static_cast<double>(static_cast<int32_t>(shifted) >> 23) * 0x1.62e42fefa39efp-1;
    z[i] = static_cast<double>(std::bit_cast<float>(bits - (shifted & 0xff800000u)));
  }
  for (int i = 0; i < num_lanes; ++i) {
    double r = z[i] * inverse[i] - 1.0, square = r * r;
    double y = 0x1.5575b0be00b6ap-2 * r + -0x1.ffffef20a4123p-2;
    y = -0x1.00ea348b88334p-2 * square + y;
    y = y * square + (start[i] + r);
    radius[i] = std::sqrt(-2.0f * static_cast<float>(y));
  }
}

// Sine and cosine on the nearest multiple n of pi/2, then exchanged and negated by n.
template <int num_lanes>
[[gnu::always_inline]] inline void sines_and_cosines(const float* angle, float* sine, float* cosine) {
  for (int i = 0; i < num_lanes; ++i) {
    double x = static_cast<double>(angle[i]);
    int32_t n = (static_cast<int32_t>(x * 0x1.45f306dc9c883p+23) + 0x800000) >> 24;
    x = x - static_cast<double>(n) * 0x1.921fb54442d18p0;
    double x2 = x * x, x3 = x * x2, x4 = x2 * x2;
    double odd = 0x1.1107605230bc4p-7 + x2 * -0x1.994eb3774cf24p-13;
    double even = -0x1.6c087e89a359dp-10 + x2 * 0x1.99343027bf8c3p-16;
    double s = (x + x3 * -0x1.555545995a603p-3) + (x3 * x2) * odd;
    double c = ((1.0 + x2 * -0x1.ffffffd0c621cp-2) + x4 * 0x1.55553e1068f19p-5) + (x4 * x2) * even;
    uint32_t s_bits = std::bit_cast<uint32_t>(static_cast<float>(s));
    uint32_t c_bits = std::bit_cast<uint32_t>(static_cast<float>(c));
    uint32_t quadrant = static_cast<uint32_t>(n), exchange = 0u - (quadrant & 1u);
    uint32_t difference = (s_bits ^ c_bits) & exchange;
    sine[i] = std::bit_cast<float>(s_bits ^ difference ^ (quadrant & 2u) << 30);
    cosine[i] = std::bit_cast<float>(c_bits ^ difference ^ ((quadrant + 1u) & 2u) << 30);
  }
}

template <int num_lanes> [[gnu::always_inline]] inline void lanes_of_normals(const uint32_t* words, float* out) {
  float u[num_lanes], angle[num_lanes], radius[num_lanes], sine[num_lanes], cosine[num_lanes];
  for (int i = 0; i < num_lanes; ++i) {
    float uniform = unit_float(words[2 * i]);
    u[i] = uniform < 1.0e-7f ? 1.0e-7f : uniform;
    angle[i] = static_cast<float>(2.0 * 3.14159265358979323846 * static_cast<double>(unit_float(words[2 * i + 1])));
  }
  radii<num_lanes>(u, radius);
  sines_and_cosines<num_lanes>(angle, sine, cosine);
  for (int i = 0; i < num_lanes; ++i) {
    out[2 * i] = sine[i] * radius[i];
    out[2 * i + 1] = cosine[i] * radius[i];
  }
}

[[gnu::always_inline]] inline void normals_body(const uint32_t* words, int64_t num_pairs, float* out) {
  int64_t i = 0;
  for (; i + 64 <= num_pairs; i += 64) lanes_of_normals<64>(words + 2 * i, out + 2 * i);
  for (; i + 8 <= num_pairs; i += 8) lanes_of_normals<8>(words + 2 * i, out + 2 * i);
  for (; i < num_pairs; ++i) lanes_of_normals<1>(words + 2 * i, out + 2 * i);
}

void normals_baseline(const uint32_t* words, int64_t num_pairs, float* out) { normals_body(words, num_pairs, out); }

#if defined(__x86_64__)
// Not the AVX-512 target: it brings fused multiply-add, which would change bits.
[[gnu::target("avx2")]] void normals_avx2(const uint32_t* words, int64_t num_pairs, float* out) {
  normals_body(words, num_pairs, out);
}
#endif

using NormalsFunction = void (*)(const uint32_t*, int64_t, float*);

NormalsFunction choose_normals() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return normals_avx2;
#endif
  return normals_baseline;
}

}  // namespace

void normal_floats(const uint32_t* words, int64_t num_pairs, float* out) {
  static const NormalsFunction run = choose_normals();
  run(words, num_pairs, out);
}

}  // namespace thalweg::kernels
