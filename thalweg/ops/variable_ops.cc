#include "thalweg/ops/variable_ops.h"

#include <map>

#include "thalweg/core/error.h"
#include "thalweg/core/threads.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/elements.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/infer.h"
#include "thalweg/ops/scatter_updates.h"
#include "thalweg/ops/variable_access.h"

namespace thalweg {
namespace {

struct VarHandleAttrs {
  std::string container = "";
  std::string shared_name = "";
  std::string debug_name = "";
  DType dtype = DType::invalid;
  Shape shape = Shape::unknown_rank();
  std::vector<std::string> allowed_devices = {};
};

/// Variables that ops share by name; one lives as long as somebody holds a handle.
class NamedVariables {
 public:
  ResourceHandle find_or_make(const VarHandleAttrs& a) {
    std::lock_guard lock(mutex_);
    std::weak_ptr<Resource>& place = by_name_[{a.container, a.shared_name}];
    ResourceHandle found = place.lock();
    if (!found) place = found = std::make_shared<VariableResource>(a.shared_name, a.dtype, a.shape);
    return found;
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::weak_ptr<Resource>> by_name_;
};

const Op& VarHandleOp = define_op({
    .name = "VarHandleOp",
    .doc = "A handle on a variable; with a shared_name, on the one that goes by this name.",
    .signature = "-> resource: resource",
    .attrs = attrs_of<VarHandleAttrs>(),
    .infer = infer::scalar,
    .kernel = {[](const KernelCall& c) {
      static NamedVariables named;
      const auto& a = c.attrs<VarHandleAttrs>();
      if (a.dtype == DType::invalid) c.fail("the attribute dtype is required");
      *c.output<ResourceHandle>() = a.shared_name.empty()
                                        ? std::make_shared<VariableResource>(a.debug_name, a.dtype, a.shape)
                                        : named.find_or_make(a);
    }},
    .traits = {.stateful = true, .not_differentiable = "a handle is no number"},
});

struct ReadAttrs {
  DType dtype = DType::invalid;
};

const Op& ReadVariableOp = define_op({
    .name = "ReadVariableOp",
    .doc = "The value of a variable now; later assignments do not change it.",
    .signature = "resource: resource -> value: dtype",
    .attrs = attrs_of<ReadAttrs>(),
    .infer =
        [](InferCall& c) {
          DType dtype = c.attrs<ReadAttrs>().dtype;
          const VariableResource* variable = known_variable(c, 0, dtype);
          c.output(0, dtype, variable ? variable->shape() : Shape::unknown_rank());
        },
    .kernel = {[](const KernelCall& c) { c.adopt(0, variable_of(c.tensor(0)).read()); }},
    .grad = [](GradCall& g) { g.input_grad(0, g.output_grad()); },
    .grad_reads = reads::nothing,
    .traits = {.stateful = true, .observes = true, .view = true},
});

struct AssignAttrs {
  bool validate_shape = false;
};
// Refused before anything changes: a value of another dtype or shape.
void infer_change(InferCall& c) {
  const VariableResource* variable = known_variable(c, 0, c.dtype(1));
  if (!variable) return;
  if (!c.shape(1).is_compatible_with(variable->shape()))
    c.fail("Cannot assign a value of shape " + c.shape(1).str() + " to " + variable->describe());
}

const Op& AssignVariableOp = define_op({
    .name = "AssignVariableOp",
    .doc = "Puts another value in a variable's place.",
    .signature = "resource: resource, value: dtype ->",
    .attrs = attrs_of<AssignAttrs>(),
    .infer = infer_change,
    .kernel = {[](const KernelCall& c) { variable_of(c.tensor(0)).assign(c.tensor(1)); }},
    .traits = {.stateful = true, .keeps_inputs = true, .not_differentiable = changes_variable.not_differentiable},
});

// Element by element in the variable's own memory.
template <class F> void change_in_place(const KernelCall& c) {
  VariableResource& variable = variable_input(c, 0, c.dtype(1));
  VariableLock lock({&variable});
  if (!(lock.value(0).shape() == c.shape(1)))
    c.fail("the variable has shape " + lock.value(0).shape().brackets() + " now, the value " + c.shape(1).brackets());
  kernel::visit_type<number_types>(c.dtype(1), [&]<class T>(T*) {
    using W = kernel::Wide<T>;
    T* x = lock.writable<T>(0);
    const T* delta = c.input<T>(1);
    parallel_for(c.count(1), 0.3, [&](int64_t begin, int64_t end) {
#pragma GCC ivdep
      for (int64_t i = begin; i < end; ++i) x[i] = static_cast<T>(F{}(static_cast<W>(x[i]), static_cast<W>(delta[i])));
    });
  });
}

const Op& AssignAddVariableOp = define_op({
    .name = "AssignAddVariableOp",
    .doc = "Adds a value of the same shape to a variable.",
    .signature = "resource: resource, value: dtype ->",
    .types = {{"dtype", number_types}},
    .infer = infer_change,
    .kernel = {change_in_place<scatter::Plus>},
    .traits = changes_variable,
});
const Op& AssignSubVariableOp = define_op({
    .name = "AssignSubVariableOp",
    .doc = "Subtracts a value of the same shape from a variable.",
    .signature = "resource: resource, value: dtype ->",
    .types = {{"dtype", number_types}},
    .infer = infer_change,
    .kernel = {change_in_place<scatter::Minus>},
    .traits = changes_variable,
});

const Op& VarIsInitializedOp = define_op({
    .name = "VarIsInitializedOp",
    .doc = "Whether a variable has a value.",
    .signature = "resource: resource -> is_initialized: bool",
    .infer =
        [](InferCall& c) {
          c.require_rank(0, 0);
          c.output(0, Shape{});
        },
    .kernel = {[](const KernelCall& c) { *c.output<bool>() = variable_of(c.tensor(0)).is_initialized(); }},
    .traits = {.stateful = true, .observes = true, .not_differentiable = "its result is a truth value"},
});

struct ShapeAttrs {
  DType out_type = DType::int32;
};
const Op& VariableShape = define_op({
    .name = "VariableShape",
    .doc = "The dimensions of a variable's value.",
    .signature = "input: resource -> output: out_type",
    .types = {{"out_type", index_types}},
    .attrs = attrs_of<ShapeAttrs>(),
    .infer =
        [](InferCall& c) {
          c.require_rank(0, 0);
          const VariableResource* variable = c.has_value(0) ? &variable_of(c.tensor(0)) : nullptr;
          c.output(0, variable && variable->shape().has_rank() ? Shape{variable->shape().rank()} : Shape::of_rank(1));
        },
    .kernel = {[](const KernelCall& c) {
      Shape shape = variable_of(c.tensor(0)).read().shape();
      c.allocate(0, Shape{shape.rank()});
      for (int i = 0; i < shape.rank(); ++i) {
        if (c.output_dtype() == int32) c.output<int32_t>()[i] = static_cast<int32_t>(shape[i]);
        else c.output<int64_t>()[i] = shape[i];
      }
    }},
    .traits = {.stateful = true, .observes = true, .not_differentiable = "its result is an integer"},
});

struct DestroyAttrs {
  bool ignore_lookup_error = true;
};
const Op& DestroyResourceOp = define_op({
    .name = "DestroyResourceOp",
    .doc = "Takes a variable's value away and frees its memory.",
    .signature = "resource: resource ->",
    .attrs = attrs_of<DestroyAttrs>(),
    .infer = [](InferCall& c) { c.require_rank(0, 0); },
    .kernel = {[](const KernelCall& c) {
      auto* variable = dynamic_cast<VariableResource*>(c.input<ResourceHandle>(0)->get());
      if (variable) variable->clear();
      else if (!c.attrs<DestroyAttrs>().ignore_lookup_error)
        throw NotFoundError("DestroyResourceOp: the handle leads to no variable");
    }},
    .traits = changes_variable,
});

}  // namespace

void note_access(const Tensor& handle) {
  Recorder* recorder = thread_state.recorder;
  if (recorder && variable_of(handle).trainable) recorder->access(handle);
}

Tensor read_variable(const Tensor& handle) {
  note_access(handle);
  return apply1(ReadVariableOp, {handle}, ReadAttrs{variable_of(handle).dtype()});
}

Tensor variable_shape(const Tensor& handle) {
  if (handle.impl()->form != Form::array || !variable_of(handle).shape().is_fully_defined())
    return apply1(VariableShape, {handle});
  const std::span<const int64_t> dims = variable_of(handle).shape().dims();  // for good
  return Tensor(std::vector<int32_t>(dims.begin(), dims.end()));
}

void assign_variable(const Tensor& handle, const Tensor& value) {
  apply(AssignVariableOp, std::initializer_list<TensorRef>{handle, value}, {}, {});
}
void add_to_variable(const Tensor& handle, const Tensor& delta) {
  apply(AssignAddVariableOp, std::initializer_list<TensorRef>{handle, delta}, {}, {});
}
void subtract_from_variable(const Tensor& handle, const Tensor& delta) {
  apply(AssignSubVariableOp, std::initializer_list<TensorRef>{handle, delta}, {}, {});
}

}  // namespace thalweg
