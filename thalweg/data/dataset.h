// Datasets: elements one after the other, with the work that makes them.
//
//   auto dataset = tf::data::from_tensor_slices(images, labels).shuffle(1000).batch(32).prefetch();
//   for (auto [x, y] : dataset.take(400)) train_step(x, y);
//   model.fit(dataset, {.epochs = 2});
#pragma once
#include <iosfwd>
#include <iterator>

#include "thalweg/data/stage.h"

namespace thalweg::data {

/// A dataset whose elements have a C++ type: a Tensor, or a tuple, vector, map or plain struct of tensors. `Dataset<>`
/// has elements of any structure. Copies are the same dataset; every loop over it is a new pass.
template <class Element = Nest> class Dataset {
 public:
  explicit Dataset(StagePtr stage) : stage_(std::move(stage)) {}
  /// The same without the type of its elements.
  operator Dataset<Nest>() const  // NOLINT
    requires(!std::same_as<Element, Nest>)
  {
    return Dataset<Nest>(stage_);
  }
  /// The same with another type for its elements, which must have that structure.
  template <class T> Dataset<T> as() const {
    static_cast<void>(stage_->structure().template as<T>());
    return Dataset<T>(stage_);
  }

  /// Neighbours become one: `batch_size` elements as one with a new first dimension.
  Dataset batch(int64_t batch_size, const BatchOptions& options = {}) const {
    return Dataset(stages::batch(stage_, batch_size, options));
  }
  /// All elements `count` times; left out: without end.
  Dataset repeat(int64_t count = -1) const { return Dataset(stages::repeat(stage_, count)); }
  /// The first elements; all of them for -1.
  Dataset take(int64_t count) const { return Dataset(stages::take(stage_, count)); }
  /// What comes after the first elements; nothing for -1.
  Dataset skip(int64_t count) const { return Dataset(stages::skip(stage_, count)); }
  /// Each element is drawn from `buffer_size` of them; as many as there are elements shuffle completely.
  Dataset shuffle(int64_t buffer_size, const ShuffleOptions& options = {}) const {
    return Dataset(stages::shuffle(stage_, buffer_size, options));
  }
  /// A thread of its own makes elements ahead of those that are used.
  Dataset prefetch(int64_t buffer_size = AUTOTUNE) const { return Dataset(stages::prefetch(stage_, buffer_size)); }

  /// How many elements there are, INFINITE_CARDINALITY or UNKNOWN_CARDINALITY.
  int64_t cardinality() const { return stage_->cardinality(); }
  /// What is known of the tensors of an element, in the order of its structure.
  std::vector<TensorSpec> element_spec() const { return stage_->specs(); }
  const StagePtr& stage() const { return stage_; }

  /// Where a pass stands; it owns the element there.
  class Cursor {
   public:
    using value_type = Element;
    using difference_type = std::ptrdiff_t;

    explicit Cursor(StagePtr stage) : stage_(std::move(stage)), iterator_(stage_->iterate()) { advance(); }
    Element& operator*() { return *element_; }
    Cursor& operator++() {
      advance();
      return *this;
    }
    void operator++(int) { advance(); }
    bool operator==(std::default_sentinel_t) const { return !element_; }

   private:
    void advance() {
      if (iterator_->next(tensors_)) element_ = stage_->structure().pack(tensors_).template as<Element>();
      else element_.reset();
    }

    StagePtr stage_;
    std::unique_ptr<Iterator> iterator_;
    std::vector<Tensor> tensors_;
    std::optional<Element> element_;
  };
  /// Begins a pass.
  Cursor begin() const { return Cursor(stage_); }
  std::default_sentinel_t end() const { return {}; }

 private:
  StagePtr stage_;
};

/// One element: these tensors.
template <structure::Structured T> Dataset<structure::of_tensors<T>> from_tensors(const T& tensors) {
  return Dataset<structure::of_tensors<T>>(stages::from_tensors(Nest::of(tensors)));
}
/// Several make a tuple.
template <structure::Structured A, structure::Structured B, structure::Structured... T>
auto from_tensors(const A& a, const B& b, const T&... more) {
  return from_tensors(std::tuple<A, B, T...>(a, b, more...));
}
/// Elements are the rows of these tensors, which all have as many.
template <structure::Structured T> Dataset<structure::of_tensors<T>> from_tensor_slices(const T& tensors) {
  return Dataset<structure::of_tensors<T>>(stages::from_tensor_slices(Nest::of(tensors)));
}
/// Several make a tuple: `from_tensor_slices(images, labels)`.
template <structure::Structured A, structure::Structured B, structure::Structured... T>
auto from_tensor_slices(const A& a, const B& b, const T&... more) {
  return from_tensor_slices(std::tuple<A, B, T...>(a, b, more...));
}
/// 0, 1, ... up to `stop`, as int64 scalars.
inline Dataset<Tensor> range(int64_t stop) { return Dataset<Tensor>(stages::range(0, stop, 1)); }
/// From `start` up to `stop`, in steps.
inline Dataset<Tensor> range(int64_t start, int64_t stop, int64_t step = 1) {
  return Dataset<Tensor>(stages::range(start, stop, step));
}

template <class E> std::ostream& operator<<(std::ostream& out, const Dataset<E>& dataset) {
  return out << describe(*dataset.stage());
}

}  // namespace thalweg::data
