// Every row again inside a traced function: with known shapes, unknown dimensions and unknown ranks, and its gradient.
// Results must have the bits of the eager call; what is refused must be refused. And passes may change no bit.
#include <gtest/gtest.h>

#include <set>

#include "tests/op_cases/golden.h"
#include "thalweg/autodiff/tape.h"
#include "thalweg/core/error.h"
#include "thalweg/core/indexed_slices.h"
#include "thalweg/core/seed.h"
#include "thalweg/graph/function_body.h"
#include "thalweg/ops/activation.h"
#include "thalweg/ops/indexed_slices.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_elementary.h"

namespace thalweg::testing {
namespace {

using Tensors = std::vector<Tensor>;

/// How much tracing knows of the arguments.
enum class Known { shapes, ranks, nothing };
const char* name_of_mode(Known known) {
  return known == Known::shapes ? "shapes known" : known == Known::ranks ? "dimensions unknown" : "ranks unknown";
}
Shape seen(const Shape& shape, Known known) {
  if (known == Known::shapes) return shape;
  return known == Known::ranks ? Shape::of_rank(shape.rank()) : Shape::unknown_rank();
}

/// `f` traced over the inputs that are no handles.
template <class F> std::shared_ptr<const FunctionBody> trace(const Tensors& inputs, Known known, const F& f) {
  graph::GraphTracer tracer(nullptr);
  tracer.graph().jit_compile = true;
  Tensors symbolic;
  {
    graph::Tracing tracing(&tracer);
    for (const Tensor& t : inputs)
      symbolic.push_back(t.dtype() == DType::resource ? t : tracer.argument(t.dtype(), seen(t.shape(), known)));
    for (const Tensor& t : f(symbolic)) tracer.graph().results.push_back(tracer.value_of(t));
  }
  return std::make_shared<FunctionBody>("row", std::move(tracer.graph()));
}
Tensors run(const graph::Plan& plan, const FunctionBody& body, const Tensors& inputs) {
  std::vector<TensorRef> given;
  for (const Tensor& t : inputs)
    if (t.dtype() != DType::resource) given.emplace_back(t);
  return graph::run(plan, body.num_results(), given);
}
/// Traces it, then runs it with the values of the inputs.
template <class F> Tensors run_traced(const Tensors& inputs, Known known, const F& f) {
  auto body = trace(inputs, known, f);
  return run(body->plan(), *body, inputs);
}

void compare(const std::string& what, const Tensors& got, const Tensors& expected, double tolerance) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) {
    if (expected[i].dtype() == DType::resource || expected[i].dtype() == DType::variant) continue;
    std::string differs = difference(got[i], expected[i], tolerance);
    EXPECT_TRUE(differs.empty()) << what << ": result " << i << ": " << differs;
  }
}

// Gradients that ask for more of their inputs than TensorFlow's traced ones do, or as much (Qr, Svd, MatrixSolveLs need
// the sides of matrices there too). They say so when less is known.
bool needs_rank(const std::string& op) {
  static const std::set<std::string> ops = {
      "BiasAddGrad", "FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3", "SegmentMean",       "Tile",
      "TopKV2",      "UnsortedSegmentMax", "UnsortedSegmentMin",   "UnsortedSegmentProd",  "UnsortedSegmentSum"};
  return ops.count(op) != 0;
}
bool needs_shape(const std::string& op) {
  static const std::set<std::string> ops = {"BandedTriangularSolve", "MatrixSolveLs", "Qr", "Svd"};
  return ops.count(op) != 0;
}

class Traced : public ::testing::TestWithParam<std::string> {};

TEST_P(Traced, HasTheBitsOfTheEagerCall) {
  for (const Case* c : cases_of(GetParam(), false)) {
    for (Known known : {Known::shapes, Known::ranks, Known::nothing}) {
      std::string what = c->describe() + ", " + name_of_mode(known);
      Call eager = make_call(*c), traced = make_call(*c);
      auto apply_row = [&](const Tensors& in) { return run_op(*traced.op, in, traced.attrs); };
      if (!c->error.empty()) {
        EXPECT_THROW(run_traced(traced.inputs, known, apply_row), Error) << what;
        continue;
      }
      try {
        seed_state().set_global_seed(1);
        Tensors got = run_traced(traced.inputs, known, apply_row);
        seed_state().set_global_seed(1);
        if (!c->shape_only) compare(what, got, run_op(*eager.op, eager.inputs, eager.attrs), 0);
        std::string variables = difference_of_variables(*c, traced);
        EXPECT_TRUE(variables.empty()) << what << ": " << variables;
      } catch (const std::exception& e) {
        if (known == Known::shapes && is_refused_by_graphs_alone(e, eager)) continue;
        ADD_FAILURE() << what << ": " << e.what();
      }
    }
  }
}

/// The gradients of all inputs that have one, None as nothing.
Tensors gradients(const Op& op, const Tensors& in, AttrsRef attrs) {
  autodiff::Tape tape({});
  tape.start();
  Tensors sources;
  for (const Tensor& t : in)
    if (differentiable_types.has(t.dtype())) {
      tape.watch(t);
      sources.push_back(t);
    }
  Tensors out = run_op(op, in, attrs), targets;
  for (const Tensor& t : out)
    if (differentiable_types.has(t.dtype())) targets.push_back(t);
  Tensors found = tape.gradient(targets, sources, {}, UnconnectedGradients::zero);
  for (Tensor& t : found) t = to_array(t);
  return found;
}

TEST_P(Traced, HasTheGradientOfTheEagerCall) {
  const Op* op = find_op(GetParam());
  if (!op->grad) return;
  for (const Case* c : cases_of(GetParam(), false)) {
    if (!c->error.empty() || c->shape_only || !c->has_gradients || c->gradients_refused) continue;
    Call call = make_call(*c);
    Tensors expected;
    try {
      seed_state().set_global_seed(1);
      expected = gradients(*op, call.inputs, call.attrs);
    } catch (const Error&) {
      continue;  // refused, as tests of gradients know
    }
    for (Known known : {Known::shapes, Known::ranks, Known::nothing}) {
      std::string what = c->describe() + ", gradient, " + name_of_mode(known);
      bool refused =
          (known == Known::nothing && needs_rank(op->name)) || (known != Known::shapes && needs_shape(op->name));
      try {
        seed_state().set_global_seed(1);
        Tensors got = run_traced(call.inputs, known, [&](const Tensors& in) { return gradients(*op, in, call.attrs); });
        compare(what, got, expected, known == Known::shapes ? 0 : -1);
      } catch (const Error& e) {
        refused = refused || (known == Known::shapes && is_refused_by_graphs_alone(e, call));
        EXPECT_TRUE(refused) << what << ": " << e.what();
      }
    }
  }
}

// What passes like to rewrite, before and behind the op: the same twice, chains, numbers that change nothing.
Tensors decorated(const Op& op, const Tensors& in, AttrsRef attrs) {
  Tensors around = in;
  for (Tensor& t : around)
    if (t.dtype() == DType::float32 || t.dtype() == DType::float64) t = -(-(t * 1.0)) * 0.5 + t;
  Tensors out = run_op(op, around, attrs);
  if (!op.traits.stateful)
    for (const Tensor& t : run_op(op, around, attrs)) out.push_back(t);
  for (size_t i = 0, count = out.size(); i < count; ++i)
    if (out[i].dtype() == DType::float32 || out[i].dtype() == DType::float64)
      out.push_back(nn::relu(tanh(out[i]) * out[i] - 0.25));
  return out;
}

TEST_P(Traced, PassesChangeNoBit) {
  const Op* op = find_op(GetParam());
  int compared = 0;
  for (const Case* c : cases_of(GetParam(), false)) {
    if (!c->error.empty() || c->shape_only) continue;
    for (Known known : {Known::shapes, Known::ranks}) {
      std::string what = c->describe() + ", " + name_of_mode(known);
      Call optimized = make_call(*c), plain = make_call(*c);
      auto traced = [&](const Call& call) {
        return trace(call.inputs, known, [&](const Tensors& in) { return decorated(*op, in, call.attrs); });
      };
      Tensors expected;
      try {
        auto without = traced(plain);
        const graph::Graph& graph = without->graph();
        seed_state().set_global_seed(1);
        expected = run(graph::Plan(graph, graph.arguments, graph.results), *without, plain.inputs);
      } catch (const Error&) {
        continue;  // it refuses what the decoration made of its inputs
      }
      try {
        auto with = traced(optimized);
        seed_state().set_global_seed(1);
        compare(what, run(with->plan(), *with, optimized.inputs), expected, 0);
        ++compared;
      } catch (const Error& e) {
        ADD_FAILURE() << what << ": refused with passes only: " << e.what();
      }
    }
  }
  RecordProperty("compared", compared);
}

INSTANTIATE_TEST_SUITE_P(Ops, Traced, ::testing::ValuesIn(ops_with_cases()));

}  // namespace
}  // namespace thalweg::testing
