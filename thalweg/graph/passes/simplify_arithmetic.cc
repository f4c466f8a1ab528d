// Arithmetic that needs no computing. What is left out here changes a bit for some input: x + 0 makes -0 to +0, x * 0
// forgets NaN, (x + a) + b rounds otherwise. What is here keeps all bits of numbers, infinities and quiet NaN; a
// denormal in a large tensor stays one where a kernel that flushes them would have made it 0.
#include <cmath>

#include "thalweg/graph/passes/pass.h"

namespace thalweg::graph {
namespace {

template <class T> bool all_are(const Tensor& t, T wanted) {
  for (const T& x : t.span<T>())
    if (x != wanted || std::signbit(static_cast<double>(x)) != std::signbit(static_cast<double>(wanted))) return false;
  return true;
}
// Whether a constant is this small number all over; zeros of real numbers have a sign.
bool is_all(Value v, int number, bool negative_zero) {
  constexpr int64_t most_elements = 4096;
  if (!v.node->is_constant() || v.node->constant.size() > most_elements || v.node->constant.size() == 0) return false;
  const Tensor& t = v.node->constant;
  switch (t.dtype()) {
    case DType::float32:
      return all_are(t, negative_zero ? -0.0f : static_cast<float>(number));
    case DType::float64:
      return all_are(t, negative_zero ? -0.0 : static_cast<double>(number));
    case DType::int32:
      return all_are(t, static_cast<int32_t>(number));
    case DType::int64:
      return all_are(t, static_cast<int64_t>(number));
    case DType::int8:
      return all_are(t, static_cast<int8_t>(number));
    case DType::uint8:
      return all_are(t, static_cast<uint8_t>(number));
    case DType::int16:
      return all_are(t, static_cast<int16_t>(number));
    default:
      return false;
  }
}

// Whether x has the result's shape whatever it is: the other operand may be a vector that repeats x.
bool keeps_shape(const Node& n, Value x, Value other) {
  const Shape &shape = spec_of(x).shape, &result = n.results[0].shape;
  if (spec_of(other).shape.has_rank() && spec_of(other).shape.rank() == 0) return true;
  return shape.is_fully_defined() && shape == result;
}

// x * 1, 1 * x, x / 1, x - 0, x + -0: exact. For integers x + 0 as well.
Value without_neutral(const Node& n) {
  const Neutral neutral = n.op->traits.neutral;
  if (neutral == Neutral::no_number || n.inputs.size() != 2) return {};
  const bool one = neutral == Neutral::one || neutral == Neutral::one_right;
  if (neutral == Neutral::one_right && !is_floating(n.results[0].dtype)) return {};
  Value a = n.inputs[0], b = n.inputs[1];
  auto drops = [&](Value other, Value x) {
    return is_all(other, one ? 1 : 0, neutral == Neutral::zero) && keeps_shape(n, x, other);
  };
  if (drops(b, a)) return a;
  const bool either_side = neutral == Neutral::one || neutral == Neutral::zero;
  if (either_side && drops(a, b)) return b;
  return {};
}

bool permutation_of(Value v, std::vector<int64_t>& axes) {
  if (!v.node->is_constant()) return false;
  const Tensor& t = v.node->constant;
  axes.clear();
  if (t.dtype() == DType::int64) axes.assign(t.span<int64_t>().begin(), t.span<int64_t>().end());
  else if (t.dtype() == DType::int32) axes.assign(t.span<int32_t>().begin(), t.span<int32_t>().end());
  auto rank = static_cast<int64_t>(axes.size());
  std::vector<uint8_t> seen(axes.size());
  for (int64_t& axis : axes) {
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank || seen[static_cast<size_t>(axis)]++) return false;
  }
  return true;
}

/// What a transpose, or two of them in a row, come to.
Value transposed(Graph& graph, Node& n) {
  std::vector<int64_t> outer, inner;
  const Shape& shape = spec_of(n.inputs[0]).shape;
  if (!permutation_of(n.inputs[1], outer) || !shape.has_rank() || static_cast<size_t>(shape.rank()) != outer.size())
    return {};
  Value source = n.inputs[0];
  const Node& before = *source.node;
  bool two =
      before.op == n.op && is_pure(before) && permutation_of(before.inputs[1], inner) && inner.size() == outer.size();
  if (two) {
    for (int64_t& axis : outer) axis = inner[static_cast<size_t>(axis)];
    source = before.inputs[0];
  }
  bool nothing = true;
  for (size_t i = 0; i < outer.size(); ++i) nothing &= outer[i] == static_cast<int64_t>(i);
  if (nothing) return source;
  if (!two) return {};
  Tensor axes(TensorImpl::make());
  bool wide = spec_of(n.inputs[1]).dtype == DType::int64;
  axes.impl()->dtype = wide ? DType::int64 : DType::int32;
  axes.impl()->shape = Shape{static_cast<int64_t>(outer.size())};
  axes.impl()->allocate();
  for (size_t i = 0; i < outer.size(); ++i) {
    if (wide) static_cast<int64_t*>(axes.impl()->data)[i] = outer[i];
    else static_cast<int32_t*>(axes.impl()->data)[i] = static_cast<int32_t>(outer[i]);
  }
  n.inputs = {source, {&graph.prepend_constant(axes), 0}};
  return {};
}

/// What stands for the only result of a node without running it, if anything does.
Value simpler(Graph& graph, Node& n) {
  static const Op &cast = required_op("Cast"), &transpose = required_op("Transpose");
  if (!is_pure(n) || n.results.size() != 1 || n.inputs.empty()) return {};
  Value x = n.inputs[0];
  const Spec &from = spec_of(x), &to = n.results[0];
  const Traits& traits = n.op->traits;
  if (traits.forwards) return x;
  if (traits.keeps_elements) return from.shape.is_fully_defined() && from.shape == to.shape ? x : Value();
  if (n.op == &cast) return from.dtype == to.dtype ? x : Value();
  if (n.op == &transpose) return transposed(graph, n);
  if (x.node->op == n.op && is_pure(*x.node)) {
    if (traits.twice == Twice::is_nothing) return x.node->inputs[0];
    if (traits.twice == Twice::is_once && from.dtype == to.dtype) return x;
  }
  return without_neutral(n);
}

void run_simplify_arithmetic(Graph& graph) {
  Replacements replaced(graph);
  std::vector<Node*> nodes;
  for (Node& n : graph.nodes()) nodes.push_back(&n);  // constants may come in front on the way
  for (Node* n : nodes) {
    replaced.update_inputs(*n);
    if (Value value = simpler(graph, *n); value.node) replaced.replace({n, 0}, value);
  }
  graph.renumber();
}

}  // namespace

constinit const Pass simplify_arithmetic{"simplify_arithmetic", "arithmetic_optimization", true,
                                         run_simplify_arithmetic};

}  // namespace thalweg::graph
