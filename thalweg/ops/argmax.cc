// argmax and argmin of ops/reduction.h.
#include <limits>

#include "thalweg/core/convert.h"
#include "thalweg/core/threads.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/infer.h"
#include "thalweg/ops/reduction.h"

namespace thalweg {
namespace {

struct ArgAttrs {
  DType output_type = DType::int64;
};

void infer_arg(InferCall& c) {
  const Shape& in = c.shape(0);
  c.require(c.shape(1).rank() <= 0, "dimension must be a scalar");
  if (!in.has_rank()) return c.output(0, Shape::unknown_rank());
  c.require(in.rank() > 0, "the input must have at least one dimension");
  if (!c.has_value(1)) return c.output(0, Shape::of_rank(in.rank() - 1));
  int axis = c.axis(c.scalar(1), in.rank());
  if (in[axis] == 0) c.fail("the axis " + std::to_string(axis) + " to reduce is empty");
  Shape out = in;
  out.erase(axis);
  c.output(0, out);
}

template <class T, class Better>
void find_along(const T* x, int64_t outer, int64_t n, int64_t inner, Better better, int64_t* out) {
  parallel_for(outer, 1.0 * static_cast<double>(n * inner), [&](int64_t begin, int64_t end) {
    for (int64_t o = begin; o < end; ++o)
      for (int64_t i = 0; i < inner; ++i) {
        const T* row = x + o * n * inner + i;
        // From the worst value on, so that NaN, which is better than nothing, is passed over.
        int64_t best = 0;
        T value = better.template worst<T>();
        for (int64_t k = 0; k < n; ++k)
          if (better(row[k * inner], value)) best = k, value = row[k * inner];
        out[o * inner + i] = best;
      }
  });
}

template <class Order> void run_arg(const KernelCall& c) {
  const Shape& shape = c.shape(0);
  int64_t at = c.scalar(1);
  int axis = static_cast<int>(at < 0 ? at + shape.rank() : at);
  int64_t outer = shape.count(0, axis), n = shape[axis], inner = shape.count(axis + 1, shape.rank());
  int64_t results = outer * inner;
  std::vector<int64_t> found(static_cast<size_t>(results));
  std::vector<float> wide;
  const void* x = c.input(0);
  DType dtype = c.dtype();
  if (is_half(dtype)) {
    wide.resize(static_cast<size_t>(shape.count()));
    widen_halves(dtype, static_cast<const uint16_t*>(x), wide.data(), shape.count());
    x = wide.data();
    dtype = DType::float32;
  }
  auto find = [&]<class T>(T) { find_along(static_cast<const T*>(x), outer, n, inner, Order{}, found.data()); };
  switch (dtype) {
    case DType::float32:
      find(float{});
      break;
    case DType::float64:
      find(double{});
      break;
    case DType::int8:
      find(int8_t{});
      break;
    case DType::int16:
      find(int16_t{});
      break;
    case DType::int32:
      find(int32_t{});
      break;
    case DType::int64:
      find(int64_t{});
      break;
    case DType::uint16:
      find(uint16_t{});
      break;
    case DType::uint32:
      find(uint32_t{});
      break;
    case DType::uint64:
      find(uint64_t{});
      break;
    default:
      find(uint8_t{});
      break;  // bool too
  }
  convert_elements(DType::int64, found.data(), c.output_dtype(), c.output(), results);
}

struct Larger {
  template <class T> static T worst() { return std::numeric_limits<T>::lowest(); }
  template <class T> bool operator()(T x, T best) const { return x > best; }
};
struct Smaller {
  template <class T> static T worst() { return std::numeric_limits<T>::max(); }
  template <class T> bool operator()(T x, T best) const { return x < best; }
};
constexpr TypeSet arg_types = real_types | types(bool_);

const Op& ArgMax = define_op({
    .name = "ArgMax",
    .doc = "Where the largest element is along an axis; the first of equals.",
    .signature = "input: T, dimension: Tidx -> output: output_type",
    .types = {{"T", arg_types},
              {"Tidx", types(int16, int32, int64)},
              {"output_type", types(int16, uint16, int32, int64)}},
    .attrs = attrs_of<ArgAttrs>(),
    .infer = infer_arg,
    .kernel = {run_arg<Larger>},
    .traits = {.not_differentiable = "the result is an index"},
});

const Op& ArgMin = define_op({
    .name = "ArgMin",
    .doc = "Where the smallest element is along an axis; the first of equals.",
    .signature = "input: T, dimension: Tidx -> output: output_type",
    .types = {{"T", arg_types}, {"Tidx", index_types}, {"output_type", index_types}},
    .attrs = attrs_of<ArgAttrs>(),
    .infer = infer_arg,
    .kernel = {run_arg<Smaller>},
    .traits = {.not_differentiable = "the result is an index"},
});

}  // namespace

Tensor argmax(const Tensor& input, const ArgOptions& options) {
  return apply1(ArgMax, {input, Tensor(static_cast<int64_t>(options.axis.value_or(0)))}, ArgAttrs{options.output_type});
}
Tensor argmin(const Tensor& input, const ArgOptions& options) {
  return apply1(ArgMin, {input, Tensor(static_cast<int64_t>(options.axis.value_or(0)))}, ArgAttrs{options.output_type});
}

namespace {
const FunctionDef* const argmax_functions[] = {
    &define_function<Tensor(const Tensor&, const ArgOptions&), argmax>({"argmax", "math.argmax"}, {"input"}),
    &define_function<Tensor(const Tensor&, const ArgOptions&), argmin>({"argmin", "math.argmin"}, {"input"}),
};
}  // namespace

}  // namespace thalweg
