// TensorArray: an array of tensors that loops write and read step by step.
//   TensorArray array(float32, 3);
//   for (int i = 0; i < 3; ++i) array = array.write(i, square(x));
//   Tensor all = array.stack();
#pragma once
#include <string>

#include "thalweg/core/tensor_list.h"
#include "thalweg/ops/options.h"

namespace thalweg {

struct TensorArrayOptions {
  Flag dynamic_size = false;     // writes past the end make it longer
  Flag clear_after_read = true;  // an element that was read is zeros from then on; not while a function is traced
  std::string tensor_array_name = {};
  Flag infer_shape = true;  // all elements have the shape of the first that is written
  Shape element_shape = Shape::unknown_rank();
  Flag colocate_with_first_write_call = true;  // accepted: there is one device
};

/// An array of tensors of one dtype, each of which may be written and read; elements not written yet are zeros. It is a
/// value: writing gives another array and leaves this one as it was, at the cost of the one element. It can be
/// differentiated through, and works on symbolic tensors while a function is traced.
class THALWEG_API TensorArray {
 public:
  /// An array of `size` elements, none of which is written yet.
  TensorArray(DType dtype, const TensorLike& size, const TensorArrayOptions& options = {});
  /// The array of a list that another array's `flow` gave.
  static TensorArray from_flow(DType dtype, const Tensor& flow, const TensorArrayOptions& options = {});

  /// The dtype of every element.
  DType dtype() const { return dtype_; }
  /// What is known of the shape of every element.
  const Shape& element_shape() const { return element_shape_; }
  /// Whether writes past the end make it longer.
  bool dynamic_size() const { return options_.dynamic_size; }
  /// The list of the elements, a scalar variant.
  const Tensor& flow() const { return flow_; }
  /// None: the array has no handle besides its flow.
  Tensor handle() const { return {}; }
  /// How many elements it has, a scalar int32.
  Tensor size() const;

  /// Element `index`. With clear_after_read it can be read once.
  Tensor read(const TensorLike& index);
  /// The array with a value at an index.
  [[nodiscard]] TensorArray write(const TensorLike& index, const TensorLike& value) const;
  /// All elements along a new first axis.
  Tensor stack() const;
  /// The array whose elements are the rows of a value.
  [[nodiscard]] TensorArray unstack(const TensorLike& value) const;
  /// All elements one after another along their first axis; they may differ in its length.
  Tensor concat() const;
  /// The elements that the indices name, along a new first axis.
  Tensor gather(const TensorLike& indices) const;
  /// The array with the rows of a value at the indices.
  [[nodiscard]] TensorArray scatter(const TensorLike& indices, const TensorLike& value) const;
  /// The array whose elements are pieces of a value along its first axis, of these lengths.
  [[nodiscard]] TensorArray split(const TensorLike& value, const TensorLike& lengths) const;
  /// The same array, by an op of its own.
  [[nodiscard]] TensorArray identity() const;
  /// Lets go of the elements.
  void close();
  /// Refused: tapes differentiate through arrays as they are.
  [[noreturn]] TensorArray grad(const std::string& source) const;

 private:
  TensorArray(DType dtype, const TensorArrayOptions& options);
  // The list itself where it is known, null while tracing.
  const TensorListResource* list() const;
  Tensor as_element(const TensorLike& value) const;
  void fit(const Shape& element);
  bool is_cleared(int64_t i) const { return cleared_ && i < cleared_->size() && cleared_->at(i).defined(); }
  void mark_cleared(int64_t i, bool cleared);

  DType dtype_;
  TensorArrayOptions options_;
  Shape element_shape_;
  Tensor flow_;
  Tensor size_;                                        // of an array that does not grow
  std::shared_ptr<const TensorListResource> cleared_;  // has an element where one was read and not written again
  Tensor zeros_;                                       // stands in the places that were cleared
};

}  // namespace thalweg
