#include <algorithm>
#include <unordered_map>

#include "thalweg/graph/passes/pass.h"

namespace thalweg::graph {
namespace {

// Larger constants are rarely equal, and comparing them takes time.
constexpr int64_t most_compared_elements = 1024;

bool is_small_constant(const Node& n) { return n.is_constant() && n.constant.size() <= most_compared_elements; }

// Two operands may change places where that changes no bit: not in complex products, which round their parts in the
// order they are given, and not in sums of many.
bool may_swap(const Node& n) {
  return n.op->traits.commutative && n.inputs.size() == 2 && !is_complex(spec_of(n.inputs[0]).dtype);
}
std::vector<Value> ordered_inputs(const Node& n) {
  std::vector<Value> inputs = n.inputs;
  if (may_swap(n) && inputs[1] < inputs[0]) std::swap(inputs[0], inputs[1]);
  return inputs;
}

size_t hash(const Node& n, const std::vector<Value>& inputs) {
  auto mix = [](size_t a, size_t b) { return (a ^ b) * 0x9e3779b97f4a7c15u + (a >> 29); };
  if (n.is_constant())
    return mix(static_cast<size_t>(n.constant.dtype()), static_cast<size_t>(n.constant.shape().num_elements()));
  size_t h = reinterpret_cast<size_t>(n.op);
  for (const Value& v : inputs) h = mix(mix(h, reinterpret_cast<size_t>(v.node)), static_cast<size_t>(v.index));
  return h;
}

bool same_specs(const Node& a, const Node& b) {
  return std::equal(a.results.begin(), a.results.end(), b.results.begin(), b.results.end(),
                    [](const Spec& x, const Spec& y) { return x.dtype == y.dtype && x.shape == y.shape; });
}

void run_merge_subexpressions(Graph& graph) {
  Replacements replaced(graph);
  std::vector<uint8_t> is_argument(graph.nodes().size());
  for (const Node* n : graph.arguments) is_argument[static_cast<size_t>(n->id)] = 1;
  std::unordered_multimap<size_t, Node*> seen;
  for (Node& n : graph.nodes()) {
    replaced.update_inputs(n);
    if (is_argument[static_cast<size_t>(n.id)] || !(is_pure(n) || is_small_constant(n))) continue;
    std::vector<Value> inputs = ordered_inputs(n);
    size_t h = hash(n, inputs);
    auto [first, last] = seen.equal_range(h);
    auto found = std::find_if(first, last, [&](const auto& entry) {
      const Node& other = *entry.second;
      if (n.is_constant() != other.is_constant()) return false;
      if (n.is_constant()) return same_value(n.constant, other.constant);
      return n.op == other.op && inputs == ordered_inputs(other) && same_specs(n, other) && same_attrs(n, other);
    });
    if (found == last) {
      seen.emplace(h, &n);
      continue;
    }
    for (size_t i = 0; i < n.results.size(); ++i)
      replaced.replace({&n, static_cast<int>(i)}, {found->second, static_cast<int>(i)});
  }
}

}  // namespace

constinit const Pass merge_subexpressions{"merge_subexpressions", "common_subgraph_elimination", true,
                                          run_merge_subexpressions};

}  // namespace thalweg::graph
