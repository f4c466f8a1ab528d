// The first elements, and all but the first.
#include <algorithm>

#include "thalweg/data/stage.h"

namespace thalweg::data::stages {
namespace {

class TakeDataset : public Transformation {
 public:
  TakeDataset(const StagePtr& from, int64_t count) : Transformation(from), count_(count) {}
  std::unique_ptr<Iterator> iterate() const override { return std::make_unique<First>(input().iterate(), count_); }
  int64_t cardinality() const override {
    const int64_t all = input().cardinality();
    if (count_ < 0) return all;
    if (all == UNKNOWN_CARDINALITY) return count_ == 0 ? 0 : all;
    return all == INFINITE_CARDINALITY ? count_ : std::min(all, count_);
  }
  const char* name() const override { return "TakeDataset"; }

 private:
  struct First : Iterator {
    First(std::unique_ptr<Iterator> source, int64_t count) : input(std::move(source)), left(count) {}
    bool next(std::vector<Tensor>& element) override {
      if (left == 0 || !input->next(element)) return false;
      if (left > 0) --left;
      return true;
    }
    std::unique_ptr<Iterator> input;
    int64_t left;  // negative: all
  };
  int64_t count_;
};

class SkipDataset : public Transformation {
 public:
  SkipDataset(const StagePtr& from, int64_t count) : Transformation(from), count_(count) {}
  std::unique_ptr<Iterator> iterate() const override { return std::make_unique<Rest>(input().iterate(), count_); }
  int64_t cardinality() const override {
    const int64_t all = input().cardinality();
    if (count_ < 0) return 0;
    return all < 0 ? all : std::max<int64_t>(0, all - count_);
  }
  const char* name() const override { return "SkipDataset"; }

 private:
  struct Rest : Iterator {
    Rest(std::unique_ptr<Iterator> source, int64_t count) : input(std::move(source)), to_skip(count) {}
    bool next(std::vector<Tensor>& element) override {
      if (to_skip < 0) return false;
      for (; to_skip > 0; --to_skip)
        if (!input->next(element)) return false;
      return input->next(element);
    }
    std::unique_ptr<Iterator> input;
    int64_t to_skip;  // negative: all
  };
  int64_t count_;
};

}  // namespace

StagePtr take(const StagePtr& input, int64_t count) { return std::make_shared<TakeDataset>(input, count); }
StagePtr skip(const StagePtr& input, int64_t count) { return std::make_shared<SkipDataset>(input, count); }

}  // namespace thalweg::data::stages
