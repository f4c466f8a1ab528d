#include "thalweg/core/seed.h"

#include <sys/random.h>

#include <algorithm>
#include <stdexcept>

#include "thalweg/core/thread_state.h"

namespace thalweg {
namespace {

constexpr int64_t default_global_seed = 87654321;
constexpr int64_t seed_modulus = 2147483647;

thread_local GraphSeeds* graph_seeds = nullptr;
thread_local RandomStream* running_stream = nullptr;

// Python's %, whose result has the sign of the divisor.
int64_t truncate_seed(int64_t seed) {
  int64_t rest = seed % seed_modulus;
  return rest < 0 ? rest + seed_modulus : rest;
}

uint64_t mix(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
  hash *= 0xff51afd7ed558ccdu;
  return hash ^ hash >> 33;
}

PhiloxState first_state(int64_t seed, int64_t seed2) {
  if (seed == 0 && seed2 == 0) return {unpredictable_bits(), {0, unpredictable_bits()}};
  return PhiloxState::from_seeds(seed, seed2);
}

}  // namespace

PythonRandom::PythonRandom(int64_t seed) {
  uint64_t magnitude = seed < 0 ? ~static_cast<uint64_t>(seed) + 1 : static_cast<uint64_t>(seed);
  uint32_t key[2] = {static_cast<uint32_t>(magnitude), static_cast<uint32_t>(magnitude >> 32)};
  int num_keys = key[1] != 0 ? 2 : 1;

  // The reference seeding of MT19937 by an array: a linear fill, then two mixing passes.
  words_[0] = 19650218u;
  for (uint32_t i = 1; i < num_words; ++i) words_[i] = 1812433253u * (words_[i - 1] ^ words_[i - 1] >> 30) + i;
  int i = 1, j = 0;
  auto advance = [&] {
    if (++i < num_words) return;
    words_[0] = words_[num_words - 1];
    i = 1;
  };
  for (int step = 0; step < num_words; ++step) {
    uint32_t previous = words_[i - 1] ^ words_[i - 1] >> 30;
    words_[i] = (words_[i] ^ previous * 1664525u) + key[j] + static_cast<uint32_t>(j);
    advance();
    j = j + 1 < num_keys ? j + 1 : 0;
  }
  for (int step = 1; step < num_words; ++step) {
    uint32_t previous = words_[i - 1] ^ words_[i - 1] >> 30;
    words_[i] = (words_[i] ^ previous * 1566083941u) - static_cast<uint32_t>(i);
    advance();
  }
  words_[0] = 0x80000000u;
}

uint32_t PythonRandom::next_word() {
  if (index_ == num_words) {
    for (int i = 0; i < num_words; ++i) {
      uint32_t joined = (words_[i] & 0x80000000u) | (words_[(i + 1) % num_words] & 0x7fffffffu);
      words_[i] = words_[(i + 397) % num_words] ^ joined >> 1 ^ ((joined & 1u) != 0 ? 0x9908b0dfu : 0u);
    }
    index_ = 0;
  }
  uint32_t word = words_[index_++];
  word ^= word >> 11;
  word ^= word << 7 & 0x9d2c5680u;
  word ^= word << 15 & 0xefc60000u;
  return word ^ word >> 18;
}

int64_t PythonRandom::next_seed() {
  uint32_t word = next_word();
  while (word >= 0x80000000u) word = next_word();
  return word;
}

std::pair<int64_t, int64_t> combine_seeds(std::optional<int64_t> global_seed, std::optional<int64_t> op_seed) {
  if (!global_seed && !op_seed) return {0, 0};
  int64_t seed = global_seed ? truncate_seed(*global_seed) : default_global_seed;
  int64_t seed2 = truncate_seed(op_seed.value_or(0));
  // Both zero would ask for an unpredictable stream.
  if (seed == 0 && seed2 == 0) seed2 = seed_modulus;
  return {seed, seed2};
}

GraphSeedsScope::GraphSeedsScope(GraphSeeds& seeds) : before_(std::exchange(graph_seeds, &seeds)) {}
GraphSeedsScope::~GraphSeedsScope() { graph_seeds = before_; }

PhiloxState RandomStream::reserve(int64_t seed, int64_t seed2, uint64_t blocks) {
  const uint64_t generation = seed_state().generation();
  std::lock_guard lock(mutex_);
  if (generation_ != generation) state_ = first_state(seed, seed2);
  generation_ = generation;
  PhiloxState reserved = state_;
  state_.skip(blocks);
  return reserved;
}

RandomStreamScope::RandomStreamScope(RandomStream& stream) { running_stream = &stream; }
RandomStreamScope::~RandomStreamScope() { running_stream = nullptr; }

void SeedState::set_global_seed(std::optional<int64_t> seed) {
  std::lock_guard lock(mutex_);
  global_seed_ = seed;
  if (seed) op_seeds_ = PythonRandom(*seed);
  streams_.clear();
  generation_.fetch_add(1, std::memory_order_release);
}

std::optional<int64_t> SeedState::global_seed() const {
  std::lock_guard lock(mutex_);
  return global_seed_;
}

std::pair<int64_t, int64_t> SeedState::next_op_seed(std::optional<int64_t> op_seed) {
  if (thread_state.tracer && graph_seeds) {
    if (graph_seeds->global_seed && !op_seed) op_seed = graph_seeds->num_unseeded++;
    return combine_seeds(graph_seeds->global_seed, op_seed);
  }
  std::lock_guard lock(mutex_);
  if (global_seed_ && !op_seed) op_seed = op_seeds_.next_seed();
  return combine_seeds(global_seed_, op_seed);
}

PhiloxState SeedState::reserve(std::string_view op_name, uint64_t attrs_hash, int64_t seed, int64_t seed2,
                               uint64_t blocks) {
  if (running_stream) return running_stream->reserve(seed, seed2, blocks);
  uint64_t op = mix(std::hash<std::string_view>{}(op_name), attrs_hash);
  std::lock_guard lock(mutex_);
  auto [stream, added] = streams_.try_emplace({op, seed, seed2});
  PhiloxState& state = stream->second;
  if (added) state = first_state(seed, seed2);
  PhiloxState reserved = state;
  state.skip(blocks);
  return reserved;
}

size_t SeedState::StreamHash::operator()(const StreamKey& key) const {
  return static_cast<size_t>(mix(mix(key.op, static_cast<uint64_t>(key.seed)), static_cast<uint64_t>(key.seed2)));
}

// Never destroyed: threads may draw while the program ends.
SeedState& seed_state() {
  static SeedState& state = *new SeedState;
  return state;
}

void fill_unpredictable(void* out, size_t bytes) {
  auto* to = static_cast<char*>(out);
  while (bytes) {  // the system gives at most 256 bytes at a time
    size_t n = std::min<size_t>(bytes, 256);
    if (getentropy(to, n) != 0) throw std::runtime_error("the operating system has no source of randomness");
    to += n;
    bytes -= n;
  }
}

uint64_t unpredictable_bits() {
  uint64_t bits;
  fill_unpredictable(&bits, sizeof bits);
  return bits;
}

}  // namespace thalweg
