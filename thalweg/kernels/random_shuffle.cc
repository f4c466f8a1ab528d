#include "thalweg/kernels/random_shuffle.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "thalweg/core/threads.h"
#include "thalweg/kernels/philox.h"

namespace thalweg::kernels {
namespace {

// Words of `bits` bits, kept in the lower part of 64.
struct Word {
  int bits;
  uint64_t mask() const { return bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }
  uint64_t rotate_left(uint64_t x, int by) const { return (x << by | x >> (bits - by)) & mask(); }
  uint64_t rotate_right(uint64_t x, int by) const { return rotate_left(x, bits - by); }
  uint64_t mix(uint64_t x) const { return (rotate_left(x, 1) & rotate_left(x, 8)) ^ rotate_left(x, 2); }
};

}  // namespace

void shuffle_permutation(const PhiloxState& state, int64_t n, int64_t* permutation) {
  std::iota(permutation, permutation + n, int64_t{0});
  PhiloxWords words(state);
  for (int64_t i = 0; i + 1 < n; ++i) {
    // TensorFlow counts the rest in 32 bits.
    uint32_t rest = static_cast<uint32_t>(n - i), word = words();
    std::swap(permutation[i], permutation[i + (rest == 0 ? word : word % rest)]);
  }
}

void gather_rows(const void* in, const int64_t* permutation, int64_t n, size_t row_bytes, void* out) {
  const std::byte* from = static_cast<const std::byte*>(in);
  std::byte* to = static_cast<std::byte*>(out);
  parallel_for(n, 5 + 0.1 * static_cast<double>(row_bytes), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      size_t source = static_cast<size_t>(permutation[i]), target = static_cast<size_t>(i);
      std::memcpy(to + target * row_bytes, from + source * row_bytes, row_bytes);
    }
  });
}

uint64_t index_shuffle(uint64_t index, const std::array<uint32_t, 3>& key, uint64_t max_index, int rounds) {
  if (max_index == 0) return 0;
  // TensorFlow takes the logarithm of max_index, not of max_index + 1.
  int block_bits = static_cast<int>(std::ceil(std::log2(static_cast<double>(max_index))));
  block_bits = std::max(block_bits + block_bits % 2, 16);
  Word word{block_bits / 2};
  uint64_t mask = word.mask();

  std::vector<uint64_t> round_keys;
  for (uint32_t part : key) round_keys.push_back(part & mask);
  uint64_t schedule = 0x7369f885192c0ef5u & mask;
  for (size_t i = 3; i < static_cast<size_t>(rounds); ++i) {
    uint64_t last = round_keys[i - 1];
    round_keys.push_back(((0xfffffffcu & mask) ^ (schedule & 1)) ^ round_keys[i - 3] ^ word.rotate_right(last, 3) ^
                         word.rotate_right(last, 4));
    schedule >>= 1;
  }
  do {
    uint64_t left = index >> word.bits & mask, right = index & mask;
    for (size_t i = 0; i + 1 < round_keys.size(); i += 2) {
      left ^= word.mix(right) ^ round_keys[i];
      right ^= word.mix(left) ^ round_keys[i + 1];
    }
    index = left << word.bits | right;
  } while (index > max_index);
  return index;
}

}  // namespace thalweg::kernels
