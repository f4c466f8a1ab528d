// Variable: the only thing that changes. Programs keep their state in variables; ops read and replace their values.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "thalweg/core/index.h"
#include "thalweg/core/indexed_slices.h"
#include "thalweg/core/variable_resource.h"

namespace thalweg {

struct VariableOptions {
  bool trainable = true;            // tapes watch it when it is read
  std::string name = "Variable";    // shown as `Variable:0`, behind the NameScope it is made in
  DType dtype = DType::invalid;     // the initial value's where left out
  std::optional<Shape> shape = {};  // what values must fit, dimensions may be unknown; the initial value's if left out
  VariableSynchronization synchronization = VariableSynchronization::automatic;
  VariableAggregation aggregation = VariableAggregation::none;
};

class VariableSlice;

/// A value that changes, shared by its copies: `Variable w(5.0f); w.assign_sub(0.1f * gradient);`. It goes wherever a
/// tensor goes, as the value it has then; what was read before an assignment keeps its bits. Threads may share it.
class THALWEG_API Variable {
 public:
  /// No variable yet: `defined()` is false.
  Variable() = default;
  /// Holds the initial value: a tensor, a number, or nested lists. `Variable w(0.0f)` is a scalar, `Variable w({0.0f})`
  /// has shape (1,).
  explicit Variable(const TensorLike& initial_value, const VariableOptions& options = {});
  Variable(std::initializer_list<Literal> initial_value, const VariableOptions& options = {});
  /// The variable behind a handle.
  static Variable from_handle(const Tensor& handle);

  /// A variable is changed, not replaced: write `w.assign(...)`.
  Variable& operator=(const Tensor&) = delete;

  bool defined() const { return handle_.defined(); }
  /// `Variable:0`
  std::string name() const { return resource().name() + ":0"; }
  DType dtype() const { return resource().dtype(); }
  /// What every value fits.
  const Shape& shape() const { return resource().shape(); }
  bool trainable() const { return resource().trainable; }
  VariableSynchronization synchronization() const { return resource().synchronization; }
  VariableAggregation aggregation() const { return resource().aggregation; }
  std::string device() const { return handle_.device(); }
  bool is_initialized() const { return resource().is_initialized(); }

  /// The value now.
  Tensor value() const;
  Tensor read_value() const { return value(); }
  operator Tensor() const { return value(); }  // NOLINT: a variable goes wherever a tensor goes
  /// The one element, converted to T where numbers allow it.
  template <Element T> T item() const { return value().item<T>(); }

  /// Puts a value in its place; one of another dtype or shape is refused and changes nothing.
  const Variable& assign(const TensorLike& value) const;
  /// Adds to the value.
  const Variable& assign_add(const TensorLike& delta) const;
  /// Subtracts from the value.
  const Variable& assign_sub(const TensorLike& delta) const;

  // `w += delta` and kin assign.
  const Variable& operator+=(const TensorLike& delta) const { return assign_add(delta); }
  const Variable& operator-=(const TensorLike& delta) const { return assign_sub(delta); }
  const Variable& operator*=(const TensorLike& factor) const;
  const Variable& operator/=(const TensorLike& divisor) const;

  /// Replaces a part, as `w(0, slice(1, 3)).assign(5.0f)` does; the value may broadcast to it.
  const Variable& assign_at(std::span<const Index> indices, const TensorLike& value) const;
  const Variable& assign_at(std::initializer_list<Index> indices, const TensorLike& value) const {
    return assign_at(std::span(indices.begin(), indices.size()), value);
  }

  /// Adds to the rows that the slices name; a row named twice gets both. A bad index changes nothing, here and below.
  const Variable& scatter_add(const IndexedSlices& slices) const;
  /// Subtracts from the rows that the slices name.
  const Variable& scatter_sub(const IndexedSlices& slices) const;
  /// Multiplies the rows that the slices name.
  const Variable& scatter_mul(const IndexedSlices& slices) const;
  /// Divides the rows that the slices name.
  const Variable& scatter_div(const IndexedSlices& slices) const;
  /// Keeps the smaller of the elements of the rows that the slices name and theirs.
  const Variable& scatter_min(const IndexedSlices& slices) const;
  /// Keeps the larger of the elements of the rows that the slices name and theirs.
  const Variable& scatter_max(const IndexedSlices& slices) const;
  /// Replaces the rows that the slices name; of several for one row the last counts.
  const Variable& scatter_update(const IndexedSlices& slices) const;
  /// The same for each entry of a batch: indices [batch, n] name rows of the batch's own part of the value.
  const Variable& batch_scatter_update(const IndexedSlices& slices) const;
  /// Adds to the slices that lists of coordinates name: indices [..., depth] point into the first dimensions.
  const Variable& scatter_nd_add(const TensorLike& indices, const TensorLike& updates) const;
  /// Subtracts from the slices that lists of coordinates name.
  const Variable& scatter_nd_sub(const TensorLike& indices, const TensorLike& updates) const;
  /// Keeps the smaller of the elements of the slices that lists of coordinates name and the updates.
  const Variable& scatter_nd_min(const TensorLike& indices, const TensorLike& updates) const;
  /// Keeps the larger of the elements of the slices that lists of coordinates name and the updates.
  const Variable& scatter_nd_max(const TensorLike& indices, const TensorLike& updates) const;
  /// Replaces the slices that lists of coordinates name; of several for one slice the last counts.
  const Variable& scatter_nd_update(const TensorLike& indices, const TensorLike& updates) const;

  /// Rows of the value: those that the indices name.
  Tensor sparse_read(const TensorLike& indices) const;
  /// Slices of the value: those that lists of coordinates name, indices [..., depth].
  Tensor gather_nd(const TensorLike& indices) const;
  /// A part of the value now, which can be assigned to: `w(0)`, `w(all, slice(1, 3)).assign_add(1.0f)`.
  template <class... I>
    requires(std::convertible_to<I, Index> && ...)
  VariableSlice operator()(const I&... indices) const;
  VariableSlice operator[](int64_t i) const;

  /// TensorFlow's text: `<tf.Variable 'Variable:0' shape=() dtype=float32, numpy=5.0>`.
  std::string str() const;
  std::string repr() const { return str(); }

  /// The resource that ops on variables take.
  const Tensor& handle() const;
  /// Copies of one variable are the same variable.
  friend bool is_same(const Variable& a, const Variable& b) { return a.handle_.get() == b.handle_.get(); }

 private:
  VariableResource& resource() const;

  Tensor handle_;
};

THALWEG_API std::ostream& operator<<(std::ostream& out, const Variable& variable);

/// A part of a variable: the tensor that it was when it was asked for, and the place where another one can be put.
class THALWEG_API VariableSlice : public Tensor {
 public:
  VariableSlice(Variable variable, std::vector<Index> indices);
  /// Puts a value in the place of the part; it may broadcast to it.
  const Variable& assign(const TensorLike& value) const { return variable_.assign_at(indices_, value); }
  /// Adds to the part.
  const Variable& assign_add(const TensorLike& delta) const;
  /// Subtracts from the part.
  const Variable& assign_sub(const TensorLike& delta) const;
  const Variable& operator+=(const TensorLike& delta) const { return assign_add(delta); }
  const Variable& operator-=(const TensorLike& delta) const { return assign_sub(delta); }

  /// `w(0) = 1.0f` does not compile.
  template <class T = Tensor> void operator=(const T&) && {
    static_assert(!std::same_as<T, T>, "a part of a variable is changed, not replaced: write w(0).assign(...)");
  }

 private:
  Variable variable_;
  std::vector<Index> indices_;
};

template <class... I>
  requires(std::convertible_to<I, Index> && ...)
VariableSlice Variable::operator()(const I&... indices) const {
  return {*this, {Index(indices)...}};
}
inline VariableSlice Variable::operator[](int64_t i) const { return {*this, {Index(i)}}; }

}  // namespace thalweg
