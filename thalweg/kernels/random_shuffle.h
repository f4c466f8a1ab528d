// Permutations with TensorFlow's bits.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "thalweg/core/philox_state.h"

namespace thalweg::kernels {

/// How far RandomShuffle moves its stream for `n` rows; it does not touch the stream for less than two rows.
constexpr uint64_t shuffle_blocks(int64_t n) { return n < 2 ? 0 : static_cast<uint64_t>((n - 1 + 3) / 4); }

/// RandomShuffle and StatelessShuffle: row i of the output is row permutation[i] of the input.
void shuffle_permutation(const PhiloxState& state, int64_t n, int64_t* permutation);

/// Copies `n` rows of plain bytes in the order of `permutation`.
void gather_rows(const void* in, const int64_t* permutation, int64_t n, size_t row_bytes, void* out);

/// What `tf.random.experimental.index_shuffle` puts before its two seeds to make a key of three.
inline constexpr uint32_t index_shuffle_first_key = 498247692;

/// RandomIndexShuffle: where `index` goes in the permutation of [0, max_index] that `key` names. A Simon block cipher
/// of just enough bits, applied again until the result is in range. `rounds` is even and at least 4.
uint64_t index_shuffle(uint64_t index, const std::array<uint32_t, 3>& key, uint64_t max_index, int rounds = 4);

}  // namespace thalweg::kernels
