// The equation of an Einsum: "...ij,jk->...ik".
#pragma once
#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "thalweg/core/shape.h"

namespace thalweg {

/// The labels of one operand or of the result. A label is a letter; the dimensions of an ellipsis get labels of their
/// own once ranks are known: 128 + i, counted from the last.
using Labels = std::vector<unsigned char>;
inline constexpr unsigned char ellipsis_label = '.';
inline constexpr int first_broadcast_label = 128, num_labels = first_broadcast_label + Shape::max_rank;

inline bool holds(const Labels& labels, unsigned char label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

/// The terms of an equation, with an ellipsis kept as one label.
struct Equation {
  std::vector<Labels> inputs;
  Labels output;
};

/// Empty when the text is a well-formed equation with an arrow, else what is wrong with it.
std::string parse_equation(std::string_view text, Equation& equation);

/// An equation met by the shapes of its operands.
struct EinsumShapes {
  std::vector<Labels> inputs;  // one label per dimension
  Labels output;
  int64_t size[num_labels];  // by label; -1 where unknown
  bool ranks_known = true;   // otherwise only what letters say was checked
};
/// Empty, or why the operands do not fit the equation.
std::string resolve_equation(const Equation& equation, std::span<const Shape* const> shapes, EinsumShapes& resolved);

}  // namespace thalweg
