#include "thalweg/keras/random_seed.h"

#include <array>
#include <mutex>
#include <random>

#include "thalweg/core/error.h"
#include "thalweg/core/warning.h"
#include "thalweg/graph/init_scope.h"
#include "thalweg/keras/utils.h"
#include "thalweg/ops/random.h"
#include "thalweg/ops/random_stateless.h"

namespace thalweg::keras {
namespace {

// The generator of Python's `random.Random(seed)`: a Mersenne twister whose state comes from the words of the seed.
struct PythonSeed {
  using result_type = uint32_t;
  uint64_t seed;

  template <class Iterator> void generate(Iterator begin, Iterator end) const {
    const auto words = static_cast<size_t>(end - begin);
    auto at = [&](size_t i) -> auto& { return begin[static_cast<std::ptrdiff_t>(i)]; };
    auto mixed = [&](size_t i) {
      const auto before = static_cast<uint32_t>(at(i - 1));
      return before ^ (before >> 30);
    };
    at(0) = 19650218;
    for (size_t i = 1; i < words; ++i) at(i) = 1812433253U * mixed(i) + static_cast<uint32_t>(i);
    const std::array<uint32_t, 2> key = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
    const size_t length = key[1] == 0 ? 1 : 2;
    size_t i = 1;
    auto advance = [&] {
      if (++i < words) return;
      at(0) = at(words - 1);
      i = 1;
    };
    for (size_t k = 0, j = 0; k < words; ++k, j = (j + 1) % length) {
      at(i) = (static_cast<uint32_t>(at(i)) ^ (mixed(i) * 1664525U)) + key[j] + static_cast<uint32_t>(j);
      advance();
    }
    for (size_t k = 1; k < words; ++k) {
      at(i) = (static_cast<uint32_t>(at(i)) ^ (mixed(i) * 1566083941U)) - static_cast<uint32_t>(i);
      advance();
    }
    at(0) = 0x80000000U;
  }
};

struct Generator {
  std::mutex mutex;
  std::optional<std::mt19937> engine;  // none before set_random_seed
};
Generator& generator() {
  static auto* one = new Generator;  // never destroyed: objects of static storage may ask to the end
  return *one;
}

thread_local std::optional<int64_t> part;

constexpr uint32_t largest_seed = 1'000'000'000;

}  // namespace

void utils::set_random_seed(int64_t seed) {
  if (seed < 0) throw ValueError("set_random_seed: the seed must not be negative, got " + std::to_string(seed));
  Generator& one = generator();
  {
    std::lock_guard lock(one.mutex);
    PythonSeed words{static_cast<uint64_t>(seed)};
    one.engine.emplace(words);
  }
  random::set_seed(seed);
}

int64_t next_seed() {
  Generator& one = generator();
  {
    std::lock_guard lock(one.mutex);
    if (one.engine) {
      // Python's randint: 30 bits, again until they are small enough.
      uint32_t drawn = 0;
      do drawn = static_cast<uint32_t>((*one.engine)()) >> 2;
      while (drawn >= largest_seed);
      return 1 + int64_t{drawn};
    }
  }
  InitScope outside;
  return random::uniform(Shape(), {.minval = 1, .maxval = int64_t{largest_seed}, .dtype = DType::int64})
      .item<int64_t>();
}

Tensor KeptSeed::pair(const std::optional<int64_t>& given) {
  if (!given && !chosen_) chosen_ = next_seed();
  const Tensor seed(std::vector<int64_t>{given ? *given : *chosen_, 0});
  if (part) return *part == 0 ? seed : random::experimental::stateless_fold_in(seed, Tensor(*part));
  if (std::exchange(is_used_, true) && !given)
    warn(
        "The initializer is unseeded and called more than once: each call gives the same values. Give it a seed if "
        "that is "
        "meant, or use another one.");
  return seed;
}

SeedOfPart::SeedOfPart(int64_t number) : outer_(std::exchange(part, number)) {}
SeedOfPart::~SeedOfPart() { part = outer_; }

}  // namespace thalweg::keras
