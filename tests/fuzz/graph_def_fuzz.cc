// Any bytes must be a function, or a typed error. A function that was read must come back from what it writes, and run,
// where it is small and has no effects.
#include <cstdlib>
#include <random>
#include <string>

#include "thalweg/io/graph_def.h"
#include "thalweg/thalweg.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {
using namespace thalweg;

bool is_small(const graph::Graph& graph) {
  constexpr size_t most_nodes = 300;
  constexpr int64_t most_elements = 1 << 16;
  if (graph.nodes().size() > most_nodes) return false;
  int64_t elements = 0;
  for (const graph::Node& n : graph.nodes()) {
    if (n.op->traits.stateful) return false;
    if (n.op->attrs)
      for (const AttrRow& row : n.op->attrs->rows)
        if (row.type->kind == AttrKind::function || row.type->kind == AttrKind::functions) return false;  // loops
    for (const graph::Spec& r : n.results) {
      if (!r.shape.is_fully_defined() || r.dtype == DType::resource || r.dtype == DType::variant) return false;
      if ((elements += r.shape.num_elements()) > most_elements) return false;
    }
  }
  return true;
}

void run(const FunctionAttr& function) {
  if (!is_small(function->graph())) return;  // planning computes constants
  if (!is_small(function->optimized_graph())) return;
  std::vector<Tensor> arguments;
  for (size_t i = 0; i < function->num_arguments(); ++i) {
    const graph::Spec& spec = function->argument(i);
    std::vector<int64_t> dims(spec.shape.dims().begin(), spec.shape.dims().end());
    arguments.push_back(zeros(dims, {.dtype = spec.dtype}));
  }
  (void)ConcreteFunction(function)(arguments);
}

void read_graph(std::string_view bytes) {
  const FunctionAttr function = io::from_graph_def(proto::parse<proto::GraphDef>(bytes));
  io::GraphExport made;
  bool written = true;
  try {
    made = io::to_graph_def(*function);
  } catch (const Error&) {  // a call that leaves open what TensorFlow wants to be said
    written = false;
  }
  if (written) {
    io::ImportOptions options{.inputs = made.arguments, .outputs = made.results};
    for (const auto& [name, handle] : made.captures) options.inputs->push_back(name);
    const FunctionAttr again = io::from_graph_def(made.graph, options);
    if (again->num_arguments() != function->num_arguments() || again->num_results() != function->num_results())
      std::abort();
  }
  run(function);
}

/// Graphs of our own, from which mutation begins.
std::vector<std::string> make_seeds() {
  std::vector<std::string> seeds;
  auto add = [&](const auto& f, const auto&... specs) {
    seeds.push_back(serialize(io::to_graph_def(*function(f).get_concrete_function(specs...).body()).graph));
  };
  const TensorSpec matrix({2, 3}, float32), vector({3}, float32), scalar({}, float32), any({unknown, 3}, float32);
  const TensorSpec image({1, 5, 5, 2}, float32), text({2}, string), number({}, int32);
  add([](const Tensor& x,
         const Tensor& b) { return nn::relu(nn::bias_add(matmul(x, transpose(x)), b[0] + zeros({2}))); },
      matrix, vector);
  add([](const Tensor& x) { return cond(x > 0.0f, [&] { return x * 2.0f; }, [&] { return x - 1.0f; }); }, scalar);
  add(
      [](const Tensor& n) {
        return while_loop([](const Tensor& i) { return i < 10; }, [](const Tensor& i) { return i + 1; }, n);
      },
      number);
  add(
      [](const Tensor& x) {
        auto inner = function([](const Tensor& v) { return exp(v) + 1.0f; });
        return concat({inner(x), inner(inner(x))}, 0);
      },
      any);
  add(
      [](const Tensor& x) {
        GradientTape tape;
        tape.watch(x);
        return tape.gradient(reduce_sum(nn::softmax(x) * x), x);
      },
      matrix);
  add([](const Tensor& x) { return nn::max_pool2d(nn::conv2d(x, ones({3, 3, 2, 4}))); }, image);
  add([](const Tensor& s) { return strings::join({s, strings::upper(s)}); }, text);
  add([](const Tensor& x) { return reshape(gather(x, Tensor({2, 0}), {.axis = 1}), {-1}) + random::normal({4}); },
      matrix);
  add([](const Tensor& x) { return stack({reduce_mean(x, {.axis = 0}), x[0], cast(argmax(x, {.axis = 0}), float32)}); },
      any);
  return seeds;
}

using Random = std::minstd_rand;
template <class T> T& any_of(std::vector<T>& list, Random& random) { return list[random() % list.size()]; }

/// Changes that keep a message well-formed: wrong inputs, attributes and ops, doubled and missing nodes.
void mutate_nodes(std::vector<proto::NodeDef>& nodes, Random& random) {
  if (nodes.empty()) return;
  proto::NodeDef& node = any_of(nodes, random);
  const proto::NodeDef& other = any_of(nodes, random);
  switch (random() % 8) {
    case 0:
      if (!node.input.empty()) any_of(node.input, random) = other.name;
      break;
    case 1:
      node.input.push_back((random() % 2 ? "^" : "") + other.name);
      break;
    case 2:
      node.op = other.op;
      break;
    case 3:
      if (!other.attr.empty() && !node.attr.empty())
        std::next(node.attr.begin(), static_cast<long>(random() % node.attr.size()))->second =
            std::next(other.attr.begin(), static_cast<long>(random() % other.attr.size()))->second;
      break;
    case 4:
      if (!node.attr.empty())
        node.attr.erase(std::next(node.attr.begin(), static_cast<long>(random() % node.attr.size())));
      break;
    case 5:
      if (!node.input.empty()) node.input.pop_back();
      break;
    case 6: {
      proto::NodeDef copy = node;
      copy.name += "_" + std::to_string(random() % 10);
      nodes.push_back(std::move(copy));
      break;
    }
    default: {
      auto all = all_ops();
      node.op = all[random() % all.size()]->name;
    }
  }
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  static const std::vector<std::string> seeds = make_seeds();
  Random random(seed);
  std::string made;
  if (size < 4 || random() % 64 == 0) {
    made = seeds[random() % seeds.size()];
  } else if (random() % 3) {
    try {
      auto graph = proto::parse<proto::GraphDef>({reinterpret_cast<const char*>(data), size});
      for (unsigned k = random() % 3; k < 3; ++k) {
        if (graph.library && !graph.library->function.empty() && random() % 3 == 0)
          mutate_nodes(any_of(graph.library->function, random).node_def, random);
        else mutate_nodes(graph.node, random);
      }
      made = serialize(graph);
    } catch (const Error&) {}
  }
  if (made.empty() || made.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::copy(made.begin(), made.end(), data);
  return made.size();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    read_graph({reinterpret_cast<const char*>(data), size});
  } catch (const Error&) {}
  return 0;
}
