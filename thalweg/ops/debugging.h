// Assertions about values, shapes and types. Values are checked when they are known: at once in eager mode, and by an
// Assert in the graph while tracing.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "thalweg/ops/options.h"

namespace thalweg::debugging {

struct AssertOptions {
  std::string message = "";               // comes first in the error
  std::optional<int64_t> summarize = {};  // how many elements the error shows: 3 where left out, all when negative
};
struct AssertNoneEqualOptions {
  std::optional<int64_t> summarize = {};
  std::string message = "";
};
struct AssertNearOptions {
  std::optional<double> rtol = {};  // ten times the distance from 1 to the next number of the dtype where left out
  std::optional<double> atol = {};
  std::string message = "";
  std::optional<int64_t> summarize = {};
};
struct MessageOptions {
  std::string message = "";
};
struct SummarizeOptions {
  std::optional<int64_t> summarize = {};
};

/// InvalidArgumentError with the data unless the condition, a scalar, is true.
THALWEG_API void Assert(const TensorLike& condition, std::span<const Tensor> data,
                        const SummarizeOptions& options = {});

/// InvalidArgumentError unless x == y everywhere: `assert_equal(x, y, {.message = "labels"})`.
THALWEG_API void assert_equal(const TensorLike& x, const TensorLike& y, const AssertOptions& options = {});
/// InvalidArgumentError unless x != y everywhere.
THALWEG_API void assert_none_equal(const TensorLike& x, const TensorLike& y,
                                   const AssertNoneEqualOptions& options = {});
/// InvalidArgumentError unless x < y everywhere.
THALWEG_API void assert_less(const TensorLike& x, const TensorLike& y, const AssertOptions& options = {});
/// InvalidArgumentError unless x <= y everywhere.
THALWEG_API void assert_less_equal(const TensorLike& x, const TensorLike& y, const AssertOptions& options = {});
/// InvalidArgumentError unless x > y everywhere.
THALWEG_API void assert_greater(const TensorLike& x, const TensorLike& y, const AssertOptions& options = {});
/// InvalidArgumentError unless x >= y everywhere.
THALWEG_API void assert_greater_equal(const TensorLike& x, const TensorLike& y, const AssertOptions& options = {});
/// InvalidArgumentError unless every element is above 0.
THALWEG_API void assert_positive(const Tensor& x, const AssertOptions& options = {});
/// InvalidArgumentError unless every element is below 0.
THALWEG_API void assert_negative(const Tensor& x, const AssertOptions& options = {});
/// InvalidArgumentError unless every element is 0 or above.
THALWEG_API void assert_non_negative(const Tensor& x, const AssertOptions& options = {});
/// InvalidArgumentError unless every element is 0 or below.
THALWEG_API void assert_non_positive(const Tensor& x, const AssertOptions& options = {});
/// InvalidArgumentError unless |x - y| < atol + rtol |y| everywhere.
THALWEG_API void assert_near(const TensorLike& x, const TensorLike& y, const AssertNearOptions& options = {});
/// The tensor, or InvalidArgumentError when it holds NaN or an infinity.
THALWEG_API Tensor assert_all_finite(const Tensor& x, const std::string& message);

/// ValueError unless x has this many dimensions.
THALWEG_API void assert_rank(const Tensor& x, const TensorLike& rank, const MessageOptions& options = {});
/// ValueError unless x has this many dimensions or more.
THALWEG_API void assert_rank_at_least(const Tensor& x, const TensorLike& rank, const MessageOptions& options = {});
/// ValueError unless the number of dimensions is one of these.
THALWEG_API void assert_rank_in(const Tensor& x, const std::vector<int64_t>& ranks, const MessageOptions& options = {});
/// ValueError unless the tensor has no dimensions.
THALWEG_API void assert_scalar(const Tensor& tensor, const MessageOptions& options = {});

/// TypeError unless the tensor has this dtype.
THALWEG_API void assert_type(const Tensor& tensor, DType tf_type, const MessageOptions& options = {});
/// TypeError unless the elements are integers.
THALWEG_API void assert_integer(const Tensor& x, const MessageOptions& options = {});
/// True for dtypes with numbers: no strings, no truth values, no handles.
THALWEG_API bool is_numeric_tensor(const Tensor& tensor);

struct SameFloatOptions {
  DType dtype = DType::invalid;
};
/// The one floating-point dtype of all tensors (float32 when there are none); ValueError when they differ.
THALWEG_API DType assert_same_float_dtype(std::span<const Tensor> tensors, const SameFloatOptions& options = {});

/// What assert_shapes says of one dimension: a size, a name that stands for the same size wherever it appears, `"."`
/// for any size, or `"..."` in front for any number of dimensions.
class DimensionSpec {
 public:
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  DimensionSpec(T size) : size_(static_cast<int64_t>(size)) {}  // NOLINT
  DimensionSpec(const char* name) : name_(name) {}              // NOLINT
  DimensionSpec(const std::string& name) : name_(name) {}       // NOLINT
  int64_t size() const { return size_; }
  /// Empty where the size is given.
  const std::string& name() const { return name_; }
  bool is_any_rank() const { return name_ == "..." || name_ == "*"; }
  bool is_any_size() const { return name_ == "."; }

 private:
  int64_t size_ = 0;
  std::string name_;
};
struct ShapeSpec {
  Tensor tensor;
  std::vector<DimensionSpec> shape;
};
/// ValueError unless the shapes fit together: `assert_shapes({{logits, {"N", 10}}, {labels, {"N"}}})`.
THALWEG_API void assert_shapes(std::span<const ShapeSpec> shapes, const MessageOptions& options = {});
inline void assert_shapes(std::initializer_list<ShapeSpec> shapes, const MessageOptions& options = {}) {
  assert_shapes(std::span(shapes.begin(), shapes.size()), options);
}

// The same with an option by position (docs/decisions/0013).
template <As<std::string> A = std::string>
void assert_equal(const TensorLike& x, const TensorLike& y, const A& message, AssertOptions options = {}) {
  return assert_equal(x, y, with(options, options.message, message));
}
template <As<std::string> A = std::string>
void assert_less(const TensorLike& x, const TensorLike& y, const A& message, AssertOptions options = {}) {
  return assert_less(x, y, with(options, options.message, message));
}
template <As<std::string> A = std::string>
void assert_less_equal(const TensorLike& x, const TensorLike& y, const A& message, AssertOptions options = {}) {
  return assert_less_equal(x, y, with(options, options.message, message));
}
template <As<std::string> A = std::string>
void assert_greater(const TensorLike& x, const TensorLike& y, const A& message, AssertOptions options = {}) {
  return assert_greater(x, y, with(options, options.message, message));
}
template <As<std::string> A = std::string>
void assert_greater_equal(const TensorLike& x, const TensorLike& y, const A& message, AssertOptions options = {}) {
  return assert_greater_equal(x, y, with(options, options.message, message));
}
template <As<std::string> A = std::string>
void assert_positive(const Tensor& x, const A& message, AssertOptions options = {}) {
  return assert_positive(x, with(options, options.message, message));
}
template <As<std::string> A = std::string>
void assert_negative(const Tensor& x, const A& message, AssertOptions options = {}) {
  return assert_negative(x, with(options, options.message, message));
}
template <As<std::string> A = std::string>
void assert_non_negative(const Tensor& x, const A& message, AssertOptions options = {}) {
  return assert_non_negative(x, with(options, options.message, message));
}
template <As<std::string> A = std::string>
void assert_non_positive(const Tensor& x, const A& message, AssertOptions options = {}) {
  return assert_non_positive(x, with(options, options.message, message));
}
template <As<std::string> A = std::string>
void assert_rank(const Tensor& x, const TensorLike& rank, const A& message, MessageOptions options = {}) {
  return assert_rank(x, rank, with(options, options.message, message));
}
template <As<std::string> A = std::string>
void assert_rank_at_least(const Tensor& x, const TensorLike& rank, const A& message, MessageOptions options = {}) {
  return assert_rank_at_least(x, rank, with(options, options.message, message));
}
template <As<std::string> A = std::string>
void assert_rank_in(const Tensor& x, const std::vector<int64_t>& ranks, const A& message, MessageOptions options = {}) {
  return assert_rank_in(x, ranks, with(options, options.message, message));
}
template <As<std::string> A = std::string>
void assert_scalar(const Tensor& tensor, const A& message, MessageOptions options = {}) {
  return assert_scalar(tensor, with(options, options.message, message));
}
template <As<std::string> A = std::string>
void assert_type(const Tensor& tensor, DType tf_type, const A& message, MessageOptions options = {}) {
  return assert_type(tensor, tf_type, with(options, options.message, message));
}
template <As<std::string> A = std::string>
void assert_integer(const Tensor& x, const A& message, MessageOptions options = {}) {
  return assert_integer(x, with(options, options.message, message));
}

}  // namespace thalweg::debugging
