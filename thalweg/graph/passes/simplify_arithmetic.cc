// Arithmetic that needs no computing. What is left out here changes a bit for some input: x + 0 makes -0 to +0, x * 0
// forgets NaN, (x + a) + b rounds otherwise. What is here keeps all bits of numbers, infinities and quiet NaN; a
// denormal in a large tensor stays one where a kernel that flushes them would have made it 0.
#include <cmath>

#include "thalweg/graph/passes/pass.h"

namespace thalweg::graph {
namespace {

struct ArithmeticRecords {
  const Op* identity[5] = {find_op("Identity"), find_op("Snapshot"), find_op("StopGradient"),
                           find_op("PreventGradient"), find_op("IdentityN")};
  const Op* reshapes[3] = {find_op("Reshape"), find_op("BroadcastTo"), find_op("Squeeze")};
  const Op* twice_is_nothing[4] = {find_op("Neg"), find_op("LogicalNot"), find_op("Invert"), find_op("Conj")};
  const Op* twice_is_once[6] = {find_op("Relu"), find_op("Relu6"), find_op("Floor"),
                                find_op("Ceil"), find_op("Rint"),  find_op("Abs")};
  const Op* cast = find_op("Cast");
  const Op* transpose = find_op("Transpose");
  const Op *add = find_op("AddV2"), *old_add = find_op("Add"), *subtract = find_op("Sub"), *multiply = find_op("Mul");
  const Op *divide = find_op("RealDiv"), *old_divide = find_op("Div");
};
template <size_t N> bool is_one_of(const Op* op, const Op* const (&list)[N]) {
  for (const Op* o : list)
    if (o == op) return true;
  return false;
}

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
Value neutral(const Node& n, const ArithmeticRecords& records) {
  if (n.inputs.size() != 2) return {};
  bool product = n.op == records.multiply, sum = n.op == records.add || n.op == records.old_add;
  bool quotient = n.op == records.divide || (n.op == records.old_divide && is_floating(n.results[0].dtype));
  if (!product && !sum && !quotient && n.op != records.subtract) return {};
  Value a = n.inputs[0], b = n.inputs[1];
  auto drops = [&](Value other, Value x) {
    return is_all(other, product || quotient ? 1 : 0, sum) && keeps_shape(n, x, other);
  };
  if (drops(b, a)) return a;
  if ((product || sum) && drops(a, b)) return b;
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
Value transposed(Graph& graph, Node& n, const ArithmeticRecords& records) {
  std::vector<int64_t> outer, inner;
  const Shape& shape = spec_of(n.inputs[0]).shape;
  if (!permutation_of(n.inputs[1], outer) || !shape.has_rank() || static_cast<size_t>(shape.rank()) != outer.size())
    return {};
  Value source = n.inputs[0];
  const Node& before = *source.node;
  bool two = before.op == records.transpose && is_pure(before) && permutation_of(before.inputs[1], inner) &&
             inner.size() == outer.size();
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
Value simpler(Graph& graph, Node& n, const ArithmeticRecords& records) {
  if (!is_pure(n) || n.results.size() != 1 || n.inputs.empty()) return {};
  Value x = n.inputs[0];
  const Spec &from = spec_of(x), &to = n.results[0];
  if (is_one_of(n.op, records.identity)) return x;
  if (is_one_of(n.op, records.reshapes)) return from.shape.is_fully_defined() && from.shape == to.shape ? x : Value();
  if (n.op == records.cast) return from.dtype == to.dtype ? x : Value();
  if (n.op == records.transpose) return transposed(graph, n, records);
  if (x.node->op == n.op && is_pure(*x.node)) {
    if (is_one_of(n.op, records.twice_is_nothing)) return x.node->inputs[0];
    if (is_one_of(n.op, records.twice_is_once) && from.dtype == to.dtype) return x;
  }
  return neutral(n, records);
}

void run_simplify_arithmetic(Graph& graph) {
  static const ArithmeticRecords records;
  Replacements replaced(graph);
  std::vector<Node*> nodes;
  for (Node& n : graph.nodes()) nodes.push_back(&n);  // constants may come in front on the way
  for (Node* n : nodes) {
    replaced.update_inputs(*n);
    if (Value value = simpler(graph, *n, records); value.node) replaced.replace({n, 0}, value);
  }
  graph.renumber();
}

}  // namespace

constinit const Pass simplify_arithmetic{"simplify_arithmetic", "arithmetic_optimization", true,
                                         run_simplify_arithmetic};

}  // namespace thalweg::graph
