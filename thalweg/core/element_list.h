// What tensors are made from besides literals: elements in a row that belong to anybody, and lists of such rows.
#pragma once
#include <algorithm>
#include <concepts>
#include <iterator>

#include "thalweg/core/dtype.h"
#include "thalweg/core/shape.h"

namespace thalweg {

/// Elements in a row: a std::vector, std::array or std::span, an array of C, a class with `data()` and `size()`.
template <class R>
concept ElementList = requires(const R& list) {
  requires Element<std::remove_cvref_t<decltype(*std::data(list))>>;
  { std::size(list) } -> std::convertible_to<size_t>;
};

namespace detail {
template <class R> struct ItemOf {};
template <class R>
  requires requires { typename R::value_type; }
struct ItemOf<R> {
  using type = typename R::value_type;
};
template <class T, size_t N> struct ItemOf<T[N]> {
  using type = T;
};
/// How deep elements lie in lists of lists: 1 for an ElementList, 0 where there are none.
template <class R> consteval int list_depth() {
  if constexpr (ElementList<R>) return 1;
  else if constexpr (requires(const R& list) {
                       typename ItemOf<R>::type;
                       std::begin(list) != std::end(list);
                       std::size(list);
                     }) {
    constexpr int inner = list_depth<std::remove_cv_t<typename ItemOf<R>::type>>();
    return inner > 0 ? inner + 1 : 0;
  } else return 0;
}
}  // namespace detail
/// Lists of lists, which must all have one length: `std::vector<std::vector<float>>`, `float[2][3]`.
template <class R>
concept NestedList = detail::list_depth<R>() > 1;

namespace detail {

template <class R> auto first_element(const R& list) {
  if constexpr (ElementList<R>) return std::data(list);
  else return first_element(*std::begin(list));
}
/// The type of the elements.
template <class R> using ElementOf = std::remove_cvref_t<decltype(*first_element(std::declval<const R&>()))>;

/// ValueError: rows of different lengths.
[[noreturn]] THALWEG_API void refuse_ragged(int64_t length, int64_t expected);

/// The shape that the first lists have.
template <class R> void measure(const R& list, Shape& shape) {
  shape.push_back(static_cast<int64_t>(std::size(list)));
  if constexpr (!ElementList<R>) {
    if (std::size(list) > 0) return measure(*std::begin(list), shape);
    for (int depth = 1; depth < list_depth<R>(); ++depth) shape.push_back(0);
  }
}
/// Copies all elements, checking that all lists have that shape.
template <class R, class T> T* copy_lists(const R& list, const Shape& shape, int depth, T* out) {
  const auto length = static_cast<int64_t>(std::size(list));
  if (length != shape[depth]) refuse_ragged(length, shape[depth]);
  if constexpr (ElementList<R>) return std::copy_n(std::data(list), std::size(list), out);
  else {
    for (const auto& inner : list) out = copy_lists(inner, shape, depth + 1, out);
    return out;
  }
}

}  // namespace detail
}  // namespace thalweg
