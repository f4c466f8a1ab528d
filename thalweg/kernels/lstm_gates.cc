#include "thalweg/kernels/lstm_gates.h"

#include <algorithm>

#include "thalweg/kernels/isa.h"
#include "thalweg/kernels/scalar_hyperbolic.h"

namespace thalweg::kernels {
namespace {

template <bool peephole> [[gnu::always_inline]] inline void gates_body(const GateStep& s) {
  const int64_t units = s.units;
  const float clip = s.cell_clip > 0 ? s.cell_clip : std::numeric_limits<float>::infinity();
  const float *bias_i = s.bias, *bias_f = bias_i + units, *bias_c = bias_f + units, *bias_o = bias_c + units;
  const float *wci = s.wci, *wcf = s.wcf, *wco = s.wco;
  for (int64_t row = 0; row < s.rows; ++row) {
    const float *gate_i = s.gates + row * 4 * units, *gate_f = gate_i + units, *gate_c = gate_f + units,
                *gate_o = gate_c + units;
    const float* previous = s.cs_prev + row * units;
    float *to_i = s.i + row * units, *to_cs = s.cs + row * units, *to_f = s.f + row * units, *to_o = s.o + row * units,
          *to_ci = s.ci + row * units, *to_co = s.co + row * units, *to_h = s.h + row * units;
#pragma GCC ivdep
    for (int64_t j = 0; j < units; ++j) {
      const float before = previous[j];
      float in = gate_i[j] + bias_i[j], forget = gate_f[j] + bias_f[j];
      if constexpr (peephole) {
        in += wci[j] * before;
        forget += wcf[j] * before;
      }
      to_i[j] = scalar::sigmoid(in);
      to_f[j] = scalar::sigmoid(forget);
    }
#pragma GCC ivdep
    for (int64_t j = 0; j < units; ++j) {
      const float ci = scalar::tanh(gate_c[j] + bias_c[j]);
      float cs = to_f[j] * previous[j] + to_i[j] * ci;
      cs = cs > clip ? clip : cs;  // NaN stays
      cs = cs < -clip ? -clip : cs;
      to_ci[j] = ci;
      to_cs[j] = cs;
    }
#pragma GCC ivdep
    for (int64_t j = 0; j < units; ++j) {
      const float cs = to_cs[j];
      float out = gate_o[j] + bias_o[j];
      if constexpr (peephole) out += wco[j] * cs;
      const float o = scalar::sigmoid(out), co = scalar::tanh(cs);
      to_o[j] = o;
      to_co[j] = co;
      to_h[j] = o * co;
    }
  }
}

// sums[j] += the column sums of [rows, width], four rows in one pass.
[[gnu::always_inline]] inline void add_rows(const float* from, int64_t rows, int64_t width, float* sums) {
  int64_t row = 0;
  for (; row + 4 <= rows; row += 4, from += 4 * width) {
    const float *a = from, *b = a + width, *c = b + width, *d = c + width;
#pragma GCC ivdep
    for (int64_t j = 0; j < width; ++j) sums[j] += (a[j] + b[j]) + (c[j] + d[j]);
  }
  for (; row < rows; ++row, from += width)
#pragma GCC ivdep
    for (int64_t j = 0; j < width; ++j) sums[j] += from[j];
}

template <bool peephole> [[gnu::always_inline]] inline void gates_grad_body(const GateGradStep& s) {
  const int64_t units = s.units;
  const float *wci = s.wci, *wcf = s.wcf, *wco = s.wco;
  float *wci_grad = s.peephole_grad, *wcf_grad = wci_grad + (peephole ? units : 0),
        *wco_grad = wcf_grad + (peephole ? units : 0);
  for (int64_t row = 0; row < s.rows; ++row) {
    const int64_t at = row * units;
    const float *row_i = s.i + at, *row_cs = s.cs + at, *row_f = s.f + at, *row_o = s.o + at, *row_ci = s.ci + at,
                *row_co = s.co + at, *previous = s.cs_prev + at, *cs_grad = s.cs_grad + at, *h_grad = s.h_grad + at,
                *later = s.dh + at;
    float *dcs = s.dcs + at, *to_i = s.dgates + 4 * at, *to_f = to_i + units, *to_c = to_f + units,
          *to_o = to_c + units;
#pragma GCC ivdep
    for (int64_t j = 0; j < units; ++j) {
      const float i = row_i[j], f = row_f[j], o = row_o[j], ci = row_ci[j], co = row_co[j], before = previous[j];
      const float dh = h_grad[j] + later[j];
      const float d_out = o * (1 - o) * dh * co;
      float d_cell = (1 - co * co) * dh * o + (cs_grad[j] + dcs[j]);
      if constexpr (peephole) d_cell += d_out * wco[j];
      const float d_in = i * (1 - i) * d_cell * ci, d_forget = f * (1 - f) * d_cell * before;
      float d_before = d_cell * f;
      if constexpr (peephole) {
        d_before += d_in * wci[j] + d_forget * wcf[j];
        wci_grad[j] += d_in * before;
        wcf_grad[j] += d_forget * before;
        wco_grad[j] += d_out * row_cs[j];
      }
      dcs[j] = d_before;
      to_i[j] = d_in;
      to_f[j] = d_forget;
      to_c[j] = (1 - ci * ci) * d_cell * i;
      to_o[j] = d_out;
    }
  }
  add_rows(s.dgates, s.rows, 4 * units, s.bias_grad);
}

template <bool peephole> void gates_baseline(const GateStep& s) { gates_body<peephole>(s); }
template <bool peephole> THALWEG_AVX2 void gates_avx2(const GateStep& s) { gates_body<peephole>(s); }
template <bool peephole> THALWEG_AVX512 void gates_avx512(const GateStep& s) { gates_body<peephole>(s); }
template <bool peephole> void gates_grad_baseline(const GateGradStep& s) { gates_grad_body<peephole>(s); }
template <bool peephole> THALWEG_AVX2 void gates_grad_avx2(const GateGradStep& s) { gates_grad_body<peephole>(s); }
template <bool peephole> THALWEG_AVX512 void gates_grad_avx512(const GateGradStep& s) { gates_grad_body<peephole>(s); }

constexpr void (*gate_loops[num_isas][2])(const GateStep&) = {{gates_baseline<false>, gates_baseline<true>},
                                                              {gates_avx2<false>, gates_avx2<true>},
                                                              {gates_avx512<false>, gates_avx512<true>}};
constexpr void (*gate_grad_loops[num_isas][2])(const GateGradStep&) = {
    {gates_grad_baseline<false>, gates_grad_baseline<true>},
    {gates_grad_avx2<false>, gates_grad_avx2<true>},
    {gates_grad_avx512<false>, gates_grad_avx512<true>}};

}  // namespace

void lstm_gates(const GateStep& step) { gate_loops[isa][step.wci != nullptr](step); }
void lstm_gates_grad(const GateGradStep& step) { gate_grad_loops[isa][step.wci != nullptr](step); }

}  // namespace thalweg::kernels
