// The brackets of a tensor: numbers, slices, ellipsis, new axes and scalar tensors make one strided slice.
#include "thalweg/core/error.h"
#include "thalweg/core/index.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/masking.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/slicing.h"

namespace thalweg {
namespace {

/// One of begin and end: numbers, and scalars that are known only when a traced function runs.
class Numbers {
 public:
  void add(int64_t value) {
    values_.push_back(value);
    scalars_.emplace_back();
  }
  void add(const Tensor& scalar) {
    if (!scalar.is_symbolic()) return add(scalar.item<int64_t>());
    add(0);
    scalars_.back() = cast(scalar, DType::int64);
    symbolic_ = true;
  }
  Tensor tensor() const {
    if (!symbolic_) return Tensor(values_);
    std::vector<Tensor> all;
    for (size_t i = 0; i < values_.size(); ++i) all.push_back(scalars_[i].defined() ? scalars_[i] : Tensor(values_[i]));
    return stack(all);
  }

 private:
  std::vector<int64_t> values_;
  std::vector<Tensor> scalars_;
  bool symbolic_ = false;
};

[[noreturn]] void refuse(const Tensor& index) {
  throw TypeError("only integers, slices (slice(a, b)), ellipsis, newaxis, scalar integer tensors and one boolean mask are valid indices, got a " +
                  std::string(name_of(index.dtype())) + " tensor of shape " + index.shape().brackets());
}

}  // namespace

Tensor Tensor::index(std::span<const Index> indices) const {
  if (indices.size() == 1 && indices[0].kind() == Index::tensor && indices[0].as_tensor().dtype() == DType::bool_)
    return boolean_mask(*this, indices[0].as_tensor());
  Numbers begin, end;
  StridedSliceOptions options;
  for (size_t i = 0; i < indices.size(); ++i) {
    const Index& index = indices[i];
    int64_t bit = int64_t{1} << (i < 62 ? i : 62), step = 1;
    switch (index.kind()) {
      case Index::number:
        begin.add(index.as_number());
        end.add(index.as_number() + (index.as_number() < INT64_MAX));
        options.shrink_axis_mask |= bit;
        break;
      case Index::slice: {
        const Slice& s = index.as_slice();
        begin.add(s.start.value_or(0));
        end.add(s.stop.value_or(0));
        if (!s.start) options.begin_mask |= bit;
        if (!s.stop) options.end_mask |= bit;
        step = s.step;
        break;
      }
      case Index::newaxis:
      case Index::ellipsis:
        begin.add(0);
        end.add(0);
        (index.kind() == Index::newaxis ? options.new_axis_mask : options.ellipsis_mask) |= bit;
        break;
      case Index::tensor: {
        const Tensor& scalar = index.as_tensor();
        if (!is_integer(scalar.dtype()) || scalar.rank() != 0) refuse(scalar);
        begin.add(scalar);
        end.add(scalar.is_symbolic() ? scalar + 1 : scalar);  // a single index needs no end
        options.shrink_axis_mask |= bit;
        break;
      }
    }
    options.strides.push_back(step);
  }
  return strided_slice(*this, begin.tensor(), end.tensor(), options);
}

Tensor Tensor::operator[](int64_t i) const {
  const Index only(i);
  return index({&only, 1});
}

TensorIterator Tensor::begin() const {
  if (rank() == 0) throw TypeError("a scalar tensor cannot be iterated over");
  return {*this, 0};
}

TensorIterator Tensor::end() const {
  if (rank() < 1 || shape()[0] < 0)
    throw TypeError("a tensor of shape " + shape().brackets() + " cannot be iterated over: its first dimension is not known");
  return {*this, shape()[0]};
}

}  // namespace thalweg
