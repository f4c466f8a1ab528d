#include "thalweg/keras/policy.h"

#include <atomic>

#include "thalweg/core/error.h"

namespace thalweg::keras::mixed_precision {
namespace {
std::atomic<Policy> global = Policy(DType::float32);
}  // namespace

Policy::Policy(const std::string& name) {
  const bool is_mixed = name.starts_with("mixed_");
  compute_ = dtype_named(is_mixed ? name.substr(6) : name);
  variable_ = is_mixed ? DType::float32 : compute_;
  const bool is_known = is_mixed ? compute_ == DType::float16 || compute_ == DType::bfloat16 : given();
  if (!is_known)
    throw ValueError("Cannot convert value " + name +
                     " to a mixed precision Policy. Valid policies include 'mixed_float16', 'mixed_bfloat16', and the "
                     "name of any dtype such as 'float32'.");
}

std::string Policy::name() const {
  const std::string compute(name_of(compute_));
  return compute_ == variable_ ? compute : "mixed_" + compute;
}

Value to_value(const Policy& policy) {
  if (!policy.given()) return {};
  if (policy.compute_ == policy.variable_) return policy.name();
  return Value::map({{"module", "keras.mixed_precision"},
                     {"class_name", "Policy"},
                     {"config", Value::map({{"name", policy.name()}})},
                     {"registered_name", Value()}});
}
void from_value(Policy& policy, const Value& value) {
  if (value.is_none()) policy = Policy();
  else if (value.is_map()) policy = Policy(value["config"]["name"].text());
  else policy = Policy(value.text());
}

Policy global_policy() { return global; }
void set_global_policy(const Policy& policy) {
  if (policy.given() && !is_floating(policy.compute_dtype()))
    throw ValueError(
        "set_global_policy can only be used to set the global policy to floating-point policies, such as \"float32\" "
        "and \"mixed_float16\", but got policy: " +
        policy.name());
  global = policy.given() ? policy : Policy(DType::float32);
}

}  // namespace thalweg::keras::mixed_precision
