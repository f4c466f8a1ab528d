// Computes over sequences step by step: one after the other, or in a loop of a traced function.
#pragma once
#include <functional>
#include <utility>
#include <vector>

#include "thalweg/graph/nest.h"

namespace thalweg::keras::layers {

/// What a recurrent layer is told about sequences.
struct SequenceSettings {
  bool return_sequences = false, return_state = false, go_backwards = false, stateful = false, unroll = false,
       time_major = false, zero_output_for_mask = false;
};

/// Sequences with the time first, and what comes of them.
struct SequenceResult {
  Nest outputs;  // [time, batch, ...] each, where they are asked for
  Nest last_output;
  std::vector<Tensor> states;
};
using Step = std::function<std::pair<Nest, std::vector<Tensor>>(const Nest& x, const std::vector<Tensor>& states)>;
/// Computes step by step over one sequence, or a structure of sequences of one length; the mask is [time, batch].
/// `zero_outputs` stand before the first outputs, in the order of `Nest::flatten`.
SequenceResult run_steps(const Step& step, const Nest& x, const std::vector<Tensor>& states, const Tensor& mask,
                         const std::vector<Tensor>& zero_outputs, const SequenceSettings& settings);

}  // namespace thalweg::keras::layers
