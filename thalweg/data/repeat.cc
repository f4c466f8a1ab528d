#include "thalweg/data/stage.h"

namespace thalweg::data::stages {
namespace {

class RepeatDataset : public Transformation {
 public:
  RepeatDataset(const StagePtr& from, int64_t count) : Transformation(from), count_(count) {}
  std::unique_ptr<Iterator> iterate() const override { return std::make_unique<Passes>(input(), count_); }
  int64_t cardinality() const override {
    const int64_t once = input().cardinality();
    if (count_ == 0 || once == 0) return 0;
    if (count_ < 0) return INFINITE_CARDINALITY;
    int64_t all = 0;
    if (once < 0) return once;
    return __builtin_mul_overflow(once, count_, &all) ? INFINITE_CARDINALITY : all;
  }
  const char* name() const override { return "RepeatDataset"; }

 private:
  struct Passes : Iterator {
    Passes(const Stage& source, int64_t count) : input(source), left(count) {}
    bool next(std::vector<Tensor>& element) override {
      while (left != 0) {
        const bool fresh = !pass;
        if (fresh) pass = input.iterate();
        if (pass->next(element)) return true;
        pass.reset();
        if (left > 0) --left;
        else if (fresh) left = 0;  // an empty dataset, again and again, would never end
      }
      return false;
    }
    const Stage& input;
    int64_t left;  // passes; negative: without end
    std::unique_ptr<Iterator> pass;
  };

  int64_t count_;
};

}  // namespace

StagePtr repeat(const StagePtr& input, int64_t count) { return std::make_shared<RepeatDataset>(input, count); }

}  // namespace thalweg::data::stages
