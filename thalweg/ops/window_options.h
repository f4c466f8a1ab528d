// How convolutions and pools are told about windows: one size or several, and the padding.
#pragma once
#include <initializer_list>
#include <string>
#include <vector>

#include "thalweg/ops/options.h"

namespace thalweg {

/// Strides, windows and dilations: one number for every dimension of space (`.strides = 2`), or a list of them.
using Sizes = Axis;

/// What surrounds the input: "VALID" (nothing), "SAME" (zeros, so that the output has the size of the input divided by
/// the stride), or so many zeros before and after each of its dimensions: `{{0, 0}, {1, 2}, {1, 2}, {0, 0}}`.
class THALWEG_API Padding {
 public:
  Padding() = default;
  Padding(const char* name) : name_(name) {}                                // NOLINT
  Padding(const std::string& name) : name_(name) {}                         // NOLINT
  Padding(std::initializer_list<std::initializer_list<int64_t>> paddings);  // NOLINT
  /// All numbers of such a list, one after the other.
  explicit Padding(std::vector<int64_t> paddings) : name_("EXPLICIT"), explicit_(std::move(paddings)) {}

  /// TensorFlow's attribute `padding`: the name, or "EXPLICIT".
  const std::string& name() const { return name_; }
  /// TensorFlow's attribute `explicit_paddings`.
  const std::vector<int64_t>& explicit_paddings() const { return explicit_; }
  bool is_explicit() const { return name_ == "EXPLICIT"; }

 private:
  std::string name_ = "VALID";
  std::vector<int64_t> explicit_ = {};
};
template <> const MemberType& member_type<Padding>();

}  // namespace thalweg
