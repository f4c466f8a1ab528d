#include "thalweg/core/error.h"
#include "thalweg/core/format.h"
#include "thalweg/keras/initializers/support.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::keras::initializers {

std::string text_of(DType dtype) { return "<dtype: '" + std::string(name_of(dtype)) + "'>"; }
DType require_floating(DType dtype) {
  if (dtype == DType::invalid) return DType::float32;
  if (!is_floating(dtype)) throw ValueError("Expected floating point type, got " + text_of(dtype) + ".");
  return dtype;
}
bool register_spellings(const char* name) {
  const std::string snake = to_snake_case(name);
  register_alias(InitializerTag::kind, snake, name);
  register_alias(InitializerTag::kind, name + std::string("V2"), name);
  register_alias(InitializerTag::kind, snake + "V2", name);
  return true;
}

/// Numbers with all their digits; arrays as they are.
struct ConstantValue {
  Tensor tensor = Tensor(0);
};
static Value to_value(const ConstantValue& value) { return keras::to_value(value.tensor); }
static void from_value(ConstantValue& to, const Value& value) {
  if (value.is_real()) to.tensor = Tensor(std::vector<double>{value.number()}, Shape());
  else if (value.is_integer()) to.tensor = Tensor(value.integer());
  else keras::from_value(to.tensor, value);
}

namespace {

DType require_filled(DType dtype) {
  if (dtype == DType::invalid) return DType::float32;
  if (dtype == DType::string || dtype == DType::resource || dtype == DType::variant)
    throw ValueError("Expected numeric or boolean dtype, got " + text_of(dtype) + ".");
  return dtype;
}

struct ZerosInitializer {
  Tensor call(const Shape& shape, DType dtype) { return zeros(shape, {.dtype = require_filled(dtype)}); }
};
struct OnesInitializer {
  Tensor call(const Shape& shape, DType dtype) { return ones(shape, {.dtype = require_filled(dtype)}); }
};

struct ConstantInitializer {
  ConstantValue value = {};
  Tensor call(const Shape& shape, DType dtype) {
    Tensor made = cast(value.tensor, dtype == DType::invalid ? DType::float32 : dtype);
    if (made.shape().rank() == 0) return fill(shape, made);
    if (made.size() == 1 && shape.count() != 1) return fill(shape, reshape(made, Shape()));
    if (made.size() != shape.count())
      throw TypeError("Eager execution of tf.constant with unsupported shape. Tensor " +
                      format_values(made.dtype(), made.shape(), made.mutable_data<const void>(), FormatStyle::str) +
                      " (converted from " + to_value(value).json() + ") has " + std::to_string(made.size()) +
                      " elements, but got `shape` " + shape.str() + " with " + std::to_string(shape.count()) +
                      " elements).");
    return reshape(made, shape);
  }
};

struct IdentityInitializer {
  IdentityOptions options = {};
  Tensor call(const Shape& shape, DType dtype) {
    dtype = require_floating(dtype);
    if (shape.rank() != 2)
      throw ValueError("Identity matrix initializer can only be used for 2D matrices. Received: shape=" + shape.str() +
                       " of rank " + std::to_string(shape.rank()) + ".");
    return options.gain * eye(shape[0], {.num_columns = shape[1], .dtype = dtype});
  }
};

const bool constants_spellings[] = {register_spellings("Zeros"),
                                    register_spellings("Ones"),
                                    register_spellings("Constant"),
                                    register_spellings("Identity"),
                                    register_alias("initializer", "zero", "Zeros"),
                                    register_alias("initializer", "one", "Ones")};

}  // namespace

Initializer Zeros() { return ZerosInitializer{}; }
Initializer Ones() { return OnesInitializer{}; }
Initializer Constant(const TensorLike& value) {
  return ConstantInitializer{{is_floating(value.tensor().dtype()) ? value.as(DType::float64) : value.own()}};
}
Initializer Identity(const IdentityOptions& options) { return IdentityInitializer{options}; }

}  // namespace thalweg::keras::initializers
