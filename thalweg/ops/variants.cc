#include "thalweg/ops/variants.h"

#include <array>

#include "thalweg/core/error.h"
#include "thalweg/core/tensor_list.h"
#include "thalweg/core/thread_state.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/optional.h"

namespace thalweg {
namespace {
// The ops that a kernel calls belong to no tape and no trace.
class Unobserved {
 public:
  Unobserved() : before_(thread_state) {
    thread_state.tracer = nullptr;
    thread_state.recorder = nullptr;
  }
  ~Unobserved() {
    thread_state.tracer = before_.tracer;
    thread_state.recorder = before_.recorder;
  }
  Unobserved(const Unobserved&) = delete;
  Unobserved& operator=(const Unobserved&) = delete;

 private:
  const ThreadState before_;
};

const OptionalResource* optional_of(const ResourceHandle& x) { return dynamic_cast<const OptionalResource*>(x.get()); }
template <class F> ResourceHandle changed(const OptionalResource& optional, F f) {
  const Unobserved unobserved;
  std::vector<Tensor> components;
  for (size_t i = 0; i < optional.components().size(); ++i) components.push_back(f(i, optional.components()[i]));
  return std::make_shared<OptionalResource>(std::move(components), optional.nesting());
}
}  // namespace

ResourceHandle add_variants(const ResourceHandle& x, const ResourceHandle& y) {
  if (auto *own = optional_of(x), *other = optional_of(y); own && other) {
    if (own->components().size() != other->components().size())
      throw InvalidArgumentError("cannot add " + own->describe() + " and " + other->describe());
    return changed(*own, [&](size_t i, const Tensor& t) { return add_n({t, other->components()[i]}); });
  }
  const TensorListResource &a = list_of(x), &b = list_of(y);
  if (a.element_dtype() != b.element_dtype())
    throw InvalidArgumentError(
        "Trying to add two lists of tensors of different dtypes: " + std::string(name_of(a.element_dtype())) + " and " +
        std::string(name_of(b.element_dtype())));
  if (a.size() != b.size())
    throw InvalidArgumentError("Trying to add two lists of tensors with different lengths. One is size " +
                               std::to_string(a.size()) + " and other is size " + std::to_string(b.size()));
  if (!a.element_shape().is_compatible_with(b.element_shape()))
    throw InvalidArgumentError("Trying to add two lists of tensors with incompatible element shapes: " +
                               a.element_shape().brackets() + " and " + b.element_shape().brackets());
  const Unobserved unobserved;
  auto sum = std::make_shared<TensorListResource>(a);
  sum->set_element_shape(a.element_shape().merge_with(b.element_shape()));
  sum->merge(b, [](const Tensor& own, const Tensor& other) { return add_n({own, other}); });
  return sum;
}

ResourceHandle zeros_of_variant(const ResourceHandle& x) {
  if (!x) return x;
  if (auto* optional = optional_of(x)) return changed(*optional, [](size_t, const Tensor& t) { return zeros_like(t); });
  const Unobserved unobserved;
  auto zeros = std::make_shared<TensorListResource>(list_of(x));
  Tensor latest;  // elements mostly have one shape, and can then share their zeros
  zeros->transform([&](const Tensor& element) {
    bool fits = latest.defined() && element.dtype() != DType::variant && latest.shape() == element.shape();
    return fits ? latest : latest = zeros_like(element);
  });
  return zeros;
}

}  // namespace thalweg
