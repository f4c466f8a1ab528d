// From lists to tensors and back: stacked, gathered by index, or one after another.
#include <algorithm>

#include "thalweg/kernels/strided_copy.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/segments.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/slicing.h"
#include "thalweg/ops/tensor_list.h"
#include "thalweg/ops/tensor_list_access.h"
#include "thalweg/ops/unique.h"

namespace thalweg {
namespace {

using namespace lists;

// The shape of a tensor's rows, as it is when it runs.
Tensor row_shape(const Tensor& tensor) { return slice(shape(tensor), {1}, {-1}); }

// Where element k of a result goes; zeros where it is not set.
void put_row(const KernelCall& c, int64_t first, const Tensor& element) {
  void* to = kernels::element(c.output_dtype(), c.output(), first);
  copy_elements(element.dtype(), element.impl()->data, to, element.size());
}
void clear_output(const KernelCall& c) {
  if (is_object(c.output_dtype())) {
    if (c.output_dtype() != DType::string)
      c.fail("an element is not set, and there are no zeros of dtype " + std::string(name_of(c.output_dtype())));
    return;  // fresh strings are empty
  }
  kernels::clear_elements(c.output_dtype(), c.output(), c.output_shape().count());
}

struct StackAttrs {
  DType element_dtype = DType::invalid;
  int64_t num_elements = -1;
};
const Op& TensorListStack = define_op({
    .name = "TensorListStack",
    .doc = "All elements of a list along a new first axis; zeros for those that are not set.",
    .signature = "input_handle: variant, element_shape: int32 -> tensor: element_dtype",
    .attrs = attrs_of<StackAttrs>(),
    .infer =
        [](InferCall& c) {
          int64_t count = c.attrs<StackAttrs>().num_elements;
          if (count < -1) c.fail("num_elements must be -1 or more, got " + std::to_string(count));
          const TensorListResource* list = known_list(c, 0, c.attrs<StackAttrs>().element_dtype);
          Shape element = known_element_shape(c, 1);
          if (list && count >= 0 && list->size() != count)
            c.fail("Operation expected a list with " + std::to_string(count) + " elements but got a list with " +
                   std::to_string(list->size()) + " elements");
          if (list) element = merged(c, element, list->element_shape());
          c.output(0, with_first(list ? list->size() : count, element));
        },
    .kernel = {[](const KernelCall& c) {
      const TensorListResource& list = list_input(c, 0);
      Shape element = merged(c, read_element_shape(c, 1), list.element_shape());
      int64_t set = 0;
      list.for_each([&](int64_t, const Tensor& t) {
        element = merged(c, element, t.shape());
        ++set;
      });
      if (!element.is_fully_defined())
        c.fail((list.size() ? "Tried to stack list which only contains uninitialized tensors and has a "
                            : "Tried to stack elements of an empty list with ") +
               std::string("non-fully-defined element_shape: ") + element.brackets());
      c.allocate(0, with_first(list.size(), element));
      if (set < list.size()) clear_output(c);
      list.for_each([&, count = element.count()](int64_t i, const Tensor& t) { put_row(c, i * count, t); });
    }},
    .grad = [](GradCall& g) { g.input_grad(0, tensor_list_from_tensor(g.output_grad(), row_shape(g.output_grad()))); },
    .grad_reads = reads::nothing,
});

// A tensor's rows must fit the element shape of the list they go to.
template <class Call> void check_rows(const Call& c, const Shape& tensor, const Shape& element) {
  if (tensor.rank() == 0) c.fail("Tensor must be at least a vector, but saw shape: []");
  if (!tail_of(tensor).is_compatible_with(element))
    c.fail("Specified a list with shape " + element.brackets() + " from a tensor with shape " +
           tail_of(tensor).brackets());
}

const Op& TensorListFromTensor = define_op({
    .name = "TensorListFromTensor",
    .doc = "The list of a tensor's rows.",
    .signature = "tensor: element_dtype, element_shape: shape_type -> output_handle: variant",
    .types = {{"shape_type", index_types}},
    .infer =
        [](InferCall& c) {
          check_rows(c, c.shape(0), known_element_shape(c, 1));
          if (c.shape(0).has_rank() && c.shape(0)[0] > TensorListResource::max_size) c.fail("the list is too long");
          c.output(0, Shape{});
        },
    .kernel = {[](const KernelCall& c) {
      const Tensor& tensor = c.tensor(0);
      const Shape row = tail_of(tensor.shape());
      auto list = std::make_shared<TensorListResource>(tensor.dtype(), read_element_shape(c, 1));
      for (int64_t i = 0; i < tensor.shape()[0]; ++i) list->append(copy_part(tensor, i * row.count(), row));
      put_list(c, 0, std::move(list));
    }},
    .grad =
        [](GradCall& g) {
          const Tensor& tensor = g.input(0);
          int64_t count = tensor.shape().has_rank() ? tensor.shape()[0] : -1;
          g.input_grad(0, tensor_list_stack(g.output_grad(), row_shape(tensor), tensor.dtype(), count));
        },
    .grad_reads = reads::nothing,
});

const Op& TensorListGather = define_op({
    .name = "TensorListGather",
    .doc = "The elements that the indices name along a new first axis; zeros for those that are not set.",
    .signature = "input_handle: variant, indices: int32, element_shape: int32 -> values: element_dtype",
    .attrs = attrs_of<ElementAttrs>(),
    .infer =
        [](InferCall& c) {
          const TensorListResource* list = known_list(c, 0, c.attrs<ElementAttrs>().element_dtype);
          c.require_rank(1, 1);
          Shape element = known_element_shape(c, 2);
          if (list) element = merged(c, element, list->element_shape());
          c.output(0, with_first(c.shape(1).has_rank() ? c.shape(1)[0] : unknown, element));
        },
    .kernel = {[](const KernelCall& c) {
      const TensorListResource& list = list_input(c, 0);
      const auto* indices = c.input<int32_t>(1);
      const int64_t count = c.count(1);
      Shape element = merged(c, read_element_shape(c, 2), list.element_shape());
      bool all_set = true;
      for (int64_t k = 0; k < count; ++k) {
        if (indices[k] < 0 || indices[k] >= list.size())
          c.fail("Index " + std::to_string(indices[k]) + " out of range; list only has " + std::to_string(list.size()) +
                 " elements");
        Tensor t = list.at(indices[k]);
        all_set &= t.defined();
        if (t.defined()) element = merged(c, element, t.shape());
      }
      if (!element.is_fully_defined())
        c.fail((count ? "Tried to gather uninitialized tensors from a list with "
                      : "Tried to gather 0-elements from a list with ") +
               std::string("non-fully-defined element_shape: ") + element.brackets());
      c.allocate(0, with_first(count, element));
      if (!all_set) clear_output(c);
      for (int64_t k = 0; k < count; ++k)
        if (Tensor t = list.at(indices[k]); t.defined()) put_row(c, k * element.count(), t);
    }},
    // TensorFlow scatters the rows as they are and keeps one gradient of an element that was gathered twice; here they
    // are added up first.
    .grad =
        [](GradCall& g) {
          const Tensor& list = g.input(0);
          Tensor rows = g.output_grad(), indices = g.input(1);
          if (rows.dtype() != DType::variant) {
            auto [own, positions] = unique(indices);
            rows = math::unsorted_segment_sum(rows, positions, size(own));
            indices = own;
          }
          Tensor zeros = tensor_list_reserve(tensor_list_element_shape(list), tensor_list_length(list), rows.dtype());
          g.input_grad(0, tensor_list_scatter(zeros, rows, indices));
        },
    .grad_reads = reads::inputs<0, 1>,
});

// One row for each index.
void check_scatter(InferCall& c, int tensor, int indices, const Shape& element) {
  check_rows(c, c.shape(tensor), element);
  c.require_rank(indices, 1);
  if (!c.shape(tensor).has_rank() || !c.shape(indices).has_rank()) return;
  int64_t rows = c.shape(tensor)[0], count = c.shape(indices)[0];
  if (rows >= 0 && count >= 0 && rows != count)
    c.fail("Invalid number of rows in input tensor. Expected: " + std::to_string(count) +
           " Actual: " + std::to_string(rows));
}
int64_t size_for(const KernelCall& c, int indices) {
  int64_t size = 0;
  for (int64_t k = 0; k < c.count(indices); ++k) {
    int32_t index = c.input<int32_t>(indices)[k];
    if (index < 0 || index >= TensorListResource::max_size)
      c.fail("the indices must not be negative or too large, got " + std::to_string(index));
    size = std::max<int64_t>(size, int64_t{index} + 1);
  }
  return size;
}
void scatter_rows(const KernelCall& c, TensorListResource& list, int tensor, int indices) {
  const Shape row = tail_of(c.shape(tensor));
  for (int64_t k = 0; k < c.count(indices); ++k)
    list.set(c.input<int32_t>(indices)[k], copy_part(c.tensor(tensor), k * row.count(), row));
}

const Op& TensorListScatterV2 = define_op({
    .name = "TensorListScatterV2",
    .doc = "A list that has the rows of a tensor at the indices. It has num_elements elements, or as many as the "
           "indices need when that is -1.",
    .signature = "tensor: element_dtype, indices: int32, element_shape: shape_type, num_elements: int32 -> "
                 "output_handle: variant",
    .types = {{"shape_type", index_types}},
    .infer =
        [](InferCall& c) {
          check_scatter(c, 0, 1, known_element_shape(c, 2));
          c.require_rank(3, 0);
          if (c.has_value(3) && c.scalar(3) < -1)
            c.fail("num_elements must be -1 or more, got " + std::to_string(c.scalar(3)));
          c.output(0, Shape{});
        },
    .kernel = {[](const KernelCall& c) {
      int64_t size = size_for(c, 1), wanted = c.scalar(3);
      if (wanted >= 0 && size > wanted)
        c.fail("Trying to scatter at index " + std::to_string(size - 1) + " in list with size " +
               std::to_string(wanted));
      auto list = std::make_shared<TensorListResource>(c.dtype(0), read_element_shape(c, 2), std::max(size, wanted));
      scatter_rows(c, *list, 0, 1);
      put_list(c, 0, std::move(list));
    }},
    .grad =
        [](GradCall& g) {
          const Tensor& tensor = g.input(0);
          g.input_grad(0, tensor_list_gather(g.output_grad(), g.input(1), row_shape(tensor), tensor.dtype()));
        },
    .grad_reads = reads::inputs<1>,
});

const Op& TensorListScatterIntoExistingList = define_op({
    .name = "TensorListScatterIntoExistingList",
    .doc = "The list with the rows of a tensor at the indices; it grows where they need it.",
    .signature = "input_handle: variant, tensor: element_dtype, indices: int32 -> output_handle: variant",
    .infer =
        [](InferCall& c) {
          const TensorListResource* list = known_list(c, 0, c.dtype(1));
          check_scatter(c, 1, 2, list ? list->element_shape() : Shape::unknown_rank());
          c.output(0, Shape{});
        },
    .kernel = {[](const KernelCall& c) {
      auto list = std::make_shared<TensorListResource>(list_input(c, 0));
      if (int64_t size = size_for(c, 2); size > list->size()) list->resize(size);
      scatter_rows(c, *list, 1, 2);
      put_list(c, 0, std::move(list));
    }},
    .grad =
        [](GradCall& g) {
          const Tensor &list = g.input(0), &tensor = g.input(1), &indices = g.input(2);
          if (g.wants(0))
            g.input_grad(0, tensor_list_resize(tensor_list_scatter(g.output_grad(), zeros_like(tensor), indices),
                                               tensor_list_length(list)));
          if (g.wants(1))
            g.input_grad(1, tensor_list_gather(g.output_grad(), indices, row_shape(tensor), tensor.dtype()));
        },
    .grad_reads = reads::inputs<0, 2>,
});

template <class Call> Shape without_length(const Call& c, const Shape& element) {
  if (element.rank() == 0) c.fail("Concat requires elements to be at least vectors, found scalars instead");
  return with_first(unknown, tail_of(element));
}
const Op& TensorListConcatV2 = define_op({
    .name = "TensorListConcatV2",
    .doc = "All elements of a list one after another along their first axis, and how long each is there; leading_dims "
           "says that of elements that are not set.",
    .signature = "input_handle: variant, element_shape: shape_type, leading_dims: int64 -> tensor: element_dtype, "
                 "lengths: int64",
    .types = {{"shape_type", index_types}},
    .attrs = attrs_of<ElementAttrs>(),
    .infer =
        [](InferCall& c) {
          const TensorListResource* list = known_list(c, 0, c.attrs<ElementAttrs>().element_dtype);
          Shape element = known_element_shape(c, 1);
          c.require_rank(2, 1);
          if (list) element = merged(c, element, list->element_shape());
          c.output(0, without_length(c, element));
          c.output(1, Shape{list ? list->size() : unknown});
        },
    .kernel = {[](const KernelCall& c) {
      const TensorListResource& list = list_input(c, 0);
      Shape element = merged(c, read_element_shape(c, 1), list.element_shape());
      const int64_t own_length = element.rank() > 0 ? element[0] : unknown, count = c.count(2);
      const auto* leading_dims = c.input<int64_t>(2);
      int64_t set = 0, total = 0;
      list.for_each([&](int64_t i, const Tensor& t) {
        if (t.rank() == 0)
          c.fail("Concat saw a scalar shape at index " + std::to_string(i) + " but requires at least vectors");
        element = merged(c, without_length(c, element), with_first(unknown, tail_of(t.shape())));
        ++set;
      });
      element = without_length(c, element);
      if (!element.has_rank() || !tail_of(element).is_fully_defined())
        c.fail((list.size() ? "Trying to concat list with only uninitialized tensors but "
                            : "All except the first dimension must be fully defined when concating an empty tensor "
                              "list: ") +
               std::string("element_shape is ") + element.brackets());
      if (set < list.size() && count == 0 && own_length < 0)
        c.fail("List contains uninitialized tensors but leading_dims is empty");
      c.allocate(1, Shape{list.size()});
      auto* lengths = c.output<int64_t>(1);
      for (int64_t i = 0; i < list.size(); ++i) lengths[i] = i < count ? leading_dims[i] : own_length;
      list.for_each([&](int64_t i, const Tensor& t) { lengths[i] = t.shape()[0]; });
      for (int64_t i = 0; i < list.size(); ++i)
        if (lengths[i] < 0 || __builtin_add_overflow(total, lengths[i], &total))
          c.fail("List contains uninitialized tensor at index " + std::to_string(i) + " but leading_dims has " +
                 (i < count ? "the length " + std::to_string(lengths[i]) : "only " + std::to_string(count)) + " there");
      c.allocate(0, with_first(total, tail_of(element)));
      if (set < list.size()) clear_output(c);
      int64_t at = 0, next = 0;
      list.for_each([&, row = tail_of(element).count()](int64_t i, const Tensor& t) {
        for (; next < i; ++next) at += lengths[next];
        put_row(c, at * row, t);
      });
    }},
    .grad =
        [](GradCall& g) {
          g.input_grad(0, tensor_list_split(g.output_grad(0), tensor_list_element_shape(g.input(0)), g.output(1)));
        },
    .grad_reads = reads::inputs<0> | reads::outputs<1>,
});

const Op& TensorListSplit = define_op({
    .name = "TensorListSplit",
    .doc = "The list of pieces of these lengths along the first axis of a tensor.",
    .signature = "tensor: element_dtype, element_shape: shape_type, lengths: int64 -> output_handle: variant",
    .types = {{"shape_type", index_types}},
    .infer =
        [](InferCall& c) {
          if (c.shape(0).rank() == 0) c.fail("Tensor must be at least a vector, but saw shape: []");
          c.require_rank(2, 1);
          Shape element = without_length(c, known_element_shape(c, 1));
          if (!element.is_compatible_with(with_first(unknown, tail_of(c.shape(0)))))
            c.fail("tensor shape " + c.shape(0).brackets() + " is not compatible with element_shape " +
                   element.brackets());
          c.output(0, Shape{});
        },
    .kernel = {[](const KernelCall& c) {
      const Tensor& tensor = c.tensor(0);
      const Shape element = read_element_shape(c, 1), row = tail_of(tensor.shape());
      const auto* lengths = c.input<int64_t>(2);
      int64_t left = tensor.shape()[0], at = 0;
      for (int64_t k = 0; k < c.count(2); ++k) {
        if (lengths[k] < 0) c.fail("Invalid value in lengths: " + std::to_string(lengths[k]));
        if (lengths[k] > left)
          c.fail("Attempting to slice " + std::to_string(lengths[k]) + " rows from a tensor with length " +
                 std::to_string(tensor.shape()[0]) + " of which " + std::to_string(left) + " are left");
        if (!with_first(lengths[k], row).is_compatible_with(element))
          c.fail("a piece of " + std::to_string(lengths[k]) + " rows does not fit element_shape " + element.brackets());
        left -= lengths[k];
      }
      if (left > 0)
        c.fail("Unused values in tensor. Length of tensor: " + std::to_string(tensor.shape()[0]) +
               " Values used: " + std::to_string(tensor.shape()[0] - left));
      auto list = std::make_shared<TensorListResource>(tensor.dtype(), element);
      for (int64_t k = 0; k < c.count(2); at += lengths[k++])
        list->append(copy_part(tensor, at * row.count(), with_first(lengths[k], row)));
      put_list(c, 0, std::move(list));
    }},
    .grad =
        [](GradCall& g) {
          const Tensor& tensor = g.input(0);
          Tensor element = concat(std::vector{Tensor({-1}), row_shape(tensor)}, 0);
          g.input_grad(0, tensor_list_concat(g.output_grad(), element, g.input(2), tensor.dtype()).tensor);
        },
    .grad_reads = reads::inputs<2>,
});

}  // namespace

Tensor tensor_list_stack(const Tensor& handle, const Tensor& element_shape, DType element_dtype, int64_t num_elements) {
  return apply1(TensorListStack, {handle, element_shape}, StackAttrs{element_dtype, num_elements});
}
Tensor tensor_list_from_tensor(const Tensor& tensor, const Tensor& element_shape) {
  return apply1(TensorListFromTensor, {tensor, element_shape});
}
Tensor tensor_list_gather(const Tensor& handle, const Tensor& indices, const Tensor& element_shape,
                          DType element_dtype) {
  return apply1(TensorListGather, {handle, indices, element_shape}, ElementAttrs{element_dtype});
}
Tensor tensor_list_scatter(const Tensor& handle, const Tensor& tensor, const Tensor& indices) {
  return apply1(TensorListScatterIntoExistingList, {handle, tensor, indices});
}
ConcatenatedList tensor_list_concat(const Tensor& handle, const Tensor& element_shape, const Tensor& leading_dims,
                                    DType element_dtype) {
  auto [tensor, lengths] =
      apply_n<2>(TensorListConcatV2, {handle, element_shape, leading_dims}, ElementAttrs{element_dtype});
  return {tensor, lengths};
}
Tensor tensor_list_split(const Tensor& tensor, const Tensor& element_shape, const Tensor& lengths) {
  return apply1(TensorListSplit, {tensor, element_shape, lengths});
}

}  // namespace thalweg
