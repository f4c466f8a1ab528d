// The kinds that are one function: activations, initializers, regularizers, constraints. Each is a name, a plain struct
// with `call`, or a lambda.
#pragma once
#include "thalweg/keras/object.h"

namespace thalweg {
struct LeakyReluOptions;
namespace nn {
struct SoftmaxOptions;
}
}  // namespace thalweg

namespace thalweg::keras {

struct THALWEG_API ActivationTag {
  static constexpr const char* kind = "activation";
};
struct THALWEG_API InitializerTag {
  static constexpr const char* kind = "initializer";
};
struct THALWEG_API RegularizerTag {
  static constexpr const char* kind = "regularizer";
};
struct THALWEG_API ConstraintTag {
  static constexpr const char* kind = "constraint";
};

/// From a tensor to one like it: `"relu"`, a lambda. Nothing at all is the identity, Keras's `linear`.
class THALWEG_API Activation : public FunctionHandle<ActivationTag, Tensor, Tensor> {
 public:
  using FunctionHandle::FunctionHandle;
  Activation() = default;
  // Functions whose option may be given by position have two forms: the one with options is meant.
  Activation(Tensor (*softmax)(const Tensor& x, const nn::SoftmaxOptions& options));   // NOLINT: nn::softmax
  Activation(Tensor (*leaky_relu)(const Tensor& x, const LeakyReluOptions& options));  // NOLINT: nn::leaky_relu
};
/// The first value of a weight, by shape and dtype.
using Initializer = FunctionHandle<InitializerTag, Tensor, Shape, DType>;
/// A penalty on the values of a weight, a scalar.
using Regularizer = FunctionHandle<RegularizerTag, Tensor, Tensor>;
/// What a weight becomes after each step of training.
using Constraint = FunctionHandle<ConstraintTag, Tensor, Tensor>;

extern template class Handle<Activation::Interface>;
extern template class Handle<Initializer::Interface>;
extern template class Handle<Regularizer::Interface>;
extern template class Handle<Constraint::Interface>;

/// One of the same kind for another weight: without a seed it draws other numbers.
THALWEG_API Initializer renewed(const Initializer& initializer);

/// Nothing is written as `linear`.
THALWEG_API Value to_value(const Activation& activation);

}  // namespace thalweg::keras
