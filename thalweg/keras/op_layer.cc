#include "thalweg/keras/op_layer.h"

#include "thalweg/core/error.h"
#include "thalweg/keras/attr_config.h"
#include "thalweg/keras/function_layer.h"
#include "thalweg/ops/casting.h"

namespace thalweg::keras {

OpLayer::OpLayer(const Op& op, AttrsRef attrs, std::vector<Tensor> inputs, int num_outputs)
    : op_(op), inputs_(std::move(inputs)), num_outputs_(num_outputs) {
  if (op.attrs) attrs_ = Attrs(*op.attrs, attrs);
  built = true;
  autocast = false;
  name = unique_name("tf.raw_ops." + std::string(op.name));
}

namespace {

constexpr std::string_view prefix = "raw_ops.";

Value tensor_to_value(const Tensor& t) {
  if (!t.defined()) return {};
  return Value::map({{"dtype", to_value(t.dtype())}, {"shape", to_value(t.shape())}, {"value", to_value(t)}});
}
Tensor tensor_from_value(const Value& value) {
  if (value.is_none()) return {};
  Tensor made;
  from_value(made, value["value"]);
  DType dtype = DType::float32;
  from_value(dtype, value["dtype"]);
  return cast(made, dtype);
}

}  // namespace

Value OpLayer::get_config() const {
  Value::Map attrs;
  if (op_.attrs)
    for (size_t i = 0; i < op_.attrs->rows.size(); ++i)
      attrs.emplace_back(op_.attrs->rows[i].name,
                         attr_to_value(op_.attrs->get(attrs_.get(), static_cast<int>(i)), op_.name));
  Value::List inputs;
  for (const Tensor& t : inputs_) inputs.push_back(tensor_to_value(t));
  return Value::map({{"function", std::string(prefix) + std::string(op_.name)},
                     {"attrs", attrs},
                     {"inputs", inputs},
                     {"num_outputs", num_outputs_}});
}

std::shared_ptr<OpLayer> OpLayer::from_config(const Value& config) {
  const std::string& function = config["function"].text();
  const Op* op = function.starts_with(prefix) ? find_op(std::string_view(function).substr(prefix.size())) : nullptr;
  if (!op) throw ValueError("there is no op for a layer of the function '" + function + "'");
  Attrs attrs;
  if (op->attrs) {
    attrs = Attrs(*op->attrs);
    for (const auto& [key, value] : config["attrs"].map()) {
      const int row = op->attrs->find(key);
      if (row < 0 ||
          !op->attrs->set(attrs.get(), row, attr_from_value(value, *op->attrs->rows[static_cast<size_t>(row)].type)))
        throw ValueError("the op " + std::string(op->name) + " takes no attribute " + key + "=" + value.json());
    }
  }
  std::vector<Tensor> inputs;
  for (const Value& value : config["inputs"].list()) inputs.push_back(tensor_from_value(value));
  auto made =
      std::make_shared<OpLayer>(*op, attrs, std::move(inputs), static_cast<int>(config["num_outputs"].integer()));
  if (config["name"].is_text()) made->name = config["name"].text();
  if (config["trainable"].is_bool()) made->trainable = config["trainable"].boolean();
  return made;
}

Nest OpLayer::call(const Nest& given, const CallArgs&) {
  std::vector<Tensor> inputs = inputs_;
  size_t next = 0;
  std::vector<Tensor> values = given.flatten();
  for (Tensor& t : inputs)
    if (!t.defined()) t = values.at(next++);
  std::vector<TensorRef> in(inputs.begin(), inputs.end());
  std::vector<Tensor> out = apply_list(op_, in, attrs_, num_outputs_);
  if (out.size() == 1) return Nest(out[0]);
  return Nest::of(out);
}

namespace {

bool apply_to_model(const Op& op, std::span<const TensorRef> in, AttrsRef attrs, std::span<TensorImpl*> out) {
  std::vector<Tensor> fixed, symbolic;
  for (const TensorRef& t : in) {
    const bool is_ours = functional::history_of(t.tensor()).node != nullptr;
    if (!is_ours && t.tensor().is_symbolic()) return false;
    if (is_ours) symbolic.push_back(t.tensor());
    fixed.push_back(is_ours ? Tensor() : t.tensor());
  }
  if (std::optional<Tensor> made = call_as_function(op, in, attrs)) {
    retain(made->get());
    out[0] = made->get();
    return true;
  }
  Layer layer(std::make_shared<OpLayer>(op, attrs, std::move(fixed), static_cast<int>(out.size())));
  std::vector<Tensor> made = functional::record(layer, Nest::of(symbolic), {}).flatten();
  for (size_t i = 0; i < out.size(); ++i) {
    retain(made[i].get());
    out[i] = made[i].get();
  }
  return true;
}

std::shared_ptr<LayerInterface> read_op_layer(const Value& config) {
  const std::string& function = config["function"].text();
  if (function.starts_with(prefix) && config.contains("attrs")) return OpLayer::from_config(config);
  auto made = std::make_shared<FunctionLayer>(function, config["name"].is_text() ? config["name"].text() : "");
  if (config["trainable"].is_bool()) made->trainable = config["trainable"].boolean();
  return made;
}

bool register_reader(const char* name) {
  return register_class({LayerInterface::kind, name,
                         [](const Value& config) -> std::shared_ptr<Object> { return read_op_layer(config); },
                         []() -> const Rows& {
                           static const Rows none;
                           return none;
                         },
                         [] { return Value(Value::Map()); }});
}
const bool installed = [] {
  thalweg::detail::apply_symbolic.store(apply_to_model, std::memory_order_release);
  return register_reader("TFOpLambda") && register_reader("SlicingOpLambda");
}();

}  // namespace
}  // namespace thalweg::keras
