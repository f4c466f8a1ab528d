#include "thalweg/core/variable_resource.h"

#include <algorithm>

#include "thalweg/core/convert.h"
#include "thalweg/core/error.h"

namespace thalweg {

VariableResource::VariableResource(std::string name, DType dtype, const Shape& shape, Tensor value)
    : name_(std::move(name)), dtype_(dtype), shape_(shape), value_(std::move(value)) {
  if (value_.defined()) check_fits(value_);
}

bool VariableResource::is_initialized() const {
  std::lock_guard lock(mutex_);
  return value_.defined();
}

std::string VariableResource::describe() const {
  return "variable \"" + name_ + "\", " + std::string(name_of(dtype_)) + shape_.brackets();
}

Tensor VariableResource::read() const {
  std::lock_guard lock(mutex_);
  check_initialized();
  return value_;
}

void VariableResource::assign(const Tensor& value) {
  check_fits(value);
  Tensor before = value;  // swapped in, so that the old value is freed outside the lock
  std::lock_guard lock(mutex_);
  value_.swap(before);
}

void VariableResource::clear() {
  Tensor before;
  std::lock_guard lock(mutex_);
  value_.swap(before);
}

void VariableResource::check_initialized() const {
  if (!value_.defined()) throw FailedPreconditionError(describe() + " is read before it has a value");
}

void VariableResource::check_fits(const Tensor& value) const {
  if (!value.defined()) throw InvalidArgumentError(describe() + ": the new value is undefined (None)");
  if (value.dtype() != dtype_)
    throw InvalidArgumentError(describe() + " cannot hold a value of dtype " + std::string(name_of(value.dtype())));
  if (!value.shape().is_compatible_with(shape_))
    throw InvalidArgumentError(describe() + " cannot hold a value of shape " + value.shape().brackets());
}

namespace {
// Nobody else sees this memory: it may be written to.
bool is_sole(const Tensor& t) {
  const TensorImpl* p = t.impl();
  if (p->refs.load(std::memory_order_acquire) != 1) return false;
  return !p->buffer || (p->buffer->unique() && !p->buffer->release && p->data == p->buffer->data);
}
Tensor copy_of(const Tensor& t) {
  Tensor copy(TensorImpl::make());
  copy.impl()->dtype = t.dtype();
  copy.impl()->shape = t.shape();
  copy.impl()->device = t.impl()->device;
  copy.impl()->allocate();
  copy_elements(t.dtype(), t.impl()->data, copy.impl()->data, t.size());
  return copy;
}
}  // namespace

VariableLock::VariableLock(std::initializer_list<VariableResource*> variables) {
  if (variables.size() > most) throw errors::InternalError("too many variables for one op");
  std::copy(variables.begin(), variables.end(), given_);
  std::copy(variables.begin(), variables.end(), locked_);
  std::sort(locked_, locked_ + variables.size());
  count_ = static_cast<size_t>(std::unique(locked_, locked_ + variables.size()) - locked_);
  for (size_t i = 0; i < count_; ++i) locked_[i]->mutex_.lock();
}
VariableLock::~VariableLock() {
  for (size_t i = count_; i-- > 0;) locked_[i]->mutex_.unlock();
}

const Tensor& VariableLock::value(int i) const {
  given_[i]->check_initialized();
  return given_[i]->value_;
}
void* VariableLock::writable(int i) const {
  given_[i]->check_initialized();
  Tensor& value = given_[i]->value_;
  if (!is_sole(value)) value = copy_of(value);
  return value.impl()->data;
}

Tensor make_handle(ResourceHandle resource) {
  Tensor handle = Tensor::empty(DType::resource, {});
  *handle.mutable_data<ResourceHandle>() = std::move(resource);
  return handle;
}

VariableResource& variable_of(const Tensor& handle) {
  if (handle.dtype() != DType::resource || handle.is_symbolic() || handle.size() != 1)
    throw InvalidArgumentError("a handle of a variable must be one resource, got " +
                               std::string(name_of(handle.dtype())) + handle.shape().brackets());
  Resource* object = handle.mutable_data<ResourceHandle>()->get();
  if (!object) throw InvalidArgumentError("the handle leads to no variable: it is empty");
  auto* variable = dynamic_cast<VariableResource*>(object);
  if (!variable) throw InvalidArgumentError("the handle leads to no variable but to " + object->describe());
  return *variable;
}

}  // namespace thalweg
