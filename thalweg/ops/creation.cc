#include "thalweg/ops/creation.h"

#include <algorithm>
#include <cmath>

#include "thalweg/core/convert.h"
#include "thalweg/core/error.h"
#include "thalweg/kernels/strided_copy.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/broadcasting.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/diagonals.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/infer.h"
#include "thalweg/ops/integers.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/parameter.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/variants.h"

namespace thalweg {
namespace {

const char* const constant_reason = "a constant has no gradient";

struct ConstAttrs {
  Tensor value = {};
  DType dtype = DType::invalid;
};
const Op& Const = define_op({
    .name = "Const",
    .doc = "The value that is its attribute.",
    .signature = "-> output: dtype",
    .attrs = attrs_of<ConstAttrs>(),
    .infer =
        [](InferCall& c) {
          const ConstAttrs& a = c.attrs<ConstAttrs>();
          c.require(a.value.defined(), "the attribute value is needed");
          c.require(a.dtype == DType::invalid || a.dtype == a.value.dtype(), "dtype is not that of the value");
          c.output(0, a.value.dtype(), a.value.shape());
        },
    .kernel = {[](const KernelCall& c) {
      const Tensor& value = c.attrs<ConstAttrs>().value;
      copy_elements(value.dtype(), value.impl()->data, c.output(), value.size());
    }},
    .traits = {.not_differentiable = constant_reason},
});

const Op& Fill = define_op({
    .name = "Fill",
    .doc = "A tensor of the shape dims, filled with one scalar.",
    .signature = "dims: index_type, value: T -> output: T",
    .types = {{"index_type", index_types}},
    .infer =
        [](InferCall& c) {
          if (c.shape(1).is_fully_defined() && c.shape(1).num_elements() != 1)
            c.fail("value must be a scalar, got shape " + c.shape(1).brackets());
          Shape out = c.shape_value(0);
          if (out.is_fully_defined() && out.num_elements() < 0) c.fail("the shape " + out.brackets() + " is too large");
          c.output(0, out);
        },
    .kernel = {[](const KernelCall& c) {
      kernels::fill_elements(c.output_dtype(), c.input(1), c.output(), c.output_shape().count());
    }},
    .grad = [](GradCall& g) { g.input_grad(1, reshape(reduce_sum(g.output_grad()), shape(g.input(1)))); },
    .grad_reads = reads::nothing,
});

const Op& ZerosLike = define_op({
    .name = "ZerosLike",
    .doc = "Zeros in the shape of x; of a list, the list of its elements' zeros.",
    .signature = "x: T -> y: T",
    .infer = infer::like_input<0>,
    .kernel = {[](const KernelCall& c) {
      if (c.dtype() != DType::variant) return kernels::clear_elements(c.dtype(), c.output(), c.count(0));
      const auto* x = c.input<ResourceHandle>(0);
      std::transform(x, x + c.count(0), c.output<ResourceHandle>(), zeros_of_variant);
    }},
    .traits = {.shape_only = true, .not_differentiable = constant_reason},
});

const Op& OnesLike = define_op({
    .name = "OnesLike",
    .doc = "Ones in the shape of x.",
    .signature = "x: T -> y: T",
    .types = {{"T", plain_types}},
    .infer = infer::like_input<0>,
    .kernel = {[](const KernelCall& c) {
      std::byte one[16];
      const bool truth = true;
      convert_elements(DType::bool_, &truth, c.dtype(), one, 1);
      kernels::fill_elements(c.dtype(), one, c.output(), c.count(0));
    }},
    .traits = {.shape_only = true, .not_differentiable = constant_reason},
});

struct EmptyAttrs {
  DType dtype = DType::invalid;
  bool init = false;
};
const Op& Empty = define_op({
    .name = "Empty",
    .doc = "A tensor of this shape whose elements mean nothing. They are zeros here, whether init asks for it or not.",
    .signature = "shape: int32 -> output: dtype",
    .attrs = attrs_of<EmptyAttrs>(),
    .infer = [](InferCall& c) { c.output(0, c.shape_value(0)); },
    .kernel = {[](const KernelCall& c) {
      kernels::clear_elements(c.output_dtype(), c.output(), c.output_shape().count());
    }},
    .traits = {.stateful = true, .not_differentiable = constant_reason},
});

struct PlaceholderAttrs {
  DType dtype = DType::invalid;
  Shape shape = Shape::unknown_rank();
};
const Op& Placeholder = define_op({
    .name = "Placeholder",
    .doc = "Stands for an input of a graph; it must be fed.",
    .signature = "-> output: dtype",
    .attrs = attrs_of<PlaceholderAttrs>(),
    .infer = [](InferCall& c) { c.output(0, c.attrs<PlaceholderAttrs>().shape); },
    .kernel = {[](const KernelCall& c) {
      c.fail("a placeholder has no value of its own: feed a " + std::string(name_of(c.output_dtype())) + " of shape " +
             c.output_shape().brackets());
    }},
    .traits = {.view = true, .not_differentiable = "a placeholder has no inputs"},
});

struct PlaceholderWithDefaultAttrs {
  Shape shape = Shape::unknown_rank();
};
const Op& PlaceholderWithDefault = define_op({
    .name = "PlaceholderWithDefault",
    .doc = "Stands for an input of a graph; the default is used when it is not fed.",
    .signature = "input: dtype -> output: dtype",
    .attrs = attrs_of<PlaceholderWithDefaultAttrs>(),
    .infer =
        [](InferCall& c) {
          const Shape& wanted = c.attrs<PlaceholderWithDefaultAttrs>().shape;
          if (!c.shape(0).is_compatible_with(wanted))
            c.fail("the default has shape " + c.shape(0).brackets() + ", which does not fit " + wanted.brackets());
          c.output(0, wanted);  // what is fed may differ from the default where this is unknown
        },
    .kernel = {[](const KernelCall& c) { c.adopt(0, c.tensor(0)); }},
    .grad = [](GradCall& g) { g.input_grad(0, g.output_grad()); },
    .grad_reads = reads::nothing,
    .traits = {.view = true},
});

struct OneHotAttrs {
  int64_t axis = -1;
};
template <class I, class Put> void each_index(const KernelCall& c, int64_t inner, int64_t depth, Put put) {
  const I* indices = c.input<I>(0);
  int64_t count = c.count(0);
  for (int64_t i = 0; i < count; ++i) {
    auto index = static_cast<int64_t>(indices[i]);
    if (index >= 0 && index < depth) put((i / inner * depth + index) * inner + i % inner);
  }
}
const Op& OneHot = define_op({
    .name = "OneHot",
    .doc = "on_value at each index along a new axis of length depth, off_value elsewhere.",
    .signature = "indices: TI, depth: int32, on_value: T, off_value: T -> output: T",
    .types = {{"TI", types(DType::uint8, DType::int8, DType::int32, DType::int64)}},
    .attrs = attrs_of<OneHotAttrs>(),
    .infer =
        [](InferCall& c) {
          for (int i = 1; i < 4; ++i)
            if (c.shape(i).has_rank() && c.shape(i).rank() != 0)
              c.fail(c.op.args[static_cast<size_t>(i)].name + " must be a scalar, got shape " + c.shape(i).brackets());
          int64_t axis = c.attrs<OneHotAttrs>().axis, depth = c.has_value(1) ? c.scalar(1) : unknown;
          if (c.has_value(1) && depth < 0) c.fail("depth must not be negative, got " + std::to_string(depth));
          if (axis < -1) c.fail("axis must be -1 or more, got " + std::to_string(axis));
          if (!c.shape(0).has_rank()) return c.output(0, Shape::unknown_rank());
          Shape out = c.shape(0);
          if (axis > out.rank())
            c.fail("axis " + std::to_string(axis) + " is out of range: indices have " + std::to_string(out.rank()) +
                   " dimensions");
          out.insert(axis < 0 ? out.rank() : static_cast<int>(axis), depth);
          c.output(0, out);
        },
    .kernel = {[](const KernelCall& c) {
      const Shape& out = c.output_shape();
      int axis = static_cast<int>(c.attrs<OneHotAttrs>().axis);
      if (axis < 0) axis = out.rank() - 1;
      DType dtype = c.output_dtype();
      kernels::fill_elements(dtype, c.input(3), c.output(), out.count());
      int64_t depth = out[axis], inner = out.count(axis + 1, out.rank());
      auto put = [&](int64_t at) { copy_elements(dtype, c.input(2), kernels::element(dtype, c.output(), at), 1); };
      switch (c.dtype(0)) {
        case DType::uint8:
          return each_index<uint8_t>(c, inner, depth, put);
        case DType::int8:
          return each_index<int8_t>(c, inner, depth, put);
        case DType::int32:
          return each_index<int32_t>(c, inner, depth, put);
        default:
          return each_index<int64_t>(c, inner, depth, put);
      }
    }},
    .traits = {.not_differentiable = "indices have no gradient"},
});

// One number is the shape of a vector.
Tensor as_vector(const TensorLike& shape) {
  Tensor dims = index_tensor(shape);
  return dims.rank() == 0 ? reshape(dims, {1}) : dims;
}

}  // namespace

Tensor zero_of(DType dtype) {
  Tensor zero = Tensor::empty(dtype, {});
  kernels::clear_elements(dtype, zero.impl()->data, 1);
  return zero;
}
Tensor one_of(DType dtype) {
  if (is_object(dtype)) throw TypeError("there is no one of dtype " + std::string(name_of(dtype)));
  Tensor one = Tensor::empty(dtype, {});
  const bool truth = true;
  convert_elements(DType::bool_, &truth, dtype, one.impl()->data, 1);
  return one;
}

Tensor convert_to_tensor(const TensorLike& value, const ConvertToTensorOptions& options) {
  const Tensor& given = value.tensor();
  bool weak = given.impl()->weak != Weak::strong;
  if (options.dtype != DType::invalid) {
    if (weak) return strengthen(given, options.dtype);
    if (given.dtype() != options.dtype)
      throw ValueError("convert_to_tensor: the tensor has dtype " + std::string(name_of(given.dtype())) + ", not " +
                       std::string(name_of(options.dtype)) + "; cast it first");
    return given;
  }
  if (weak && options.dtype_hint != DType::invalid) {
    try {
      return strengthen(given, options.dtype_hint);
    } catch (const TypeError&) {
      return value.own();  // a hint is no demand
    } catch (const ValueError&) {
      return value.own();
    }
  }
  return value.own();
}

Tensor constant(const TensorLike& value, const ConstantOptions& options) {
  const Tensor& given = value.tensor();
  DType own = given.impl()->dtype;
  bool cast_it = options.dtype != DType::invalid && given.impl()->weak == Weak::strong && own != options.dtype;
  Tensor made = cast_it ? cast(given, options.dtype) : convert_to_tensor(value, {.dtype = options.dtype});
  if (!options.shape) return made;
  Tensor dims = index_list(options.shape->dims());
  return made.size() == 1 ? fill(dims, reshape(made, {})) : reshape(made, dims);
}

Tensor fill(const TensorLike& dims, const TensorLike& value) { return apply1(Fill, {as_vector(dims), value}); }
namespace {
/// `zeros(shape, {})` leaves the dtype out too: empty braces are a dtype rather than options.
DType dtype_or_default(const ZerosOptions& options) {
  return options.dtype == DType::invalid ? ZerosOptions().dtype : options.dtype;
}
}  // namespace
Tensor zeros(const TensorLike& shape, const ZerosOptions& options) {
  return fill(as_vector(shape), zero_of(dtype_or_default(options)));
}
Tensor ones(const TensorLike& shape, const ZerosOptions& options) {
  return fill(as_vector(shape), one_of(dtype_or_default(options)));
}
Tensor zeros_like(const TensorLike& input, const LikeOptions& options) {
  if (options.dtype == DType::invalid || options.dtype == input.tensor().dtype()) return apply1(ZerosLike, {input});
  return fill(shape(input), zero_of(options.dtype));
}
Tensor ones_like(const TensorLike& input, const LikeOptions& options) {
  if (options.dtype == DType::invalid || options.dtype == input.tensor().dtype()) return apply1(OnesLike, {input});
  return fill(shape(input), one_of(options.dtype));
}

namespace {

// Where only numbers are given, they take the dtype that is asked for.
struct OneHotValues {
  Parameter on_value = {};
  Parameter off_value = {};
  std::optional<int64_t> axis = {};
  DType dtype = DType::invalid;
};

// A depth past 32 bits has no place in the record, whose depth is int32: it is refused instead of cut.
Tensor depth_of(const TensorLike& depth) {
  Tensor length = index_tensor(depth);
  if (length.dtype() != DType::int64) return length;
  const bool known = !length.is_symbolic() && length.rank() == 0;
  if (int64_t value = known ? length.item<int64_t>() : 0; value != static_cast<int32_t>(value))
    throw InvalidArgumentError("one_hot: a depth of " + length.str() + " is too large: it must be below 2^31");
  return cast(length, DType::int32);
}

Tensor value_in(const Parameter& given, DType dtype) {
  if (given.tensor().impl()->weak == Weak::strong) return given.tensor();
  return convert_to_tensor(given.tensor(), {.dtype_hint = dtype});
}

Tensor make_one_hot(const TensorLike& indices, const TensorLike& depth, const OneHotValues& options) {
  DType dtype = options.dtype;
  Tensor on, off;
  if (options.on_value.given()) on = value_in(options.on_value, dtype);
  if (options.off_value.given()) off = value_in(options.off_value, dtype);
  if (dtype == DType::invalid) dtype = on.defined() ? on.dtype() : off.defined() ? off.dtype() : DType::float32;
  if (!on.defined()) on = one_of(dtype);
  if (!off.defined()) off = zero_of(dtype);
  if (on.dtype() != dtype || off.dtype() != dtype)
    throw TypeError("one_hot: on_value is " + std::string(name_of(on.dtype())) + ", off_value " +
                    std::string(name_of(off.dtype())) + ", dtype " + std::string(name_of(dtype)) +
                    "; they must be the same");
  return apply1(OneHot, {indices, depth_of(depth), on, off}, OneHotAttrs{options.axis.value_or(-1)});
}

}  // namespace

Tensor one_hot(const TensorLike& indices, const TensorLike& depth, const OneHotOptions& options) {
  return make_one_hot(indices, depth, {options.on_value, options.off_value, options.axis, options.dtype});
}

Tensor eye(int64_t num_rows, const EyeOptions& options) {
  int64_t columns = options.num_columns.value_or(num_rows);
  if (num_rows < 0 || columns < 0)
    throw InvalidArgumentError("eye: a matrix of " + std::to_string(num_rows) + " rows and " + std::to_string(columns) +
                               " columns");
  const Shape shape_of_one{num_rows, columns};
  constexpr int64_t vast = int64_t{1} << 36;
  if (int64_t count = shape_of_one.num_elements(); count < 0 || count > vast)
    return zeros(shape_of_one, {.dtype = options.dtype});
  Tensor matrix = one_hot(range(num_rows), columns, {.dtype = options.dtype});
  if (options.batch_shape.empty()) return matrix;
  std::vector<int64_t> shape = options.batch_shape;
  shape.insert(shape.end(), {num_rows, columns});
  return broadcast_to(matrix, shape);
}

namespace {

struct EyeTensors {
  Parameter num_columns = {};
  Parameter batch_shape = {};
  DType dtype = DType::float32;
};

// Python's eye, whose sizes may be tensors that are not known yet.
Tensor make_eye(const TensorLike& num_rows, const EyeTensors& options) {
  Tensor rows = index_tensor(num_rows);
  Tensor columns = options.num_columns.given() ? index_tensor(options.num_columns.tensor()) : rows;
  Tensor batch = options.batch_shape.given() ? index_tensor(options.batch_shape.tensor()) : Tensor();
  auto known = [](const Tensor& t) { return !t.defined() || !t.is_symbolic(); };
  if (known(rows) && known(columns) && known(batch)) {
    EyeOptions sizes{.num_columns = columns.item<int64_t>(), .dtype = options.dtype};
    if (batch.defined()) {
      const Tensor dims = cast(batch, int64);
      sizes.batch_shape.assign(dims.span<int64_t>().begin(), dims.span<int64_t>().end());
    }
    return eye(rows.item<int64_t>(), sizes);
  }
  auto dims = [&](const std::vector<Tensor>& last) {
    std::vector<Tensor> parts;
    if (batch.defined()) parts.push_back(cast(batch, int64));
    for (const Tensor& t : last) parts.push_back(reshape(cast(t, int64), {1}));
    return concat(parts, 0);
  };
  Tensor zeros = fill(dims({rows, columns}), zero_of(options.dtype));
  return linalg::set_diag(zeros, fill(dims({minimum(cast(rows, int64), cast(columns, int64))}), one_of(options.dtype)));
}

}  // namespace

std::vector<Tensor> meshgrid(const std::vector<Tensor>& args, const MeshgridOptions& options) {
  if (options.indexing != "xy" && options.indexing != "ij")
    throw ValueError("meshgrid: indexing must be \"xy\" or \"ij\", got \"" + options.indexing + "\"");
  bool swap = options.indexing == "xy" && args.size() > 1;
  auto axis_of = [&](size_t i) { return swap && i < 2 ? 1 - i : i; };
  Tensor grid;
  std::vector<Tensor> lines;
  for (size_t i = 0; i < args.size(); ++i) {
    std::vector<int64_t> line(args.size(), 1);
    line[axis_of(i)] = -1;
    lines.push_back(reshape(args[i], line));
    Tensor own = shape(lines.back());
    grid = grid.defined() ? broadcast_dynamic_shape(grid, own) : own;
  }
  for (Tensor& line : lines) line = broadcast_to(line, grid);
  return lines;
}

namespace {
const FunctionDef* const creation_functions[] = {
    &define_function<Tensor(const TensorLike&, const ConstantOptions&), constant>({"constant"}, {"value"}),
    &define_function<Tensor(const TensorLike&, const ConvertToTensorOptions&), convert_to_tensor>({"convert_to_tensor"},
                                                                                                  {"value"}),
    &define_function<Tensor(const TensorLike&, const ZerosOptions&), zeros>({"zeros"}, {"shape"}),
    &define_function<Tensor(const TensorLike&, const ZerosOptions&), ones>({"ones"}, {"shape"}),
    &define_function<Tensor(const TensorLike&, const LikeOptions&), zeros_like>({"zeros_like"}, {"input"}),
    &define_function<Tensor(const TensorLike&, const LikeOptions&), ones_like>({"ones_like"}, {"input"}),
    &define_function<fill>({"fill"}, {"dims", "value"}),
    &define_function<make_eye>({"eye", "linalg.eye"}, {"num_rows"}),
    &define_function<meshgrid>({"meshgrid"}, {"args"}),
    &define_function<make_one_hot>({"one_hot"}, {"indices", "depth"}),
};
}  // namespace

}  // namespace thalweg
