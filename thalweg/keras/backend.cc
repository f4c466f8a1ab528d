#include "thalweg/keras/backend.h"

#include <atomic>

#include "thalweg/core/error.h"
#include "thalweg/keras/policy.h"

namespace thalweg::keras::backend {
namespace {
std::atomic<double> fuzz = 1e-7;
std::atomic<DType> real = DType::float32;
std::atomic<Choice> phase = Choice();
}  // namespace

double epsilon() { return fuzz; }
void set_epsilon(double value) { fuzz = value; }

DType floatx() { return real; }
void set_floatx(const DTypeOrName& dtype) {
  if (dtype != DType::float16 && dtype != DType::float32 && dtype != DType::float64)
    throw ValueError("Unknown `floatx` value: " + std::string(name_of(dtype)) +
                     ". Expected one of {'float16', 'float32', 'float64'}");
  if (mixed_precision::global_policy() == Policy(floatx())) mixed_precision::set_global_policy(Policy(dtype));
  real = dtype;
  set_double_literals(dtype == DType::float64 ? DType::float64 : DType::float32);
}

Choice learning_phase() { return phase; }
void set_learning_phase(Choice training) { phase = training; }

}  // namespace thalweg::keras::backend
