// Layers that have nothing to do with space or time.
#pragma once
#include <functional>

#include "thalweg/keras/layer.h"

namespace thalweg::keras::layers {

/// What layers without options of their own take.
struct PlainOptions {
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};

struct DenseOptions {
  keras::Activation activation = {};
  Flag use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  Constraint kernel_constraint = {}, bias_constraint = {};
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// activation(x * kernel + bias), along the last axis.
THALWEG_API Layer Dense(int64_t units, const DenseOptions& options = {});

struct EinsumDenseOptions {
  keras::Activation activation = {};
  std::optional<std::string> bias_axes = {};  // those of the output that the bias has; left out: no bias
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  Constraint kernel_constraint = {}, bias_constraint = {};
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// activation(einsum(equation, x, kernel) + bias): `EinsumDense("abc,cd->abd", {unknown, 64})`. The output shape is
/// that of one example; dimensions that the input has may be unknown.
THALWEG_API Layer EinsumDense(const std::string& equation, const Shape& output_shape,
                              const EinsumDenseOptions& options = {});

/// The length of sequences, or the sizes of all dimensions after the batch, of which some may be unknown; nothing where
/// they may be any.
class THALWEG_API InputLength {
 public:
  InputLength() = default;
  InputLength(int64_t length) : dims_({length}), is_list_(false) {}    // NOLINT: `.input_length = 10`
  InputLength(Shape dims) : dims_(std::move(dims)), is_list_(true) {}  // NOLINT
  bool given() const { return dims_.has_rank(); }
  const Shape& dims() const { return dims_; }
  friend THALWEG_API Value to_value(const InputLength& length);
  friend THALWEG_API void from_value(InputLength& length, const Value& value);

 private:
  Shape dims_ = Shape::unknown_rank();
  bool is_list_ = false;
};
struct EmbeddingOptions {
  Initializer embeddings_initializer = "uniform";
  Regularizer embeddings_regularizer = {}, activity_regularizer = {};
  Constraint embeddings_constraint = {};
  Flag mask_zero = false;  // 0 is padding: what follows does not see it
  InputLength input_length = {};
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// Rows of a table with `input_dim` rows of length `output_dim`, by integers.
THALWEG_API Layer Embedding(int64_t input_dim, int64_t output_dim, const EmbeddingOptions& options = {});

using ActivationOptions = PlainOptions;
/// An activation as a layer.
THALWEG_API Layer Activation(const keras::Activation& activation, const ActivationOptions& options = {});

struct MaskingOptions {
  double mask_value = 0.0;
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// Masks the time steps all of whose values are `mask_value`, and sets them to 0.
THALWEG_API Layer Masking(const MaskingOptions& options = {});

/// The inputs as they are.
THALWEG_API Layer Identity(const PlainOptions& options = {});

struct ActivityRegularizationOptions {
  double l1 = 0.0, l2 = 0.0;
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// Adds l1 * sum(|x|) + l2 * sum(x ^ 2) to the losses and gives x.
THALWEG_API Layer ActivityRegularization(const ActivityRegularizationOptions& options = {});

/// From the inputs of a layer to its outputs.
using LambdaFunction = std::function<Nest(const Nest& inputs, const CallArgs& args)>;
struct LambdaOptions {
  std::function<Nest(const Nest& inputs, const Nest& mask)> mask = {};  // the mask of the output; left out: none
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// A function as a layer: `Lambda([](const Nest& x, const CallArgs&) { return Nest(square(x.tensor())); })`. It keeps
/// no weights, and a configuration cannot hold it: write a struct with `call` for that.
THALWEG_API Layer Lambda(const LambdaFunction& function, const LambdaOptions& options = {});

// The same with an option by position (docs/decisions/0013).
template <As<keras::Activation> A = keras::Activation>
Layer Dense(int64_t units, const A& activation, DenseOptions options = {}) {
  return Dense(units, with(options, options.activation, activation));
}
template <As<double> A = double> Layer Masking(const A& mask_value, MaskingOptions options = {}) {
  return Masking(with(options, options.mask_value, mask_value));
}

namespace detail {
/// How many tensors a function takes one by one: 0 where it takes none so.
template <class F> consteval size_t count_tensors() {
  using T = const Tensor&;
  if constexpr (std::is_invocable_r_v<Tensor, F&, T>) return 1;
  else if constexpr (std::is_invocable_r_v<Tensor, F&, T, T>) return 2;
  else if constexpr (std::is_invocable_r_v<Tensor, F&, T, T, T>) return 3;
  else return 0;
}
}  // namespace detail
/// The same for a function from tensor to tensor, `Lambda([](const Tensor& x) { return square(x); })`, or of two or
/// three tensors, which the layer takes in a list: `Lambda([](const Tensor& a, const Tensor& b) { return a - b; })`.
template <class F>
  requires(detail::count_tensors<F>() > 0)
Layer Lambda(F function, const LambdaOptions& options = {}) {
  return Lambda(LambdaFunction([function](const Nest& x, const CallArgs&) mutable {
                  if constexpr (detail::count_tensors<F>() == 1) return Nest(function(x.tensor()));
                  else return Nest(std::apply(function, x.as<std::array<Tensor, detail::count_tensors<F>()>>()));
                }),
                options);
}

}  // namespace thalweg::keras::layers
