#include "thalweg/ops/einsum_equation.h"

#include <algorithm>

namespace thalweg {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string parse_term(std::string_view text, Labels& labels) {
  bool dots = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (is_letter(text[i])) {
      labels.push_back(static_cast<unsigned char>(text[i]));
    } else if (text.substr(i, 3) == "...") {
      if (dots) return "a term has more than one ellipsis";
      dots = true;
      labels.push_back(ellipsis_label);
      i += 2;
    } else {
      return "it holds '" + std::string(1, text[i]) + "', which is no letter; use a-z, A-Z, '...', ',' and '->'";
    }
  }
  return "";
}

// One label per dimension: the ellipsis takes what the letters leave.
Labels expand(const Labels& labels, int broadcast_rank) {
  Labels all;
  for (unsigned char label : labels) {
    if (label != ellipsis_label) all.push_back(label);
    else
      for (int i = broadcast_rank - 1; i >= 0; --i)
        all.push_back(static_cast<unsigned char>(first_broadcast_label + i));
  }
  return all;
}

constexpr int64_t unseen = -2;

// A label's size as one more dimension says it; false where they disagree. A dimension of 1 says nothing where others
// broadcast it.
bool merge_size(int64_t& size, int64_t dim, bool broadcasts) {
  if (size == dim) return true;
  if (size == unseen) return size = dim, true;
  if (broadcasts && dim == 1) return true;
  if (broadcasts && size == 1) return size = dim, true;
  if (dim < 0) return true;
  if (size < 0) return size = dim, true;
  return false;
}

}  // namespace

std::string parse_equation(std::string_view text, Equation& equation) {
  size_t arrow = text.find("->");
  if (arrow == std::string_view::npos) return "it has no '->'";
  if (text.find("->", arrow + 2) != std::string_view::npos) return "it has more than one '->'";
  std::string_view left = text.substr(0, arrow);
  while (true) {
    size_t comma = left.find(',');
    if (std::string why = parse_term(left.substr(0, comma), equation.inputs.emplace_back()); !why.empty()) return why;
    if (comma == std::string_view::npos) break;
    left.remove_prefix(comma + 1);
  }
  if (std::string why = parse_term(text.substr(arrow + 2), equation.output); !why.empty()) return why;
  for (unsigned char label : equation.output)
    if (label != ellipsis_label && std::none_of(equation.inputs.begin(), equation.inputs.end(),
                                                [&](const Labels& in) { return holds(in, label); }))
      return std::string("the output label '") + static_cast<char>(label) + "' is in no input";
  return "";
}

std::string resolve_equation(const Equation& equation, std::span<const Shape* const> shapes, EinsumShapes& resolved) {
  if (equation.inputs.size() != shapes.size())
    return "it has " + std::to_string(equation.inputs.size()) + " input terms for " + std::to_string(shapes.size()) +
           " inputs";
  std::fill(resolved.size, resolved.size + num_labels, unseen);
  int broadcast_rank = 0;
  for (size_t k = 0; k < shapes.size(); ++k) {
    const Labels& term = equation.inputs[k];
    bool dots = holds(term, ellipsis_label);
    auto letters = static_cast<int>(term.size()) - (dots ? 1 : 0);
    const Shape& shape = *shapes[k];
    if (!shape.has_rank()) {
      resolved.ranks_known = false;
      resolved.inputs.emplace_back();
      continue;
    }
    if (dots ? shape.rank() < letters : shape.rank() != letters)
      return "input " + std::to_string(k) + " has shape " + shape.brackets() + ", but its term names " +
             (dots ? "at least " : "") + std::to_string(letters) + " dimensions";
    broadcast_rank = std::max(broadcast_rank, shape.rank() - letters);
    Labels labels = expand(term, shape.rank() - letters);
    for (int i = 0; i < shape.rank(); ++i) {
      unsigned char label = labels[static_cast<size_t>(i)];
      if (!merge_size(resolved.size[label], shape[i], label >= first_broadcast_label))
        return "input " + std::to_string(k) + " has dimension " + std::to_string(shape[i]) + " at axis " +
               std::to_string(i) + ", but " +
               (label < first_broadcast_label ? std::string("label '") + static_cast<char>(label) + "'"
                                              : "the other's ellipsis") +
               " has " + std::to_string(resolved.size[label]) + " elsewhere";
    }
    resolved.inputs.push_back(std::move(labels));
  }
  if (resolved.ranks_known && broadcast_rank > 0 && !holds(equation.output, ellipsis_label))
    return "the ellipsis stands for " + std::to_string(broadcast_rank) + " dimensions, but the output has none";
  std::replace(resolved.size, resolved.size + num_labels, unseen, int64_t{-1});
  resolved.output = expand(equation.output, broadcast_rank);
  return "";
}

}  // namespace thalweg
