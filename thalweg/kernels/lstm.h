// An LSTM over whole sequences of float32, and its gradient. Arrays are time-major: [time, batch, features].
#pragma once
#include <cstdint>

namespace thalweg::kernels {

/// The first `steps` of `time` steps are computed; what lies past them is zeros.
struct LstmShape {
  int64_t time = 0, steps = 0, batch = 0, inputs = 0, units = 0;
  bool use_peephole = false;
  float cell_clip = 0;

  /// Nothing is computed: all results are zeros.
  bool empty() const { return steps == 0 || batch == 0 || units == 0; }
  /// The numbers of working memory that a call needs.
  int64_t forward_scratch() const;
  int64_t backward_scratch() const;
  /// The examples that go through all steps together. By the sizes alone: results have the same bits on any number of
  /// threads.
  int64_t rows_of_chunk() const;
};

/// x [time, batch, inputs], cs_prev and h_prev [batch, units], w [inputs + units, 4 * units], peephole weights [units],
/// b [4 * units].
struct LstmInputs {
  const float *x, *cs_prev, *h_prev, *w, *wci, *wcf, *wco, *b;
};
/// Gates and states, [time, batch, units] each.
template <class Number> struct LstmStates {
  Number *i, *cs, *f, *o, *ci, *co, *h;
};
/// Gradients of the inputs, of the same shapes. Those that nobody wants are left with any values.
struct LstmGradients {
  float *x, *cs_prev, *h_prev, *w, *wci, *wcf, *wco, *b;
  bool wants_x = true, wants_h_prev = true;
};

void lstm(const LstmShape& shape, const LstmInputs& in, const LstmStates<float>& out, float* scratch);
void lstm_grad(const LstmShape& shape, const LstmInputs& in, const LstmStates<const float>& states,
               const float* cs_grad, const float* h_grad, const LstmGradients& out, float* scratch);

}  // namespace thalweg::kernels
