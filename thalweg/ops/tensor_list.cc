#include "thalweg/ops/tensor_list.h"

#include "thalweg/core/convert.h"
#include "thalweg/core/error.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/infer.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/tensor_list_access.h"

namespace thalweg {
namespace {

using namespace lists;

struct NewListAttrs {
  DType element_dtype = DType::invalid;
};
void infer_new_list(InferCall& c) {
  DType dtype = c.attrs<NewListAttrs>().element_dtype;
  if (!all_types.has(dtype)) c.fail("the attribute element_dtype is required");
  known_element_shape(c, 0);
  c.require_rank(1, 0);
  c.output(0, Shape{});
}

const Op& EmptyTensorList = define_op({
    .name = "EmptyTensorList",
    .doc = "A list without elements; it takes at most max_num_elements, any number when that is negative.",
    .signature = "element_shape: shape_type, max_num_elements: int32 -> handle: variant",
    .types = {{"shape_type", index_types}},
    .attrs = attrs_of<NewListAttrs>(),
    .infer = infer_new_list,
    .kernel = {[](const KernelCall& c) {
      put_list(c, 0,
               std::make_shared<TensorListResource>(c.attrs<NewListAttrs>().element_dtype, read_element_shape(c, 0), 0,
                                                    c.scalar(1)));
    }},
    .traits = {.not_differentiable = "its inputs are sizes"},
});

const Op& TensorListReserve = define_op({
    .name = "TensorListReserve",
    .doc = "A list of num_elements elements, none of which is set.",
    .signature = "element_shape: shape_type, num_elements: int32 -> handle: variant",
    .types = {{"shape_type", index_types}},
    .attrs = attrs_of<NewListAttrs>(),
    .infer =
        [](InferCall& c) {
          infer_new_list(c);
          if (c.has_value(1) && c.scalar(1) < 0)
            c.fail("The num_elements to reserve must be a non negative number, but got " + std::to_string(c.scalar(1)));
        },
    .kernel = {[](const KernelCall& c) {
      put_list(c, 0,
               std::make_shared<TensorListResource>(c.attrs<NewListAttrs>().element_dtype, read_element_shape(c, 0),
                                                    c.scalar(1)));
    }},
    .traits = {.not_differentiable = "its inputs are sizes"},
});

template <class Call> void check_room(const Call& c, const TensorListResource& list, const Shape& element) {
  if (!element.is_compatible_with(list.element_shape()))
    c.fail("Tried to append a tensor with incompatible shape to a list. Op element shape: " + element.brackets() +
           " list shape: " + list.element_shape().brackets());
  int64_t most = list.max_num_elements() < 0 ? TensorListResource::max_size : list.max_num_elements();
  if (list.size() >= most)
    c.fail("Tried to push item into a full list, list size: " + std::to_string(list.size()) +
           " max_num_elements: " + std::to_string(most));
}

const Op& TensorListPushBack = define_op({
    .name = "TensorListPushBack",
    .doc = "The list with one more element at its end.",
    .signature = "input_handle: variant, tensor: element_dtype -> output_handle: variant",
    .infer =
        [](InferCall& c) {
          if (const TensorListResource* list = known_list(c, 0, c.dtype(1))) check_room(c, *list, c.shape(1));
          c.output(0, Shape{});
        },
    .kernel = {[](const KernelCall& c) {
      const TensorListResource& list = list_input(c, 0);
      auto longer = std::make_shared<TensorListResource>(list);
      longer->append(c.tensor(1));
      put_list(c, 0, std::move(longer));
    }},
    .grad =
        [](GradCall& g) {
          auto [list, tensor] = tensor_list_pop_back(g.output_grad(), shape(g.input(1)), g.input(1).dtype());
          g.input_grad(0, list);
          g.input_grad(1, tensor);
        },
    .grad_reads = reads::nothing,
});

/// The shape of an element that was not set, as far as anything says it.
template <class Call> Shape shape_of_unset(const Call& c, const TensorListResource& list, int element_shape) {
  Shape shape = merged(c, read_element_shape(c, element_shape), list.element_shape());
  if (!shape.is_fully_defined()) list.for_each([&](int64_t, const Tensor& t) { shape = merged(c, shape, t.shape()); });
  if (!shape.is_fully_defined())
    c.fail("Trying to read an uninitialized tensor but element_shape is not fully defined: " + shape.brackets() +
           " and no list element is set");
  return shape;
}
void put_element(const KernelCall& c, int output, const TensorListResource& list, int64_t i, int element_shape) {
  Tensor element = list.at(i);
  c.adopt(output,
          element.defined() ? element : zeros_for(c, list.element_dtype(), shape_of_unset(c, list, element_shape)));
}

const Op& TensorListPopBack = define_op({
    .name = "TensorListPopBack",
    .doc = "The list without its last element, and that element: zeros where it is not set.",
    .signature = "input_handle: variant, element_shape: int32 -> output_handle: variant, tensor: element_dtype",
    .attrs = attrs_of<ElementAttrs>(),
    .infer =
        [](InferCall& c) {
          const TensorListResource* list = known_list(c, 0, c.attrs<ElementAttrs>().element_dtype);
          if (list && list->size() == 0) c.fail("Trying to pop from an empty list");
          Shape element = known_element_shape(c, 1);
          c.output(0, Shape{});
          c.output(1, list ? merged(c, element, list->element_shape()) : element);
        },
    .kernel = {[](const KernelCall& c) {
      const TensorListResource& list = list_input(c, 0);
      auto shorter = std::make_shared<TensorListResource>(list);
      put_element(c, 1, list, list.size() - 1, 1);
      shorter->resize(list.size() - 1);
      put_list(c, 0, std::move(shorter));
    }},
    .grad = [](GradCall& g) { g.input_grad(0, tensor_list_push_back(g.output_grad(0), g.output_grad(1))); },
    .grad_reads = reads::outputs<0>,
    .traits = {.view = true},
});

struct SetItemAttrs {
  bool resize_if_index_out_of_bounds = false;
};
template <class Call> void check_set(const Call& c, const TensorListResource& list, int64_t index, bool may_grow) {
  if (index < 0 || index >= (may_grow ? TensorListResource::max_size : list.size()))
    c.fail("Trying to modify element " + std::to_string(index) + " in a list with " + std::to_string(list.size()) +
           " elements");
}
const Op& TensorListSetItem = define_op({
    .name = "TensorListSetItem",
    .doc = "The list with another element at an index; with resize_if_index_out_of_bounds it grows to have that index.",
    .signature = "input_handle: variant, index: int32, item: element_dtype -> output_handle: variant",
    .attrs = attrs_of<SetItemAttrs>(),
    .infer =
        [](InferCall& c) {
          c.require_rank(1, 0);
          if (c.has_value(1) && c.scalar(1) < 0) c.fail("the index is negative: " + std::to_string(c.scalar(1)));
          if (const TensorListResource* list = known_list(c, 0, c.dtype(2))) {
            if (!c.shape(2).is_compatible_with(list->element_shape()))
              c.fail("Tried to set a tensor with incompatible shape at a list index. Item element shape: " +
                     c.shape(2).brackets() + " list shape: " + list->element_shape().brackets());
            if (c.has_value(1)) check_set(c, *list, c.scalar(1), c.attrs<SetItemAttrs>().resize_if_index_out_of_bounds);
          }
          c.output(0, Shape{});
        },
    .kernel = {[](const KernelCall& c) {
      const TensorListResource& list = list_input(c, 0);
      int64_t index = c.scalar(1);
      auto changed = std::make_shared<TensorListResource>(list);
      if (index == list.size()) {
        changed->append(c.tensor(2));
      } else {
        if (index > list.size()) changed->resize(index + 1);
        changed->set(index, c.tensor(2));
      }
      put_list(c, 0, std::move(changed));
    }},
    .grad =
        [](GradCall& g) {
          const Tensor &index = g.input(1), &item = g.input(2);
          if (g.wants(0)) {
            Tensor list = tensor_list_set_item(g.output_grad(), index, zeros_like(item));
            bool grew = g.attrs<SetItemAttrs>().resize_if_index_out_of_bounds;
            g.input_grad(0, grew ? tensor_list_resize(list, tensor_list_length(g.input(0))) : list);
          }
          if (g.wants(2)) g.input_grad(2, tensor_list_get_item(g.output_grad(), index, shape(item), item.dtype()));
        },
    .grad_reads = reads::inputs<0, 1>,
});

const Op& TensorListGetItem = define_op({
    .name = "TensorListGetItem",
    .doc = "One element of a list: zeros where it is not set.",
    .signature = "input_handle: variant, index: int32, element_shape: int32 -> item: element_dtype",
    .attrs = attrs_of<ElementAttrs>(),
    .infer =
        [](InferCall& c) {
          const TensorListResource* list = known_list(c, 0, c.attrs<ElementAttrs>().element_dtype);
          c.require_rank(1, 0);
          if (list && c.has_value(1) && (c.scalar(1) < 0 || c.scalar(1) >= list->size()))
            c.fail("Trying to access element " + std::to_string(c.scalar(1)) + " in a list with " +
                   std::to_string(list->size()) + " elements");
          Shape element = known_element_shape(c, 2);
          c.output(0, list ? merged(c, element, list->element_shape()) : element);
        },
    .kernel = {[](const KernelCall& c) { put_element(c, 0, list_input(c, 0), c.scalar(1), 2); }},
    .grad =
        [](GradCall& g) {
          const Tensor& list = g.input(0);
          Tensor zeros =
              tensor_list_reserve(tensor_list_element_shape(list), tensor_list_length(list), g.output().dtype());
          g.input_grad(0, tensor_list_set_item(zeros, g.input(1), g.output_grad()));
        },
    .grad_reads = reads::inputs<0, 1>,
    .traits = {.view = true},
});

const Op& TensorListLength = define_op({
    .name = "TensorListLength",
    .doc = "The number of elements.",
    .signature = "input_handle: variant -> length: int32",
    .infer =
        [](InferCall& c) {
          known_list(c, 0);
          c.output(0, Shape{});
        },
    .kernel = {[](const KernelCall& c) { *c.output<int32_t>() = static_cast<int32_t>(list_input(c, 0).size()); }},
    .traits = {.not_differentiable = "its result is an integer"},
});

const Op& TensorListResize = define_op({
    .name = "TensorListResize",
    .doc = "The list with its first elements only, or with more that are not set.",
    .signature = "input_handle: variant, size: int32 -> output_handle: variant",
    .infer =
        [](InferCall& c) {
          known_list(c, 0);
          c.require_rank(1, 0);
          if (c.has_value(1) && c.scalar(1) < 0)
            c.fail("the size must not be negative, got " + std::to_string(c.scalar(1)));
          c.output(0, Shape{});
        },
    .kernel = {[](const KernelCall& c) {
      auto changed = std::make_shared<TensorListResource>(list_input(c, 0));
      changed->resize(c.scalar(1));
      put_list(c, 0, std::move(changed));
    }},
    .grad = [](GradCall& g) { g.input_grad(0, tensor_list_resize(g.output_grad(), tensor_list_length(g.input(0)))); },
    .grad_reads = reads::inputs<0>,
});

struct ElementShapeAttrs {
  DType shape_type = DType::invalid;
};
const Op& TensorListElementShape = define_op({
    .name = "TensorListElementShape",
    .doc = "What every element's shape must fit: a vector with -1 for unknown dimensions, or -1 for an unknown rank.",
    .signature = "input_handle: variant -> element_shape: shape_type",
    .types = {{"shape_type", index_types}},
    .attrs = attrs_of<ElementShapeAttrs>(),
    .infer =
        [](InferCall& c) {
          const TensorListResource* list = known_list(c, 0);
          if (!list) return c.output(0, Shape::unknown_rank());
          const Shape& shape = list->element_shape();
          c.output(0, shape.has_rank() ? Shape{shape.rank()} : Shape{});
        },
    .kernel = {[](const KernelCall& c) {
      const Shape& shape = list_input(c, 0).element_shape();
      const int64_t no_rank = -1;
      c.allocate(0, shape.has_rank() ? Shape{shape.rank()} : Shape{});
      convert_elements(DType::int64, shape.has_rank() ? shape.begin() : &no_rank, c.output_dtype(), c.output(),
                       c.output_shape().count());
    }},
    .traits = {.not_differentiable = "its result is a shape"},
});

const Op& TensorListConcatLists = define_op({
    .name = "TensorListConcatLists",
    .doc = "One list after another; for several, pair by pair.",
    .signature = "input_a: variant, input_b: variant -> output: variant",
    .attrs = attrs_of<ElementAttrs>(),
    .infer =
        [](InferCall& c) {
          if (!c.shape(0).is_compatible_with(c.shape(1)))
            c.fail("input_a and input_b must have the same shape, got " + c.shape(0).brackets() + " and " +
                   c.shape(1).brackets());
          if (!all_types.has(c.attrs<ElementAttrs>().element_dtype)) c.fail("the attribute element_dtype is required");
          c.output(0, c.shape(0).merge_with(c.shape(1)));
        },
    .kernel = {[](const KernelCall& c) {
      c.allocate(0, c.shape(0));
      for (int64_t k = 0; k < c.count(0); ++k) {
        const TensorListResource& a = list_behind(c, c.input<ResourceHandle>(0)[k]);
        const TensorListResource& b = list_behind(c, c.input<ResourceHandle>(1)[k]);
        check_dtype(c, a, c.attrs<ElementAttrs>().element_dtype);
        check_dtype(c, b, c.attrs<ElementAttrs>().element_dtype);
        if (a.size() + b.size() > TensorListResource::max_size)
          c.fail("lists of " + std::to_string(a.size()) + " and " + std::to_string(b.size()) + " are too long for one");
        auto both = std::make_shared<TensorListResource>(a);
        both->set_element_shape(merged(c, a.element_shape(), b.element_shape()));
        both->resize(a.size() + b.size());
        b.for_each([&](int64_t i, const Tensor& t) { both->set(a.size() + i, t); });
        c.output<ResourceHandle>()[k] = std::move(both);
      }
    }},
    .traits = {.not_differentiable = "TensorFlow has no gradient of it"},
});

const Op& TensorListPushBackBatch = define_op({
    .name = "TensorListPushBackBatch",
    .doc = "Several lists, each with one row of a tensor more at its end.",
    .signature = "input_handles: variant, tensor: element_dtype -> output_handles: variant",
    .infer =
        [](InferCall& c) {
          const Shape &handles = c.shape(0), &tensor = c.shape(1);
          c.require_rank_at_least(1, 1);
          c.require_rank(0, 1);
          bool known = handles.has_rank() && tensor.has_rank();
          if (known && handles[0] >= 0 && tensor[0] >= 0 && handles[0] != tensor[0])
            c.fail("a tensor of shape " + tensor.brackets() + " has not one row for each of " +
                   std::to_string(handles[0]) + " lists");
          c.output(0, handles.has_rank() ? handles : Shape::of_rank(1));
        },
    .kernel = {[](const KernelCall& c) {
      c.allocate(0, c.shape(0));
      const Shape element = tail_of(c.shape(1));
      for (int64_t k = 0; k < c.count(0); ++k) {
        const TensorListResource& list = list_behind(c, c.input<ResourceHandle>(0)[k]);
        check_dtype(c, list, c.dtype(1));
        check_room(c, list, element);
        auto longer = std::make_shared<TensorListResource>(list);
        longer->append(copy_part(c.tensor(1), k * element.count(), element));
        c.output<ResourceHandle>()[k] = std::move(longer);
      }
    }},
    .traits = {.not_differentiable = "TensorFlow has no gradient of it"},
});

}  // namespace

Tensor element_shape_tensor(const Shape& shape) {
  if (!shape.has_rank()) return Tensor(-1);
  Tensor dims = Tensor::empty(DType::int32, {shape.rank()});
  for (int i = 0; i < shape.rank(); ++i)  // what no int32 can say is left unknown
    dims.mutable_data<int32_t>()[i] = shape[i] > INT32_MAX ? -1 : static_cast<int32_t>(shape[i]);
  return dims;
}

Tensor empty_tensor_list(const Tensor& element_shape, DType element_dtype) {
  return apply1(EmptyTensorList, {element_shape, Tensor(-1)}, NewListAttrs{element_dtype});
}
Tensor tensor_list_reserve(const Tensor& element_shape, const Tensor& num_elements, DType element_dtype) {
  return apply1(TensorListReserve, {element_shape, num_elements}, NewListAttrs{element_dtype});
}
Tensor tensor_list_push_back(const Tensor& handle, const Tensor& tensor) {
  return apply1(TensorListPushBack, {handle, tensor});
}
PoppedList tensor_list_pop_back(const Tensor& handle, const Tensor& element_shape, DType element_dtype) {
  auto [list, tensor] = apply_n<2>(TensorListPopBack, {handle, element_shape}, ElementAttrs{element_dtype});
  return {list, tensor};
}
Tensor tensor_list_set_item(const Tensor& handle, const Tensor& index, const Tensor& item, bool resize) {
  return apply1(TensorListSetItem, {handle, index, item}, SetItemAttrs{resize});
}
Tensor tensor_list_get_item(const Tensor& handle, const Tensor& index, const Tensor& element_shape,
                            DType element_dtype) {
  return apply1(TensorListGetItem, {handle, index, element_shape}, ElementAttrs{element_dtype});
}
Tensor tensor_list_length(const Tensor& handle) { return apply1(TensorListLength, {handle}); }
Tensor tensor_list_resize(const Tensor& handle, const Tensor& size) { return apply1(TensorListResize, {handle, size}); }
Tensor tensor_list_element_shape(const Tensor& handle) {
  return apply1(TensorListElementShape, {handle}, ElementShapeAttrs{DType::int32});
}

}  // namespace thalweg
