#include "thalweg/core/error.h"
#include "thalweg/core/threads.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/elements.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/infer.h"
#include "thalweg/ops/math.h"

namespace thalweg {
namespace {

const Op& Cross = define_op({
    .name = "Cross",
    .doc = "Cross products of vectors of three elements in the last axis.",
    .signature = "a: T, b: T -> product: T",
    .types = {{"T", real_types}},
    .infer =
        [](InferCall& c) {
          c.require_rank_at_least(0, 1);
          c.require_rank_at_least(1, 1);
          infer::same_shape(c);
          for (int i = 0; i < 2; ++i)
            if (c.shape(i).has_rank() && c.shape(i)[-1] >= 0 && c.shape(i)[-1] != 3)
              throw FailedPreconditionError("Cross: cross products are defined for vectors of 3 elements, got shape " +
                                            c.shape(i).brackets());
        },
    .kernel = {[](const KernelCall& c) {
      kernel::visit_type<real_types>(c.dtype(), [&]<class T>(T*) {
        // Integers wrap around, so they are multiplied as unsigned ones.
        auto wide = [](T x) {
          if constexpr (std::is_integral_v<T>) return static_cast<uint64_t>(x);
          else return static_cast<kernel::Wide<T>>(x);
        };
        auto *a = c.input<T>(0), *b = c.input<T>(1);
        auto* out = c.output<T>();
        parallel_for(c.count(0) / 3, 3, [&](int64_t begin, int64_t end) {
          for (int64_t i = 3 * begin; i < 3 * end; i += 3) {
            out[i] = static_cast<T>(wide(a[i + 1]) * wide(b[i + 2]) - wide(a[i + 2]) * wide(b[i + 1]));
            out[i + 1] = static_cast<T>(wide(a[i + 2]) * wide(b[i]) - wide(a[i]) * wide(b[i + 2]));
            out[i + 2] = static_cast<T>(wide(a[i]) * wide(b[i + 1]) - wide(a[i + 1]) * wide(b[i]));
          }
        });
      });
    }},
    .grad =
        [](GradCall& g) {
          if (g.wants(0)) g.input_grad(0, linalg::cross(g.input(1), g.output_grad()));
          if (g.wants(1)) g.input_grad(1, linalg::cross(g.output_grad(), g.input(0)));
        },
    .grad_reads = reads::all_inputs,
});

}  // namespace

Tensor linalg::cross(const TensorLike& a, const TensorLike& b) { return apply1(Cross, {a, b}); }

namespace {
const FunctionDef* const cross_functions[] = {&define_function<linalg::cross>({"linalg.cross"}, {"a", "b"})};
}  // namespace

}  // namespace thalweg
