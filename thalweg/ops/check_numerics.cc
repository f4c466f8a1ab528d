#include <cmath>
#include <string>

#include "thalweg/core/convert.h"
#include "thalweg/core/error.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/infer.h"
#include "thalweg/ops/shaping.h"

namespace thalweg {
namespace {

struct CheckNumericsAttrs {
  std::string message = "";
};

/// What a tensor holds that is no number.
struct Found {
  bool nan = false, positive = false, negative = false;
};

template <class T> void look(const T* values, int64_t count, Found& found) {
  // x - x is 0 for numbers and NaN for the rest; this loop has no branch, and only a bad tensor is read twice.
  T sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < count; ++i) sum += values[i] - values[i];
  if (sum == 0) return;
  for (int64_t i = 0; i < count; ++i) {
    found.nan |= std::isnan(values[i]);
    found.positive |= std::isinf(values[i]) && values[i] > 0;
    found.negative |= std::isinf(values[i]) && values[i] < 0;
  }
}

Found look(const KernelCall& c) {
  Found found;
  int64_t count = c.count(0);
  if (c.dtype() == DType::float32) {
    look(c.input<float>(0), count, found);
  } else if (c.dtype() == DType::float64) {
    look(c.input<double>(0), count, found);
  } else {
    constexpr int64_t tile = 512;
    float wide[tile];
    for (int64_t i = 0; i < count; i += tile) {
      int64_t n = std::min(tile, count - i);
      widen_halves(c.dtype(), c.input<uint16_t>(0) + i, wide, n);
      look(wide, n, found);
    }
  }
  return found;
}

void refuse(const KernelCall& c, const std::string& what) {
  throw InvalidArgumentError(std::string(c.op.name) + ": " + c.attrs<CheckNumericsAttrs>().message + " : Tensor had " +
                             what + " values");
}

const Op& CheckNumerics = define_op({
    .name = "CheckNumerics",
    .doc = "The tensor, or an error when it holds NaN or an infinity.",
    .signature = "tensor: T -> output: T",
    .types = {{"T", float_types}},
    .attrs = attrs_of<CheckNumericsAttrs>(),
    .infer = infer::like_input<0>,
    .kernel = {[](const KernelCall& c) {
      Found found = look(c);
      bool infinite = found.positive || found.negative;
      if (found.nan || infinite) refuse(c, found.nan && infinite ? "Inf and NaN" : found.nan ? "NaN" : "Inf");
      c.share(0, 0);
    }},
    .grad =
        [](GradCall& g) {
          g.input_grad(0, debugging::check_numerics(
                              g.output_grad(), "Not a number (NaN) or infinity (Inf) values detected in gradient. " +
                                                   g.attrs<CheckNumericsAttrs>().message));
        },
    .grad_reads = reads::nothing,
    .traits = {.stateful = true, .view = true},
});

const Op& CheckNumericsV2 = define_op({
    .name = "CheckNumericsV2",
    .doc = "The tensor, or an error that says which of NaN, -Inf and +Inf it holds.",
    .signature = "tensor: T -> output: T",
    .types = {{"T", float_types}},
    .attrs = attrs_of<CheckNumericsAttrs>(),
    .infer = infer::like_input<0>,
    .kernel = {[](const KernelCall& c) {
      Found found = look(c);
      std::string what;
      auto add = [&](bool there, const char* name) {
        if (there) what += (what.empty() ? "" : ", ") + std::string(name);
      };
      add(found.negative, "-Inf");
      add(found.positive, "+Inf");
      add(found.nan, "NaN");
      if (size_t comma = what.rfind(", "); comma != what.npos) what.replace(comma, 2, ", and ");
      if (!what.empty()) refuse(c, what);
      c.share(0, 0);
    }},
    .grad =
        [](GradCall& g) {
          CheckNumericsAttrs attrs{"Not a number (NaN) or infinity (Inf) values detected in gradient. " +
                                   g.attrs<CheckNumericsAttrs>().message};
          g.input_grad(0, apply1(g.op, {g.output_grad()}, attrs));
        },
    .grad_reads = reads::nothing,
    .traits = {.stateful = true, .view = true},
});

}  // namespace

Tensor debugging::check_numerics(const Tensor& tensor, const std::string& message) {
  return apply1(CheckNumerics, {tensor}, CheckNumericsAttrs{message});
}

namespace {
const FunctionDef& function =
    define_function<debugging::check_numerics>({"debugging.check_numerics"}, {"tensor", "message"});
}

}  // namespace thalweg
