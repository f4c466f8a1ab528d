#include <algorithm>
#include <cmath>

#include "thalweg/core/error.h"
#include "thalweg/keras/layers/activation.h"
#include "thalweg/keras/layers/attention.h"
#include "thalweg/keras/layers/core.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/dropout.h"
#include "thalweg/ops/einsum.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/matmul.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/transposing.h"

namespace thalweg::keras::layers {
namespace {

/// `abc,cde->abde`: `free` dimensions stay, `bound` ones are summed, `made` ones come from the kernel.
struct Projection {
  std::string equation, bias_axes;
};
Projection project(int free, int bound, int made) {
  auto letters = [](int from, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += static_cast<char>('a' + from + i);
    return text;
  };
  const std::string kept = letters(0, free), summed = letters(free, bound), created = letters(free + bound, made);
  return {kept + summed + "," + summed + created + "->" + kept + created, created};
}

struct MultiHeadAttentionLayer {
  int64_t num_heads = 1, key_dim = 1;
  MultiHeadAttentionOptions options = {};
  Shape query_shape = Shape::unknown_rank(), key_shape = Shape::unknown_rank(), value_shape = Shape::unknown_rank();
  Layer query = {}, key = {}, value = {}, attention_output = {};

  void check() {
    if (num_heads <= 0 || key_dim <= 0)
      throw ValueError("MultiHeadAttention: `num_heads` and `key_dim` should be positive. Received: num_heads=" +
                       std::to_string(num_heads) + ", key_dim=" + std::to_string(key_dim));
    if (!options.value_dim) options.value_dim = key_dim;
  }
  Layer make(const char* name, int free, int bound, const std::vector<int64_t>& made) const {
    Projection projection = project(free, bound, static_cast<int>(made.size()));
    Shape output = Shape::of_rank(free - 1);  // without the batch
    for (int64_t dim : made) output.push_back(dim);
    // An initializer gives the same values at each call: each projection has its own.
    EinsumDenseOptions with{.kernel_initializer = renewed(options.kernel_initializer),
                            .bias_initializer = renewed(options.bias_initializer),
                            .kernel_regularizer = options.kernel_regularizer,
                            .bias_regularizer = options.bias_regularizer,
                            .activity_regularizer = options.activity_regularizer,
                            .kernel_constraint = options.kernel_constraint,
                            .bias_constraint = options.bias_constraint,
                            .name = name,
                            .dtype = options.dtype};
    if (options.use_bias) with.bias_axes = projection.bias_axes;
    return EinsumDense(projection.equation, output, with);
  }
  void build(const Nest& inputs) {
    if (!inputs.is_sequence())
      throw TypeError("MultiHeadAttention.call() missing 1 required positional argument: 'value'");
    if (inputs.size() < 2 || inputs.size() > 3)
      throw ValueError("MultiHeadAttention is called on a list, [query, value] or [query, value, key]. Received: " +
                       inputs.str());
    query_shape = inputs[0].tensor().shape();
    value_shape = inputs[1].tensor().shape();
    key_shape = inputs.size() > 2 ? inputs[2].tensor().shape() : value_shape;
    for (const Shape* shape : {&query_shape, &value_shape, &key_shape})
      if (shape->rank() < 3)
        throw ValueError("MultiHeadAttention takes tensors of 3 dimensions or more. Received: " + shape->str());
    query = make("query", query_shape.rank() - 1, 1, {num_heads, key_dim});
    key = make("key", key_shape.rank() - 1, 1, {num_heads, key_dim});
    value = make("value", value_shape.rank() - 1, 1, {num_heads, options.value_dim.value_or(key_dim)});
    std::vector<int64_t> output = options.output_shape.axes();
    if (output.empty()) output = {query_shape[-1]};
    attention_output = make("attention_output", query_shape.rank() - 1, 2, output);
    if (!options.attention_axes.given()) {
      std::vector<int64_t> axes;
      for (int i = 1; i < value_shape.rank() - 1; ++i) axes.push_back(i);
      options.attention_axes = Axis(axes);
    } else {
      options.attention_axes = Axis(options.attention_axes.axes());  // a list in the configuration
    }
  }

  Nest call(const Nest& inputs, const CallArgs& args) {
    const Tensor& q = inputs[0].tensor();
    const Tensor& v = inputs[1].tensor();
    const Tensor& k = inputs.size() > 2 ? inputs[2].tensor() : v;
    Tensor mask = mask_of(q, v, args);
    // In this order: it is that of the weights.
    Tensor queries = query(q), keys = key(k), values = value(v);
    queries = queries * cast(Tensor(1 / std::sqrt(static_cast<double>(key_dim))), queries.dtype());
    const bool is_plain = q.rank() == 3 && k.rank() == 3 && v.rank() == 3;
    Nest result =
        is_plain ? attend(queries, keys, values, mask, args) : attend_along(queries, keys, values, mask, args);
    Tensor output = attention_output(result[0].tensor());
    if (args.return_attention_scores) return Nest::tuple({output, result[1]});
    return output;
  }
  Nest compute_mask(const Nest&, const Nest& mask) { return mask.is_sequence() ? mask[0] : mask; }
  Shape compute_output_shape(const std::vector<Shape>& inputs) const {
    Shape output = inputs.at(0);
    if (options.output_shape.axes().empty()) return output;
    output.erase(output.rank() - 1);
    for (int64_t dim : options.output_shape.axes()) output.push_back(dim);
    return output;
  }

  /// Which values each query may look at, from all masks there are; none: all.
  Tensor mask_of(const Tensor& q, const Tensor& v, const CallArgs& args) const {
    Tensor automatic;
    auto add = [&](const Tensor& mask) { automatic = automatic.defined() ? logical_and(automatic, mask) : mask; };
    for (size_t i = 0; i < args.mask.size(); ++i) {
      if (!args.mask[i].is_tensor()) continue;
      add(expand_dims(cast(args.mask[i].tensor(), DType::bool_), i == 0 ? 2 : 1));
    }
    if (args.use_causal_mask) add(causal_mask(shape(q)(1), shape(v)(1)));
    Tensor given = args.attention_mask.is_tensor() ? args.attention_mask.tensor() : Tensor();
    if (!automatic.defined() || !given.defined()) return automatic.defined() ? automatic : given;
    return logical_and(cast(given, DType::bool_), automatic);
  }
  Tensor drop(const Tensor& scores, const CallArgs& args) const {
    if (!args.training || options.dropout == 0) return scores;
    return nn::dropout(scores, static_cast<float>(options.dropout));
  }

  /// Sequences of vectors: one product of matrices for each head.
  Nest attend(const Tensor& q, const Tensor& k, const Tensor& v, Tensor mask, const CallArgs& args) const {
    auto by_head = [](const Tensor& x) { return transpose(x, {.perm = {0, 2, 1, 3}}); };
    Tensor scores = matmul(by_head(q), by_head(k), {.transpose_b = true});
    while (mask.defined() && mask.rank() < scores.rank()) mask = expand_dims(mask, -3);
    scores = masked_softmax(scores, mask, -1);
    return Nest::tuple({by_head(matmul(drop(scores, args), by_head(v))), scores});
  }
  /// Any dimensions, of which some are those of steps.
  Nest attend_along(const Tensor& q, const Tensor& k, const Tensor& v, Tensor mask, const CallArgs& args) const {
    const std::vector<int64_t>& axes = options.attention_axes.axes();
    const int rank = q.rank();
    auto is_step = [&](int i) { return std::find(axes.begin(), axes.end(), i) != axes.end(); };
    // Dimensions that are no steps come first (batch, others, heads), then the steps of queries, then of values.
    std::string of_query, of_key, batch;
    std::string query_steps, key_steps;
    char next = static_cast<char>('a' + rank);
    for (int i = 0; i < rank; ++i) {
      const auto letter = static_cast<char>('a' + i);
      of_query += letter;
      if (i == rank - 1) of_key += letter;
      else if (is_step(i)) {
        query_steps += letter;
        key_steps += next;
        of_key += next++;
      } else {
        batch += letter;
        of_key += letter;
      }
    }
    const std::string of_scores = batch + query_steps + key_steps;
    Tensor scores = einsum(of_key + "," + of_query + "->" + of_scores, {k, q});
    const auto steps = static_cast<int64_t>(axes.size());
    while (mask.defined() && mask.rank() < scores.rank())
      mask = expand_dims(mask, static_cast<int32_t>(-2 * steps - 1));
    std::vector<int64_t> last;
    for (int64_t i = 0; i < steps; ++i) last.push_back(scores.rank() - steps + i);
    scores = masked_softmax(scores, mask, Axis(last));
    // The values have letters of their own for their features.
    std::string of_value = of_key, of_result = of_query;
    of_value.back() = of_result.back() = next;
    return Nest::tuple({einsum(of_scores + "," + of_value + "->" + of_result, {drop(scores, args), v}), scores});
  }
};

}  // namespace

Layer MultiHeadAttention(int64_t num_heads, int64_t key_dim, const MultiHeadAttentionOptions& options) {
  return MultiHeadAttentionLayer{num_heads, key_dim, options};
}

}  // namespace thalweg::keras::layers
