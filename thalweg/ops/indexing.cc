// The brackets of a tensor: numbers, slices, ellipsis, new axes and scalar tensors make one strided slice.
#include <algorithm>
#include <cstring>

#include "thalweg/core/error.h"
#include "thalweg/core/index.h"
#include "thalweg/core/thread_state.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/masking.h"
#include "thalweg/ops/slice_spec.h"

namespace thalweg {
namespace {

/// One of begin, end and strides: numbers, and scalars that are known only when a traced function runs.
class Numbers {
 public:
  explicit Numbers(size_t count) : values_(Tensor::empty(DType::int64, {static_cast<int64_t>(count)})), count_(count) {}
  void set(size_t i, int64_t value) { values_.mutable_data<int64_t>()[i] = value; }
  void set(size_t i, const Tensor& scalar) {
    set(i, scalar.is_symbolic() ? 0 : scalar.item<int64_t>());
    if (!scalar.is_symbolic()) return;
    later_.resize(count_);
    later_[i] = cast(scalar, DType::int64);
  }
  Tensor tensor() const {
    if (later_.empty()) return values_;
    std::vector<Tensor> all = later_;
    for (size_t i = 0; i < count_; ++i)
      if (!all[i].defined()) all[i] = Tensor(values_.data<int64_t>()[i]);
    return stack(all);
  }

 private:
  Tensor values_;
  size_t count_;
  std::vector<Tensor> later_;
};

[[noreturn]] void refuse(const Tensor& index) {
  throw TypeError(
      "only integers, slices (slice(a, b)), ellipsis, newaxis, scalar integer tensors and one boolean mask are valid "
      "indices, got a " +
      std::string(name_of(index.dtype())) + " tensor of shape " + index.shape().brackets());
}

/// The part that numbers name, where nobody follows what is computed: a copy of a few elements, or the same memory. The
/// op costs ten times as much as a few elements do. Undefined: the op has to look at it.
template <class Number> Tensor part_at(const Tensor& x, size_t count, const Number& number) {
  constexpr size_t most_copied = 4096;  // a view keeps all of the memory
  const TensorImpl* p = x.impl();
  const ThreadState& thread = thread_state;
  const bool is_plain = p->form == Form::array && p->weak == Weak::strong && !is_object(p->dtype);
  if (!is_plain || !thread.started || thread.tracer || thread.recorder || thread.device != p->device) return {};
  const int rank = p->shape.rank(), taken = static_cast<int>(count);
  if (taken > rank) return {};
  int64_t offset = 0;
  for (int axis = 0; axis < taken; ++axis) {
    const int64_t length = p->shape[axis], i = number(static_cast<size_t>(axis)), at = i < 0 ? i + length : i;
    if (at < 0 || at >= length) return {};
    offset = offset * length + at;
  }
  Tensor part(TensorImpl::make());
  TensorImpl* q = part.impl();
  q->dtype = p->dtype;
  q->device = p->device;
  for (int axis = taken; axis < rank; ++axis) q->shape.push_back(p->shape[axis]);
  const size_t bytes = part.nbytes();
  std::byte* from = static_cast<std::byte*>(p->data) + static_cast<size_t>(offset) * bytes;
  if (p->buffer && bytes > most_copied) {
    q->buffer = p->buffer;
    q->buffer->retain();
    q->data = from;
  } else {
    q->allocate();
    std::memcpy(q->data, from, bytes);
  }
  return part;
}

}  // namespace

IndexedPart part_of(std::span<const Index> indices) {
  if (indices.size() > Integers::capacity)
    throw InvalidArgumentError("an index of " + std::to_string(indices.size()) + " entries is too long");
  Numbers begin(indices.size()), end(indices.size()), strides(indices.size());
  StridedSliceAttrs masks;
  for (size_t i = 0; i < indices.size(); ++i) {
    const Index& index = indices[i];
    int64_t bit = int64_t{1} << i, step = 1;
    begin.set(i, 0);
    end.set(i, 0);  // a single index needs no end
    switch (index.kind()) {
      case Index::Kind::number:
        begin.set(i, index.as_number());
        masks.shrink_axis_mask |= bit;
        break;
      case Index::Kind::slice: {
        const Slice& s = index.as_slice();
        if (s.start) begin.set(i, *s.start);
        else masks.begin_mask |= bit;
        if (s.stop) end.set(i, *s.stop);
        else masks.end_mask |= bit;
        step = s.step;
        break;
      }
      case Index::Kind::new_axis:
        masks.new_axis_mask |= bit;
        break;
      case Index::Kind::dots:
        masks.ellipsis_mask |= bit;
        break;
      case Index::Kind::tensor: {
        const Tensor& scalar = index.as_tensor();
        if (!is_integer(scalar.dtype()) || scalar.rank() != 0) refuse(scalar);
        begin.set(i, scalar);
        masks.shrink_axis_mask |= bit;
        break;
      }
    }
    strides.set(i, step);
  }
  return {begin.tensor(), end.tensor(), strides.tensor(), masks};
}

Tensor Tensor::index(std::span<const Index> indices) const {
  if (indices.size() == 1 && indices[0].kind() == Index::Kind::tensor && indices[0].as_tensor().dtype() == DType::bool_)
    return boolean_mask(*this, indices[0].as_tensor());
  const bool are_numbers = std::ranges::all_of(indices, [](const Index& i) { return i.kind() == Index::Kind::number; });
  if (are_numbers && !indices.empty()) {
    if (Tensor found = part_at(*this, indices.size(), [&](size_t i) { return indices[i].as_number(); });
        found.defined())
      return found;
  }
  IndexedPart part = part_of(indices);
  return strided_slice_by(*this, part.begin, part.end, part.strides, part.masks);
}

Tensor Tensor::operator[](int64_t i) const {
  if (Tensor found = part_at(*this, 1, [i](size_t) { return i; }); found.defined()) return found;
  const Index only(i);
  return index({&only, 1});
}

TensorIterator Tensor::begin() const {
  if (rank() == 0) throw TypeError("a scalar tensor cannot be iterated over");
  return {*this, 0};
}

TensorIterator Tensor::end() const {
  if (rank() < 1 || shape()[0] < 0)
    throw TypeError("a tensor of shape " + shape().brackets() +
                    " cannot be iterated over: its first dimension is not known");
  return {*this, shape()[0]};
}

}  // namespace thalweg
