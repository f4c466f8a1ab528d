// What stands between the brackets: numbers, slices, newaxis, ellipsis, masks.
#pragma once
#include <optional>

#include "thalweg/core/tensor.h"

namespace thalweg {

/// start:stop:step, each end left out where it is not given: `Slice{.step = -1}` reverses.
struct Slice {
  std::optional<int64_t> start = {};
  std::optional<int64_t> stop = {};
  int64_t step = 1;
};
/// `slice(0, -1)` is Python's 0:-1.
constexpr Slice slice(int64_t start, int64_t stop, int64_t step = 1) { return {start, stop, step}; }
/// `slice_from(2)` is Python's 2:.
constexpr Slice slice_from(int64_t start, int64_t step = 1) { return {start, {}, step}; }

struct NewAxis {};
struct Ellipsis {};
/// A whole axis, Python's `:`.
inline constexpr Slice all = {};
/// A new axis of length one.
inline constexpr NewAxis newaxis = {};
/// As many whole axes as are needed, Python's `...`.
inline constexpr Ellipsis ellipsis = {};

/// One entry of an index.
class THALWEG_API Index {
 public:
  enum class Kind : uint8_t { number, slice, new_axis, dots, tensor };
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Index(T i) : kind_(Kind::number), number_(static_cast<int64_t>(i)) {}  // NOLINT
  Index(const Slice& s) : kind_(Kind::slice), slice_(s) {}               // NOLINT
  Index(NewAxis) : kind_(Kind::new_axis) {}                              // NOLINT
  Index(Ellipsis) : kind_(Kind::dots) {}                                 // NOLINT
  /// An integer scalar, or a boolean mask.
  Index(const Tensor& t) : kind_(Kind::tensor), tensor_(t) {}  // NOLINT

  Kind kind() const { return kind_; }
  int64_t as_number() const { return number_; }
  const Slice& as_slice() const { return slice_; }
  const Tensor& as_tensor() const { return tensor_; }

 private:
  Kind kind_;
  int64_t number_ = 0;
  Slice slice_ = {};
  Tensor tensor_ = {};
};

template <class... I>
  requires(std::convertible_to<I, Index> && ...)
Tensor Tensor::operator()(const I&... indices) const {
  const Index list[] = {Index(indices)...};
  return index(list);
}

/// Walks along the first axis.
class TensorIterator {
 public:
  using value_type = Tensor;
  using difference_type = std::ptrdiff_t;
  TensorIterator() = default;
  TensorIterator(const Tensor& t, int64_t i) : tensor_(t), i_(i) {}
  Tensor operator*() const { return tensor_[i_]; }
  TensorIterator& operator++() {
    ++i_;
    return *this;
  }
  TensorIterator operator++(int) {
    TensorIterator before = *this;
    ++i_;
    return before;
  }
  bool operator==(const TensorIterator& other) const { return i_ == other.i_; }

 private:
  Tensor tensor_ = {};
  int64_t i_ = 0;
};

}  // namespace thalweg
