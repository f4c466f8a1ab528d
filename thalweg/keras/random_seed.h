// Where layers and initializers without a seed of their own get one.
#pragma once
#include <optional>

#include "thalweg/core/tensor.h"

namespace thalweg::keras {

/// A seed for something that was given none: it follows utils::set_random_seed, else random::set_seed, else chance.
THALWEG_API int64_t next_seed();

/// The seed of an object that draws random numbers without keeping count: the given one, or one that is chosen at the
/// first use and kept.
class THALWEG_API KeptSeed {
 public:
  /// For the stateless random functions.
  Tensor pair(const std::optional<int64_t>& given);

 private:
  std::optional<int64_t> chosen_;
};

}  // namespace thalweg::keras
