// Recurrent layers over whole sequences, each as one op.
#pragma once
#include "thalweg/core/tensor.h"
#include "thalweg/ops/options.h"

namespace thalweg::nn {

/// What an LSTM computes at each step, [time, batch, units] each: the input, forget and output gates, the new cell
/// before the input gate, the cell, its tanh, and the output.
struct BlockLstm {
  Tensor i, cs, f, o, ci, co, h;
};
struct BlockLstmOptions {
  Tensor seq_len_max = {};  // an int64 scalar: steps past these many give zeros; all steps where left out
  Tensor wci = {};          // peephole weights [units] from the cell to the gates, read with use_peephole only
  Tensor wcf = {};
  Tensor wco = {};
  double cell_clip = 0;  // the largest magnitude of the cell where it is positive; gradients take no notice of it
  Flag use_peephole = {};
};
/// An LSTM over the sequences x [time, batch, inputs] from the states cs_prev and h_prev [batch, units]. Columns of the
/// weights w [inputs + units, 4 * units] and of b [4 * units] are those of the input gate, the forget gate, the new
/// cell and the output gate. Gradients flow back from cs and h.
THALWEG_API BlockLstm block_lstm(const Tensor& x, const Tensor& cs_prev, const Tensor& h_prev, const Tensor& w,
                                 const Tensor& b, const BlockLstmOptions& options = {});

/// The inputs of an LSTM as its gradient takes them: all of them are there.
struct BlockLstmInputs {
  Tensor seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b;
};
struct BlockLstmGradients {
  Tensor x, cs_prev, h_prev, w, wci, wcf, wco, b;
};
struct BlockLstmGradOptions {
  Flag use_peephole = {};
};
/// The gradients of block_lstm's inputs, from what it computed and the gradients of cs and h.
THALWEG_API BlockLstmGradients block_lstm_grad(const BlockLstmInputs& inputs, const BlockLstm& states,
                                               const Tensor& cs_grad, const Tensor& h_grad,
                                               const BlockLstmGradOptions& options = {});

}  // namespace thalweg::nn
