// Index inputs of any integer type, read as int64, and how errors name one of them.
#pragma once
#include <span>
#include <string>

#include "thalweg/ops/op.h"

namespace thalweg {

/// The indices of one input: seen in place when they are int64, else converted once.
class Indices {
 public:
  explicit Indices(const Tensor& tensor);
  Indices(const KernelCall& c, int input) : Indices(c.tensor(input)) {}
  Indices(const Indices&) = delete;
  Indices& operator=(const Indices&) = delete;

  int64_t size() const { return size_; }
  int64_t operator[](int64_t i) const { return data_[i]; }
  const int64_t* data() const { return data_; }

 private:
  Tensor converted_;  // a tensor's memory is cached, a vector's is not
  const int64_t* data_;
  int64_t size_;
};

/// Where element `flat` of a tensor stands, as errors name it: `[1,2]`; empty for a scalar.
std::string position_text(const Shape& shape, int64_t flat);

/// Fails with TensorFlow's sentence, `indices[1,2] = 7 is not in [0, 5)`, when one of the indices is out of range.
void check_indices(const KernelCall& c, int input, const Indices& indices, int64_t limit);

/// The rows that lists of coordinates point at: indices [..., depth] into the first `depth` dimensions of a shape.
struct RowOffsets {
  Tensor storage;
  std::span<const int64_t> at;  // counted in rows
  int64_t row = 1;              // elements of one row
};
/// Fails with the list that does not lie within the shape.
RowOffsets row_offsets(const KernelCall& c, int input, const Shape& shape);
/// The same for indices that are read as lists of another shape: a vector as lists of length one.
RowOffsets row_offsets(const KernelCall& c, int input, const Shape& lists, const Shape& shape);
/// The coordinates of the batch, put before those that are given: indices [batch, ..., depth] become lists of
/// batch_dims + depth coordinates. `shape` is that of the tensor they point into.
Tensor with_batch_coordinates(const Shape& shape, const Tensor& indices, int64_t batch_dims);

/// The updates of places [begin, end) among all updates, in order: rows of `row` elements.
struct UpdateRange {
  std::span<const int64_t> places;
  int64_t begin, end, row;
  /// Calls `update(place, i)`; places outside, negative ones too, are left out.
  template <class F> void for_each(const F& update) const {
    for (size_t i = 0; i < places.size(); ++i)
      if (begin <= places[i] && places[i] < end) update(places[i], static_cast<int64_t>(i));
  }
};
/// The loop of one dtype: updates the rows of `out` from those of `in`.
using UpdateLoop = void (*)(const UpdateRange& range, void* out, const void* in);
/// Runs the loop over all updates. Threads share the places, not the updates, so results have the same bits at any
/// number of threads; short rows stay on one, as reading the places again costs more than the update.
void run_updates(std::span<const int64_t> places, int64_t num_places, int64_t row, UpdateLoop loop, void* out,
                 const void* in);

}  // namespace thalweg
