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
  bool is_used_ = false;
};

/// While one lives, seeds of initializers are those of one part of a weight that is made in parts, told by a number.
class THALWEG_API SeedOfPart {
 public:
  explicit SeedOfPart(int64_t part);
  ~SeedOfPart();
  SeedOfPart(const SeedOfPart&) = delete;
  SeedOfPart& operator=(const SeedOfPart&) = delete;

 private:
  std::optional<int64_t> outer_;
};

}  // namespace thalweg::keras
