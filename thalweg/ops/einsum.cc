#include "thalweg/ops/einsum.h"

#include <algorithm>

#include "thalweg/core/error.h"
#include "thalweg/kernels/gemm.h"
#include "thalweg/kernels/strided_copy.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/broadcasting.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/einsum_equation.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_complex.h"

namespace thalweg {
namespace {

struct EinsumAttrs {
  std::string equation = "";
};

template <class Call> EinsumShapes resolve(const Call& c) {
  const std::string& text = c.template attrs<EinsumAttrs>().equation;
  if (c.num_inputs() > 2) c.fail("takes one or two inputs, got " + std::to_string(c.num_inputs()));
  Equation equation;
  EinsumShapes resolved;
  std::string why = parse_equation(text, equation);
  if (why.empty()) {
    std::vector<const Shape*> shapes;
    for (int i = 0; i < c.num_inputs(); ++i) shapes.push_back(&c.shape(i));
    why = resolve_equation(equation, shapes, resolved);
  }
  if (!why.empty()) c.fail("the equation '" + text.substr(0, 200) + "' cannot be used: " + why);
  return resolved;
}

void infer_einsum(InferCall& c) {
  EinsumShapes e = resolve(c);
  if (!e.ranks_known) return c.output(0, Shape::unknown_rank());
  if (e.output.size() > static_cast<size_t>(Shape::max_rank))
    c.fail("the output would have " + std::to_string(e.output.size()) + " dimensions, at most " +
           std::to_string(Shape::max_rank) + " are possible");
  Shape out;
  for (unsigned char label : e.output) out.push_back(e.size[label]);
  c.output(0, out);
}

// An operand, or the result, seen by label: repeated labels walk a diagonal, broadcast dimensions of length 1 are left
// out.
struct View {
  Labels labels;
  int64_t stride[num_labels] = {};

  View(const Labels& all, const Shape& shape, const int64_t* size) {
    int64_t strides[Shape::max_rank];
    kernels::dense_strides(shape, strides);
    for (size_t i = 0; i < all.size(); ++i) {
      if (shape[static_cast<int>(i)] != size[all[i]]) continue;
      if (!holds(labels, all[i])) labels.push_back(all[i]);
      stride[all[i]] += strides[i];
    }
  }
};

// Elements of one dtype in some order of labels, dense; in the operand itself where it already lies so.
struct Block {
  const void* data = nullptr;
  Tensor owned;
};

class Contraction {
 public:
  Contraction(const KernelCall& c, const EinsumShapes& e)
      : c_(c), size_(e.size), out_(e.output, c.output_shape(), e.size) {
    for (int i = 0; i < c.num_inputs(); ++i) views_.emplace_back(e.inputs[static_cast<size_t>(i)], c.shape(i), e.size);
  }

  void run() const {
    const DType dtype = c_.dtype();
    const bool diagonal = out_.labels.size() != static_cast<size_t>(c_.output_shape().rank());
    if (diagonal) kernels::clear_elements(dtype, c_.output(), c_.output_shape().count());
    if (views_.size() == 1) return run_one();
    // Labels of both operands and the result make the batch, of both operands alone the inner dimension, of one operand
    // and the result its rows or columns; of one operand alone they are summed first.
    Labels batch, inner, rows, columns;
    const View &a = views_[0], &b = views_[1];
    for (unsigned char label : out_.labels) {
      bool in_a = holds(a.labels, label), in_b = holds(b.labels, label);
      if (in_a && in_b) batch.push_back(label);
      else if (in_a) rows.push_back(label);
      else if (in_b) columns.push_back(label);
    }
    const View& larger = count(a.labels) >= count(b.labels) ? a : b;
    for (unsigned char label : larger.labels)
      if (holds(a.labels, label) && holds(b.labels, label) && !holds(out_.labels, label)) inner.push_back(label);
    kernels::GemmShape shape{count(rows), count(columns), count(inner)};
    Block left = operand(0, batch, rows, inner, shape.a), right = operand(1, batch, inner, columns, shape.b);
    Labels order = joined(batch, rows, columns);
    const bool direct = lies(out_, order) && !diagonal;
    int64_t batches = count(batch);
    Tensor product = direct ? Tensor() : Tensor::empty(dtype, Shape{batches * shape.m * shape.n});
    kernels::batch_gemm(dtype, shape, batches, left.data, shape.m * shape.k, right.data, shape.k * shape.n,
                        direct ? c_.output() : product.impl()->data, shape.m * shape.n);
    if (!direct) store(product.impl()->data, order);
  }

 private:
  int64_t count(const Labels& labels) const {
    int64_t n = 1;
    for (unsigned char label : labels) n *= size_[label];
    return n;
  }
  static Labels joined(Labels first, const Labels& second, const Labels& third) {
    first.insert(first.end(), second.begin(), second.end());
    first.insert(first.end(), third.begin(), third.end());
    return first;
  }
  // Whether a view lies densely in this order of labels.
  bool lies(const View& view, const Labels& order) const {
    int64_t stride = 1;
    for (size_t i = order.size(); i--;) {
      if (size_[order[i]] != 1 && view.stride[order[i]] != stride) return false;
      stride *= size_[order[i]];
    }
    return true;
  }
  Labels summed(const View& view) const {
    Labels alone;
    for (unsigned char label : view.labels)
      if (!holds(out_.labels, label) &&
          (views_.size() == 1 || !holds(views_[0].labels, label) || !holds(views_[1].labels, label)))
        alone.push_back(label);
    return alone;
  }
  // Copies a view into this order, and sums over the trailing labels by a product with ones.
  Block load(int i, const Labels& order, const Labels& trailing) const {
    const View& view = views_[static_cast<size_t>(i)];
    const DType dtype = c_.dtype();
    Labels all = joined(order, trailing, {});
    Block block{c_.input(i), {}};
    if (!lies(view, all)) {
      block.owned = Tensor::empty(dtype, Shape{count(all)});
      kernels::StridedCopy copy;
      int64_t out_stride = count(all);
      for (unsigned char label : all) {
        out_stride = size_[label] ? out_stride / size_[label] : 0;
        copy.axis(size_[label], view.stride[label], out_stride);
      }
      copy.run(dtype, c_.input(i), block.owned.impl()->data);
      block.data = block.owned.impl()->data;
    }
    if (trailing.empty()) return block;
    int64_t n = count(order), depth = count(trailing);
    Tensor ones = Tensor::empty(dtype, Shape{depth}), sums = Tensor::empty(dtype, Shape{n});
    kernels::fill_elements(dtype, one_of(dtype).impl()->data, ones.impl()->data, depth);
    kernels::batch_gemm(dtype, {n, 1, depth}, 1, block.data, 0, ones.impl()->data, 0, sums.impl()->data, 0);
    return {sums.impl()->data, sums};
  }
  // An operand as [batch, first, second], or as [batch, second, first] where it lies so already.
  Block operand(int i, const Labels& batch, const Labels& first, const Labels& second, kernels::Operand& how) const {
    const View& view = views_[static_cast<size_t>(i)];
    Labels alone = summed(view);
    if (alone.empty() && lies(view, joined(batch, second, first)) && !lies(view, joined(batch, first, second))) {
      how = kernels::Operand::transposed;
      return {c_.input(i), {}};
    }
    return load(i, joined(batch, first, second), alone);
  }
  void store(const void* data, const Labels& order) const {
    kernels::StridedCopy copy;
    int64_t in_stride[num_labels] = {}, stride = 1;
    for (size_t i = order.size(); i--; stride *= size_[order[i]]) in_stride[order[i]] = stride;
    for (unsigned char label : out_.labels) copy.axis(size_[label], in_stride[label], out_.stride[label]);
    copy.run(c_.dtype(), data, c_.output());
  }
  void run_one() const {
    Labels alone = summed(views_[0]), order;
    if (alone.empty()) {  // a copy at most
      kernels::StridedCopy copy;
      for (unsigned char label : out_.labels) copy.axis(size_[label], views_[0].stride[label], out_.stride[label]);
      return copy.run(c_.dtype(), c_.input(0), c_.output());
    }
    for (unsigned char label : views_[0].labels)
      if (!holds(alone, label)) order.push_back(label);
    store(load(0, order, alone).data, order);
  }

  const KernelCall& c_;
  const int64_t* size_;
  View out_;
  std::vector<View> views_;
};

void run_einsum(const KernelCall& c) {
  if (c.output_shape().count() == 0) return;
  EinsumShapes e = resolve(c);
  Contraction(c, e).run();
}

std::string text_of(const Labels& labels) {
  std::string text;
  for (unsigned char label : labels)
    if (label == ellipsis_label) text += "...";
    else text += static_cast<char>(label);
  return text;
}
Labels unique(const Labels& labels) {
  Labels once;
  for (unsigned char label : labels)
    if (!holds(once, label)) once.push_back(label);
  return once;
}
Tensor apply_einsum(const Op& op, const std::string& equation, std::initializer_list<TensorRef> inputs) {
  return apply1(op, inputs, EinsumAttrs{equation});
}

// Each label once, what the ellipsis stands for first: there it broadcasts as it does elsewhere. An input without an
// ellipsis has one of no dimensions where the result has one.
Labels once_of(const Labels& term, bool dots) {
  Labels once = unique(term);
  auto at = std::find(once.begin(), once.end(), ellipsis_label);
  if (at != once.end()) std::rotate(once.begin(), at, at + 1);
  else if (dots) once.insert(once.begin(), ellipsis_label);
  return once;
}

// The gradient of one operand: the result's gradient times the other operand, spread over what was summed within this
// one, summed over what its ellipsis broadcast, and put on the diagonals it was read along.
void grad_of_einsum(GradCall& g) {
  Equation e;
  parse_equation(g.attrs<EinsumAttrs>().equation, e);
  const bool two = g.num_inputs() == 2, dots = holds(e.output, ellipsis_label);
  const std::string result = text_of(e.output);
  for (int i = 0; i < g.num_inputs(); ++i) {
    if (!g.wants(i)) continue;
    const Labels &term = e.inputs[static_cast<size_t>(i)], once = once_of(term, dots);
    const Labels other = two ? e.inputs[static_cast<size_t>(1 - i)] : Labels();
    Labels kept, alone;
    for (unsigned char label : once)
      (label == ellipsis_label || holds(e.output, label) || holds(other, label) ? kept : alone).push_back(label);
    Tensor grad = two ? apply_einsum(g.op, result + "," + text_of(other) + "->" + text_of(kept),
                                     {g.output_grad(), math::conj(g.input(1 - i))})
                      : apply_einsum(g.op, result + "->" + text_of(kept), {g.output_grad()});
    const Tensor& x = g.input(i);
    // Whether x lies in this order already; an ellipsis of no dimensions does not count.
    const bool in_order = once == term || (!holds(term, ellipsis_label) && text_of(once) == "..." + text_of(term));
    auto ordered = [&] {  // zeros of x's shape in this order
      Tensor zeros = zeros_like(x);
      return in_order ? zeros : apply_einsum(g.op, text_of(term) + "->" + text_of(once), {zeros});
    };
    if (!alone.empty()) {
      const std::string spread = (once[0] == ellipsis_label ? "..." : "") + text_of(alone);
      Tensor ones = ones_like(apply_einsum(g.op, text_of(once) + "->" + spread, {ordered()}));
      grad = apply_einsum(g.op, text_of(kept) + "," + spread + "->" + text_of(once), {grad, ones});
    }
    if (two && dots) grad = sum_to_shape_of(in_order ? x : ordered(), grad);
    g.input_grad(i, in_order ? grad : apply_einsum(g.op, text_of(once) + "->" + text_of(term), {grad}));
  }
}

const Op& Einsum = define_op({
    .name = "Einsum",
    .doc = "The sum of products of one or two tensors that an equation such as \"ij,jk->ik\" names.",
    .signature = "inputs: N * T -> output: T",
    .types = {{"T", number_types}},
    .attrs = attrs_of<EinsumAttrs>(),
    .infer = infer_einsum,
    .kernel = {run_einsum},
    .grad = grad_of_einsum,
    .grad_reads = reads::inputs<0, 1>,
});

// An equation without an arrow keeps the letters that occur once, in alphabetical order, after the ellipsis.
std::string completed(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  if (text.find("->") != std::string::npos) return text;
  std::string letters, output = text.find("...") == std::string::npos ? "" : "...";
  for (char c : text)
    if (c != ',' && c != '.') letters += c;
  std::sort(letters.begin(), letters.end());
  for (char c : letters)
    if (std::count(letters.begin(), letters.end(), c) == 1) output += c;
  return text + "->" + output;
}

// How many elements an operand has, as a number that cannot overflow; unknown dimensions count as a few.
double elements(const Labels& labels, const EinsumShapes& e) {
  double n = 1;
  for (unsigned char label : labels) n *= e.size[label] < 0 ? 8 : static_cast<double>(e.size[label]);
  return n;
}

struct Operand {
  Labels term;  // with an ellipsis as one label
  Tensor value;
};

// What a product of two operands must keep: labels that another operand or the result still needs.
Labels needed(const Operand& a, const Operand& b, const std::vector<Operand>& all, const Labels& output) {
  Labels kept;
  auto keep = [&](unsigned char label) {
    if (holds(kept, label)) return;
    bool wanted = holds(output, label);
    for (const Operand& o : all)
      if (&o != &a && &o != &b && holds(o.term, label)) wanted = true;
    if (wanted) kept.push_back(label);
  };
  if (holds(a.term, ellipsis_label) || holds(b.term, ellipsis_label)) kept.push_back(ellipsis_label);
  for (unsigned char label : a.term) keep(label);
  for (unsigned char label : b.term) keep(label);
  return kept;
}

}  // namespace

Tensor einsum(const std::string& equation, const std::vector<Tensor>& inputs) {
  std::string text = completed(equation);
  Equation e;
  std::string why = parse_equation(text, e);
  if (why.empty() && unique(e.output).size() != e.output.size()) why = "a label appears twice in the output";
  if (why.empty() && e.inputs.size() != inputs.size())
    why = "it has " + std::to_string(e.inputs.size()) + " input terms for " + std::to_string(inputs.size()) + " inputs";
  if (!why.empty()) throw ValueError("einsum: the equation '" + equation.substr(0, 200) + "' cannot be used: " + why);
  if (inputs.size() <= 2) return apply_values(Einsum, inputs, {}, EinsumAttrs{text});

  std::vector<const Shape*> shapes;
  std::vector<Operand> operands;
  for (size_t i = 0; i < inputs.size(); ++i) {
    shapes.push_back(&inputs[i].shape());
    operands.push_back({e.inputs[i], inputs[i]});
  }
  EinsumShapes sizes;
  why = resolve_equation(e, shapes, sizes);
  if (!why.empty())
    throw InvalidArgumentError("einsum: the equation '" + text.substr(0, 200) + "' cannot be used: " + why);
  // The pair whose product saves the most memory comes next.
  while (operands.size() > 2) {
    size_t best_i = 0, best_j = 1;
    double best = 0;
    for (size_t i = 0; i < operands.size(); ++i)
      for (size_t j = i + 1; j < operands.size(); ++j) {
        Labels kept = needed(operands[i], operands[j], operands, e.output);
        double cost = elements(kept, sizes) - elements(operands[i].term, sizes) - elements(operands[j].term, sizes);
        if ((i == 0 && j == 1) || cost < best) best = cost, best_i = i, best_j = j;
      }
    Operand &a = operands[best_i], &b = operands[best_j];
    Labels kept = needed(a, b, operands, e.output);
    Tensor product =
        apply_einsum(Einsum, text_of(a.term) + "," + text_of(b.term) + "->" + text_of(kept), {a.value, b.value});
    operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(best_j));
    operands[best_i] = {kept, product};
  }
  return apply_einsum(Einsum, text_of(operands[0].term) + "," + text_of(operands[1].term) + "->" + text_of(e.output),
                      {operands[0].value, operands[1].value});
}

Tensor tensordot(const TensorLike& a, const TensorLike& b, const TensorLike& axes) {
  const Shape &sa = a.tensor().shape(), &sb = b.tensor().shape();
  if (!sa.has_rank() || !sb.has_rank()) throw ValueError("tensordot: the ranks of a and b must be known");
  Tensor list = strengthen(axes, natural_dtype(*axes.tensor().impl()));
  if (!index_types.has(list.dtype()) || list.is_symbolic())
    throw ValueError("tensordot: axes must be integers that are known now");
  std::vector<int64_t> numbers(static_cast<size_t>(list.size()));
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = list.dtype() == DType::int32 ? list.data<int32_t>()[i] : list.data<int64_t>()[i];
  std::vector<int64_t> left, right;
  if (list.rank() == 0) {
    if (numbers[0] < 0 || numbers[0] > sa.rank() || numbers[0] > sb.rank())
      throw ValueError("tensordot: axes is " + std::to_string(numbers[0]) +
                       ", but it must lie between 0 and the ranks of a and b");
    for (int64_t i = 0; i < numbers[0]; ++i) left.push_back(sa.rank() - numbers[0] + i), right.push_back(i);
  } else if (list.shape()[0] == 2 && list.rank() <= 2) {
    auto half = static_cast<std::ptrdiff_t>(numbers.size() / 2);
    left.assign(numbers.begin(), numbers.begin() + half);
    right.assign(numbers.begin() + half, numbers.end());
  } else {
    throw ValueError("tensordot: axes must be a number or two lists of the same length, got shape " +
                     list.shape().brackets());
  }
  // As a product of matrices it has their dtypes.
  DType dtype = natural_dtype(*a.tensor().impl());
  if (dtype == DType::int8 || dtype == DType::int16)
    throw InvalidArgumentError("tensordot: matrices of dtype " + std::string(name_of(dtype)) + " are not multiplied");
  // Written as an equation: the paired axes share a letter.
  static_assert(2 * Shape::max_rank <= 26);
  auto letter = [](int i) { return static_cast<char>('a' + i); };
  std::string term_a, term_b, out;
  for (int i = 0; i < sa.rank(); ++i) term_a += letter(i);
  for (int i = 0; i < sb.rank(); ++i) term_b += letter(sa.rank() + i);
  for (size_t k = 0; k < left.size(); ++k) {
    auto place = [](int64_t axis, int rank) {
      if (axis < -rank || axis >= rank)
        throw ValueError("tensordot: axis " + std::to_string(axis) + " is out of range for a tensor of rank " +
                         std::to_string(rank));
      return static_cast<size_t>(axis < 0 ? axis + rank : axis);
    };
    size_t i = place(left[k], sa.rank()), j = place(right[k], sb.rank());
    if (term_b.find(term_a[i]) != std::string::npos || term_b[j] < letter(sa.rank()))
      throw ValueError("tensordot: an axis is named twice");
    term_b[j] = term_a[i];
  }
  for (char c : term_a)
    if (term_b.find(c) == std::string::npos) out += c;
  for (char c : term_b)
    if (term_a.find(c) == std::string::npos) out += c;
  return apply1(Einsum, {a, b}, EinsumAttrs{term_a + "," + term_b + "->" + out});
}

namespace {

// Python may name a strategy for the order of the products; the result is the same.
struct EinsumOptions {
  std::string optimize = "greedy";
};
Tensor einsum_in_order(const std::string& equation, const std::vector<Tensor>& inputs, const EinsumOptions&) {
  return einsum(equation, inputs);
}

const FunctionDef* const einsum_functions[] = {
    &define_function<einsum_in_order>({"einsum", "linalg.einsum"}, {"equation", "args"}),
    &define_function<tensordot>({"tensordot", "linalg.tensordot"}, {"a", "b", "axes"}),
};
}  // namespace

}  // namespace thalweg
