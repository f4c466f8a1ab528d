#include "thalweg/core/shape.h"

#include <algorithm>

#include "thalweg/core/error.h"

namespace thalweg {
namespace {
[[noreturn]] void too_many(int64_t rank) {
  throw InvalidArgumentError("a shape has at most " + std::to_string(Shape::max_rank) + " dimensions, got " +
                             std::to_string(rank));
}
}  // namespace

Shape::Shape(std::span<const int64_t> dims) {
  if (dims.size() > max_rank) too_many(static_cast<int64_t>(dims.size()));
  rank_ = static_cast<int>(dims.size());
  std::copy(dims.begin(), dims.end(), dim_);
}

Shape Shape::of_rank(int rank) {
  if (rank < 0) return unknown_rank();
  if (rank > max_rank) too_many(rank);
  Shape s;
  s.rank_ = rank;
  std::fill_n(s.dim_, rank, unknown);
  return s;
}

int64_t Shape::num_elements() const {
  if (!is_fully_defined()) return -1;
  int64_t n = 1;
  bool empty = false;
  for (int i = 0; i < rank_; ++i) {
    if (dim_[i] == 0) empty = true;
    else if (__builtin_mul_overflow(n, dim_[i], &n)) return -1;
  }
  return empty ? 0 : n;
}

void Shape::push_back(int64_t dim) {
  if (rank_ >= max_rank) too_many(rank_ + 1);
  dim_[rank_++] = dim;
}

void Shape::insert(int i, int64_t dim) {
  push_back(dim);
  std::rotate(dim_ + i, dim_ + rank_ - 1, dim_ + rank_);
}

void Shape::erase(int i) {
  std::copy(dim_ + i + 1, dim_ + rank_, dim_ + i);
  --rank_;
}

bool Shape::is_compatible_with(const Shape& other) const {
  if (rank_ < 0 || other.rank_ < 0) return true;
  if (rank_ != other.rank_) return false;
  for (int i = 0; i < rank_; ++i)
    if (dim_[i] >= 0 && other.dim_[i] >= 0 && dim_[i] != other.dim_[i]) return false;
  return true;
}

Shape Shape::merge_with(const Shape& other) const {
  if (!is_compatible_with(other)) throw ValueError("Shapes " + str() + " and " + other.str() + " are not compatible");
  if (rank_ < 0) return other;
  Shape merged = *this;
  if (other.rank_ >= 0)
    for (int i = 0; i < rank_; ++i)
      if (merged.dim_[i] < 0) merged.dim_[i] = other.dim_[i];
  return merged;
}

Shape Shape::concatenate(const Shape& other) const {
  if (rank_ < 0 || other.rank_ < 0) return unknown_rank();
  Shape joined = *this;
  for (int64_t d : other.dims()) joined.push_back(d);
  return joined;
}

Shape Shape::most_general_common_supershape(const Shape& other) const {
  if (rank_ != other.rank_) return unknown_rank();
  Shape s = *this;
  for (int i = 0; i < rank_; ++i)
    if (s.dim_[i] != other.dim_[i]) s.dim_[i] = unknown;
  return s;
}

std::string Shape::str() const {
  if (rank_ < 0) return "<unknown>";
  std::string text = "(";
  for (int i = 0; i < rank_; ++i) {
    if (i) text += ", ";
    text += dim_[i] < 0 ? "None" : std::to_string(dim_[i]);
  }
  return text + (rank_ == 1 ? ",)" : ")");
}

std::string Shape::brackets() const {
  if (rank_ < 0) return "<unknown>";
  std::string text = "[";
  for (int i = 0; i < rank_; ++i) {
    if (i) text += ", ";
    text += dim_[i] < 0 ? "?" : std::to_string(dim_[i]);
  }
  return text + "]";
}

bool broadcast_shapes(const Shape& a, const Shape& b, Shape& result) {
  if (a.rank() < 0 || b.rank() < 0) {
    result = Shape::unknown_rank();
    return true;
  }
  int rank = std::max(a.rank(), b.rank());
  Shape s = Shape::of_rank(rank);
  for (int i = 0; i < rank; ++i) {
    int ia = i - (rank - a.rank()), ib = i - (rank - b.rank());
    int64_t x = ia < 0 ? 1 : a[ia], y = ib < 0 ? 1 : b[ib];
    if (x == y || y == 1) s[i] = x;
    else if (x == 1) s[i] = y;
    else if (x < 0) s[i] = y;
    else if (y < 0) s[i] = x;
    else return false;
  }
  result = s;
  return true;
}
}  // namespace thalweg
