// Dtype policies: what layers compute in, and what their weights are kept in.
//
//   keras::mixed_precision::set_global_policy("mixed_float16");   // of the layers made from now on
//   layers::Dense(10, {.dtype = "float32"});                      // of one layer
#pragma once
#include <string>

#include "thalweg/core/dtype.h"
#include "thalweg/keras/value.h"

namespace thalweg::keras::mixed_precision {

/// The dtype that a layer computes in and that of its weights: one for both, or `mixed_float16` and `mixed_bfloat16`,
/// which keep float32 weights and read them as halves.
class THALWEG_API Policy {
 public:
  /// None given: a layer takes the global one when it is made.
  constexpr Policy() = default;
  constexpr Policy(DType dtype) : compute_(dtype), variable_(dtype) {}  // NOLINT: `.dtype = DType::float64`
  /// The name of a dtype or of a mixed policy; ValueError for others.
  Policy(const char* name) : Policy(std::string(name)) {}  // NOLINT: `.dtype = "mixed_float16"`
  Policy(const std::string& name);                         // NOLINT

  constexpr bool given() const { return compute_ != DType::invalid; }
  std::string name() const;
  constexpr DType compute_dtype() const { return compute_; }
  constexpr DType variable_dtype() const { return variable_; }

  friend constexpr bool operator==(const Policy& a, const Policy& b) = default;
  friend THALWEG_API Value to_value(const Policy& policy);
  friend THALWEG_API void from_value(Policy& policy, const Value& value);

 private:
  DType compute_ = DType::invalid, variable_ = DType::invalid;
};

/// The policy of layers that are given none: float32, until another is set.
THALWEG_API Policy global_policy();
/// Sets it for the layers that are made afterwards; one that is not given sets float32 again.
THALWEG_API void set_global_policy(const Policy& policy);

}  // namespace thalweg::keras::mixed_precision

namespace thalweg::keras {
using mixed_precision::Policy;
}
