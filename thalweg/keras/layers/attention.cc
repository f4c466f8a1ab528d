#include "thalweg/keras/layers/attention.h"

#include "thalweg/core/error.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/diagonals.h"
#include "thalweg/ops/dropout.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/losses.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_elementary.h"
#include "thalweg/ops/matmul.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::keras::layers {

Tensor causal_mask(const Tensor& queries, const Tensor& values) {
  return linalg::band_part(fill(stack({Tensor(1), queries, values}), true), -1, 0);
}

namespace {

void check_call(const char* name, const Nest& inputs, const Nest& mask) {
  const std::string layer = name;
  if (!inputs.is_sequence())
    throw ValueError(layer +
                     " layer must be called on a list of inputs, namely [query, value] or [query, value, key]. "
                     "Received: " +
                     inputs.str() + ".");
  if (inputs.size() < 2 || inputs.size() > 3)
    throw ValueError(layer +
                     " layer accepts inputs list of length 2 or 3, namely [query, value] or [query, value, key]. "
                     "Received length: " +
                     std::to_string(inputs.size()) + ".");
  if (mask.is_none()) return;
  if (!mask.is_sequence())
    throw ValueError(layer + " layer mask must be a list, namely [query_mask, value_mask]. Received: " + mask.str() +
                     ".");
  if (mask.size() < 2 || mask.size() > inputs.size())
    throw ValueError(layer +
                     " layer mask must be a list of length 2, namely [query_mask, value_mask]. Received length: " +
                     std::to_string(mask.size()) + ".");
}

/// From the scores [batch, queries, values] on: masks, softmax, dropout, and the mean of the values.
Nest attend(const Tensor& scores, const Nest& inputs, const CallArgs& args, double dropout) {
  const Tensor& value = inputs[1].tensor();
  const bool has_mask = !args.mask.is_none();
  Tensor mask = has_mask && !args.mask[1].is_none() ? expand_dims(args.mask[1].tensor(), -2) : Tensor();
  if (args.use_causal_mask) {
    Tensor sizes = shape(scores);
    Tensor causal = causal_mask(sizes(-2), sizes(-1));
    mask = mask.defined() ? logical_and(mask, causal) : causal;
  }
  Tensor logits = scores;
  if (mask.defined()) {
    const double far = scores.dtype() == DType::float16 ? 65504.0 : 1e9;
    logits = scores - cast(Tensor(far), scores.dtype()) * cast(logical_not(mask), scores.dtype());
  }
  Tensor weights = nn::softmax(logits);
  if (dropout > 0 && args.training) weights = nn::dropout(weights, static_cast<float>(dropout));
  Tensor result = matmul(weights, value);
  if (has_mask && !args.mask[0].is_none())
    result = result * cast(expand_dims(args.mask[0].tensor(), -1), result.dtype());
  if (args.return_attention_scores) return Nest::tuple({result, weights});
  return result;
}

const Tensor& key_of(const Nest& inputs) { return inputs[inputs.size() > 2 ? 2 : 1].tensor(); }
Nest query_mask(const Nest& mask) { return mask.is_none() ? Nest() : mask[0]; }

struct AttentionLayer {
  AttentionOptions options = {};
  Variable scale = {}, concat_score_weight = {};

  void check() const {
    if (options.score_mode != "dot" && options.score_mode != "concat")
      throw ValueError("Received: score_mode=" + options.score_mode + ". Acceptable values are: [\"dot\", \"concat\"]");
  }
  void build(const Nest& inputs) {
    check_call("Attention", inputs, {});
    if (options.use_scale) scale = add_weight({}, {.initializer = "ones"});
    if (options.score_mode == "concat") concat_score_weight = add_weight({}, {.initializer = "ones"});
  }
  Nest call(const Nest& inputs, const CallArgs& args) {
    check_call("Attention", inputs, args.mask);
    const Tensor& query = inputs[0].tensor();
    const Tensor& key = key_of(inputs);
    Tensor scores;
    if (options.score_mode == "dot") {
      scores = matmul(query, key, {.transpose_b = true});
      if (scale.defined()) scores = scores * scale;
    } else {
      Tensor sums = expand_dims(query, -2) + expand_dims(key, -3);
      if (scale.defined()) sums = scale * sums;
      scores = concat_score_weight * reduce_sum(tanh(sums), {.axis = -1});
    }
    return attend(scores, inputs, args, options.dropout);
  }
  Nest compute_mask(const Nest& inputs, const Nest& mask) {
    check_call("Attention", inputs, mask);
    return query_mask(mask);
  }
};

struct AdditiveAttentionLayer {
  AdditiveAttentionOptions options = {};
  Variable scale = {};

  void build(const Nest& inputs) {
    check_call("AdditiveAttention", inputs, {});
    if (options.use_scale) scale = add_weight({inputs[1].tensor().shape()[-1]}, {.initializer = "glorot_uniform"});
  }
  Nest call(const Nest& inputs, const CallArgs& args) {
    check_call("AdditiveAttention", inputs, args.mask);
    Tensor bent = tanh(expand_dims(inputs[0].tensor(), -2) + expand_dims(key_of(inputs), -3));
    if (scale.defined()) bent = scale * bent;
    return attend(reduce_sum(bent, {.axis = -1}), inputs, args, options.dropout);
  }
  Nest compute_mask(const Nest& inputs, const Nest& mask) {
    check_call("AdditiveAttention", inputs, mask);
    return query_mask(mask);
  }
};

}  // namespace

Layer Attention(const AttentionOptions& options) { return AttentionLayer{options}; }
Layer AdditiveAttention(const AdditiveAttentionOptions& options) { return AdditiveAttentionLayer{options}; }

}  // namespace thalweg::keras::layers
