// Elements in another order, the one that TensorFlow draws from the same seeds.
#include <mutex>

#include "thalweg/core/error.h"
#include "thalweg/core/seed.h"
#include "thalweg/data/stage.h"
#include "thalweg/kernels/philox.h"

namespace thalweg::data::stages {
namespace {

using kernels::PhiloxWords;

class ShuffleDataset : public Transformation {
 public:
  ShuffleDataset(const StagePtr& from, int64_t buffer_size, const ShuffleOptions& options)
      : Transformation(from),
        buffer_size_(static_cast<size_t>(buffer_size)),
        reshuffle_(options.reshuffle_each_iteration),
        seeds_(seeds_for(options.seed)),
        next_seeds_(PhiloxState::from_seeds(seeds_.first, seeds_.second)) {}
  std::unique_ptr<Iterator> iterate() const override {
    std::pair<int64_t, int64_t> seeds = seeds_;
    if (reshuffle_) {
      std::lock_guard lock(mutex_);
      seeds.first = next_seeds_();
      seeds.second = next_seeds_();
    }
    return std::make_unique<Drawn>(input().iterate(), buffer_size_, PhiloxState::from_seeds(seeds.first, seeds.second));
  }
  int64_t cardinality() const override { return input().cardinality(); }
  const char* name() const override { return "ShuffleDataset"; }

 private:
  static std::pair<int64_t, int64_t> seeds_for(std::optional<int64_t> seed) {
    std::pair<int64_t, int64_t> seeds = seed_state().next_op_seed(seed);
    if (seeds.first == 0 && seeds.second == 0)
      seeds = {static_cast<int64_t>(unpredictable_bits()), static_cast<int64_t>(unpredictable_bits())};
    return seeds;
  }

  struct Drawn : Iterator {
    Drawn(std::unique_ptr<Iterator> source, size_t size, const PhiloxState& start)
        : input(std::move(source)), buffer_size(size), random(start) {}
    bool next(std::vector<Tensor>& element) override {
      while (more && held() < buffer_size) {
        more = input->next(element);
        if (more) put(std::move(element));
        element.clear();
      }
      if (held() == 0) return false;
      // The drawn one changes places with the oldest, whose place is free then.
      const size_t drawn = (first + random() % held()) % buffer.size();
      std::swap(buffer[drawn], buffer[first % buffer.size()]);
      element = std::move(buffer[first % buffer.size()]);
      ++first;
      return true;
    }
    size_t held() const { return end - first; }
    // A ring that grows until it is as large as the buffer may be: a buffer size beyond the data costs nothing.
    void put(std::vector<Tensor>&& element) {
      if (buffer.size() < buffer_size) buffer.push_back(std::move(element));
      else buffer[end % buffer_size] = std::move(element);
      ++end;
    }

    std::unique_ptr<Iterator> input;
    size_t buffer_size;
    PhiloxWords random;
    std::vector<std::vector<Tensor>> buffer;
    size_t first = 0, end = 0;  // of the elements that are held, counted from the beginning
    bool more = true;
  };

  size_t buffer_size_;
  bool reshuffle_;
  std::pair<int64_t, int64_t> seeds_;
  mutable std::mutex mutex_;
  mutable PhiloxWords next_seeds_;
};

}  // namespace

StagePtr shuffle(const StagePtr& input, int64_t buffer_size, const ShuffleOptions& options) {
  if (buffer_size < 1)
    throw InvalidArgumentError("shuffle: buffer_size must be greater than zero, got " + std::to_string(buffer_size));
  return std::make_shared<ShuffleDataset>(input, buffer_size, options);
}

}  // namespace thalweg::data::stages
