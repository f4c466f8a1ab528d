#include "thalweg/kernels/strided_copy.h"

#include <algorithm>
#include <string>
#include <type_traits>

#include "thalweg/core/resource.h"
#include "thalweg/core/threads.h"
#include "thalweg/kernels/transpose_tile.h"

namespace thalweg::kernels {
namespace {

struct Bytes16 {
  uint64_t low, high;
};

// Plain elements are told apart by their size alone.
template <class F> void with_element(DType dtype, F f) {
  if (dtype == DType::string) return f(static_cast<std::string*>(nullptr));
  if (is_object(dtype)) return f(static_cast<ResourceHandle*>(nullptr));
  switch (size_of(dtype)) {
    case 1:
      return f(static_cast<uint8_t*>(nullptr));
    case 2:
      return f(static_cast<uint16_t*>(nullptr));
    case 4:
      return f(static_cast<uint32_t*>(nullptr));
    case 8:
      return f(static_cast<uint64_t*>(nullptr));
    default:
      return f(static_cast<Bytes16*>(nullptr));
  }
}

// How the innermost axis is read; the output is written straight through except in `strided`.
enum class Row { dense, repeated, gathered, strided };

template <Row kind, class T>
[[gnu::always_inline]] inline void copy_row(const T* in, T* out, int64_t n, int64_t in_stride, int64_t out_stride) {
  if constexpr (kind == Row::dense) {
    // Only a long row of plain elements is worth the call that moves it whole.
    if (std::is_trivially_copyable_v<T> && n * static_cast<int64_t>(sizeof(T)) >= 64) std::copy_n(in, n, out);
    else
      for (int64_t i = 0; i < n; ++i) out[i] = in[i];
  } else if constexpr (kind == Row::repeated) {
    const T value = *in;
    for (int64_t i = 0; i < n; ++i) out[i] = value;
  } else if constexpr (kind == Row::gathered) {
    if (in_stride == 2)  // a number that the compiler knows makes vectors
      for (int64_t i = 0; i < n; ++i) out[i] = in[2 * i];
    else
      for (int64_t i = 0; i < n; ++i) out[i] = in[i * in_stride];
  } else {
    for (int64_t i = 0; i < n; ++i) out[i * out_stride] = in[i * in_stride];
  }
}

/// A position among the outer axes of a copy, with the offset of both sides.
class Walk {
 public:
  /// All axes but `inner` and `other` (-1: none), at position `index` of their product.
  Walk(const StridedCopy& copy, int inner, int other, int64_t index) : copy_(copy) {
    for (int d = copy.rank() - 1; d >= 0; --d) {
      if (d == inner || d == other) continue;
      axis_[count_] = d;
      at_[count_] = index % copy.size(d);
      index /= copy.size(d);
      in += at_[count_] * copy.in_stride(d);
      out += at_[count_] * copy.out_stride(d);
      ++count_;
    }
  }
  /// How far the innermost of these axes still goes.
  int64_t left() const { return count_ ? copy_.size(axis_[0]) - at_[0] : 1; }
  int64_t in_stride() const { return count_ ? copy_.in_stride(axis_[0]) : 0; }
  int64_t out_stride() const { return count_ ? copy_.out_stride(axis_[0]) : 0; }
  /// Moves on along the innermost axis, by no more than is left.
  void advance(int64_t steps) {
    for (int k = 0; k < count_; ++k) {
      int d = axis_[k];
      in += steps * copy_.in_stride(d);
      out += steps * copy_.out_stride(d);
      at_[k] += steps;
      if (at_[k] < copy_.size(d)) return;
      in -= copy_.size(d) * copy_.in_stride(d);
      out -= copy_.size(d) * copy_.out_stride(d);
      at_[k] = 0;
      steps = 1;
    }
  }
  int64_t in = 0, out = 0;

 private:
  const StridedCopy& copy_;
  int count_ = 0;
  int axis_[StridedCopy::max_axes];
  int64_t at_[StridedCopy::max_axes];
};

template <Row kind, class T> void copy_rows(const StridedCopy& copy, const T* in, T* out, int64_t begin, int64_t end) {
  int last = copy.rank() - 1;
  int64_t n = copy.size(last), in_stride = copy.in_stride(last), out_stride = copy.out_stride(last);
  Walk walk(copy, last, -1, begin);
  for (int64_t row = begin; row < end;) {
    int64_t rows = std::min(end - row, walk.left());
    const T* from = in + walk.in;
    T* to = out + walk.out;
    for (int64_t r = 0; r < rows; ++r, from += walk.in_stride(), to += walk.out_stride())
      copy_row<kind>(from, to, n, in_stride, out_stride);
    walk.advance(rows);
    row += rows;
  }
}

template <class T> double nanoseconds_per_element(Row kind) {
  if (!std::is_trivially_copyable_v<T>) return 10;
  return kind == Row::dense || kind == Row::repeated ? 0.1 * sizeof(T) : 1.0;
}

template <Row kind, class T> void run_rows(const StridedCopy& copy, const T* in, T* out) {
  int last = copy.rank() - 1;
  int64_t n = copy.size(last), rows = 1;
  for (int d = 0; d < last; ++d) rows *= copy.size(d);
  double each = nanoseconds_per_element<T>(kind);
  if (rows > 1 && static_cast<double>(n) * each < 4 * serial_nanoseconds)
    return parallel_for(rows, each * static_cast<double>(n) + 2,
                        [&](int64_t begin, int64_t end) { copy_rows<kind>(copy, in, out, begin, end); });
  // A few long rows are cut themselves.
  Walk walk(copy, last, -1, 0);
  for (int64_t row = 0; row < rows; ++row, walk.advance(1))
    parallel_for(n, each, [&](int64_t begin, int64_t end) {
      copy_row<kind>(in + walk.in + begin * copy.in_stride(last), out + walk.out + begin * copy.out_stride(last),
                     end - begin, copy.in_stride(last), copy.out_stride(last));
    });
}

// Planes whose rows are the columns of the input: moved tile by tile, so that both sides use whole cache lines.
// `across` is the axis along which the input is dense; the output is dense along the last.
template <class T> void run_transposed(const StridedCopy& copy, int across, const T* in, T* out) {
  constexpr int64_t tile = transpose_tile_size<T>;
  int last = copy.rank() - 1;
  int64_t columns = copy.size(across), rows = copy.size(last), planes = 1;
  for (int d = 0; d < last; ++d)
    if (d != across) planes *= copy.size(d);
  int64_t strips = (columns + tile - 1) / tile;
  int64_t in_stride = copy.in_stride(last), out_stride = copy.out_stride(across);
  double each = 0.1 * sizeof(T) + 0.3;
  parallel_for(planes * strips, each * static_cast<double>(rows * std::min(tile, columns)),
               [&](int64_t begin, int64_t end) {
                 Walk walk(copy, last, across, begin / strips);
                 int64_t strip = begin % strips;
                 for (int64_t unit = begin; unit < end; ++unit) {
                   int64_t column = strip * tile, width = std::min(tile, columns - column);
                   transpose_strip(in + walk.in + column, in_stride, out + walk.out + column * out_stride, out_stride,
                                   rows, width);
                   if (++strip == strips) {
                     strip = 0;
                     walk.advance(1);
                   }
                 }
               });
}

template <class T> void run_typed(const StridedCopy& copy, const T* in, T* out) {
  if (copy.rank() == 0) {
    *out = *in;
    return;
  }
  int last = copy.rank() - 1;
  int64_t in_stride = copy.in_stride(last);
  if (copy.out_stride(last) != 1) return run_rows<Row::strided>(copy, in, out);
  if (in_stride == 1) return run_rows<Row::dense>(copy, in, out);
  if (in_stride == 0) return run_rows<Row::repeated>(copy, in, out);
  if constexpr (std::is_trivially_copyable_v<T>) {
    if (copy.size(last) >= 4)
      for (int d = 0; d < last; ++d)
        if (copy.in_stride(d) == 1 && copy.size(d) >= 4) return run_transposed(copy, d, in, out);
  }
  run_rows<Row::gathered>(copy, in, out);
}

}  // namespace

void StridedCopy::axis(int64_t size, int64_t in_stride, int64_t out_stride) {
  if (size == 1) return;
  empty_ |= size <= 0;
  if (rank_ && in_stride_[rank_ - 1] == size * in_stride && out_stride_[rank_ - 1] == size * out_stride) {
    size_[rank_ - 1] *= size;
  } else {
    size_[rank_++] = size;
  }
  in_stride_[rank_ - 1] = in_stride;
  out_stride_[rank_ - 1] = out_stride;
}

void StridedCopy::axes(const Shape& shape, const int64_t* in_strides, const int64_t* out_strides) {
  for (int d = 0; d < shape.rank(); ++d) axis(shape[d], in_strides[d], out_strides[d]);
}

void StridedCopy::run(DType dtype, const void* in, void* out) const {
  if (empty_) return;
  with_element(dtype, [&](auto* example) {
    using T = std::remove_pointer_t<decltype(example)>;
    run_typed(*this, static_cast<const T*>(in), static_cast<T*>(out));
  });
}

void dense_strides(const Shape& shape, int64_t* strides) {
  int64_t stride = 1;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    strides[d] = stride;
    stride *= shape[d];
  }
}

void fill_elements(DType dtype, const void* value, void* out, int64_t count) {
  StridedCopy copy;
  copy.axis(count, 0, 1);
  copy.run(dtype, value, out);
}

void clear_elements(DType dtype, void* out, int64_t count) {
  with_element(dtype, [&](auto* example) {
    using T = std::remove_pointer_t<decltype(example)>;
    const T nothing{};
    fill_elements(dtype, &nothing, out, count);
  });
}

}  // namespace thalweg::kernels
