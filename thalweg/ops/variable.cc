#include "thalweg/ops/variable.h"

#include <ostream>

#include "thalweg/core/error.h"
#include "thalweg/core/name_scope.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/autocast.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/variable_ops.h"

namespace thalweg {

Variable::Variable(const TensorLike& initial_value, const VariableOptions& options) {
  Tensor value = options.dtype == DType::invalid ? initial_value.own() : initial_value.as(options.dtype);
  if (options.dtype != DType::invalid && value.dtype() != options.dtype) value = cast(value, options.dtype);
  if (value.is_symbolic() && thread_state.tracer) value = thread_state.tracer->lift(value);
  auto resource = std::make_shared<VariableResource>(scoped_name(options.name), value.dtype(),
                                                     options.shape ? *options.shape : value.shape(), value);
  resource->trainable = options.trainable;
  resource->synchronization = options.synchronization;
  resource->aggregation = options.aggregation;
  handle_ = make_handle(std::move(resource));
  if (thread_state.tracer) thread_state.tracer->created_variable(handle_);
}

Variable::Variable(std::initializer_list<Literal> initial_value, const VariableOptions& options)
    : Variable(TensorLike(initial_value), options) {}

Variable Variable::from_handle(const Tensor& handle) {
  static_cast<void>(variable_of(handle));  // refuses what is none
  Variable variable;
  variable.handle_ = handle;
  return variable;
}

const Tensor& Variable::handle() const {
  if (!defined()) throw ValueError("this variable does not exist yet: it was default-constructed");
  return handle_;
}

VariableResource& Variable::resource() const { return variable_of(handle()); }

Tensor Variable::value() const { return read_autocast(handle()); }

const Variable& Variable::assign(const TensorLike& value) const {
  assign_variable(handle(), value.as(dtype()));
  return *this;
}
const Variable& Variable::assign_add(const TensorLike& delta) const {
  add_to_variable(handle(), delta.as(dtype()));
  return *this;
}
const Variable& Variable::assign_sub(const TensorLike& delta) const {
  subtract_from_variable(handle(), delta.as(dtype()));
  return *this;
}

const Variable& Variable::operator*=(const TensorLike& factor) const { return assign(value() * factor.as(dtype())); }
const Variable& Variable::operator/=(const TensorLike& divisor) const { return assign(value() / divisor.as(dtype())); }

VariableSlice::VariableSlice(Variable variable, std::vector<Index> indices)
    : Tensor(variable.value().index(indices)), variable_(std::move(variable)), indices_(std::move(indices)) {}
// The part is read anew: somebody may have changed the variable since.
const Variable& VariableSlice::assign_add(const TensorLike& delta) const {
  return assign(variable_.value().index(indices_) + delta.as(dtype()));
}
const Variable& VariableSlice::assign_sub(const TensorLike& delta) const {
  return assign(variable_.value().index(indices_) - delta.as(dtype()));
}

std::string Variable::str() const {
  const VariableResource& r = resource();
  std::string text =
      "<tf.Variable '" + name() + "' shape=" + r.shape().str() + " dtype=" + std::string(name_of(dtype()));
  if (!is_initialized()) return text + ">";
  std::string value = r.read().repr();  // `<tf.Tensor: shape=(), dtype=float32, numpy=5.0>`
  return text + ", " + value.substr(value.find("numpy="));
}

std::ostream& operator<<(std::ostream& out, const Variable& variable) {
  return out << (variable.defined() ? variable.str() : std::string("None"));
}

}  // namespace thalweg
