#include "thalweg/core/error.h"
#include "thalweg/core/format.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/infer.h"
#include "thalweg/ops/strings.h"
#include "thalweg/ops/strings_support.h"

namespace thalweg::strings {
namespace {

struct FormatAttrs {
  std::string template_ = "%s";
  std::string placeholder = "%s";
  int64_t summarize = 3;
};

// The attribute's name is a word of C++, so its row is renamed.
const AttrType* format_attrs() {
  static const auto rows = [] {
    std::span<const AttrRow> given = attrs_of<FormatAttrs>()->rows;
    std::array<AttrRow, 3> renamed = {given[0], given[1], given[2]};
    renamed[0].name = "template";
    return renamed;
  }();
  static const AttrType type = [] {
    AttrType renamed = *attrs_of<FormatAttrs>();
    renamed.rows = rows;
    return renamed;
  }();
  return &type;
}

// Calls `take(piece, is_last)` for what lies between placeholders.
template <class Take> void for_each_piece(const FormatAttrs& attrs, const Take& take) {
  std::string_view text = attrs.template_;
  while (!attrs.placeholder.empty()) {
    size_t end = text.find(attrs.placeholder);
    if (end == text.npos) break;
    take(text.substr(0, end), false);
    text.remove_prefix(end + attrs.placeholder.size());
  }
  take(text, true);
}

int64_t count_placeholders(const FormatAttrs& attrs) {
  int64_t count = 0;
  for_each_piece(attrs, [&](std::string_view, bool is_last) { count += !is_last; });
  return count;
}

const Op& StringFormat = define_op({
    .name = "StringFormat",
    .doc = "A text with each placeholder replaced by a tensor.",
    .signature = "inputs: list T -> output: string",
    .attrs = format_attrs(),
    .infer =
        [](InferCall& c) {
          int64_t placeholders = count_placeholders(c.attrs<FormatAttrs>());
          if (placeholders != c.num_inputs())
            c.fail("num placeholders in template and num inputs must match: " + std::to_string(placeholders) + " vs. " +
                   std::to_string(c.num_inputs()));
          c.output(0, Shape{});
        },
    .kernel = {[](const KernelCall& c) {
      const auto& attrs = c.attrs<FormatAttrs>();
      std::string& text = *c.output<std::string>();
      int i = 0;
      for_each_piece(attrs, [&](std::string_view piece, bool is_last) {
        text += piece;
        if (is_last) return;
        text += format_summary(c.dtype(i), c.shape(i), c.input(i), attrs.summarize);
        ++i;
      });
    }},
    .traits = text_traits,
});

}  // namespace

Tensor format(const std::string& template_, const std::vector<Tensor>& inputs, const FormatOptions& options) {
  FormatAttrs attrs{template_, options.placeholder, options.summarize};
  int64_t placeholders = count_placeholders(attrs);
  if (placeholders != static_cast<int64_t>(inputs.size()))
    throw ValueError("strings.format: The template expects " + std::to_string(placeholders) +
                     " tensors, but the inputs only has " + std::to_string(inputs.size()) +
                     ". Please ensure the number of placeholders in template matches inputs length.");
  return apply_values(StringFormat, inputs, {}, attrs);
}

namespace {
const FunctionDef* const strings_format_functions[] = {
    &define_function<format>({"strings.format"}, {"template", "inputs"}),
};
}  // namespace

}  // namespace thalweg::strings
