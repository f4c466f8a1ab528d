// When two tensors are the same, and what gradients begin with.
#include <algorithm>
#include <cmath>

#include "tests/op_cases/golden.h"
#include "thalweg/core/convert.h"
#include "thalweg/core/tensor_list.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/creation.h"

namespace thalweg::testing {
namespace {

struct Tolerance {
  double relative, absolute;
};
Tolerance default_tolerance(DType t) {
  switch (real_of(t)) {
    case DType::float64:
      return {1e-10, 1e-12};
    case DType::float16:
      return {2e-3, 1e-3};
    case DType::bfloat16:
      return {1.6e-2, 1e-2};
    default:
      return {1e-5, 1e-6};
  }
}

std::string compare_reals(const std::vector<double>& got, const std::vector<double>& expected, Tolerance tolerance) {
  double worst = 0, largest = 1;
  size_t at = 0, count = 0;
  for (double e : expected)
    if (std::isfinite(e)) largest = std::max(largest, std::abs(e));
  tolerance.absolute *= largest;  // sums of large terms err by their size
  for (size_t i = 0; i < got.size(); ++i) {
    double g = got[i], e = expected[i];
    if (g == e || (g != g && e != e)) continue;
    double excess = std::abs(g - e) - tolerance.absolute - tolerance.relative * std::abs(e);
    if (!(excess <= 0)) {
      ++count;
      if (count == 1 || excess > worst || excess != excess) worst = excess, at = i;
    }
  }
  if (!count) return "";
  char text[200];
  std::snprintf(text, sizeof text, "%zu of %zu elements differ; element %zu is %.9g, expected %.9g", count, got.size(),
                at, got[at], expected[at]);
  return text;
}

// Elements that are not set read as zeros, and TensorFlow does not tell them from zeros.
std::string difference_of_lists(const TensorListResource& got, const TensorListResource& expected, double tolerance) {
  if (got.size() != expected.size())
    return std::to_string(got.size()) + " elements, expected " + std::to_string(expected.size());
  std::string found;
  expected.for_each([&](int64_t i, const Tensor& wanted) {
    Tensor element = got.at(i).defined() ? got.at(i) : zeros_like(wanted);
    std::string wrong = difference(element, wanted, tolerance);
    if (!wrong.empty() && found.empty()) found = "element " + std::to_string(i) + " of the list: " + wrong;
  });
  return found;
}

}  // namespace

Tensor gradient_weights(const Tensor& output) {
  auto number = [](int64_t k) { return static_cast<double>((k * 7 + 3) % 11 - 5) / 4 + 0.1; };
  bool complex = is_complex(output.dtype());
  Tensor weights = Tensor::empty(complex ? DType::complex128 : DType::float64, output.shape());
  auto* out = weights.mutable_data<double>();
  for (int64_t k = 0; k < output.size(); ++k) {
    *out++ = number(k);
    if (complex) *out++ = number(k + 1);
  }
  return cast(weights, output.dtype());
}

bool is_refused_by_graphs_alone(const std::exception& error, const Call& call) {
  return std::string_view(error.what()).find("does not fit the input") != std::string_view::npos &&
         run_op(*call.op, call.inputs, call.attrs).at(0).size() == 0;
}

std::string difference(const Tensor& got, const Tensor& expected, double tolerance) {
  if (!got.defined()) return "no tensor";
  if (got.dtype() != expected.dtype())
    return "dtype " + std::string(name_of(got.dtype())) + ", expected " + std::string(name_of(expected.dtype()));
  if (got.shape() != expected.shape())
    return "shape " + got.shape().brackets() + ", expected " + expected.shape().brackets();
  int64_t n = got.size();
  if (got.dtype() == DType::string) {
    for (int64_t i = 0; i < n; ++i)
      if (got.data<std::string>()[i] != expected.data<std::string>()[i])
        return "element " + std::to_string(i) + " is '" + got.data<std::string>()[i] + "', expected '" +
               expected.data<std::string>()[i] + "'";
    return "";
  }
  if (got.dtype() == DType::variant) {
    for (int64_t i = 0; i < n; ++i) {
      std::string found = difference_of_lists(list_of(got.mutable_data<ResourceHandle>()[i]),
                                              list_of(expected.mutable_data<ResourceHandle>()[i]), tolerance);
      if (!found.empty()) return found;
    }
    return "";
  }
  if (is_object(got.dtype())) return "";
  bool exact = is_integer(got.dtype()) || got.dtype() == DType::bool_;
  if (exact && tolerance < 0)
    return n && std::memcmp(got.impl()->data, expected.impl()->data, got.nbytes()) != 0
               ? "got " + got.str() + "\nexpected " + expected.str()
               : "";
  Tolerance t = default_tolerance(got.dtype());
  if (tolerance >= 0) t = {tolerance, tolerance};
  auto reals = [&](const Tensor& x) {
    bool complex = is_complex(x.dtype());
    std::vector<double> v(static_cast<size_t>(complex ? 2 * n : n));
    if (v.empty()) return v;
    if (x.dtype() == DType::complex128) std::memcpy(v.data(), x.impl()->data, x.nbytes());
    else
      convert_elements(complex ? DType::float32 : x.dtype(), x.impl()->data, DType::float64, v.data(),
                       static_cast<int64_t>(v.size()));
    return v;
  };
  return compare_reals(reals(got), reals(expected), t);
}

}  // namespace thalweg::testing
