// Shuffling rows and drawing classes, once the stream is known: for the stateful and the stateless ops.
#pragma once
#include "thalweg/core/philox_state.h"
#include "thalweg/ops/op.h"

namespace thalweg::random {

/// Output 0 is input 0 with its rows in the order that the stream says.
void shuffle_rows(const KernelCall& c, const PhiloxState& state);

/// logits [batch, classes] in input 0, the number of samples in input 1: [batch, samples].
void infer_multinomial(InferCall& c);
/// Fills output 0, which is not empty, with classes.
void draw_multinomial(const KernelCall& c, const PhiloxState& state);

}  // namespace thalweg::random
