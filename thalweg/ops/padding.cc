#include "thalweg/ops/padding.h"

#include <algorithm>
#include <cctype>

#include "thalweg/core/complex.h"
#include "thalweg/core/convert.h"
#include "thalweg/core/error.h"
#include "thalweg/kernels/strided_copy.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/integers.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/slicing.h"

namespace thalweg {
namespace {

/// What is added before and after each axis, checked not to be negative.
template <class Call> Integers paddings_of(const Call& c) {
  Integers pads = integers(c, 1);
  for (int64_t pad : pads)
    if (pad < 0) c.fail("paddings must not be negative, got " + std::to_string(pad));
  return pads;
}

/// The rank the inputs agree on, or -1; fails unless paddings is [rank, 2].
int padded_rank(const InferCall& c) {
  const Shape &in = c.shape(0), &pads = c.shape(1);
  c.require_rank(1, 2);
  if (pads.has_rank() && pads[1] >= 0 && pads[1] != 2)
    c.fail("paddings must have shape [rank, 2], got " + pads.brackets());
  int64_t rows = pads.has_rank() ? pads[0] : unknown;
  if (in.has_rank() && rows >= 0 && rows != in.rank())
    c.fail("paddings has " + std::to_string(rows) + " rows, but input has " + std::to_string(in.rank()) +
           " dimensions");
  if (rows > Shape::max_rank) c.fail("paddings has too many rows");
  return in.has_rank() ? in.rank() : static_cast<int>(rows);
}

// The largest padding a mirror image allows is the length less `spare`; without a mirror there is no limit.
void infer_pad(InferCall& c, bool mirror, int64_t spare) {
  int rank = padded_rank(c);
  const Shape& in = c.shape(0);
  if (!in.has_rank() || !c.has_value(1)) return c.output(0, Shape::of_rank(rank));
  Integers pads = paddings_of(c);
  Shape out = in;
  for (int d = 0; d < rank; ++d) {
    if (in[d] < 0) continue;
    int64_t before = pads[2 * d], after = pads[2 * d + 1];
    if (mirror && std::max(before, after) > std::max<int64_t>(in[d] - spare, 0))
      c.fail("paddings of " + std::to_string(before) + " and " + std::to_string(after) +
             " are too large for dimension " + std::to_string(d) + " of length " + std::to_string(in[d]));
    if (__builtin_add_overflow(in[d], before, &out[d]) || __builtin_add_overflow(out[d], after, &out[d]))
      c.fail("the result is too large");
  }
  c.output(0, out);
}

void run_pad(const KernelCall& c, const void* value) {
  const Shape &in = c.shape(0), &out = c.output_shape();
  DType dtype = c.dtype();
  Integers pads = paddings_of(c);
  int64_t in_strides[Shape::max_rank], out_strides[Shape::max_rank], at = 0;
  kernels::dense_strides(in, in_strides);
  kernels::dense_strides(out, out_strides);
  // The border along an axis has the length of the input in the axes before it, and of the output in those after.
  for (int d = 0; d < in.rank(); ++d) {
    auto fill = [&](int64_t length, int64_t from) {
      kernels::StridedCopy border;
      for (int outer = 0; outer < d; ++outer) border.axis(in[outer], 0, out_strides[outer]);
      border.axis(length * out_strides[d], 0, 1);
      border.run(dtype, value, kernels::element(dtype, c.output(), at + from * out_strides[d]));
    };
    fill(pads[2 * d], 0);
    fill(pads[2 * d + 1], pads[2 * d] + in[d]);
    at += pads[2 * d] * out_strides[d];
  }
  if (in.count() == 0) return;
  kernels::StridedCopy copy;
  copy.axes(in, in_strides, out_strides);
  copy.run(dtype, c.input(0), kernels::element(dtype, c.output(), at));
}

void pad_gradient(GradCall& g) {
  Tensor before = strided_slice(g.input(1), {0, 0}, {0, 1},
                                {.strides = {1, 1}, .begin_mask = 1, .end_mask = 1, .shrink_axis_mask = 2});
  g.input_grad(0, slice(g.output_grad(), before, shape(g.input(), {.out_type = before.dtype()})));
}

const Op& Pad = define_op({
    .name = "Pad",
    .doc = "Zeros (empty strings) before and after along each axis.",
    .signature = "input: T, paddings: Tpaddings -> output: T",
    .types = {{"Tpaddings", index_types}},
    .infer = [](InferCall& c) { infer_pad(c, false, 0); },
    .kernel = {[](const KernelCall& c) {
      Tensor zero = zero_of(c.dtype());
      run_pad(c, zero.impl()->data);
    }},
    .grad = pad_gradient,
    .grad_reads = reads::inputs<1>,
});

const Op& PadV2 = define_op({
    .name = "PadV2",
    .doc = "A constant before and after along each axis.",
    .signature = "input: T, paddings: Tpaddings, constant_values: T -> output: T",
    .types = {{"Tpaddings", index_types}},
    .infer =
        [](InferCall& c) {
          if (c.shape(2).has_rank() && c.shape(2).rank() != 0)
            c.fail("constant_values must be a scalar, got shape " + c.shape(2).brackets());
          infer_pad(c, false, 0);
        },
    .kernel = {[](const KernelCall& c) { run_pad(c, c.input(2)); }},
    .grad = pad_gradient,
    .grad_reads = reads::inputs<1>,
});

struct MirrorPadAttrs {
  std::string mode = "";
};
/// How many elements at the edge a mirror image leaves out.
int64_t spare_of(const InferCall& c) {
  const std::string& mode = c.attrs<MirrorPadAttrs>().mode;
  if (mode != "REFLECT" && mode != "SYMMETRIC") c.fail("mode must be REFLECT or SYMMETRIC, got \"" + mode + "\"");
  return mode == "REFLECT" ? 1 : 0;
}

// Each axis has three parts, image, middle, image, which run backward, forward, backward through the input.
struct MirrorCopy {
  const KernelCall& c;
  Integers pads;
  int64_t spare;
  int64_t in_strides[Shape::max_rank], out_strides[Shape::max_rank];

  void parts(int axis, kernels::StridedCopy copy, int64_t in_at, int64_t out_at) const {
    const Shape& in = c.shape(0);
    if (axis == in.rank()) {
      copy.run(c.dtype(), kernels::element(c.dtype(), c.input(0), in_at),
               kernels::element(c.dtype(), c.output(), out_at));
      return;
    }
    int64_t before = pads[2 * axis], after = pads[2 * axis + 1], length = in[axis];
    auto part = [&](int64_t size, int64_t from, int64_t step, int64_t to) {
      if (size == 0) return;
      kernels::StridedCopy with = copy;
      with.axis(size, step * in_strides[axis], out_strides[axis]);
      parts(axis + 1, with, in_at + from * in_strides[axis], out_at + to * out_strides[axis]);
    };
    part(before, before - 1 + spare, -1, 0);
    part(length, 0, 1, before);
    part(after, length - 1 - spare, -1, before + length);
  }
};

const Op& MirrorPad = define_op({
    .name = "MirrorPad",
    .doc = "A mirror image before and after along each axis: with the edge (SYMMETRIC) or without it (REFLECT).",
    .signature = "input: T, paddings: Tpaddings -> output: T",
    .types = {{"Tpaddings", index_types}},
    .attrs = attrs_of<MirrorPadAttrs>(),
    .infer = [](InferCall& c) { infer_pad(c, true, spare_of(c)); },
    .kernel = {[](const KernelCall& c) {
      if (c.output_shape().count() == 0) return;
      MirrorCopy mirror{c, paddings_of(c), c.attrs<MirrorPadAttrs>().mode == "REFLECT", {}, {}};
      kernels::dense_strides(c.shape(0), mirror.in_strides);
      kernels::dense_strides(c.output_shape(), mirror.out_strides);
      mirror.parts(0, {}, 0, 0);
    }},
    .grad =
        [](GradCall& g) {
          const Shape& in = g.input(0).shape();
          if (in.is_fully_defined() && in.count() == 0) return g.input_grad(0, zeros_like(g.input(0)));
          g.input_grad(0, apply1(*find_op("MirrorPadGrad"), {g.output_grad(), g.input(1)}, g.attrs<MirrorPadAttrs>()));
        },
    .grad_reads = reads::inputs<1>,
});

template <class T> using Sum = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

// One axis, [outer, before + length + after, inner], becomes [outer, length, inner]: the middle, to which the part
// before and then the part after are added where they mirror it.
struct MirrorFold {
  int64_t outer, before, length, after, inner, spare;

  template <class T> void run(const T* in, T* out) const {
    auto add = [this](const T* from, T* to) {
      for (int64_t i = 0; i < inner; ++i)
        to[i] = static_cast<T>(static_cast<Sum<T>>(to[i]) + static_cast<Sum<T>>(from[i]));
    };
    for (int64_t o = 0; o < outer; ++o, in += (before + length + after) * inner, out += length * inner) {
      const T *middle = in + before * inner, *behind = middle + length * inner;
      std::copy_n(middle, length * inner, out);
      for (int64_t i = 0; i < before; ++i) add(in + i * inner, out + (before - 1 + spare - i) * inner);
      for (int64_t i = 0; i < after; ++i) add(behind + i * inner, out + (length - 1 - spare - i) * inner);
    }
  }
};

// Axis after axis, each into memory of its own, the last into the result.
template <class T> void fold_axes(const T* in, T* out, const std::vector<MirrorFold>& axes) {
  std::vector<T> folded;
  for (const MirrorFold& axis : axes) {
    std::vector<T> next;
    if (&axis != &axes.back()) next.resize(static_cast<size_t>(axis.outer * axis.length * axis.inner));
    axis.run(folded.empty() ? in : folded.data(), next.empty() ? out : next.data());
    folded = std::move(next);
  }
}

const Op& MirrorPadGrad = define_op({
    .name = "MirrorPadGrad",
    .doc = "The gradient of MirrorPad: the border is folded back and added.",
    .signature = "input: T, paddings: Tpaddings -> output: T",
    .types = {{"T", number_types}, {"Tpaddings", index_types}},
    .attrs = attrs_of<MirrorPadAttrs>(),
    .infer =
        [](InferCall& c) {
          int64_t spare = spare_of(c);
          int rank = padded_rank(c);
          const Shape& in = c.shape(0);
          if (!in.has_rank() || !c.has_value(1)) return c.output(0, Shape::of_rank(rank));
          Integers pads = paddings_of(c);
          Shape out = in;
          for (int d = 0; d < rank; ++d) {
            if (in[d] < 0) continue;
            int64_t before = pads[2 * d], after = pads[2 * d + 1];
            if (before > in[d] || after > in[d] - before ||
                std::max(before, after) > in[d] - before - after - spare * (before + after > 0))
              c.fail("paddings of " + std::to_string(before) + " and " + std::to_string(after) +
                     " do not fit dimension " + std::to_string(d) + " of length " + std::to_string(in[d]));
            out[d] = in[d] - before - after;
            if (out[d] < 1) c.fail("nothing of dimension " + std::to_string(d) + " would be left");
          }
          c.output(0, out);
        },
    .kernel = {[](const KernelCall& c) {
      const Shape &in = c.shape(0), &out = c.output_shape();
      if (in.count() == 0) return;
      Integers pads = paddings_of(c);
      int64_t spare = c.attrs<MirrorPadAttrs>().mode == "REFLECT";
      std::vector<MirrorFold> axes;
      for (int d = 0; d < in.rank(); ++d)
        if (in[d] != out[d])
          axes.push_back({out.count(0, d), pads[2 * d], out[d], pads[2 * d + 1], in.count(d + 1, in.rank()), spare});
      if (axes.empty()) return copy_elements(c.dtype(), c.input(0), c.output(), in.count());
      auto run = [&](auto example) {
        using T = decltype(example);
        fold_axes(c.input<T>(0), c.output<T>(), axes);
      };
      switch (c.dtype()) {
        case DType::float32:
          return run(float{});
        case DType::float64:
          return run(double{});
        case DType::float16:
          return run(Half{});
        case DType::bfloat16:
          return run(BFloat16{});
        case DType::complex64:
          return run(std::complex<float>{});
        case DType::complex128:
          return run(std::complex<double>{});
        case DType::int8:
        case DType::uint8:
          return run(uint8_t{});  // sums wrap, so that signs do not matter
        case DType::int16:
        case DType::uint16:
          return run(uint16_t{});
        case DType::int32:
        case DType::uint32:
          return run(uint32_t{});
        default:
          return run(uint64_t{});
      }
    }},
    .grad =
        [](GradCall& g) {
          g.input_grad(0, apply1(MirrorPad, {g.output_grad(), g.input(1)}, g.attrs<MirrorPadAttrs>()));
        },
    .grad_reads = reads::inputs<1>,
});

}  // namespace

Tensor pad(const Tensor& tensor, const TensorLike& paddings, const PadOptions& options) {
  std::string mode = options.mode;
  for (char& c : mode) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  Tensor pads = index_tensor(paddings);
  if (mode != "CONSTANT") {
    if (mode != "REFLECT" && mode != "SYMMETRIC")
      throw ValueError("pad: mode must be CONSTANT, REFLECT or SYMMETRIC, got \"" + options.mode + "\"");
    return apply1(MirrorPad, {tensor, pads}, MirrorPadAttrs{mode});
  }
  const Tensor& value = options.constant_values;
  if (!value.defined()) return apply1(Pad, {tensor, pads});
  // The number 0 stands for the zero of every dtype; other values must be of the tensor's kind.
  if (value.rank() == 0 && !value.is_symbolic() && real_types.has(value.dtype()) && value.item<double>() == 0)
    return apply1(Pad, {tensor, pads});
  if ((tensor.dtype() == DType::bool_) != (value.dtype() == DType::bool_))
    throw TypeError("pad: constant_values must be of dtype " + std::string(name_of(tensor.dtype())) + ", got " +
                    std::string(name_of(value.dtype())));
  bool strong = value.impl()->weak == Weak::strong;
  return apply1(PadV2, {tensor, pads, strong ? cast(value, tensor.dtype()) : strengthen(value, tensor.dtype())});
}

namespace {
const FunctionDef& function =
    define_function<Tensor(const Tensor&, const TensorLike&, const PadOptions&), pad>({"pad"}, {"tensor", "paddings"});
}

}  // namespace thalweg
