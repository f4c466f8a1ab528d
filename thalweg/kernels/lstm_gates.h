// The element-wise parts of one LSTM step, forward and backward, each one pass over its arrays.
#pragma once
#include <cstdint>

namespace thalweg::kernels {

/// What one step of `rows` examples reads and writes. Arrays are [rows, units]; `gates` is [rows, 4 * units]: the input
/// gate, the forget gate, the new cell and the output gate side by side. The peephole weights are null without them.
struct GateStep {
  int64_t rows = 0, units = 0;
  const float *gates = nullptr, *bias = nullptr;  // products of inputs and state; bias [4 * units]
  const float *wci = nullptr, *wcf = nullptr, *wco = nullptr;
  const float* cs_prev = nullptr;
  float cell_clip = 0;  // the cell's largest magnitude; no limit unless it is positive
  float *i = nullptr, *cs = nullptr, *f = nullptr, *o = nullptr, *ci = nullptr, *co = nullptr, *h = nullptr;
};

/// i, f, o = sigmoid(...), ci = tanh(...), cs = f cs_prev + i ci, co = tanh(cs), h = o co.
void lstm_gates(const GateStep& step);

/// The same step on the way back.
struct GateGradStep {
  int64_t rows = 0, units = 0;
  const float *i = nullptr, *cs = nullptr, *f = nullptr, *o = nullptr, *ci = nullptr, *co = nullptr;
  const float* cs_prev = nullptr;
  const float *wci = nullptr, *wcf = nullptr, *wco = nullptr;
  const float *cs_grad = nullptr, *h_grad = nullptr;  // what this step's results get from outside
  const float* dh = nullptr;                          // what h gets from the step after it
  float* dcs = nullptr;                               // the same of cs; becomes what this step passes to cs_prev
  float* dgates = nullptr;                            // [rows, 4 * units]
  float* bias_grad = nullptr;                         // [4 * units], added to
  float* peephole_grad = nullptr;                     // [3 * units], wci, wcf, wco, added to; null without them
};
void lstm_gates_grad(const GateGradStep& step);

}  // namespace thalweg::kernels
