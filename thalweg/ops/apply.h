// The one chokepoint: every op, eager or traced, goes through apply.
#pragma once
#include <array>
#include <atomic>
#include <initializer_list>
#include <memory>

#include "thalweg/core/thread_state.h"
#include "thalweg/ops/op.h"

namespace thalweg {

/// Sees the ops whose results depend on symbolic tensors, or that have effects, while a function is traced.
class Tracer {
 public:
  virtual ~Tracer() = default;
  /// Adds a node whose results are `out`: described, and symbolic from now on.
  virtual void add(const Op& op, std::span<const TensorRef> in, AttrsRef attrs, std::span<TensorImpl* const> out) = 0;
  /// What is known of the dimensions that a symbolic vector of integers stands for.
  virtual Shape known_dims(const TensorImpl& vector) const = 0;
  /// The value of something that depends on no argument: the first value of a variable. ValueError where it does.
  virtual Tensor lift(const Tensor& symbolic) = 0;
  /// A variable was made; ValueError where that is no longer allowed.
  virtual void created_variable(const Tensor& handle) = 0;
};
/// The way back through something that is no op: a custom gradient, a call of a traced function.
class BackwardFunction {
 public:
  virtual ~BackwardFunction() = default;
  /// The gradients of the inputs (None where there is none) from those of the outputs. Bit i of
  /// `wanted` says that somebody needs the gradient of input i; inputs past the 63rd are always wanted.
  virtual std::vector<Tensor> run(std::span<const Tensor> output_grads, uint64_t wanted) = 0;
  /// Whether `run` takes None for the gradients of outputs that nothing depends on, instead of zeros.
  virtual bool takes_none() const { return false; }
};
/// Sees every op while a tape is active.
class Recorder {
 public:
  virtual ~Recorder() = default;
  virtual void record(const Op& op, std::span<const TensorRef> in, AttrsRef attrs,
                      std::span<TensorImpl* const> out) = 0;
  /// Results that `backward` differentiates; they must be fresh tensors.
  virtual void record(std::span<const Tensor> in, std::span<const Tensor> out,
                      std::unique_ptr<BackwardFunction> backward) = 0;
  /// How often what is recorded now may be differentiated: once for every tape that listens, and once more for one
  /// that may compute a gradient and go on recording.
  virtual int orders() const = 0;
  /// A trainable variable is about to be read.
  virtual void access(const Tensor& handle) = 0;
};

/// Checks the inputs against the signature, infers, then runs the kernel or adds a node. Writes fresh tensors, each
/// owned by the caller; on an exception none is left. Bit i of `temporaries` says that nobody looks at input i again:
/// an element-wise op may then write its result over it.
THALWEG_API void apply(const Op& op, std::span<const TensorRef> in, AttrsRef attrs, std::span<TensorImpl*> out,
                       unsigned temporaries = 0);

namespace detail {
/// What does an op on symbolic tensors while nothing is traced, and says whether they are its own: a part of the
/// program above, which makes models of such tensors, may put its function here.
using ApplySymbolic = bool (*)(const Op& op, std::span<const TensorRef> in, AttrsRef attrs, std::span<TensorImpl*> out);
THALWEG_API extern std::atomic<ApplySymbolic> apply_symbolic;

/// For plans, which have checked and inferred before: gives the described outputs memory and runs the kernel. Bit i of
/// `unread` says that nobody looks at output i.
void compute(const Op& op, std::span<const TensorRef> in, AttrsRef attrs, std::span<TensorImpl*> out,
             unsigned temporaries, unsigned unread = 0);
}  // namespace detail

/// One result.
inline Tensor apply1(const Op& op, std::initializer_list<TensorRef> in, AttrsRef attrs = {}, unsigned temporaries = 0) {
  TensorImpl* out;
  apply(op, {in.begin(), in.size()}, attrs, {&out, 1}, temporaries);
  return Tensor(out);
}
/// N results: `auto [values, indices] = apply_n<2>(TopKV2, {x, k}, attrs);`
template <size_t N>
std::array<Tensor, N> apply_n(const Op& op, std::initializer_list<TensorRef> in, AttrsRef attrs = {}) {
  TensorImpl* out[N];
  apply(op, {in.begin(), in.size()}, attrs, out);
  return [&]<size_t... I>(std::index_sequence<I...>) {
    return std::array<Tensor, N>{Tensor(out[I])...};
  }(std::make_index_sequence<N>{});
}
/// Any number of inputs and results.
THALWEG_API std::vector<Tensor> apply_list(const Op& op, std::span<const TensorRef> in, AttrsRef attrs,
                                           int num_outputs);
/// A list argument, then others: `apply_values(ConcatV2, values, {axis})`.
THALWEG_API Tensor apply_values(const Op& op, std::span<const Tensor> list, std::initializer_list<TensorRef> rest,
                                AttrsRef attrs = {});

}  // namespace thalweg
