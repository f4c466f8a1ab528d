#include "thalweg/ops/debugging.h"

#include <algorithm>
#include <limits>

#include "thalweg/core/error.h"
#include "thalweg/core/format.h"
#include "thalweg/core/index.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/masking.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_rounding.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/selection.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/slicing.h"

namespace thalweg::debugging {
namespace {

constexpr int64_t default_summarize = 3;

struct AssertAttrs {
  int64_t summarize = default_summarize;
};

std::string element_text(const Tensor& t, int64_t i) {
  if (t.dtype() == DType::string) return t.data<std::string>()[i];
  const char* element = static_cast<const char*>(t.impl()->data) + static_cast<size_t>(i) * size_of(t.dtype());
  return is_complex(t.dtype()) ? scalar_str(t.dtype(), element) : format_summary(t.dtype(), {}, element, -1);
}

// The first elements, row by row: `[1 2][3 4]`, `[1 2 3...]...`; `left` counts down what may still be shown.
void summarise(const Tensor& t, int axis, int64_t offset, int64_t& left, std::string& text) {
  int rank = t.rank();
  if (t.size() == 0) return;
  if (rank == 0) {
    text += left > 0 ? element_text(t, 0) : "...";
    return;
  }
  int64_t stride = t.shape().count(axis + 1, rank);
  for (int64_t i = 0; i < t.shape()[axis]; ++i) {
    if (left <= 0) {
      text += "...";
      return;
    }
    if (axis == rank - 1) {
      if (i > 0) text += ' ';
      text += element_text(t, offset + i);
      --left;
    } else {
      text += '[';
      summarise(t, axis + 1, offset + i * stride, left, text);
      text += ']';
    }
  }
}

void infer_assert(InferCall& c) {
  c.require_rank(0, 0);
  c.require(!c.argument(1).empty(), "data must hold a tensor or more");
}

void run_assert(const KernelCall& c) {
  if (*c.input<bool>(0)) return;
  int64_t most = c.attrs<AssertAttrs>().summarize;
  std::string text = "assertion failed:";
  for (const TensorRef& t : c.argument(1)) {
    int64_t left = most < 0 ? std::numeric_limits<int64_t>::max() : most;
    text += " [";
    summarise(t.tensor(), 0, 0, left, text);
    text += ']';
  }
  throw InvalidArgumentError(text);
}

const Op& AssertOp = define_op({
    .name = "Assert",
    .doc = "Fails with the data unless the condition is true.",
    .signature = "condition: bool, data: list T -> ",
    .attrs = attrs_of<AssertAttrs>(),
    .infer = infer_assert,
    .kernel = {run_assert},
    .traits = {.stateful = true, .not_differentiable = "there is no result"},
});

void apply_assert(const TensorLike& condition, std::span<const Tensor> data, int64_t summarize) {
  std::vector<TensorRef> in = {condition};
  in.insert(in.end(), data.begin(), data.end());
  apply(AssertOp, in, AssertAttrs{summarize}, {});
}

std::string described(const Tensor& t) {
  return "shape=" + t.shape().str() + " dtype=" + std::string(name_of(t.dtype()));
}
std::string with_stop(const std::string& message) { return message.empty() ? "" : message + ".  "; }

// The first elements as a vector.
Tensor first(const Tensor& t, int64_t count) {
  return slice(reshape(t, {-1}), {0}, Tensor(std::vector<int64_t>{count}));
}
std::string values(const Tensor& t) { return format_values(t.dtype(), t.shape(), t.impl()->data, FormatStyle::str); }

struct Failure {
  const char* sign;
  const std::string& message;
  int64_t summarize;
};

[[noreturn]] void fail(const Failure& f, const Tensor& x, const Tensor& y, const Tensor& holds) {
  std::string text = f.message.empty() ? "" : f.message + "\n";
  text += "Condition x " + std::string(f.sign) + " y did not hold.";
  int64_t most = f.summarize < 0 ? std::numeric_limits<int64_t>::max() : f.summarize;
  auto show = [&](const std::string& what, const Tensor& t) { text += "\n" + what + ":\n" + values(t); };
  // With one shape it can be said where they differ.
  if (most > 0 && x.shape() == y.shape() && x.rank() > 0) {
    Tensor mask = logical_not(holds), where_not = where(mask);
    int64_t count = std::min(most, where_not.shape()[0]);
    show("Indices of first " + std::to_string(count) + " different values", where_not(slice(0, count)));
    show("Corresponding x values", first(boolean_mask(x, mask), count));
    show("Corresponding y values", first(boolean_mask(y, mask), count));
  }
  if (most > 0) {
    for (auto [name, t] : {std::pair{"x", &x}, std::pair{"y", &y}}) {
      int64_t count = std::min(most, t->size());
      show("First " + std::to_string(count) + " elements of " + name, first(*t, count));
    }
  }
  throw InvalidArgumentError(text);
}

/// The dtype two values meet in.
DType common_dtype(const TensorLike& x, const TensorLike& y) {
  if (x.tensor().impl()->weak == Weak::strong) return x.tensor().dtype();
  if (y.tensor().impl()->weak == Weak::strong) return y.tensor().dtype();
  DType a = natural_dtype(*x.tensor().impl()), b = natural_dtype(*y.tensor().impl());
  return is_integer(a) ? b : a;
}

using Comparison = Tensor (*)(const TensorLike&, const TensorLike&);

void assert_pairs(Comparison compare, const TensorLike& x, const TensorLike& y, const Failure& f) {
  Tensor holds = compare(x, y), everywhere = reduce_all(holds);
  if (!everywhere.is_symbolic() && static_cast<bool>(everywhere)) return;
  DType dtype = common_dtype(x, y);
  Tensor a = x.as(dtype), b = y.as(dtype);
  if (!everywhere.is_symbolic()) fail(f, a, b, holds);
  std::vector<Tensor> data = {"Condition x " + std::string(f.sign) + " y did not hold element-wise:",
                              "x (" + described(a) + ") = ", a, "y (" + described(b) + ") = ", b};
  if (!f.message.empty()) data.insert(data.begin(), Tensor(f.message));
  apply_assert(everywhere, data, f.summarize);
}
void assert_pairs(Comparison compare, const char* sign, const TensorLike& x, const TensorLike& y,
                  const AssertOptions& options) {
  assert_pairs(compare, x, y, {sign, options.message, options.summarize.value_or(default_summarize)});
}

// A condition on x alone, or on what is named in the first line.
void assert_all(const Tensor& holds, const std::string& message, const std::string& condition,
                std::initializer_list<std::pair<const char*, Tensor>> shown, std::optional<int64_t> summarize) {
  Tensor everywhere = reduce_all(holds);
  int64_t most = summarize.value_or(default_summarize);
  if (everywhere.is_symbolic()) {
    std::vector<Tensor> data = {with_stop(message), condition};
    for (const auto& [name, t] : shown) {
      data.emplace_back(std::string(name) + " (" + described(t) + ") = ");
      data.push_back(t);
    }
    return apply_assert(everywhere, data, most);
  }
  if (static_cast<bool>(everywhere)) return;
  std::string text = with_stop(message) + "\n" + condition;
  for (const auto& [name, t] : shown) {
    Tensor seen = first(t, most < 0 ? t.size() : std::min(most, t.size()));
    text.append("\n").append(name).append(" (").append(described(t)).append(") = \n").append(values(seen));
  }
  throw InvalidArgumentError(text);
}
void assert_sign(Comparison compare, const char* sign, const Tensor& x, const AssertOptions& options) {
  assert_all(compare(x, zero_of(x.dtype())), options.message,
             "Condition x " + std::string(sign) + " 0 did not hold element-wise:", {{"x", x}}, options.summarize);
}

double step_at_one(DType dtype) {
  switch (real_of(dtype)) {
    case DType::float64:
      return std::numeric_limits<double>::epsilon();
    case DType::float32:
      return std::numeric_limits<float>::epsilon();
    case DType::float16:
      return 0x1p-10;
    case DType::bfloat16:
      return 0x1p-7;
    default:
      throw ValueError("assert_near compares floating-point and complex numbers, got " + std::string(name_of(dtype)));
  }
}

}  // namespace

void Assert(const TensorLike& condition, std::span<const Tensor> data, const SummarizeOptions& options) {
  apply_assert(condition, data, options.summarize.value_or(default_summarize));
}

void assert_equal(const TensorLike& x, const TensorLike& y, const AssertOptions& options) {
  assert_pairs(equal, "==", x, y, options);
}
void assert_none_equal(const TensorLike& x, const TensorLike& y, const AssertNoneEqualOptions& options) {
  assert_pairs(not_equal, "!=", x, y, {options.message, options.summarize});
}
void assert_less(const TensorLike& x, const TensorLike& y, const AssertOptions& options) {
  assert_pairs(less, "<", x, y, options);
}
void assert_less_equal(const TensorLike& x, const TensorLike& y, const AssertOptions& options) {
  assert_pairs(less_equal, "<=", x, y, options);
}
void assert_greater(const TensorLike& x, const TensorLike& y, const AssertOptions& options) {
  assert_pairs(greater, ">", x, y, options);
}
void assert_greater_equal(const TensorLike& x, const TensorLike& y, const AssertOptions& options) {
  assert_pairs(greater_equal, ">=", x, y, options);
}
void assert_positive(const Tensor& x, const AssertOptions& options) { assert_sign(greater, ">", x, options); }
void assert_negative(const Tensor& x, const AssertOptions& options) { assert_sign(less, "<", x, options); }
void assert_non_negative(const Tensor& x, const AssertOptions& options) {
  assert_sign(greater_equal, ">=", x, options);
}
void assert_non_positive(const Tensor& x, const AssertOptions& options) { assert_sign(less_equal, "<=", x, options); }

void assert_near(const TensorLike& x, const TensorLike& y, const AssertNearOptions& options) {
  DType dtype = common_dtype(x, y), real = real_of(dtype);
  Tensor a = x.as(dtype), b = y.as(dtype);
  double usual = 10 * step_at_one(dtype);
  Tensor rtol = cast(Tensor(std::vector<double>{options.rtol.value_or(usual)}, {}), real);
  Tensor atol = cast(Tensor(std::vector<double>{options.atol.value_or(usual)}, {}), real);
  auto text = [](const Tensor& t) { return scalar_str(t.dtype(), t.impl()->data); };
  assert_all(less(abs(a - b), atol + rtol * abs(b)), options.message,
             "x and y not equal to tolerance rtol = " + text(rtol) + ", atol = " + text(atol), {{"x", a}, {"y", b}},
             options.summarize);
}

Tensor assert_all_finite(const Tensor& x, const std::string& message) { return check_numerics(x, message); }

namespace {
// Checks what is known of the rank now, and the rest when the graph runs.
template <class Fits>
void check_rank(const Tensor& x, const std::string& wanted, const std::string& message, Fits fits,
                const Tensor& holds_later) {
  if (x.shape().has_rank()) {
    if (!fits(x.rank()))
      throw ValueError(with_stop(message) + "Tensor  must have rank " + wanted + ".  Received rank " +
                       std::to_string(x.rank()) + ", shape " + x.shape().str());
    return;
  }
  std::vector<Tensor> data = {with_stop(message), "Tensor must have rank " + wanted,
                              "Received shape: ", thalweg::shape(x)};
  apply_assert(holds_later, data, default_summarize);
}
int64_t rank_value(const TensorLike& rank) {
  Tensor t = rank.own();
  if (t.rank() != 0) throw ValueError("Rank must be a scalar.");
  if (!index_types.has(t.dtype()))
    throw TypeError("tensor must be of type int32; got " + std::string(name_of(t.dtype())));
  return t.item<int64_t>();
}
}  // namespace

void assert_rank(const Tensor& x, const TensorLike& rank, const MessageOptions& options) {
  int64_t n = rank_value(rank);
  check_rank(
      x, std::to_string(n), options.message, [&](int64_t r) { return r == n; },
      x.shape().has_rank() ? Tensor() : equal(thalweg::rank(x), n));
}
void assert_rank_at_least(const Tensor& x, const TensorLike& rank, const MessageOptions& options) {
  int64_t n = rank_value(rank);
  check_rank(
      x, "at least " + std::to_string(n), options.message, [&](int64_t r) { return r >= n; },
      x.shape().has_rank() ? Tensor() : greater_equal(thalweg::rank(x), n));
}
void assert_rank_in(const Tensor& x, const std::vector<int64_t>& ranks, const MessageOptions& options) {
  std::string list;
  for (int64_t r : ranks) list.append(list.empty() ? "" : ", ").append(std::to_string(r));
  Tensor later;
  if (!x.shape().has_rank()) later = reduce_any(equal(cast(thalweg::rank(x), DType::int64), Tensor(ranks)));
  check_rank(
      x, "in (" + list + ")", options.message,
      [&](int64_t r) { return std::find(ranks.begin(), ranks.end(), r) != ranks.end(); }, later);
}
void assert_scalar(const Tensor& tensor, const MessageOptions& options) {
  if (tensor.rank() != 0)
    throw ValueError(with_stop(options.message) + "Expected scalar shape, saw shape: " + tensor.shape().str() + ".");
}

void assert_type(const Tensor& tensor, DType tf_type, const MessageOptions& options) {
  if (tensor.dtype() != tf_type)
    throw TypeError(with_stop(options.message) + "tensor must be of type " + std::string(name_of(tf_type)) + "; got " +
                    std::string(name_of(tensor.dtype())));
}
void assert_integer(const Tensor& x, const MessageOptions& options) {
  if (!is_integer(x.dtype()))
    throw TypeError(with_stop(options.message) + "Expected \"x\" to be integer type.  Found: tensor of dtype " +
                    std::string(name_of(x.dtype())));
}
bool is_numeric_tensor(const Tensor& tensor) { return number_types.has(tensor.dtype()); }

DType assert_same_float_dtype(std::span<const Tensor> tensors, const SameFloatOptions& options) {
  DType wanted = options.dtype;
  for (const Tensor& t : tensors) {
    if (!t.defined()) continue;
    if (wanted == DType::invalid) wanted = t.dtype();
    if (t.dtype() != wanted)
      throw ValueError("the tensors must have one dtype: one is " + std::string(name_of(t.dtype())) + ", expected " +
                       std::string(name_of(wanted)));
  }
  if (wanted == DType::invalid) return DType::float32;
  if (!is_floating(wanted)) throw ValueError("Expected floating point type, got " + std::string(name_of(wanted)) + ".");
  return wanted;
}

namespace {
const FunctionDef* const debugging_functions[] = {
    &define_function<Assert>({"debugging.Assert"}, {"condition", "data"}),
    &define_function<void(const TensorLike&, const TensorLike&, const debugging::AssertOptions&), assert_equal>(
        {"debugging.assert_equal", "assert_equal"}, {"x", "y"}),
    &define_function<assert_none_equal>({"debugging.assert_none_equal"}, {"x", "y"}),
    &define_function<void(const TensorLike&, const TensorLike&, const debugging::AssertOptions&), assert_less>(
        {"debugging.assert_less", "assert_less"}, {"x", "y"}),
    &define_function<void(const TensorLike&, const TensorLike&, const debugging::AssertOptions&), assert_less_equal>(
        {"debugging.assert_less_equal"}, {"x", "y"}),
    &define_function<void(const TensorLike&, const TensorLike&, const debugging::AssertOptions&), assert_greater>(
        {"debugging.assert_greater", "assert_greater"}, {"x", "y"}),
    &define_function<void(const TensorLike&, const TensorLike&, const debugging::AssertOptions&), assert_greater_equal>(
        {"debugging.assert_greater_equal"}, {"x", "y"}),
    &define_function<void(const Tensor&, const debugging::AssertOptions&), assert_positive>(
        {"debugging.assert_positive"}, {"x"}),
    &define_function<void(const Tensor&, const debugging::AssertOptions&), assert_negative>(
        {"debugging.assert_negative"}, {"x"}),
    &define_function<void(const Tensor&, const debugging::AssertOptions&), assert_non_negative>(
        {"debugging.assert_non_negative"}, {"x"}),
    &define_function<void(const Tensor&, const debugging::AssertOptions&), assert_non_positive>(
        {"debugging.assert_non_positive"}, {"x"}),
    &define_function<assert_near>({"debugging.assert_near"}, {"x", "y"}),
    &define_function<assert_all_finite>({"debugging.assert_all_finite"}, {"x", "message"}),
    &define_function<void(const Tensor&, const TensorLike&, const debugging::MessageOptions&), assert_rank>(
        {"debugging.assert_rank", "assert_rank"}, {"x", "rank"}),
    &define_function<void(const Tensor&, const TensorLike&, const debugging::MessageOptions&), assert_rank_at_least>(
        {"debugging.assert_rank_at_least"}, {"x", "rank"}),
    &define_function<void(const Tensor&, const std::vector<int64_t>&, const debugging::MessageOptions&),
                     assert_rank_in>({"debugging.assert_rank_in"}, {"x", "ranks"}),
    &define_function<void(const Tensor&, const debugging::MessageOptions&), assert_scalar>({"debugging.assert_scalar"},
                                                                                           {"tensor"}),
    &define_function<void(const Tensor&, DType, const debugging::MessageOptions&), assert_type>(
        {"debugging.assert_type"}, {"tensor", "tf_type"}),
    &define_function<void(const Tensor&, const debugging::MessageOptions&), assert_integer>(
        {"debugging.assert_integer"}, {"x"}),
};
}  // namespace

}  // namespace thalweg::debugging
