#include "thalweg/ops/optional.h"

#include "thalweg/core/error.h"
#include "thalweg/core/tensor_list.h"
#include "thalweg/ops/op.h"

namespace thalweg {
namespace {

void put(const KernelCall& c, std::vector<Tensor> components, int nesting) {
  *c.output<ResourceHandle>() = std::make_shared<OptionalResource>(std::move(components), nesting);
}
template <class Call> const OptionalResource& optional_input(const Call& c) {
  const ResourceHandle& handle = *c.tensor(0).template mutable_data<ResourceHandle>();
  auto* optional = dynamic_cast<const OptionalResource*>(handle.get());
  if (!optional)
    c.fail("the handle leads to no optional" +
           (handle ? " but to " + handle->describe() : std::string(": it is empty")));
  return *optional;
}

/// How deep a new optional of these would be. They are destroyed from the outside in, one call inside the other, so the
/// depth is limited; lists of handles would hide it.
int nesting_of(const KernelCall& c) {
  constexpr int deepest = 100;
  int nesting = 0;
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (c.dtype(i) != DType::variant) continue;
    for (int64_t k = 0; k < c.count(i); ++k) {
      const Resource* inner = c.input<ResourceHandle>(i)[k].get();
      if (auto* optional = dynamic_cast<const OptionalResource*>(inner))
        nesting = std::max(nesting, optional->nesting() + 1);
      if (auto* list = dynamic_cast<const TensorListResource*>(inner); list && list->element_dtype() == DType::variant)
        c.fail("an optional cannot hold a list of handles");
    }
  }
  if (nesting > deepest) c.fail("optionals are nested more than " + std::to_string(deepest) + " deep");
  return nesting;
}

constexpr const char* no_gradient = "gradients do not go through optionals";

const Op& OptionalFromValue = define_op({
    .name = "OptionalFromValue",
    .doc = "An optional that holds the tensors.",
    .signature = "components: list Toutput_types -> optional: variant",
    .infer =
        [](InferCall& c) {
          c.require(c.num_inputs() > 0, "at least one component is needed");
          c.output(0, Shape{});
        },
    .kernel = {[](const KernelCall& c) {
      const int nesting = nesting_of(c);
      std::vector<Tensor> components;
      for (int i = 0; i < c.num_inputs(); ++i) components.push_back(c.tensor(i));
      put(c, std::move(components), nesting);
    }},
    .traits = {.not_differentiable = no_gradient},
});

const Op& OptionalNone = define_op({
    .name = "OptionalNone",
    .doc = "An optional that holds nothing.",
    .signature = "-> optional: variant",
    .infer = [](InferCall& c) { c.output(0, Shape{}); },
    .kernel = {[](const KernelCall& c) { put(c, {}, 0); }},
    .traits = {.not_differentiable = no_gradient},
});

const Op& OptionalHasValue = define_op({
    .name = "OptionalHasValue",
    .doc = "Whether an optional holds tensors.",
    .signature = "optional: variant -> has_value: bool",
    .infer =
        [](InferCall& c) {
          c.require_rank(0, 0);
          c.output(0, Shape{});
        },
    .kernel = {[](const KernelCall& c) { *c.output<bool>() = !optional_input(c).components().empty(); }},
    .traits = {.not_differentiable = no_gradient},
});

struct GetValueAttrs {
  std::vector<DType> output_types = {};
  std::vector<Shape> output_shapes = {};
};
const Op& OptionalGetValue = define_op({
    .name = "OptionalGetValue",
    .doc = "The tensors that an optional holds.",
    .signature = "optional: variant -> components: list output_types",
    .attrs = attrs_of<GetValueAttrs>(),
    .infer =
        [](InferCall& c) {
          const auto& a = c.attrs<GetValueAttrs>();
          c.require_rank(0, 0);
          c.require(!a.output_types.empty(), "output_types must name at least one type");
          c.require(a.output_shapes.empty() || a.output_shapes.size() == a.output_types.size(),
                    "output_shapes and output_types must have the same length");
          for (size_t i = 0; i < a.output_types.size(); ++i)
            c.output(static_cast<int>(i), a.output_types[i],
                     a.output_shapes.empty() ? Shape::unknown_rank() : a.output_shapes[i]);
        },
    .kernel = {[](const KernelCall& c) {
      const std::vector<Tensor>& components = optional_input(c).components();
      if (components.empty()) c.fail("The given optional does not have a value.");
      if (components.size() != static_cast<size_t>(c.num_outputs()))
        c.fail("the optional holds " + std::to_string(components.size()) + " tensors, output_types has " +
               std::to_string(c.num_outputs()));
      for (int i = 0; i < c.num_outputs(); ++i) {
        const Tensor& t = components[static_cast<size_t>(i)];
        if (t.dtype() != c.output_dtype(i) || !t.shape().is_compatible_with(c.output_shape(i)))
          c.fail("component " + std::to_string(i) + " is " + std::string(name_of(t.dtype())) + " of shape " +
                 t.shape().brackets() + ", expected " + std::string(name_of(c.output_dtype(i))) + " of shape " +
                 c.output_shape(i).brackets());
        c.adopt(i, t);
      }
    }},
    .traits = {.view = true, .not_differentiable = no_gradient},
});

}  // namespace
}  // namespace thalweg
