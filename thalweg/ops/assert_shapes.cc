#include <map>

#include "thalweg/core/error.h"
#include "thalweg/core/index.h"
#include "thalweg/ops/debugging.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::debugging {
namespace {

std::string described(const Tensor& t) {
  return "shape=" + t.shape().str() + " dtype=" + std::string(name_of(t.dtype()));
}

/// The size a name stands for, and which dimension said so.
struct Known {
  int64_t size = 0;
  std::string source;
};

// A leading "..." allows more dimensions; one entry also describes a scalar.
void check_rank(const ShapeSpec& spec, const MessageOptions& options) {
  auto count = static_cast<int64_t>(spec.shape.size());
  if (count > 0 && spec.shape[0].is_any_rank()) assert_rank_at_least(spec.tensor, count - 1, options);
  else if (count == 1) assert_rank_in(spec.tensor, {0, 1}, options);
  else assert_rank(spec.tensor, count, options);
}

}  // namespace

void assert_shapes(std::span<const ShapeSpec> shapes, const MessageOptions& options) {
  std::string prefix = options.message.empty() ? "" : options.message + ".  ";
  std::map<std::string, Known> known;
  for (const ShapeSpec& spec : shapes) {
    const Tensor& t = spec.tensor;
    check_rank(spec, options);
    if (!t.shape().has_rank()) continue;  // the graph checks its rank; sizes need dimensions
    size_t skipped = !spec.shape.empty() && spec.shape[0].is_any_rank();
    int first = skipped ? t.rank() - static_cast<int>(spec.shape.size() - skipped) : 0;
    for (size_t i = skipped; i < spec.shape.size(); ++i) {
      const DimensionSpec& wanted = spec.shape[i];
      int dimension = first + static_cast<int>(i - skipped);
      if (wanted.is_any_rank())
        throw ValueError(prefix + "Tensor " + described(t) + " specified shape index " + std::to_string(dimension) +
                         ".  Symbol `...` or `*` for a variable number of unspecified dimensions is only allowed as "
                         "the first entry");
      if (wanted.is_any_size()) continue;
      int64_t actual = t.rank() == 0 ? 1 : t.shape()[dimension];
      if (actual < 0) {
        if (wanted.name().empty())
          assert_equal(thalweg::shape(t, {.out_type = DType::int64})(dimension), wanted.size(),
                       {.message = options.message});
        continue;
      }
      Known size{wanted.size(), "explicitly"};
      if (!wanted.name().empty())
        size = known
                   .try_emplace(wanted.name(),
                                Known{actual, "by tensor " + described(t) + " dimension " + std::to_string(dimension)})
                   .first->second;
      if (actual != size.size)
        throw ValueError(prefix + "Specified " + size.source + ".  Tensor " + described(t) + " dimension " +
                         std::to_string(dimension) + " must have size " + std::to_string(size.size) +
                         ".  Received size " + std::to_string(actual) + ", shape " + t.shape().str());
    }
  }
}

}  // namespace thalweg::debugging
