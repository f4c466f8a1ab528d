// tf::print: tensors as text, eagerly and from traced functions.
#pragma once
#include <string>
#include <vector>

#include "thalweg/ops/options.h"

namespace thalweg {

/// One thing to print: text as it is, or a tensor.
class PrintItem {
 public:
  PrintItem(const char* text) : text_(text) {}                                   // NOLINT
  PrintItem(const std::string& text) : text_(text) {}                            // NOLINT
  template <std::convertible_to<Tensor> T> PrintItem(const T& t) : tensor_(t) {  // NOLINT
    if (!tensor_.defined()) text_ = "None";
  }
  const std::string& text() const { return text_; }
  /// Undefined where it is text.
  const Tensor& tensor() const { return tensor_; }

 private:
  std::string text_;
  Tensor tensor_;
};
struct PrintOptions {
  std::string output_stream = "stderr";  // or "stdout", "log(info)", "file://path"
  int64_t summarize = 3;                 // how many elements at each end of a dimension; -1: all
  std::string sep = " ";
  std::string end = "\n";
};
/// Writes a line: `print({"loss:", loss}, {.output_stream = "stdout"})`. A traced function writes it each time it runs.
THALWEG_API void print(const std::vector<PrintItem>& items, const PrintOptions& options = {});
/// The same for things one by one: `print("loss:", loss)`.
template <class... T>
  requires(sizeof...(T) > 0 && (std::convertible_to<const T&, PrintItem> && ...))
void print(const T&... items) {
  print(std::vector<PrintItem>{PrintItem(items)...});
}

}  // namespace thalweg
