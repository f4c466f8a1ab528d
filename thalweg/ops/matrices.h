// What ops on batches of matrices [..., rows, columns] share.
#pragma once
#include <initializer_list>
#include <mutex>
#include <string>

#include "thalweg/core/complex.h"
#include "thalweg/core/convert.h"
#include "thalweg/kernels/lapack.h"
#include "thalweg/ops/elements.h"
#include "thalweg/ops/op.h"

namespace thalweg::matrices {

/// The types of decompositions: halves are computed as floats.
inline constexpr TypeSet all = types(DType::float16, DType::float32, DType::float64) | complex_types;
inline constexpr TypeSet computed = types(DType::float32, DType::float64) | complex_types;

/// What LAPACK's 32-bit integers leave room for, working memory included.
inline constexpr int64_t max_side = int64_t{1} << 25, max_spectral_side = 14'000;

/// Input i is one or more matrices whose sides LAPACK can count.
void require(const InferCall& c, int i);
/// The same, and square; the side, or -1 where it is unknown.
int64_t require_square(const InferCall& c, int i);
/// The same, and small enough for methods whose working memory is several times min(rows, columns) squared.
void require_spectral(const InferCall& c, int i);
/// The shape without its last `count` dimensions.
Shape leading(const Shape& shape, int count = 2);
/// Output i is a square matrix for each square matrix of input 0.
void infer_square(InferCall& c);
/// Output 0 is x in matrix x = rhs: matrix [..., m, n], rhs [..., m, k], x [..., n, k].
void infer_solution(InferCall& c, bool broadcasts);

/// The batch dimensions of input 0 with others after them; nothing known where its rank is not.
Shape batch_and(const InferCall& c, std::initializer_list<int64_t> dims);
/// The sides of the matrices of input 0, -1 where they are unknown.
inline int64_t rows(const InferCall& c) { return c.shape(0).has_rank() ? c.shape(0)[-2] : -1; }
inline int64_t columns(const InferCall& c) { return c.shape(0).has_rank() ? c.shape(0)[-1] : -1; }

inline int64_t batch_of(const Shape& s) { return s.count(0, s.rank() - 2); }

/// Input i as elements of type T; halves are widened.
template <class T> class Input {
 public:
  Input(const KernelCall& c, int i) : data_(c.input<T>(i)) {
    if (!is_half(c.dtype(i))) return;
    wide_ = Tensor::empty(DType::float32, c.shape(i));
    widen_halves(c.dtype(i), c.input<uint16_t>(i), wide_.mutable_data<float>(), c.count(i));
    data_ = static_cast<const T*>(wide_.impl()->data);
  }
  operator const T*() const { return data_; }  // NOLINT

 private:
  const T* data_;
  Tensor wide_;
};
/// Output i as elements of type T; `finish` narrows them to halves.
template <class T> class Output {
 public:
  Output(const KernelCall& c, int i) : c_(c), i_(i), data_(c.output<T>(i)) {
    if (!is_half(c.output_dtype(i))) return;
    wide_ = Tensor::empty(DType::float32, c.output_shape(i));
    data_ = static_cast<T*>(wide_.impl()->data);
  }
  operator T*() const { return data_; }  // NOLINT
  void finish() const {
    if (wide_.defined()) narrow_halves(c_.output_dtype(i_), wide_.data<float>(), c_.output<uint16_t>(i_), wide_.size());
  }

 private:
  const KernelCall& c_;
  int i_;
  T* data_;
  Tensor wide_;
};

/// Calls `f(static_cast<T*>(nullptr))` with the type that computes for this dtype.
template <class F> void visit(DType dtype, const F& f) {
  kernel::visit_type<computed>(is_half(dtype) ? DType::float32 : dtype, f);
}

/// Calls `body(i)` for every matrix of a batch; true when all calls are. One after the other, and one op at a time: see
/// kernels::lapack_mutex.
template <class Body> bool for_each(int64_t batch, const Body& body) {
  std::lock_guard lock(kernels::lapack_mutex());
  bool good = true;
  for (int64_t i = 0; i < batch; ++i) good &= body(i);
  return good;
}

/// 1 below, on or above the diagonal of matrices like this one, 0 elsewhere: either below or above, with the diagonal
/// or without. For gradients: no shape is read on the host.
Tensor triangle(const Tensor& matrix, bool below, bool diagonal, bool above);

/// x / (x^2 + 1e-20): 1 / x, but 0 where x is, as TensorFlow has it for equal eigenvalues.
Tensor safe_reciprocal(const Tensor& x);
/// 1 / (values_j - values_i) at [i, j], 0 on the diagonal and where values are equal.
Tensor gap_reciprocals(const Tensor& values);

}  // namespace thalweg::matrices
