#include "thalweg/core/error.h"
#include "thalweg/data/rows.h"
#include "thalweg/data/stage.h"

namespace thalweg::data::stages {
namespace {

Nest batched(const Stage& input, int64_t size) {
  return input.structure().map([&](const Tensor& t) {
    if (!t.shape().has_rank()) return detail::stand_in(t.dtype(), Shape::unknown_rank());
    Shape shape = {size};
    for (int axis = 0; axis < t.rank(); ++axis) shape.push_back(t.shape()[axis]);
    return detail::stand_in(t.dtype(), shape);
  });
}

class BatchDataset : public Transformation {
 public:
  BatchDataset(const StagePtr& from, int64_t size, bool drop_remainder)
      : Transformation(from, batched(*from, drop_remainder ? size : -1)), size_(size), drop_(drop_remainder) {}
  std::unique_ptr<Iterator> iterate() const override {
    return std::make_unique<Groups>(input().iterate(), size_, drop_);
  }
  int64_t cardinality() const override {
    const int64_t all = input().cardinality();
    if (all < 0) return all;
    return all / size_ + (!drop_ && all % size_ != 0);
  }
  const char* name() const override { return "BatchDataset"; }

 private:
  struct Groups : Iterator {
    Groups(std::unique_ptr<Iterator> source, int64_t count, bool whole_only)
        : input(std::move(source)), size(count), drop(whole_only) {}
    bool next(std::vector<Tensor>& element) override {
      columns.clear();
      int64_t count = 0;
      for (; count < size && input->next(element); ++count) {
        columns.resize(element.size());
        for (size_t i = 0; i < element.size(); ++i) {
          if (count && !(element[i].shape() == columns[i][0].shape()))
            throw InvalidArgumentError("batch: Cannot batch tensors with different shapes in component " +
                                       std::to_string(i) + ". First element had shape " + columns[i][0].shape().str() +
                                       " and element " + std::to_string(count) + " had shape " +
                                       element[i].shape().str() + ".");
          columns[i].push_back(std::move(element[i]));
        }
      }
      if (count == 0 || (drop && count < size)) return false;
      element.clear();
      for (const std::vector<Tensor>& column : columns) element.push_back(stack_rows(column));
      return true;
    }
    std::unique_ptr<Iterator> input;
    int64_t size;
    bool drop;
    std::vector<std::vector<Tensor>> columns;  // by component
  };

  int64_t size_;
  bool drop_;
};

}  // namespace

StagePtr batch(const StagePtr& input, int64_t batch_size, const BatchOptions& options) {
  if (batch_size < 1)
    throw InvalidArgumentError("batch: Batch size must be greater than zero, got " + std::to_string(batch_size));
  return std::make_shared<BatchDataset>(input, batch_size, options.drop_remainder);
}

}  // namespace thalweg::data::stages
