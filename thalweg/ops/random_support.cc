#include "thalweg/ops/random_support.h"

#include "thalweg/core/error.h"
#include "thalweg/kernels/random.h"
#include "thalweg/ops/integers.h"
#include "thalweg/ops/math.h"

namespace thalweg::random {
namespace {

template <class T> void check_bounds_of(const KernelCall& c, int minval, int maxval) {
  T low = *c.input<T>(minval), high = *c.input<T>(maxval);
  if (low >= high) c.fail("Need minval < maxval, got " + std::to_string(low) + " >= " + std::to_string(high));
}

}  // namespace

void require_scalar(const InferCall& c, int i) {
  if (c.shape(i).has_rank() && c.shape(i).rank() != 0)
    c.fail(c.op.args[static_cast<size_t>(i)].name + " must be a scalar, got shape " + c.shape(i).brackets());
}

void require_seed(const InferCall& c, int i) {
  if (!c.shape(i).is_compatible_with({2})) c.fail("seed must have shape [2], not " + c.shape(i).brackets());
}

void check_bounds(const KernelCall& c, int minval, int maxval) {
  switch (c.dtype(minval)) {
    case DType::int32:
      return check_bounds_of<int32_t>(c, minval, maxval);
    case DType::int64:
      return check_bounds_of<int64_t>(c, minval, maxval);
    case DType::uint32:
      return check_bounds_of<uint32_t>(c, minval, maxval);
    default:
      return check_bounds_of<uint64_t>(c, minval, maxval);
  }
}

void check_algorithm(const KernelCall& c, int i) {
  int64_t algorithm = c.scalar(i);
  if (algorithm != kernels::philox_algorithm && algorithm != kernels::auto_select_algorithm)
    c.fail("Unsupported algorithm id: " + std::to_string(algorithm));
}

void check_key_counter(const InferCall& c) {
  if (!c.shape(1).is_compatible_with({1})) c.fail("key must have shape [1], not " + c.shape(1).brackets());
  c.require_rank(2, 1);
  if (c.shape(2).rank() == 1 && c.shape(2)[0] != unknown && c.shape(2)[0] < 2)
    c.fail("counter must be a vector with length at least 2; got shape: " + c.shape(2).brackets());
  require_scalar(c, 3);
}

PhiloxState key_stream(const KernelCall& c) {
  check_algorithm(c, 3);
  const uint64_t* counter = c.input<uint64_t>(2);
  return {*c.input<uint64_t>(1), {counter[0], counter[1]}};
}

int64_t algorithm_number(const std::string& name) {
  std::string letters;
  for (char ch : name)
    if (ch != '-' && ch != '_' && ch != ' ') letters += static_cast<char>(ch >= 'A' && ch <= 'Z' ? ch + 32 : ch);
  if (letters == "philox") return 1;
  if (letters == "threefry") return 2;
  if (letters == "autoselect") return 3;
  throw ValueError("Argument `alg` got unsupported value \"" + name +
                   "\". Supported values are \"philox\" for the Philox algorithm, \"threefry\" for the ThreeFry "
                   "algorithm, and \"auto_select\" for a choice by the device.");
}

Tensor shape_tensor(const TensorLike& shape) { return index_tensor(shape); }

Tensor scale_and_shift(const Tensor& x, const Parameter& scale, const Parameter& offset, const char* scale_name,
                       const char* offset_name) {
  Tensor factor = scale.as(x.dtype(), scale_name), summand = offset.as(x.dtype(), offset_name);
  // No distribution draws -0, so leaving out * 1 and + 0 keeps every bit.
  Tensor result = scale.is_number(1) ? x : x * factor;
  return offset.is_number(0) ? result : result + summand;
}

Tensor stretch(const Tensor& x, const Parameter& minval, const Parameter& maxval) {
  Tensor high = maxval.as(x.dtype(), "maxval"), low = minval.as(x.dtype(), "minval");
  if (minval.is_number(0)) return maxval.is_number(1) ? x : x * high;
  return x * (high - low) + low;
}

}  // namespace thalweg::random
