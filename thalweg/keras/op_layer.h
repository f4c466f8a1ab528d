// Ops on the tensors of models: each becomes a layer.
#pragma once
#include "thalweg/keras/functional.h"
#include "thalweg/ops/apply.h"

namespace thalweg::keras {

/// An op with its attributes, and those of its inputs that have values.
class OpLayer : public LayerInterface {
 public:
  OpLayer(const Op& op, AttrsRef attrs, std::vector<Tensor> inputs, int num_outputs);

  std::string class_name() const override { return "TFOpLambda"; }
  const char* module_name() const override { return "keras.src.layers.core.tf_op_layer"; }
  Value get_config() const override;
  void build(const Nest&) override {}
  Nest call(const Nest& inputs, const CallArgs& args) override;
  /// The layer that a configuration is of.
  static std::shared_ptr<OpLayer> from_config(const Value& config);

 private:
  const Op& op_;
  Attrs attrs_;
  std::vector<Tensor> inputs_;  // none for those that come with a call
  int num_outputs_;
};

/// An op that is the whole of a public function as the layer of that function; nothing where it is not.
std::optional<Tensor> call_as_function(const Op& op, std::span<const TensorRef> in, AttrsRef attrs);

}  // namespace thalweg::keras
