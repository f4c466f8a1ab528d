// The LSTM over sequences: against one that is made of ops, on several threads, inside functions.
#include "thalweg/ops/recurrent.h"

#include <gtest/gtest.h>

#include <cstring>

#include "thalweg/thalweg.h"

namespace thalweg {
namespace {

struct Inputs {
  Tensor x, cs, h, w, b, wci, wcf, wco;
  std::vector<Tensor> all() const { return {x, cs, h, w, b, wci, wcf, wco}; }
};
Inputs inputs_of(int64_t time, int64_t batch, int64_t inputs, int64_t units) {
  auto normal = [seed = 0](const std::vector<int64_t>& shape) mutable {
    return random::stateless_normal(shape, constant({seed++, 7})) * 0.5f;
  };
  return {normal({time, batch, inputs}),
          normal({batch, units}),
          normal({batch, units}),
          normal({inputs + units, 4 * units}),
          normal({4 * units}),
          normal({units}),
          normal({units}),
          normal({units})};
}

/// cs and h of every step, of ops.
std::vector<Tensor> composed(const Inputs& in, int64_t steps, bool use_peephole) {
  Tensor cs = in.cs, h = in.h;
  std::vector<Tensor> all_cs, all_h;
  for (int64_t t = 0; t < steps; ++t) {
    std::vector<Tensor> gates = split(matmul(concat({in.x[t], h}, 1), in.w) + in.b, 4, {.axis = 1});
    auto peep = [&](const Tensor& gate, const Tensor& weight) { return use_peephole ? gate + weight * cs : gate; };
    Tensor i = sigmoid(peep(gates[0], in.wci)), f = sigmoid(peep(gates[1], in.wcf));
    cs = f * cs + i * tanh(gates[2]);
    h = sigmoid(peep(gates[3], in.wco)) * tanh(cs);
    all_cs.push_back(cs);
    all_h.push_back(h);
  }
  for (int64_t t = steps; t < in.x.shape()[0]; ++t)
    for (auto* all : {&all_cs, &all_h}) all->push_back(zeros_like(in.cs));
  return {stack(all_cs), stack(all_h)};
}
std::vector<Tensor> in_one_op(const Inputs& in, int64_t steps, bool use_peephole) {
  auto out =
      nn::block_lstm(in.x, in.cs, in.h, in.w, in.b,
                     {.seq_len_max = steps, .wci = in.wci, .wcf = in.wcf, .wco = in.wco, .use_peephole = use_peephole});
  return {out.cs, out.h};
}

/// cs and h, then the gradients of a sum of both with weights that differ.
template <class F> std::vector<Tensor> with_gradients(const F& f, const Inputs& in, int64_t steps, bool use_peephole) {
  GradientTape tape({.persistent = true});
  for (const Tensor& t : in.all()) tape.watch(t);
  std::vector<Tensor> out = f(in, steps, use_peephole);
  auto weights = [](const Tensor& t) { return sin(reshape(cast(range(t.size()), DType::float32), shape(t))); };
  Tensor sum = reduce_sum(out[0] * weights(out[0])) + reduce_sum(out[1] * (weights(out[1]) + 0.3f));
  for (const Tensor& t : tape.gradient(sum, in.all(), {.unconnected_gradients = UnconnectedGradients::zero}))
    out.push_back(t);
  return out;
}

void expect_close(const std::vector<Tensor>& got, const std::vector<Tensor>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].shape(), expected[i].shape());
    if (got[i].size() == 0) continue;
    Tensor error = reduce_max(abs(got[i] - expected[i])) / (reduce_max(abs(expected[i])) + 1e-3f);
    EXPECT_LT(error.item<float>(), 2e-5f) << "tensor " << i;
  }
}

TEST(BlockLstm, HasTheValuesAndGradientsOfItsParts) {
  for (bool use_peephole : {false, true})
    for (auto [time, batch, inputs, units] :
         {std::array{3, 2, 3, 4}, {5, 1, 2, 33}, {4, 37, 5, 16}, {2, 16, 1, 1}, {1, 3, 0, 5}}) {
      SCOPED_TRACE(std::to_string(batch) + " examples, " + std::to_string(units) + " units");
      Inputs in = inputs_of(time, batch, inputs, units);
      for (int64_t steps : {time, time - 1})
        expect_close(with_gradients(in_one_op, in, steps, use_peephole),
                     with_gradients(composed, in, steps, use_peephole));
    }
}

TEST(BlockLstm, TakesTheWholeBatchThroughLargeWeights) {
  Inputs in = inputs_of(2, 20, 8, 400);
  expect_close(with_gradients(in_one_op, in, 2, false), with_gradients(composed, in, 2, false));
}

TEST(BlockLstm, HasTheSameBitsOnAnyNumberOfThreads) {
  const int before = num_threads();
  Inputs in = inputs_of(6, 50, 20, 64);
  std::vector<std::vector<Tensor>> results;
  for (int threads : {1, 2, 5}) {
    set_num_threads(threads);
    results.push_back(with_gradients(in_one_op, in, 6, true));
  }
  set_num_threads(before);
  for (const auto& result : results)
    for (size_t i = 0; i < result.size(); ++i)
      EXPECT_EQ(std::memcmp(result[i].data<float>(), results[0][i].data<float>(),
                            static_cast<size_t>(result[i].size()) * sizeof(float)),
                0)
          << "tensor " << i;
}

TEST(BlockLstm, HasTheSameGradientsWhereOnlyOneIsAskedFor) {
  Inputs in = inputs_of(4, 20, 3, 5);
  const std::vector<Tensor> all = with_gradients(in_one_op, in, 4, true);
  for (size_t i = 0; i < all.size(); ++i) {
    auto f = function([&](const Tensor& x) {
      Inputs traced = in;
      traced.x = x;
      return with_gradients(in_one_op, traced, 4, true)[i];
    });
    EXPECT_EQ(f(in.x).str(), all[i].str()) << "tensor " << i;
  }
}

TEST(BlockLstm, FindsStepsAndUnitsWhereTheShapesAreNotKnownYet) {
  Inputs in = inputs_of(3, 2, 3, 4);
  const TensorSpec anything(Shape::unknown_rank());
  auto f = function([](const Tensor& x, const Tensor& cs, const Tensor& h, const Tensor& w,
                       const Tensor& b) { return nn::block_lstm(x, cs, h, w, b).h; },
                    {.input_signature = {anything, anything, anything, anything, anything}});
  expect_close({f(in.x, in.cs, in.h, in.w, in.b)}, {composed(in, 3, false)[1]});
}

TEST(BlockLstm, RefusesStepsThatAFunctionGetsTooLate) {
  Inputs in = inputs_of(3, 2, 3, 4);
  auto f = function(
      [&](const Tensor& steps) { return nn::block_lstm(in.x, in.cs, in.h, in.w, in.b, {.seq_len_max = steps}).h; });
  EXPECT_EQ(f(Tensor(int64_t{3})).shape(), Shape({3, 2, 4}));
  EXPECT_THROW(f(Tensor(int64_t{4})), InvalidArgumentError);
  EXPECT_THROW(f(Tensor(int64_t{-1})), InvalidArgumentError);
}

}  // namespace
}  // namespace thalweg
