#include <algorithm>

#include "thalweg/core/error.h"
#include "thalweg/data/stage.h"

namespace thalweg::data::stages {
namespace {

class RangeDataset : public Stage {
 public:
  RangeDataset(int64_t start, int64_t stop, int64_t step)
      : Stage(detail::stand_in(int64, {})), start_(start), step_(step), count_(count_of(start, stop, step)) {}
  std::unique_ptr<Iterator> iterate() const override { return std::make_unique<Numbers>(start_, step_, count_); }
  int64_t cardinality() const override { return static_cast<int64_t>(std::min<uint64_t>(count_, INT64_MAX)); }
  const char* name() const override { return "RangeDataset"; }

 private:
  // Distances of int64 numbers need all bits of uint64.
  static uint64_t count_of(int64_t start, int64_t stop, int64_t step) {
    if (step == 0) throw InvalidArgumentError("range: step must be a non-zero integer.");
    if (step > 0 ? start >= stop : start <= stop) return 0;
    const uint64_t from = static_cast<uint64_t>(start), to = static_cast<uint64_t>(stop);
    const uint64_t distance = step > 0 ? to - from : from - to;
    const uint64_t stride = step > 0 ? static_cast<uint64_t>(step) : uint64_t{0} - static_cast<uint64_t>(step);
    return (distance - 1) / stride + 1;
  }

  struct Numbers : Iterator {
    Numbers(int64_t first, int64_t by, uint64_t count)
        : value(static_cast<uint64_t>(first)), step(static_cast<uint64_t>(by)), left(count) {}
    bool next(std::vector<Tensor>& element) override {
      if (left == 0) return false;
      Tensor t = Tensor::empty(int64, {});
      *t.mutable_data<int64_t>() = static_cast<int64_t>(value);
      element.assign(1, t);
      value += step;
      --left;
      return true;
    }
    uint64_t value, step, left;
  };

  int64_t start_, step_;
  uint64_t count_;
};

}  // namespace

StagePtr range(int64_t start, int64_t stop, int64_t step) { return std::make_shared<RangeDataset>(start, stop, step); }

}  // namespace thalweg::data::stages
