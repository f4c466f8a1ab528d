#include <algorithm>

#include "thalweg/core/error.h"
#include "thalweg/keras/layers/core.h"
#include "thalweg/ops/einsum.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/matmul.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::keras::layers {
namespace {

/// `[X],[Y]->[Z]` taken apart; where there are dots they are all on the left or all on the right.
struct Equation {
  std::string input, kernel, output;
  bool dots_left = false, dots_right = false;
};

bool is_word(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
}

Equation parse(const std::string& equation) {
  const size_t comma = equation.find(','), arrow = equation.find("->");
  Equation found;
  bool fits = comma != equation.npos && arrow != equation.npos && comma < arrow;
  if (fits) {
    found = {equation.substr(0, comma), equation.substr(comma + 1, arrow - comma - 1), equation.substr(arrow + 2)};
    auto take = [&](bool left) {
      for (std::string* part : {&found.input, &found.output}) {
        if (left ? !part->starts_with("...") : !part->ends_with("...")) return false;
        part->erase(left ? 0 : part->size() - 3, 3);
      }
      return true;
    };
    if (found.input.starts_with("...")) fits = found.dots_left = take(true);
    else if (found.input.ends_with("...")) fits = found.dots_right = take(false) && found.input.size() > 1;
  }
  if (!fits || !is_word(found.input) || !is_word(found.kernel) || !is_word(found.output))
    throw ValueError("Invalid einsum equation '" + equation +
                     "'. Equations must be in the form [X],[Y]->[Z], ...[X],[Y]->...[Z], or [X]...,[Y]->[Z]....");
  return found;
}

struct EinsumDenseLayer {
  std::string equation = {};
  Shape output_shape = Shape::unknown_rank();
  EinsumDenseOptions options = {};
  Variable kernel = {}, bias = {};

  void check() { options.activity_regularizer = {}; }  // Keras takes one and does not use it
  void build(const Shape& input) {
    const Equation parts = parse(equation);
    const int elided = std::max(0, input.rank() - static_cast<int>(parts.input.size()));
    Shape whole = output_shape;  // batch included
    whole.insert(0, input[0]);
    if (parts.dots_left)
      for (int i = 1; i < elided; ++i) whole.insert(i, input[i]);
    if (parts.dots_right)
      for (int i = input.rank() - elided; i < input.rank(); ++i) whole.push_back(input[i]);
    const int before = parts.dots_left ? elided : 0;
    auto size_in = [&](const Shape& shape, const std::string& letters, char letter) {
      const size_t at = letters.find(letter);
      const int place = before + static_cast<int>(at);
      return place < shape.rank() ? shape[place] : unknown;
    };
    for (char letter : parts.output) {
      const bool in_input = parts.input.find(letter) != parts.input.npos;
      if (!in_input && parts.kernel.find(letter) == parts.kernel.npos)
        throw ValueError(std::string("Dimension '") + letter + "' was specified in the output '" + parts.output +
                         "' but has no corresponding dim in the input spec '" + parts.input + "' or weight spec '" +
                         parts.output + "'");
      if (!in_input) continue;
      const int64_t in = size_in(input, parts.input, letter), out = size_in(whole, parts.output, letter);
      if (out >= 0 && in != out)
        throw ValueError(std::string("Input shape and output shape do not match at shared dimension '") + letter +
                         "'. Input shape is " + (in < 0 ? "None" : std::to_string(in)) + ", and output shape is " +
                         std::to_string(out) + ".");
    }
    Shape kernel_shape;
    for (char letter : parts.kernel) {
      if (parts.input.find(letter) != parts.input.npos) kernel_shape.push_back(size_in(input, parts.input, letter));
      else if (parts.output.find(letter) != parts.output.npos)
        kernel_shape.push_back(size_in(whole, parts.output, letter));
      else
        throw ValueError(std::string("Weight dimension '") + letter +
                         "' did not have a match in either the input spec '" + parts.input + "' or the output spec '" +
                         parts.output + "'. For this layer, the weight must be fully specified.");
    }
    std::optional<Shape> bias_shape;
    if (options.bias_axes && !options.bias_axes->empty()) {
      size_t first = parts.output.size();
      for (char letter : *options.bias_axes) {
        if (parts.output.find(letter) == parts.output.npos)
          throw ValueError(std::string("Bias dimension '") + letter +
                           "' was requested, but is not part of the output "
                           "spec '" +
                           parts.output + "'");
        first = std::min(first, parts.output.find(letter));
      }
      bias_shape.emplace();
      for (char letter : parts.output.substr(first)) {
        const bool has = options.bias_axes->find(letter) != std::string::npos;
        bias_shape->push_back(has ? size_in(whole, parts.output, letter) : 1);
      }
      if (!parts.dots_left)
        for (int i = 0; i < elided; ++i) bias_shape->push_back(1);
    }
    kernel = add_weight(kernel_shape, {.initializer = options.kernel_initializer,
                                       .regularizer = options.kernel_regularizer,
                                       .constraint = options.kernel_constraint});
    if (bias_shape)
      bias = add_weight(*bias_shape, {.initializer = options.bias_initializer,
                                      .regularizer = options.bias_regularizer,
                                      .constraint = options.bias_constraint});
  }
  Tensor call(const Tensor& x) {
    Tensor y = multiply(x);
    if (bias.defined()) y = y + bias;
    return options.activation.defined() ? options.activation(y) : y;
  }

  /// Where the last dimensions of x meet the first of the kernel, one matrix product does it.
  Tensor multiply(const Tensor& x) const {
    const Equation parts = parse(equation);
    size_t summed = 0;
    while (summed < parts.kernel.size() && parts.output.find(parts.kernel[summed]) == parts.output.npos) ++summed;
    const bool is_product =
        summed > 0 && summed < parts.kernel.size() && parts.input.size() > summed && !parts.dots_left &&
        !parts.dots_right && parts.input.ends_with(parts.kernel.substr(0, summed)) &&
        parts.output == parts.input.substr(0, parts.input.size() - summed) + parts.kernel.substr(summed) &&
        x.rank() == static_cast<int>(parts.input.size());
    if (!is_product) return einsum(equation, {x, kernel});
    const int count = static_cast<int>(summed), kept = x.rank() - count;
    const Shape& k = kernel.shape();
    const int64_t depth = k.count(0, count);
    Tensor rows = reshape(x, Tensor(std::vector<int64_t>{-1, depth}));
    Tensor product = matmul(rows, reshape(kernel, Tensor(std::vector<int64_t>{depth, k.count(count, k.rank())})));
    int unknowns = 0;
    std::vector<int64_t> dims;
    for (int i = 0; i < kept; ++i) unknowns += x.shape()[i] < 0;
    for (int i = 0; i < kept; ++i) dims.push_back(x.shape()[i]);
    for (int i = count; i < k.rank(); ++i) dims.push_back(k[i]);
    if (unknowns <= 1 && product.shape().num_elements() != 0) return reshape(product, Tensor(dims));
    Tensor known(std::vector<int32_t>(dims.begin() + kept, dims.end()));
    return reshape(product, concat({shape(x)(slice(0, kept)), known}, 0));
  }
};

}  // namespace

Layer EinsumDense(const std::string& equation, const Shape& output_shape, const EinsumDenseOptions& options) {
  return EinsumDenseLayer{equation, output_shape, options};
}

}  // namespace thalweg::keras::layers
