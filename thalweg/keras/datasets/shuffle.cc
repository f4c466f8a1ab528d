#include "thalweg/keras/datasets/shuffle.h"

#include <bit>
#include <numeric>
#include <string>
#include <utility>

#include "thalweg/core/error.h"

namespace thalweg::keras::datasets {
namespace {

uint32_t checked_seed(int64_t seed) {
  if (seed < 0 || seed > UINT32_MAX)
    throw ValueError("seed must be between 0 and 2^32 - 1; received " + std::to_string(seed));
  return static_cast<uint32_t>(seed);
}

}  // namespace

NumpyShuffle::NumpyShuffle(int64_t seed) : generator_(checked_seed(seed)) {}

// Fisher and Yates from the back; a number up to i is drawn from as many bits as i has, again when it is larger.
std::vector<int64_t> NumpyShuffle::order(int64_t count) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = order.size(); i-- > 1;) {
    auto mask = static_cast<uint32_t>(std::bit_ceil(i + 1) - 1);
    uint32_t j = 0;
    do j = static_cast<uint32_t>(generator_()) & mask;
    while (j > i);
    std::swap(order[i], order[j]);
  }
  return order;
}

int64_t num_train(int64_t count, double test_split) {
  if (!(test_split >= 0 && test_split <= 1))
    throw ValueError("test_split must be between 0 and 1; received " + std::to_string(test_split));
  return static_cast<int64_t>(static_cast<double>(count) * (1 - test_split));
}

}  // namespace thalweg::keras::datasets
