// What scatters into tensors and into variables share: how updates combine with what is at their places.
#pragma once
#include <algorithm>

#include "thalweg/kernels/scalar_arithmetic.h"
#include "thalweg/ops/elements.h"
#include "thalweg/ops/indices.h"

namespace thalweg::scatter {

/// Integers wrap around; true and true is true; strings are joined.
struct Plus {
  template <class T> auto operator()(const T& a, const T& b) const {
    if constexpr (std::is_same_v<T, bool>) return a || b;
    else if constexpr (std::is_integral_v<T>) return kernels::scalar::add(a, b);
    else return a + b;
  }
};
/// Of truth values: whether they differ.
struct Minus {
  template <class T> auto operator()(const T& a, const T& b) const {
    if constexpr (std::is_same_v<T, bool>) return a != b;
    else if constexpr (std::is_integral_v<T>) return kernels::scalar::subtract(a, b);
    else return a - b;
  }
};
struct Smaller {
  template <class T> T operator()(const T& a, const T& b) const { return b < a ? b : a; }
};
struct Larger {
  template <class T> T operator()(const T& a, const T& b) const { return a < b ? b : a; }
};

/// Combines updates with what is at their places.
template <class T, class F> void combine_rows(const UpdateRange& range, void* y, const void* x) {
  using W = kernel::Wide<T>;
  range.for_each([&](int64_t place, int64_t i) {
    T* to = static_cast<T*>(y) + place * range.row;
    const T* from = static_cast<const T*>(x) + i * range.row;
    for (int64_t k = 0; k < range.row; ++k) to[k] = static_cast<T>(F{}(static_cast<W>(to[k]), static_cast<W>(from[k])));
  });
}
/// The loop for a dtype in S; only it is compiled per dtype.
template <TypeSet S, class F> UpdateLoop combining_loop(DType dtype) {
  UpdateLoop loop = nullptr;
  kernel::visit_type<S>(dtype, [&]<class T>(T*) { loop = combine_rows<T, F>; });
  return loop;
}
/// Puts updates in the place of what is there; of several for one place the last counts.
inline UpdateLoop replacing_loop(DType dtype) {
  return kernel::visit_size(dtype, []<class T>(T*) -> UpdateLoop {
    return [](const UpdateRange& range, void* y, const void* x) {
      range.for_each([&](int64_t place, int64_t i) {
        std::copy_n(static_cast<const T*>(x) + i * range.row, range.row, static_cast<T*>(y) + place * range.row);
      });
    };
  });
}

/// Fails unless the updates have the shape indices[:-1] + target[depth:], where the indices are lists of coordinates
/// of length depth.
template <class Call>
void check_updates(const Call& c, const Shape& indices, const Shape& updates, const Shape& target) {
  if (!indices.has_rank() || indices[-1] < 0 || !target.has_rank()) return;
  if (indices[-1] > target.rank())
    c.fail("the last dimension of indices is " + std::to_string(indices[-1]) + ", but the output has only " +
           std::to_string(target.rank()) + " dimensions");
  Shape outer(indices.dims().first(static_cast<size_t>(indices.rank() - 1)));
  Shape expected = outer.concatenate(Shape(target.dims().subspan(static_cast<size_t>(indices[-1]))));
  if (!updates.is_compatible_with(expected))
    c.fail("updates must have shape " + expected.brackets() + " (indices[:-1] + shape[" + std::to_string(indices[-1]) +
           ":]), got " + updates.brackets());
}

}  // namespace thalweg::scatter
