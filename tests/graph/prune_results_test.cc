// Conditionals and loops: what nobody reads of them is not computed.
#include "tests/graph/pass_testing.h"
#include "thalweg/graph/control_dependencies.h"
#include "thalweg/graph/flow.h"
#include "thalweg/io/graph_def.h"

namespace thalweg::graph {
namespace {

const std::vector<TensorSpec> two = {TensorSpec({2}), TensorSpec({2})};
const Tensor some = {0.5f, -2.0f}, others = {3.0f, 0.25f};

Graph pruned(const Graph& graph) {
  Graph made = graph.copy();
  prune_results.run(made);
  return made;
}

/// The only conditional or loop of a graph.
const Node& flow_node(const Graph& graph) {
  const Node* found = nullptr;
  for (const Node& n : graph.nodes())
    if (flow_of(n)) {
      EXPECT_EQ(found, nullptr) << graph.str();
      found = &n;
    }
  if (!found) throw ValueError("no conditional and no loop in\n" + graph.str());
  return *found;
}
const Graph& inside(const Graph& graph, size_t function) {
  return flow_of(flow_node(graph))->functions.at(function)->graph();
}

void expect_same_values(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(same_value(a[i], b[i])) << i << a[i] << b[i];
}

/// Bits are the same, records accept the calls in the graph that was made, and it can be written to a file.
void expect_sound(const FunctionBody& f, const std::vector<Tensor>& arguments) {
  expect_same_bits(f, arguments);
  std::vector<Tensor> plain = run_plain(f, arguments);
  FunctionBody made("made", pruned(f.graph()));
  std::vector<TensorRef> in(arguments.begin(), arguments.end());
  expect_same_values(inline_call(made, in), plain);
  io::GraphExport written = io::to_graph_def(made);
  FunctionAttr read = io::from_graph_def(written.graph, {.inputs = written.arguments, .outputs = written.results});
  expect_same_values(run(read->plan(), plain.size(), in), plain);
}

TEST(PruneResults, OfConditionals) {
  auto f = trace(two, [](auto x) {
    auto [a, b, c] = cond(
        reduce_sum(x[0]) > 0.0f, [&] { return std::tuple{exp(x[1]), sin(x[0]), x[0] * 2.0f}; },
        [&] { return std::tuple{cos(x[1]), x[0] - 1.0f, tanh(x[0])}; });
    Tensor unread = a + c;
    return std::vector{b};
  });
  const std::string before =
      "%0 = Placeholder 'x'() {dtype: float32, shape: [2]}: float32 (2,)\n"
      "%1 = Placeholder 'x_1'() {dtype: float32, shape: [2]}: float32 (2,)\n"
      "%2 = Const(): int32 (1,)\n"
      "%3 = Sum(%0, %2): float32 ()\n"
      "%4 = Const 'Const_1'(): float32 ()\n"
      "%5 = Greater(%3, %4): bool ()\n";
  EXPECT_EQ(f->graph().str(), before +
                                  "%6 = StatelessIf(%5, %1, %0) {Tcond: bool, Tin: [float32, float32], Tout: [float32, "
                                  "float32, float32], then_branch: a function, else_branch: a function}: float32 (2,), "
                                  "float32 (2,), float32 (2,)\n"
                                  "%7 = AddV2(%6, %6:2): float32 (2,)\n"
                                  "return %6:1\n");
  Graph made = pruned(f->graph());
  EXPECT_EQ(made.str(), before +
                            "%6 = StatelessIf(%5, %0) {Tcond: bool, Tin: [float32], Tout: [float32], then_branch: a "
                            "function, else_branch: a function}: float32 (2,)\n"
                            "return %6\n");
  EXPECT_EQ(inside(made, 0).str(),
            "%0 = Placeholder 'capture_1'() {dtype: float32, shape: [2]}: float32 (2,)\n"
            "%1 = Sin(%0): float32 (2,)\n"
            "return %1\n");
  EXPECT_EQ(count(inside(made, 1), "Tanh") + count(inside(made, 1), "Cos"), 0) << inside(made, 1).str();
  for (const Tensor& x : {some, others}) expect_sound(*f, {x, others});
}

TEST(PruneResults, OfChoices) {
  auto f = trace(two, [](auto x) {
    auto both = [&](const Tensor& t) { return std::tuple(t, exp(t) + x[1]); };
    auto [a, b] = switch_case(
        cast(x[0][0], int32), [&] { return both(x[0]); }, [&] { return both(sin(x[0])); }, [&] { return both(x[1]); });
    return std::vector{a};
  });
  Graph made = pruned(f->graph());
  for (size_t i : {0, 1, 2}) EXPECT_EQ(count(inside(made, i), "Exp"), 0) << inside(made, i).str();
  for (const Tensor& x : {some, others}) expect_sound(*f, {x, some});
}

TEST(PruneResults, KeepsEffects) {
  Variable v(1.0f);
  auto f = trace(two, [&](auto x) {
    cond(
        reduce_sum(x[0]) > 0.0f,
        [&] {
          v.assign_add(reduce_sum(x[1]));
          return exp(x[0]);
        },
        [&] { return sin(x[0]); });
    auto [i, y] = while_loop([](const Tensor& i, const Tensor&) { return i < 3; },
                             [&](const Tensor& i, const Tensor& y) {
                               v.assign_add(1.0f);
                               return std::tuple(i + 1, exp(y));
                             },
                             std::tuple(Tensor(0), x[0]));
    return std::vector{x[0] * 2.0f};
  });
  const Graph& made = f->optimized_graph();
  EXPECT_EQ(count(made, "If"), 1) << made.str();
  EXPECT_EQ(count(made, "While"), 1) << made.str();
  for (const Node& n : made.nodes()) {
    std::optional<Flow> flow = flow_of(n);
    if (!flow) continue;
    EXPECT_EQ(n.results.size(), n.op->name == std::string_view("If") ? 0u : 1u) << made.str();
    for (const FunctionAttr& inner : flow->functions)
      EXPECT_EQ(count(inner->graph(), "Exp") + count(inner->graph(), "Sin"), 0) << inner->graph().str();
  }
  Tensor positive = others, negative = some;
  run(f->plan(), 1, std::vector<TensorRef>{negative, positive});
  EXPECT_EQ(v.value().item<float>(), 1 + 3);
  run(f->plan(), 1, std::vector<TensorRef>{positive, negative});
  EXPECT_EQ(v.value().item<float>(), 4 - 1.5f + 3);
}

TEST(PruneResults, ConditionalsThatOnlyLookGo) {
  Variable v(1.0f);
  auto f = trace(two, [&](auto x) {
    cond(reduce_sum(x[0]) > 0.0f, [&] { return v + x[0]; }, [&] { return x[0]; });
    return std::vector{x[1]};
  });
  EXPECT_EQ(count(f->graph(), "If"), 1);
  EXPECT_EQ(count(f->optimized_graph(), "If"), 0) << f->optimized_graph().str();
}

TEST(PruneResults, ChecksThatAreWaitedForStay) {
  Variable v(1.0f);
  for (bool looks : {false, true}) {
    auto f = trace({TensorSpec({unknown}), TensorSpec({2})}, [&](auto x) {
      Tensor checked = cond(
          reduce_sum(x[1]) > 0.0f, [&] { return ensure_shape(looks ? x[0] * v : x[0], {2}); }, [&] { return x[0]; });
      ControlDependencies waits({checked});
      return std::vector{x[1] * 2.0f};
    });
    Tensor bad = {1.0f, 2.0f, 3.0f}, good = some, chosen = others;
    EXPECT_THROW(run(f->plan(), 1, std::vector<TensorRef>{bad, chosen}), InvalidArgumentError) << looks;
    EXPECT_NO_THROW(run(f->plan(), 1, std::vector<TensorRef>{good, chosen}));
  }
}

TEST(PruneResults, ValuesOfLoopsThatNobodyReads) {
  auto f = trace(two, [](auto x) {
    auto [i, limit, a, b, c] = while_loop(
        [](const Tensor& i, const Tensor& limit, const Tensor&, const Tensor&, const Tensor&) { return i < limit; },
        [&](const Tensor& i, const Tensor& limit, const Tensor& a, const Tensor& b, const Tensor& c) {
          return std::tuple{i + 1, limit, exp(b), sin(a) + b, c * x[0]};
        },
        std::tuple(Tensor(0), cast(reduce_sum(x[1]), int32), x[0], x[1], x[0]), {.parallel_iterations = 3});
    return std::vector{c};
  });
  Graph made = pruned(f->graph());
  EXPECT_EQ(flow_node(f->graph()).results.size(), 6u);
  // i, limit and c, and x[0], which c needs
  EXPECT_EQ(flow_node(made).inputs.size(), 4u) << made.str();
  EXPECT_EQ(flow_node(made).results.size(), 4u) << made.str();
  EXPECT_NE(made.str().find("output_shapes: [[], [], [2], [2]], parallel_iterations: 3"), std::string::npos)
      << made.str();
  EXPECT_EQ(inside(made, 0).str(),
            "%0 = Placeholder() {dtype: int32, shape: []}: int32 ()\n"
            "%1 = Placeholder 'Placeholder_1'() {dtype: int32, shape: []}: int32 ()\n"
            "%2 = Placeholder 'Placeholder_4'() {dtype: float32, shape: [2]}: float32 (2,)\n"
            "%3 = Less(%0, %1): bool ()\n"
            "%4 = Placeholder 'capture'() {dtype: float32, shape: [2]}: float32 (2,)\n"
            "return %3\n");
  EXPECT_EQ(inside(made, 1).str(),
            "%0 = Placeholder() {dtype: int32, shape: []}: int32 ()\n"
            "%1 = Placeholder 'Placeholder_1'() {dtype: int32, shape: []}: int32 ()\n"
            "%2 = Placeholder 'Placeholder_4'() {dtype: float32, shape: [2]}: float32 (2,)\n"
            "%3 = Const(): int32 ()\n"
            "%4 = AddV2(%0, %3): int32 ()\n"
            "%5 = Placeholder 'capture'() {dtype: float32, shape: [2]}: float32 (2,)\n"
            "%6 = Mul(%2, %5): float32 (2,)\n"
            "return %4, %1, %6, %5\n");
  expect_sound(*f, {some, others});
}

TEST(PruneResults, WhatOtherValuesNeedStays) {
  auto f = trace(two, [](auto x) {
    auto [i, a, b, c] = while_loop([](const Tensor& i, const Tensor&, const Tensor&, const Tensor&) { return i < 4; },
                                   [](const Tensor& i, const Tensor& a, const Tensor& b, const Tensor& c) {
                                     return std::tuple(i + 1, sin(a), b + a, c * b);
                                   },
                                   std::tuple(Tensor(0), x[0], x[1], x[1]));
    return std::vector{c};
  });
  EXPECT_EQ(pruned(f->graph()).str(), f->graph().str());
  expect_sound(*f, {some, others});
}

TEST(PruneResults, ConditionalsInLoops) {
  auto f = trace(two, [](auto x) {
    auto [i, a, b] = while_loop([](const Tensor& i, const Tensor&, const Tensor&) { return i < 4; },
                                [](const Tensor& i, const Tensor& a, const Tensor& b) {
                                  auto [c, d] = cond(
                                      reduce_sum(a) > 0.0f, [&] { return std::tuple(sin(a), exp(b)); },
                                      [&] { return std::tuple(a + 1.0f, b - a); });
                                  return std::tuple(i + 1, c, d);
                                },
                                std::tuple(Tensor(0), x[0], x[1]));
    return std::vector{a};
  });
  Graph made = pruned(f->graph());
  EXPECT_EQ(flow_node(made).results.size(), 2u) << made.str();
  const Graph& body = inside(made, 1);
  EXPECT_EQ(flow_node(body).results.size(), 1u) << body.str();
  EXPECT_EQ(flow_node(body).inputs.size(), 2u) << body.str();
  EXPECT_EQ(count(inside(body, 0), "Exp"), 0) << inside(body, 0).str();
  for (const Tensor& x : {some, others}) expect_sound(*f, {x, others});
}

TEST(PruneResults, LoopsInConditionals) {
  auto f = trace(two, [](auto x) {
    auto repeat = [&](const Tensor& t) {
      return while_loop(
          [](const Tensor& i, const Tensor&, const Tensor&) { return i < 4; },
          [](const Tensor& i, const Tensor& a, const Tensor& b) { return std::tuple(i + 1, sin(a), exp(b)); },
          std::tuple(Tensor(0), t, x[1]));
    };
    auto found = cond(reduce_sum(x[0]) > 0.0f, [&] { return repeat(x[0]); }, [&] { return repeat(x[0] + 1.0f); });
    return std::vector{std::get<1>(found)};
  });
  Graph made = pruned(f->graph());
  EXPECT_EQ(flow_node(made).inputs.size(), 2u) << made.str();
  for (size_t i : {0, 1}) EXPECT_EQ(flow_node(inside(made, i)).results.size(), 2u) << inside(made, i).str();
  for (const Tensor& x : {some, others}) expect_sound(*f, {x, others});
}

TEST(PruneResults, EqualCallsStayEqual) {
  auto chosen = trace(two, [](auto x) {
    auto [a, b] = cond(
        reduce_sum(x[0]) > 0.0f, [&] { return std::tuple(exp(x[0]), sin(x[1])); },
        [&] { return std::tuple(x[0], x[1]); });
    return std::vector{a};
  });
  auto f = trace(two, [&](auto x) {
    std::vector<TensorRef> in(x.begin(), x.end());
    return std::vector{call(chosen, in)[0] + call(chosen, in)[0]};
  });
  EXPECT_EQ(count(f->optimized_graph(), "StatelessIf"), 1) << f->optimized_graph().str();
  expect_sound(*f, {some, others});
}

int count_all(const Graph& graph) {
  int found = 0;
  for (const Node& n : graph.nodes()) {
    found += !n.is_constant() && n.op->name != std::string_view("Placeholder");
    if (auto flow = flow_of(n))
      for (const FunctionAttr& inner : flow->functions) found += count_all(inner->optimized_graph());
  }
  return found;
}

using Turn = std::function<Tensor(const Tensor& x, const Tensor& y)>;

/// The result of a loop and two derivatives, by a tape within a tape.
std::shared_ptr<const FunctionBody> traced_derivatives(const Turn& turn, bool persistent) {
  return trace(two, [&](auto x) {
    GradientTape outer({.persistent = persistent});
    outer.watch(x[0]);
    Tensor y, first;
    {
      GradientTape inner({.persistent = persistent});
      inner.watch(x[0]);
      y = std::get<1>(while_loop([](const Tensor& i, const Tensor&) { return i < 4; },
                                 [&](const Tensor& i, const Tensor& y) { return std::tuple(i + 1, turn(x[0], y)); },
                                 std::tuple(Tensor(0), x[0])));
      first = inner.gradient(y, x[0]);
    }
    return std::vector{y, first, outer.gradient(first, x[0])};
  });
}

TEST(PruneResults, PersistentTapesOverLoopsCostNoMoreThanOthers) {
  auto turn = [](const Tensor& x, const Tensor& y) { return tanh(y * x) + sin(y) * y; };
  auto once = traced_derivatives(turn, false), often = traced_derivatives(turn, true);
  EXPECT_EQ(count_all(often->optimized_graph()), count_all(once->optimized_graph()));
  expect_sound(*often, {some, others});
}

TEST(PruneResults, DerivativesStayTheSame) {
  auto turn = [](const Tensor& x, const Tensor& y) {
    return cond(reduce_sum(y) > 1.0f, [&] { return tanh(y * x); }, [&] { return sin(y) + y * y; });
  };
  auto once = traced_derivatives(turn, false), often = traced_derivatives(turn, true);
  for (const Tensor& x : {some, others}) {
    expect_sound(*often, {x, x});
    std::vector<TensorRef> in = {x, x};
    expect_same_values(run(once->plan(), 3, in), run(often->plan(), 3, in));
  }
}

TEST(PruneResults, AreSwitchedByName) {
  auto traced = [] {
    return trace(two, [](auto x) {
      auto [a, b] = cond(
          reduce_sum(x[0]) > 0.0f, [&] { return std::tuple(exp(x[1]), sin(x[0])); },
          [&] { return std::tuple(x[0], x[1]); });
      return std::vector{b};
    });
  };
  config::optimizer::set_experimental_options({{"disable_model_pruning", true}});
  EXPECT_EQ(flow_node(traced()->optimized_graph()).results.size(), 2u);
  config::optimizer::set_experimental_options({{"disable_model_pruning", false}});
  EXPECT_EQ(flow_node(traced()->optimized_graph()).results.size(), 1u);
}

}  // namespace
}  // namespace thalweg::graph
