// Public functions on the tensors of models: each call becomes a layer, under the name that Keras gives it.
#pragma once
#include "thalweg/keras/functional.h"
#include "thalweg/ops/function.h"

namespace thalweg::keras {

/// How Keras writes the calls of a function.
struct FunctionStyle {
  std::string symbol;                                             // "math.reduce_mean", "compat.v1.shape"
  Value::Map always = {};                                         // arguments that stand there even if nobody gave them
  std::vector<std::pair<std::string, std::string>> renamed = {};  // what a parameter is called there
};
THALWEG_API FunctionStyle style_of(const FunctionDef& function);
/// The function behind a name of Keras's, or null; `renamed` gets the names of its parameters there.
const FunctionDef* function_named(std::string_view symbol, FunctionStyle& style);

/// A public function as a layer; `x[...]` is one too. The first argument is the input, the others go by name.
class THALWEG_API FunctionLayer : public LayerInterface {
 public:
  /// ValueError for a symbol that stands for nothing.
  explicit FunctionLayer(const std::string& symbol, const std::string& name = {});

  std::string class_name() const override { return is_slicing_ ? "SlicingOpLambda" : "TFOpLambda"; }
  const char* module_name() const override { return "keras.src.layers.core.tf_op_layer"; }
  Value get_config() const override { return Value::map({{"function", symbol_}}); }
  void build(const Nest&) override {}
  Nest call(const Nest& inputs, const CallArgs& args) override;
  Nest compute_mask(const Nest&, const Nest&) override { return {}; }
  bool takes_named_arguments() const override { return true; }
  /// What its first argument is called.
  const std::string& first_name() const;
  /// The name that the op which gives its result has in TensorFlow; empty where that is the op's own.
  std::string_view op_name() const;
  /// The shapes of its results as Python prints them; empty where they have no names.
  std::string record_text(const Nest& results) const;

 private:
  Nest call_function(const Nest& first, const CallArgs& args) const;

  std::string symbol_;
  const FunctionDef* function_ = nullptr;  // null: x[...]
  FunctionStyle style_;
  bool is_slicing_ = false;
};

/// Calls a function by Keras's name for it on tensors of models. `first` is the first argument, an empty list where
/// that is no tensor; it stands among the named arguments then, as their first. Tensors in `named` are places in
/// `tensors`.
THALWEG_API Nest call_symbol(const std::string& symbol, const Nest& first, Value named, std::vector<Nest> tensors);

}  // namespace thalweg::keras
