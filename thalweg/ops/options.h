// Types for the members of options structs.
#pragma once
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "thalweg/core/tensor.h"

namespace thalweg {

struct MemberType;
/// How generic code reads and writes a member of this type (attrs.h); attrs.cc has it for every type that is allowed.
template <class T> const MemberType& member_type();

/// A truth value in an options struct. Only a bool makes one: `{.training = "yes"}` does not compile.
class Flag {
 public:
  constexpr Flag() = default;
  template <std::same_as<bool> B> constexpr Flag(B value) : value_(value) {}  // NOLINT
  constexpr operator bool() const { return value_; }                          // NOLINT

 private:
  bool value_ = false;
};

/// The axes of a reduction: `.axis = 1`, `.axis = {0, 1}`, or left out for all.
class Axis {
 public:
  Axis() = default;
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Axis(T axis) : axes_({static_cast<int64_t>(axis)}), given_(true), single_(true) {}  // NOLINT
  Axis(std::initializer_list<int64_t> axes) : axes_(axes), given_(true) {}            // NOLINT
  Axis(std::vector<int64_t> axes) : axes_(std::move(axes)), given_(true) {}           // NOLINT
  bool given() const { return given_; }
  bool is_single() const { return single_; }
  const std::vector<int64_t>& axes() const { return axes_; }

 private:
  std::vector<int64_t> axes_;
  bool given_ = false, single_ = false;
};

/// What may stand for an option of type T by itself, before the others: see docs/decisions/0013. A template that takes
/// one, `template <As<Axis> A = Axis> Tensor reduce_sum(const Tensor& x, const A& axis, ReduceOptions options = {})`,
/// gives way to the function with options where both could be meant, and takes lists in braces as T.
template <class A, class T>
concept As = std::convertible_to<const A&, T> && !(std::floating_point<A> && std::integral<T>);

/// The options with those that were given by position: `with(options, options.axis, axis)`.
template <class Options, class T, class A, class... Others>
const Options& with(Options& options, T& option, const A& value, Others&&... others) {
  option = value;
  if constexpr (sizeof...(others) > 0) return with(options, others...);
  else return options;
}

}  // namespace thalweg
