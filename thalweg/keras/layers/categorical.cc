#include "thalweg/keras/layers/categorical.h"

#include <algorithm>

#include "thalweg/core/error.h"
#include "thalweg/keras/call_context.h"
#include "thalweg/keras/layers/encoding.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/counting.h"
#include "thalweg/ops/debugging.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::keras::layers {

void check_output_mode(const char* layer_name, const std::string& output_mode, bool sparse,
                       const std::vector<std::string>& modes) {
  if (std::find(modes.begin(), modes.end(), output_mode) == modes.end()) {
    std::string known;
    for (const std::string& mode : modes) known += (known.empty() ? "'" : ", '") + mode + "'";
    throw ValueError("Unkown value for `output_mode` argument of layer " + std::string(layer_name) +
                     ". Allowed values are: or one of the following values: (" + known + "). Received: " + output_mode);
  }
  if (!sparse) return;
  if (output_mode == "int")
    throw ValueError(
        "`sparse` may only be true if `output_mode` is `'one_hot'`, `'multi_hot'`, or `'count'`. Received: sparse=True "
        "and output_mode=int");
  throw ValueError(std::string(layer_name) +
                   ": sparse=True asks for a SparseTensor, which this library does not have; sparse=False gives the "
                   "same numbers in a dense tensor");
}

void complete_dtype(Policy& policy, const std::string& output_mode) {
  if (!policy.given()) policy = output_mode == "int" ? DType::int64 : DType::float32;
}

Tensor encode(const Tensor& categories, const EncodeOptions& options) {
  if (options.output_mode == "int") return cast(categories, options.dtype);
  Tensor x = categories;
  if (x.rank() == 0) x = expand_dims(x, -1);
  if (options.output_mode == "one_hot" && x.shape()[-1] != 1) x = expand_dims(x, -1);
  if (x.rank() > 2)
    throw ValueError("When output_mode is not `'int'`, maximum supported output rank is 2. Received output_mode " +
                     options.output_mode + " and input shape " + categories.shape().str() +
                     ", which would result in output rank " + std::to_string(x.rank()) + ".");
  const Tensor depth(options.depth);
  // What counts are kept in; halves are made of it.
  const bool is_half_precision = is_half(options.dtype);
  Tensor counts = math::bincount(
      x, {.weights = options.count_weights.defined() && is_half_precision ? cast(options.count_weights, DType::float32)
                                                                          : options.count_weights,
          .minlength = depth,
          .maxlength = depth,
          .dtype = is_half_precision ? DType::float32 : options.dtype,
          .axis = -1,
          .binary_output = options.output_mode != "count"});
  return is_half_precision ? cast(counts, options.dtype) : counts;
}

Shape encoded_shape(Shape input, const std::string& output_mode, int64_t depth) {
  if (output_mode == "int") return input;
  if (input.rank() == 0) return {depth};
  if (output_mode == "one_hot" && input[-1] != 1) input.push_back(depth);
  else input[-1] = depth;
  return input;
}

namespace {

struct CategoryEncodingLayer {
  CategoryEncodingOptions options = {};

  void check() {
    check_output_mode("CategoryEncoding", options.output_mode, options.sparse, {"count", "one_hot", "multi_hot"});
    if (!options.num_tokens)
      throw ValueError(
          "num_tokens must be set to use this layer. If the number of tokens is not known beforehand, use the "
          "IntegerLookup layer instead.");
    if (*options.num_tokens < 1)
      throw ValueError("`num_tokens` must be >= 1. Received: num_tokens=" + std::to_string(*options.num_tokens) + ".");
    complete_dtype(options.dtype, options.output_mode);
  }
  Tensor call(const Tensor& x, const CallArgs& args) {
    const DType dtype = keras::detail::own_dtype();
    Tensor weights;
    if (args.more.is_tensor()) {
      if (options.output_mode != "count")
        throw ValueError("`count_weights` is not used when `output_mode` is not `'count'`. Received `count_weights=" +
                         args.more.str() + "`.");
      weights = cast(args.more.tensor(), dtype);
    }
    const std::string wanted =
        "Input values must be in the range 0 <= values < num_tokens with num_tokens=" + std::to_string(num_tokens());
    Tensor fits =
        logical_and(reduce_max(x) < cast(Tensor(num_tokens()), x.dtype()), reduce_min(x) >= cast(Tensor(0), x.dtype()));
    if (fits.is_symbolic()) debugging::Assert(fits, std::vector<Tensor>{Tensor(wanted)});
    else if (!fits.item<bool>())
      throw InvalidArgumentError("Expected '" + fits.str() + "' to be true. Summarized data: b'" + wanted + "'");
    return encode(
        x, {.output_mode = options.output_mode, .depth = num_tokens(), .dtype = dtype, .count_weights = weights});
  }
  int64_t num_tokens() const { return options.num_tokens.value_or(0); }
  Shape compute_output_shape(const Shape& input) { return encoded_shape(input, options.output_mode, num_tokens()); }
};

}  // namespace

Layer CategoryEncoding(const CategoryEncodingOptions& options) { return CategoryEncodingLayer{options}; }

}  // namespace thalweg::keras::layers
