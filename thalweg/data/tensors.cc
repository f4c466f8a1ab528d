// Datasets of tensors that are there already.
#include "thalweg/core/error.h"
#include "thalweg/data/rows.h"
#include "thalweg/data/stage.h"

namespace thalweg::data::stages {
namespace {

Nest whole(const Nest& tensors) {
  return tensors.map([](const Tensor& t) { return detail::stand_in(t.dtype(), t.shape()); });
}
Nest rows_of(const Nest& tensors) {
  return tensors.map([](const Tensor& t) {
    if (t.rank() < 1) throw ValueError("Unbatching a tensor is only supported for rank >= 1");
    Shape shape;
    for (int axis = 1; axis < t.rank(); ++axis) shape.push_back(t.shape()[axis]);
    return detail::stand_in(t.dtype(), shape);
  });
}

class TensorDataset : public Stage {
 public:
  explicit TensorDataset(const Nest& tensors) : Stage(whole(tensors)), tensors_(tensors.flatten()) {}
  std::unique_ptr<Iterator> iterate() const override { return std::make_unique<Once>(tensors_); }
  int64_t cardinality() const override { return 1; }
  const char* name() const override { return "TensorDataset"; }

 private:
  struct Once : Iterator {
    explicit Once(std::vector<Tensor> all) : tensors(std::move(all)) {}
    bool next(std::vector<Tensor>& element) override {
      if (done) return false;
      element = tensors;
      return done = true;
    }
    std::vector<Tensor> tensors;
    bool done = false;
  };
  std::vector<Tensor> tensors_;
};

class TensorSliceDataset : public Stage {
 public:
  explicit TensorSliceDataset(const Nest& tensors) : Stage(rows_of(tensors)), tensors_(tensors.flatten()) {
    if (tensors_.empty()) throw ValueError("from_tensor_slices needs a tensor at least");
    rows_ = tensors_[0].shape()[0];
    for (const Tensor& t : tensors_)
      if (t.shape()[0] != rows_)
        throw ValueError("Dimensions " + std::to_string(rows_) + " and " + std::to_string(t.shape()[0]) +
                         " are not compatible");
  }
  std::unique_ptr<Iterator> iterate() const override { return std::make_unique<Rows>(tensors_, rows_); }
  int64_t cardinality() const override { return rows_; }
  const char* name() const override { return "TensorSliceDataset"; }

 private:
  struct Rows : Iterator {
    Rows(std::vector<Tensor> all, int64_t count) : tensors(std::move(all)), rows(count) {}
    bool next(std::vector<Tensor>& element) override {
      if (at == rows) return false;
      element.clear();
      for (const Tensor& t : tensors) element.push_back(row(t, at));
      ++at;
      return true;
    }
    std::vector<Tensor> tensors;
    int64_t rows, at = 0;
  };
  std::vector<Tensor> tensors_;
  int64_t rows_ = 0;
};

}  // namespace

StagePtr from_tensors(const Nest& tensors) { return std::make_shared<TensorDataset>(tensors); }
StagePtr from_tensor_slices(const Nest& tensors) { return std::make_shared<TensorSliceDataset>(tensors); }

}  // namespace thalweg::data::stages
