#include "thalweg/core/error.h"
#include "thalweg/keras/layers/core.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"

namespace thalweg::keras::layers {

Value to_value(const InputLength& length) {
  if (!length.given()) return {};
  return length.is_list_ ? keras::to_value(length.dims_) : Value(length.dims_[0]);
}
void from_value(InputLength& length, const Value& value) {
  length = {};
  keras::from_value(length.dims_, value);
  length.is_list_ = value.is_list();
}

namespace {

struct EmbeddingLayer {
  int64_t input_dim = 0, output_dim = 0;
  EmbeddingOptions options = {};
  Variable embeddings = {};

  void check() {
    if (input_dim <= 0 || output_dim <= 0)
      throw ValueError("Both `input_dim` and `output_dim` should be positive, Received input_dim = " +
                       std::to_string(input_dim) + " and output_dim = " + std::to_string(output_dim));
    // Sequences of any length where nothing else is said, so that a model may begin with it.
    if (options.input_shape.has_rank()) return;
    options.input_shape = options.input_length.given() ? options.input_length.dims() : Shape{unknown};
  }
  void build(const Shape&) {
    embeddings = add_weight({input_dim, output_dim}, {.initializer = options.embeddings_initializer,
                                                      .regularizer = options.embeddings_regularizer,
                                                      .constraint = options.embeddings_constraint});
  }
  Tensor call(const Tensor& x) {
    const bool is_index = x.dtype() == DType::int32 || x.dtype() == DType::int64;
    return embeddings.sparse_read(is_index ? x : cast(x, DType::int32));
  }
  Shape compute_output_shape(const Shape& input) {
    Shape output = input;
    const Shape& length = options.input_length.dims();
    if (length.has_rank()) {
      bool fits = length.rank() == input.rank() - 1;
      for (int i = 0; fits && i < length.rank(); ++i) {
        fits = length[i] < 0 || input[i + 1] < 0 || length[i] == input[i + 1];
        if (output[i + 1] < 0) output[i + 1] = length[i];
      }
      if (!fits)
        throw ValueError("\"input_length\" is " + to_value(options.input_length).json() +
                         ", but received input has shape " + input.str());
    }
    output.push_back(output_dim);
    return output;
  }
  Nest compute_mask(const Nest& x, const Nest&) {
    if (!options.mask_zero) return {};
    return not_equal(x.tensor(), cast(Tensor(0), x.tensor().dtype()));
  }
};

}  // namespace

Layer Embedding(int64_t input_dim, int64_t output_dim, const EmbeddingOptions& options) {
  return EmbeddingLayer{input_dim, output_dim, options};
}

}  // namespace thalweg::keras::layers
