// Attention: sequences that look at each other. Layers are called on lists, [query, value] or [query, value, key];
// without a key the values are the keys. The query may say which of its steps count by a mask, and so may the values.
#pragma once
#include "thalweg/keras/layer.h"

namespace thalweg::keras::layers {

struct AttentionOptions {
  Flag use_scale = false;          // scores are scaled by a weight
  std::string score_mode = "dot";  // or "concat": sum(tanh(query + key))
  double dropout = 0.0;            // of scores, in training
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// Luong's attention: softmax(query * key^T) * value.
THALWEG_API Layer Attention(const AttentionOptions& options = {});

struct AdditiveAttentionOptions {
  Flag use_scale = true;  // a weight for each feature
  double dropout = 0.0;
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// Bahdanau's attention: softmax(sum(tanh(query + key))) * value.
THALWEG_API Layer AdditiveAttention(const AdditiveAttentionOptions& options = {});

struct MultiHeadAttentionOptions {
  std::optional<int64_t> value_dim = {};  // left out: key_dim
  double dropout = 0.0;
  Flag use_bias = true;
  Axis output_shape = {};    // of one step; left out: that of the query
  Axis attention_axes = {};  // the axes of steps; left out: all but those of batch, heads and features
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  Constraint kernel_constraint = {}, bias_constraint = {};
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// Attention of several heads at once, each with projections of its own: `attention({query, value})`, with
/// `{.attention_mask = mask}` for pairs of steps, `{.use_causal_mask = true}` for decoders, and
/// `call<2>(..., {.return_attention_scores = true})` for the scores of the heads.
THALWEG_API Layer MultiHeadAttention(int64_t num_heads, int64_t key_dim, const MultiHeadAttentionOptions& options = {});

/// Which steps may look at which: [1, queries, values], each at itself and those before it.
Tensor causal_mask(const Tensor& queries, const Tensor& values);

}  // namespace thalweg::keras::layers
