#include "thalweg/data/rows.h"

#include "thalweg/core/convert.h"

namespace thalweg::data {
namespace {

/// Elements from `first` on with another shape, in the memory of the tensor.
Tensor part(const Tensor& t, int64_t first, const Shape& shape) {
  void* data = static_cast<char*>(t.impl()->data) + static_cast<size_t>(first) * size_of(t.dtype());
  auto* kept = new Tensor(t);
  return Tensor::view(t.dtype(), shape, data, [](void* held) { delete static_cast<Tensor*>(held); }, kept);
}

}  // namespace

Tensor row(const Tensor& t, int64_t i) {
  Shape shape;
  for (int axis = 1; axis < t.rank(); ++axis) shape.push_back(t.shape()[axis]);
  return part(t, i * t.shape().count(1, t.rank()), shape);
}

Tensor slice_rows(const Tensor& t, int64_t first, int64_t last) {
  if (first == 0 && last == t.shape()[0]) return t;
  Shape shape = t.shape();
  shape[0] = last - first;
  return part(t, first * t.shape().count(1, t.rank()), shape);
}

Tensor take_rows(const Tensor& t, std::span<const int64_t> rows) {
  Shape shape = t.shape();
  shape[0] = static_cast<int64_t>(rows.size());
  Tensor made = Tensor::empty(t.dtype(), shape);
  const int64_t each = t.shape().count(1, t.rank());
  const size_t bytes = static_cast<size_t>(each) * size_of(t.dtype());
  const auto* from = static_cast<const char*>(t.impl()->data);
  auto* to = made.mutable_data<char>();
  for (size_t i = 0; i < rows.size(); ++i)
    copy_elements(t.dtype(), from + static_cast<size_t>(rows[i]) * bytes, to + i * bytes, each);
  return made;
}

Tensor stack_rows(std::span<const Tensor> rows) {
  const Tensor& first = rows[0];
  Shape shape = {static_cast<int64_t>(rows.size())};
  for (int axis = 0; axis < first.rank(); ++axis) shape.push_back(first.shape()[axis]);
  Tensor made = Tensor::empty(first.dtype(), shape);
  const size_t bytes = static_cast<size_t>(first.size()) * size_of(first.dtype());
  auto* to = made.mutable_data<char>();
  for (size_t i = 0; i < rows.size(); ++i)
    copy_elements(first.dtype(), rows[i].impl()->data, to + i * bytes, first.size());
  return made;
}

}  // namespace thalweg::data
