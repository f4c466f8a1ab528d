#include "thalweg/kernels/lstm.h"

#include <algorithm>

#include "thalweg/core/threads.h"
#include "thalweg/kernels/gemm_kernel.h"
#include "thalweg/kernels/lstm_gates.h"
#include "thalweg/kernels/transpose_tile.h"

namespace thalweg::kernels {
namespace {

constexpr int64_t line = 16;  // numbers of a cache line: parts of the scratch begin on lines of their own
int64_t whole_lines(int64_t count) { return (count + line - 1) / line * line; }

int64_t chunks(const LstmShape& s) {
  const int64_t rows = s.rows_of_chunk();
  return rows > 0 ? (s.batch + rows - 1) / rows : 0;
}

// to[row] = (x[row], h[row]).
void join_rows(const float* x, int64_t inputs, const float* h, int64_t units, int64_t rows, float* to) {
  for (int64_t row = 0; row < rows; ++row, x += inputs, h += units) {
    to = std::copy_n(x, inputs, to);
    to = std::copy_n(h, units, to);
  }
}

// Of a sequence; the other sizes may be huge where one is 0.
int64_t count(int64_t time, int64_t batch, int64_t features) {
  return time == 0 || batch == 0 || features == 0 ? 0 : time * batch * features;
}

void add_to(const float* from, int64_t count, float* to) {
  for (int64_t j = 0; j < count; ++j) to[j] += from[j];
}

}  // namespace

int64_t LstmShape::rows_of_chunk() const {
  // Weights that a core's cache holds pass over few rows at a time, and chunks need not wait for each other. Larger
  // ones are read once for the whole batch, by all threads.
  constexpr int64_t most_rows = 16, most_weights = 512 * 1024;
  if ((inputs + units) * 4 * units > most_weights) return batch;
  const int64_t count = (batch + most_rows - 1) / most_rows;
  return count > 0 ? (batch + count - 1) / count : 0;
}

int64_t LstmShape::forward_scratch() const {
  if (empty()) return 0;
  const int64_t rows = rows_of_chunk();
  return chunks(*this) * (whole_lines(rows * (inputs + units)) + whole_lines(rows * 4 * units));
}

int64_t LstmShape::backward_scratch() const {
  if (empty()) return 0;
  return whole_lines(steps * batch * 4 * units) + whole_lines(steps * batch * (inputs + units)) +
         chunks(*this) * whole_lines((4 + 3) * units);
}

void lstm(const LstmShape& s, const LstmInputs& in, const LstmStates<float>& out, float* scratch) {
  const int64_t state = s.batch * s.units, depth = s.inputs + s.units, width = 4 * s.units;
  for (float* p : {out.i, out.cs, out.f, out.o, out.ci, out.co, out.h})
    std::fill(p + count(s.steps, s.batch, s.units), p + count(s.time, s.batch, s.units), 0.0f);
  if (s.empty()) return;
  const int64_t most_rows = s.rows_of_chunk();
  const int64_t joined_size = whole_lines(most_rows * depth), gates_size = whole_lines(most_rows * width);
  KeptFilter packed;  // the weights, for this call
  parallel_chunks(s.batch, most_rows, [&](int64_t begin, int64_t end) {
    const int64_t rows = end - begin;
    float* joined = scratch + begin / most_rows * (joined_size + gates_size);
    float* gates = joined + joined_size;
    for (int64_t t = 0; t < s.steps; ++t) {
      const int64_t at = t * state + begin * s.units;
      const float* h = t > 0 ? out.h + at - state : in.h_prev + begin * s.units;
      join_rows(in.x + (t * s.batch + begin) * s.inputs, s.inputs, h, s.units, rows, joined);
      real_gemm<float>(rows, width, depth, {joined, depth, 1}, {in.w, width, 1}, gates, width, false,
                       most_rows < s.batch, nullptr, &packed);
      lstm_gates({.rows = rows,
                  .units = s.units,
                  .gates = gates,
                  .bias = in.b,
                  .wci = s.use_peephole ? in.wci : nullptr,
                  .wcf = in.wcf,
                  .wco = in.wco,
                  .cs_prev = t > 0 ? out.cs + at - state : in.cs_prev + begin * s.units,
                  .cell_clip = s.cell_clip,
                  .i = out.i + at,
                  .cs = out.cs + at,
                  .f = out.f + at,
                  .o = out.o + at,
                  .ci = out.ci + at,
                  .co = out.co + at,
                  .h = out.h + at});
    }
  });
}

void lstm_grad(const LstmShape& s, const LstmInputs& in, const LstmStates<const float>& states, const float* cs_grad,
               const float* h_grad, const LstmGradients& out, float* scratch) {
  const int64_t state = s.batch * s.units, depth = s.inputs + s.units, width = 4 * s.units;
  std::fill(out.x + count(s.empty() ? 0 : s.steps, s.batch, s.inputs), out.x + count(s.time, s.batch, s.inputs), 0.0f);
  for (float* p : {out.cs_prev, out.h_prev}) std::fill_n(p, state, 0.0f);
  for (float* p : {out.wci, out.wcf, out.wco}) std::fill_n(p, s.units, 0.0f);
  std::fill_n(out.b, width, 0.0f);
  if (s.empty()) {
    std::fill_n(out.w, depth * width, 0.0f);
    return;
  }

  const int64_t sequence = s.steps * s.batch;
  float* dgates = scratch;
  float* joined = dgates + whole_lines(sequence * width);  // x and h of the step before: [inputs + units, sequence]
  float* sums = joined + whole_lines(sequence * depth);    // of b and the peephole weights, by chunk
  const int64_t most_rows = s.rows_of_chunk(), sums_size = whole_lines(7 * s.units);
  std::fill_n(sums, chunks(s) * sums_size, 0.0f);
  KeptFilter packed;
  parallel_chunks(s.batch, most_rows, [&](int64_t begin, int64_t end) {
    const int64_t rows = end - begin;
    float* sum = sums + begin / most_rows * sums_size;
    for (int64_t t = s.steps - 1; t >= 0; --t) {
      const int64_t at = t * state + begin * s.units, row = t * s.batch + begin;
      lstm_gates_grad({.rows = rows,
                       .units = s.units,
                       .i = states.i + at,
                       .cs = states.cs + at,
                       .f = states.f + at,
                       .o = states.o + at,
                       .ci = states.ci + at,
                       .co = states.co + at,
                       .cs_prev = t > 0 ? states.cs + at - state : in.cs_prev + begin * s.units,
                       .wci = s.use_peephole ? in.wci : nullptr,
                       .wcf = in.wcf,
                       .wco = in.wco,
                       .cs_grad = cs_grad + at,
                       .h_grad = h_grad + at,
                       .dh = out.h_prev + begin * s.units,
                       .dcs = out.cs_prev + begin * s.units,
                       .dgates = dgates + row * width,
                       .bias_grad = sum,
                       .peephole_grad = s.use_peephole ? sum + width : nullptr});
      if (t > 0 || out.wants_h_prev)
        real_gemm<float>(rows, s.units, width, {dgates + row * width, width, 1}, {in.w + s.inputs * width, 1, width},
                         out.h_prev + begin * s.units, s.units, false, most_rows < s.batch, nullptr, &packed);
      transpose_strips(in.x + row * s.inputs, s.inputs, joined + row, sequence, rows, s.inputs);
      transpose_strips(t > 0 ? states.h + at - state : in.h_prev + begin * s.units, s.units,
                       joined + s.inputs * sequence + row, sequence, rows, s.units);
    }
  });
  for (int64_t chunk = 0; chunk < chunks(s); ++chunk) {
    add_to(sums + chunk * sums_size, width, out.b);
    if (!s.use_peephole) continue;
    const float* weights = sums + chunk * sums_size + width;
    for (float* to : {out.wci, out.wcf, out.wco}) {
      add_to(weights, s.units, to);
      weights += s.units;
    }
  }
  // What no step waits for: one product each for all of them.
  real_gemm<float>(depth, width, sequence, {joined, sequence, 1}, {dgates, width, 1}, out.w, width, false, false);
  if (out.wants_x)
    real_gemm<float>(sequence, s.inputs, width, {dgates, width, 1}, {in.w, 1, width}, out.x, s.inputs, false, false);
}

}  // namespace thalweg::kernels
