// The object behind the handle of a list: tensors of one dtype that ops add to, replace and take away.
#pragma once
#include <memory>

#include "thalweg/core/resource.h"
#include "thalweg/core/tensor.h"

namespace thalweg {

namespace detail {
struct ListNode;
}

/// A list of tensors, of which some may not be set yet. Copies share everything and cost nothing; what is changed
/// afterwards is changed in one of them. The elements hang in a tree of sixteen branches, so that a change copies the
/// way to one element at most and never the list, however many copies are alive (tapes and loops keep them all), and
/// elements that were never set take no room.
class THALWEG_API TensorListResource : public Resource {
 public:
  static constexpr int64_t max_size = INT32_MAX;

  /// `element_shape` is what every element must fit; with `max_num_elements` below 0 there is no limit.
  TensorListResource(DType element_dtype, const Shape& element_shape, int64_t size = 0, int64_t max_num_elements = -1);
  TensorListResource(const TensorListResource& other);
  TensorListResource& operator=(const TensorListResource&) = delete;
  ~TensorListResource() override;

  DType element_dtype() const { return element_dtype_; }
  const Shape& element_shape() const { return element_shape_; }
  int64_t max_num_elements() const { return max_num_elements_; }
  int64_t size() const { return size_; }
  std::string describe() const override;

  /// Element i, undefined where none is set.
  Tensor at(int64_t i) const;
  /// Calls `f(i, element)` for the elements that are set, in order.
  template <class F> void for_each(F f) const {
    visit([](void* p, int64_t i, const Tensor& t) { (*static_cast<F*>(p))(i, t); }, &f);
  }

  // Changes, before the list is shared. Dtypes, shapes, indices and sizes are checked by the caller.
  void append(Tensor element);
  void set(int64_t i, Tensor element);
  /// More elements, none of them set, or fewer.
  void resize(int64_t size);
  /// What every element of both lists fits.
  void set_element_shape(const Shape& shape) { element_shape_ = shape; }
  /// Puts `f(element)` in the place of every element that is set.
  template <class F> void transform(F f) {
    replace([](void* p, const Tensor& t) -> Tensor { return (*static_cast<F*>(p))(t); }, &f);
  }
  /// Takes over what another list of the same size has, and `f(own, other)` where both have an element.
  template <class F> void merge(const TensorListResource& other, F f) {
    combine(other, [](void* p, const Tensor& x, const Tensor& y) -> Tensor { return (*static_cast<F*>(p))(x, y); }, &f);
  }

 private:
  void visit(void (*f)(void*, int64_t, const Tensor&), void* context) const;
  void replace(Tensor (*f)(void*, const Tensor&), void* context);
  void combine(const TensorListResource& other, Tensor (*f)(void*, const Tensor&, const Tensor&), void* context);

  void note_nesting(const Tensor& element);

  DType element_dtype_;
  Shape element_shape_;
  int64_t max_num_elements_;
  int64_t size_;
  int nesting_ = 0;
  detail::ListNode* root_ = nullptr;  // null while nothing is set
};

/// A scalar of dtype variant that leads to the list.
THALWEG_API Tensor make_list_handle(std::shared_ptr<const TensorListResource> list);
/// The list that a handle leads to; InvalidArgumentError when it leads nowhere or to something else.
THALWEG_API const TensorListResource& list_of(const ResourceHandle& handle);
/// The list of a scalar variant.
THALWEG_API const TensorListResource& list_of(const Tensor& handle);

}  // namespace thalweg
