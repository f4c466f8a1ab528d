// Shapes with known dimensions, unknown dimensions, and unknown rank.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "thalweg/core/export.h"

namespace thalweg {

/// An unknown dimension, where a shape is written: `Shape({unknown, 28, 28})`.
inline constexpr int64_t unknown = -1;

/// The shape of a tensor, stored inline. A dimension may be unknown (-1), and so may the rank.
class THALWEG_API Shape {
 public:
  static constexpr int max_rank = 12;

  Shape() {}  // NOLINT: dim_ is meaningful up to rank_ only
  Shape(std::initializer_list<int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}
  explicit Shape(std::span<const int64_t> dims);
  explicit Shape(const std::vector<int64_t>& dims) : Shape(std::span(dims)) {}
  Shape(const Shape& other) { *this = other; }  // NOLINT
  Shape& operator=(const Shape& other) {
    rank_ = other.rank_;
    for (int i = 0; i < rank_; ++i) dim_[i] = other.dim_[i];
    return *this;
  }
  /// A shape of which not even the rank is known.
  static Shape unknown_rank() {
    Shape s;
    s.rank_ = -1;
    return s;
  }
  /// `rank` dimensions, all unknown.
  static Shape of_rank(int rank);

  /// The number of dimensions, or -1 when unknown.
  int rank() const { return rank_; }
  bool has_rank() const { return rank_ >= 0; }
  int64_t operator[](int i) const { return dim_[i < 0 ? i + rank_ : i]; }
  int64_t& operator[](int i) { return dim_[i < 0 ? i + rank_ : i]; }
  std::span<const int64_t> dims() const { return {dim_, static_cast<size_t>(rank_ < 0 ? 0 : rank_)}; }
  const int64_t* begin() const { return dim_; }
  const int64_t* end() const { return dim_ + (rank_ < 0 ? 0 : rank_); }

  /// True when every dimension is known.
  bool is_fully_defined() const {
    if (rank_ < 0) return false;
    for (int i = 0; i < rank_; ++i)
      if (dim_[i] < 0) return false;
    return true;
  }
  /// The number of elements of a fully defined shape, for kernels: the product was checked when the tensor was made.
  int64_t count() const {
    int64_t n = 1;
    for (int i = 0; i < rank_; ++i) n *= dim_[i];
    return n;
  }
  /// The product of dimensions [begin, end).
  int64_t count(int begin, int end) const {
    int64_t n = 1;
    for (int i = begin; i < end; ++i) n *= dim_[i];
    return n;
  }
  /// The number of elements, or -1 when unknown or past 2^63. A dimension of zero excuses no overflow among the others,
  /// because kernels multiply some of the dimensions: [0, 2^62, 4] is past 2^63 too.
  int64_t num_elements() const;

  /// Adds a dimension at the end; throws InvalidArgumentError past `max_rank`.
  void push_back(int64_t dim);
  /// Puts a dimension before position `i`.
  void insert(int i, int64_t dim);
  void erase(int i);

  bool operator==(const Shape& other) const {
    if (rank_ != other.rank_) return false;
    for (int i = 0; i < rank_; ++i)
      if (dim_[i] != other.dim_[i]) return false;
    return true;
  }
  /// True when some fully defined shape fits both.
  bool is_compatible_with(const Shape& other) const;
  /// What both together say; throws ValueError when they disagree.
  Shape merge_with(const Shape& other) const;
  Shape concatenate(const Shape& other) const;
  /// As many dimensions as both agree on; what disagrees becomes unknown.
  Shape most_general_common_supershape(const Shape& other) const;

  /// TensorFlow's text: `(2, None)`, `<unknown>`.
  std::string str() const;
  /// With brackets, as errors name shapes: `[2, ?]`.
  std::string brackets() const;

 private:
  int rank_ = 0;
  int64_t dim_[max_rank];  // only the first rank_ are meaningful
};

/// TensorFlow's text.
THALWEG_API std::ostream& operator<<(std::ostream& out, const Shape& shape);

/// The shape two shapes broadcast to, following NumPy; false when they do not.
THALWEG_API bool broadcast_shapes(const Shape& a, const Shape& b, Shape& result);

}  // namespace thalweg
