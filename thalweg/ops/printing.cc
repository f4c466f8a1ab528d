// Printing from a traced function: an op with an effect, in program order with the others.
#include "thalweg/ops/printing.h"

#include <cstdio>

#include "thalweg/core/error.h"
#include "thalweg/core/warning.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/infer.h"
#include "thalweg/ops/op.h"
#include "thalweg/ops/strings.h"

namespace thalweg {
namespace {

struct PrintAttrs {
  std::string output_stream = "stderr";
  std::string end = "\n";
};

void write(std::FILE* stream, const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fflush(stream);
}

const Op& PrintV2 = define_op({
    .name = "PrintV2",
    .doc = "Writes a text to stderr, stdout, the log, or the end of a file (file://path).",
    .signature = "input: string ->",
    .attrs = attrs_of<PrintAttrs>(),
    .infer =
        [](InferCall& c) {
          c.require_rank(0, 0);
          const std::string& stream = c.attrs<PrintAttrs>().output_stream;
          bool known = stream == "stderr" || stream == "stdout" || stream.starts_with("file://") ||
                       stream == "log(info)" || stream == "log(warning)" || stream == "log(error)";
          if (!known)
            c.fail("the output_stream '" + stream +
                   "' is unknown; it is stderr, stdout, log(info), log(warning), log(error) or file://path");
        },
    .kernel = {[](const KernelCall& c) {
      const auto& a = c.attrs<PrintAttrs>();
      std::string text = *c.input<std::string>(0) + a.end;
      if (a.output_stream == "stdout") return write(stdout, text);
      if (!a.output_stream.starts_with("file://")) return write(stderr, text);
      std::FILE* file = std::fopen(a.output_stream.c_str() + 7, "ab");
      if (!file) c.fail("the file " + a.output_stream.substr(7) + " cannot be opened");
      write(file, text);
      std::fclose(file);
    }},
    .traits = {.stateful = true, .not_differentiable = "there is no result"},
});

}  // namespace

void print(const std::vector<PrintItem>& items, const PrintOptions& options) {
  constexpr const char* placeholder = "\x1a{}";  // which no text has
  std::string text;
  std::vector<Tensor> tensors;
  for (const PrintItem& item : items) {
    if (&item != items.data()) text += options.sep;
    text += item.tensor().defined() ? placeholder : item.text();
    if (item.tensor().defined()) tensors.push_back(item.tensor());
  }
  Tensor line = strings::format(text, tensors, {.placeholder = placeholder, .summarize = options.summarize});
  const PrintAttrs attrs{options.output_stream, options.end};
  apply(PrintV2, std::initializer_list<TensorRef>{line}, attrs, {});
}

}  // namespace thalweg
