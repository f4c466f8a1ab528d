// The order in which numpy.random.RandomState(seed).shuffle leaves 0, 1, 2, ...
#pragma once
#include <cstdint>
#include <random>
#include <vector>

namespace thalweg::keras::datasets {

class NumpyShuffle {
 public:
  /// ValueError for a seed that NumPy refuses: not within 32 bits.
  explicit NumpyShuffle(int64_t seed);
  /// The next order of `count` things.
  std::vector<int64_t> order(int64_t count);

 private:
  // Seeded by one number, NumPy's generator and this one are the same.
  std::mt19937 generator_;
};

/// How many of `count` samples come before the test samples.
int64_t num_train(int64_t count, double test_split);

}  // namespace thalweg::keras::datasets
