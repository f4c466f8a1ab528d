// GradientTape: what it watches, when it records, what it keeps, and how it refuses misuse.
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "thalweg/core/sanitizer.h"
#include "thalweg/core/thread_state.h"
#include "thalweg/ops/apply.h"
#include "thalweg/thalweg.h"

namespace thalweg {
namespace {

Tensor value(float v) { return Tensor(v); }

TEST(GradientTape, WatchesTrainableVariablesAsTheyAreRead) {
  Variable w(5.0f), b(10.0f), fixed(2.0f, {.trainable = false});
  GradientTape tape;
  Tensor loss = square(w * 3.0f + b) * fixed;
  ASSERT_EQ(tape.watched_variables().size(), 2u);
  EXPECT_TRUE(is_same(tape.watched_variables()[0], w));
  EXPECT_TRUE(is_same(tape.watched_variables()[1], b));
  auto [dw, db, df] = tape.gradient(loss, w, b, fixed);
  EXPECT_EQ(dw.item<float>(), 300.0f);
  EXPECT_EQ(db.item<float>(), 100.0f);
  EXPECT_FALSE(df.defined());
}

TEST(GradientTape, WatchesNothingByItselfWhenToldSo) {
  Variable w(2.0f), b(3.0f);
  GradientTape tape({.watch_accessed_variables = false});
  tape.watch(w);
  Tensor y = w * b;
  auto [dw, db] = tape.gradient(y, w, b);
  EXPECT_EQ(dw.item<float>(), 3.0f);
  EXPECT_FALSE(db.defined());
}

TEST(GradientTape, GivesTheStructureOfItsSources) {
  struct Point {
    Tensor x, y;
  };
  Point p{value(2), value(3)};
  {
    GradientTape tape;
    tape.watch(p);
    Point g = tape.gradient(p.x * p.y * p.y, p);
    EXPECT_EQ(g.x.item<float>(), 9.0f);
    EXPECT_EQ(g.y.item<float>(), 12.0f);
  }
  std::map<std::string, std::vector<Tensor>> nested = {{"a", {value(2), value(3)}}, {"b", {value(4)}}};
  GradientTape tape;
  tape.watch(nested);
  auto g = tape.gradient(nested["a"][0] * nested["a"][1] * nested["b"][0], nested);
  EXPECT_EQ(g["a"][0].item<float>(), 12.0f);
  EXPECT_EQ(g["a"][1].item<float>(), 8.0f);
  EXPECT_EQ(g["b"][0].item<float>(), 6.0f);
}

TEST(GradientTape, AddsUpSeveralTargetsAndTakesTheirGradients) {
  Tensor x = value(3);
  GradientTape tape({.persistent = true});
  tape.watch(x);
  Tensor y = x * x, z = 2 * x;
  EXPECT_EQ(tape.gradient(std::tuple(y, z), x).item<float>(), 8.0f);
  EXPECT_EQ(tape.gradient(std::tuple(y, z), x, {.output_gradients = {value(10), value(100)}}).item<float>(), 260.0f);
  EXPECT_THROW((void)tape.gradient(y, x, {.output_gradients = {value(1), value(1)}}), ValueError);
  EXPECT_THROW((void)tape.gradient(y, x, {.output_gradients = {Tensor{1.0f, 2.0f}}}), InvalidArgumentError);
}

TEST(GradientTape, GivesGradientsOfWhatWasComputedOnTheWay) {
  for (bool persistent : {false, true}) {
    Variable v(2.0f);
    GradientTape tape({.persistent = persistent});
    Tensor a = v * v, b = a * 3.0f, unused = a + 1.0f, c = b * a;
    auto [of_c, of_b, of_a, of_unused, of_v] = tape.gradient(c, std::tuple(c, b, a, unused, v));
    EXPECT_EQ(of_c.item<float>(), 1);
    EXPECT_EQ(of_b.item<float>(), 4);
    EXPECT_EQ(of_a.item<float>(), 24);
    EXPECT_FALSE(of_unused.defined());
    EXPECT_EQ(of_v.item<float>(), 96);
  }
}

TEST(GradientTape, IsUsedOnceUnlessPersistent) {
  Tensor x = value(3);
  GradientTape once;
  once.watch(x);
  Tensor y = x * x;
  EXPECT_EQ(once.gradient(y, x).item<float>(), 6.0f);
  try {
    (void)once.gradient(y, x);
    FAIL();
  } catch (const RuntimeError& e) {
    EXPECT_STREQ(e.what(),
                 "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)");
  }
}

TEST(GradientTape, GivesNoneOrZeroForWhatIsNotConnected) {
  Tensor x = value(3), y = value(4);
  GradientTape tape({.persistent = true});
  tape.watch(x, y);
  Tensor z = x * 2;
  EXPECT_FALSE(tape.gradient(z, y).defined());
  EXPECT_EQ(tape.gradient(z, y, {.unconnected_gradients = UnconnectedGradients::zero}).item<float>(), 0.0f);
  EXPECT_EQ(tape.gradient(x, x).item<float>(), 1.0f);
  EXPECT_FALSE(tape.gradient(stop_gradient(x) * 2, x).defined());
}

TEST(GradientTape, HoldsStillWhileRecordingIsStopped) {
  Variable w(3.0f);
  GradientTape tape({.persistent = true});
  Tensor a = w * 2, b;
  {
    auto pause = tape.stop_recording();
    b = w * 5;
  }
  Tensor c = a + b;
  EXPECT_EQ(tape.gradient(c, w).item<float>(), 2.0f);
  tape.reset();
  EXPECT_TRUE(tape.watched_variables().empty());
  EXPECT_FALSE(tape.gradient(c, w).defined());
  Tensor d = w * w;
  EXPECT_EQ(tape.gradient(d, w).item<float>(), 6.0f);
}

TEST(GradientTape, TapesNest) {
  Tensor x = value(3);
  GradientTape outer;
  outer.watch(x);
  Tensor first;
  {
    GradientTape inner;
    inner.watch(x);
    Tensor cube = x * x * x;
    first = inner.gradient(cube, x);
  }
  EXPECT_EQ(first.item<float>(), 27.0f);
  EXPECT_EQ(outer.gradient(first, x).item<float>(), 18.0f);
}

// What only the inner tape watches is nothing to the outer one.
TEST(GradientTape, EachFollowsItsOwn) {
  Tensor x = value(3);
  GradientTape outer({.persistent = true});
  GradientTape inner({.persistent = true});
  inner.watch(x);
  Tensor y = x * x;
  EXPECT_FALSE(outer.gradient(y, x).defined());
  EXPECT_FALSE(outer.gradient(y * 2, y).defined());
  EXPECT_EQ(inner.gradient(y, x).item<float>(), 6.0f);
}

// Bits of tapes are used again within one outer tape.
TEST(GradientTape, ManyInnerTapesWithinOne) {
  Variable w(1.5f);
  GradientTape outer;
  Tensor sum = value(0);
  for (int i = 0; i < 500; ++i) {
    GradientTape inner;
    Tensor y = w * w * w;
    sum = sum + inner.gradient(y, w);
  }
  EXPECT_NEAR(sum.item<float>(), 500 * 3 * 1.5 * 1.5, 1);
  EXPECT_NEAR(outer.gradient(sum, w).item<float>(), 500 * 6 * 1.5, 1);
}

TEST(GradientTape, APersistentTapeDifferentiatesItsOwnGradients) {
  Tensor x = value(2);
  GradientTape tape({.persistent = true});
  tape.watch(x);
  Tensor y = x * x * x;
  Tensor dy = tape.gradient(y, x), ddy = tape.gradient(dy, x), dddy = tape.gradient(ddy, x);
  EXPECT_EQ(dy.item<float>(), 12.0f);
  EXPECT_EQ(ddy.item<float>(), 12.0f);
  EXPECT_EQ(dddy.item<float>(), 6.0f);
}

TEST(GradientTape, ClosesWhenExceptionsFly) {
  Variable w(1.0f);
  EXPECT_THROW(
      {
        GradientTape tape;
        Tensor y = w * 2;
        matmul(Tensor{{1.0f, 2.0f}}, Tensor{{1.0f, 2.0f}});
      },
      InvalidArgumentError);
  EXPECT_EQ(thread_state.recorder, nullptr);
  GradientTape tape;
  Tensor y = w * 2;
  EXPECT_EQ(tape.gradient(y, w).item<float>(), 2.0f);
  EXPECT_EQ(thread_state.recorder, nullptr);
}

TEST(GradientTape, BelongsToItsThread) {
  Variable w(3.0f);
  GradientTape tape({.persistent = true});
  Tensor y = w * w;
  Tensor other;
  std::thread([&] {
    EXPECT_THROW((void)tape.gradient(y, w), RuntimeError);
    EXPECT_THROW(tape.watch(y), RuntimeError);
    GradientTape own;
    Tensor z = w * 5;
    other = own.gradient(z, w);
  }).join();
  EXPECT_EQ(other.item<float>(), 5.0f);
  EXPECT_EQ(tape.gradient(y, w).item<float>(), 6.0f);
}

TEST(GradientTape, IntegersHaveNoDerivative) {
  static std::string heard;
  WarningHandler before = set_warning_handler([](const char* text) { heard = text; });
  Tensor n = 3;
  GradientTape tape;
  tape.watch(n);
  EXPECT_FALSE(tape.gradient(n * 2, n).defined());
  set_warning_handler(before);
  EXPECT_NE(heard.find("must be floating (e.g. tf.float32), got tf.int32"), std::string::npos) << heard;
}

TEST(GradientTape, ReadsAreSnapshots) {
  Variable w(3.0f);
  GradientTape tape({.persistent = true});
  Tensor before = w.value(), y = before * before;
  w.assign(100.0f);
  EXPECT_EQ(before.item<float>(), 3.0f);
  EXPECT_EQ(tape.gradient(y, w).item<float>(), 6.0f);
}

TEST(GradientTape, LookupsGiveSlices) {
  Variable table({{1.0f, 2.0f}, {3.0f, 4.0f}, {5.0f, 6.0f}});
  GradientTape tape({.persistent = true});
  Tensor rows = gather(table, {0, 2, 0}), direct = table.sparse_read({1});
  Tensor g = tape.gradient(reduce_sum(rows) + reduce_sum(direct), table);
  ASSERT_TRUE(is_indexed_slices(g));
  EXPECT_EQ(indexed_slices(g).indices.size(), 4);
  EXPECT_EQ(g.shape(), (Shape{3, 2}));
  EXPECT_EQ(to_array(g).str(), (Tensor{{2.0f, 2.0f}, {1.0f, 1.0f}, {1.0f, 1.0f}}).str());
  EXPECT_EQ((g * 10).str(), (Tensor{{20.0f, 20.0f}, {10.0f, 10.0f}, {10.0f, 10.0f}}).str());
  EXPECT_THROW((void)g.span<float>(), TypeError);
  Tensor mixed = tape.gradient(reduce_sum(rows) + reduce_sum(table), table);
  EXPECT_FALSE(is_indexed_slices(mixed));
  EXPECT_EQ(mixed.str(), (Tensor{{3.0f, 3.0f}, {1.0f, 1.0f}, {2.0f, 2.0f}}).str());
}

// Rows of a sum whose first part was broadcast.
TEST(GradientTape, SlicesOfWhatWasBroadcast) {
  Tensor row = {{1.0f, 2.0f}}, table = {{1.0f, 2.0f}, {3.0f, 4.0f}};
  GradientTape tape;
  tape.watch(row, table);
  Tensor y = gather(row + table, {0, 1, 1});
  auto [d_row, d_table] = tape.gradient(y, row, table);
  EXPECT_EQ(d_row.str(), (Tensor{{3.0f, 3.0f}}).str());
  EXPECT_EQ(to_array(d_table).str(), (Tensor{{1.0f, 1.0f}, {2.0f, 2.0f}}).str());
}

TEST(GradientTape, SlicesAreClippedAsSlices) {
  Tensor g = IndexedSlices{Tensor{{3.0f, 4.0f}}, Tensor{1}, Tensor{3, 2}};
  Tensor clipped = clip_by_norm(g, 1.0);
  ASSERT_TRUE(is_indexed_slices(clipped));
  EXPECT_EQ(indexed_slices(clipped).values.str(), (Tensor{{0.6f, 0.8f}}).str());
  auto all = clip_by_global_norm({g, Tensor{0.0f}}, 2.5);
  EXPECT_EQ(all.global_norm.item<float>(), 5.0f);
  ASSERT_TRUE(is_indexed_slices(all.clipped[0]));
  EXPECT_EQ(indexed_slices(all.clipped[0]).values.str(), (Tensor{{1.5f, 2.0f}}).str());
  EXPECT_TRUE(is_indexed_slices(clip_by_value(g, -1, 1)));
  EXPECT_TRUE(is_indexed_slices(scalar_mul(2.0f, g)));
  IndexedSlices twice{Tensor{{1.0f}, {2.0f}, {4.0f}}, Tensor{5, 0, 5}, Tensor{9, 1}};
  EXPECT_EQ(without_repeats(twice).values.str(), (Tensor{{5.0f}, {2.0f}}).str());
}

// Each way to read a variable gives its gradient back to it.
TEST(GradientTape, LookupsInVariables) {
  Variable table({{1.0f, 2.0f}, {3.0f, 4.0f}});
  GradientTape tape({.persistent = true});
  Tensor picked = table.gather_nd({{0, 1}, {1, 0}, {0, 1}}) * Tensor{1.0f, 10.0f, 100.0f};
  EXPECT_EQ(to_array(tape.gradient(picked, table)).str(), (Tensor{{0.0f, 101.0f}, {10.0f, 0.0f}}).str());
  const Op& op = *find_op("ResourceGather");
  Attrs attrs(*op.attrs);
  op.attrs->set(attrs.get(), op.attrs->find("batch_dims"), int64_t{1});
  op.attrs->set(attrs.get(), op.attrs->find("dtype"), float32);
  Tensor weighted = apply1(op, {table.handle(), Tensor{{1}, {0}}}, attrs) * Tensor{{5.0f}, {7.0f}};
  EXPECT_EQ(to_array(tape.gradient(weighted, table)).str(), (Tensor{{0.0f, 5.0f}, {7.0f, 0.0f}}).str());
}

TEST(GradientTape, Jacobians) {
  Tensor x = {1.0f, 2.0f, 3.0f};
  {
    GradientTape tape;
    tape.watch(x);
    Tensor j = tape.jacobian(x * x, x);
    EXPECT_EQ(j.str(), (Tensor{{2.0f, 0.0f, 0.0f}, {0.0f, 4.0f, 0.0f}, {0.0f, 0.0f, 6.0f}}).str());
  }
  Tensor batch = {{1.0f, 2.0f}, {3.0f, 4.0f}};
  GradientTape tape({.persistent = true});
  tape.watch(batch);
  Tensor y = stack({batch(all, 0) * batch(all, 1), batch(all, 0)}, {.axis = 1});
  EXPECT_EQ(tape.batch_jacobian(y, batch).str(),
            (Tensor{{{2.0f, 1.0f}, {1.0f, 0.0f}}, {{4.0f, 3.0f}, {1.0f, 0.0f}}}).str());
  EXPECT_THROW((void)tape.batch_jacobian(y, x), ValueError);
}

TEST(GradientTape, LeavesNoMemory) {
  Variable w(random::normal({200, 200}));
  Tensor x = random::normal({50, 200});
  auto step = [&] {
    GradientTape tape;
    Tensor loss = reduce_mean(square(tanh(matmul(x, w))));
    w.assign_sub(0.01f * tape.gradient(loss, w));
  };
  for (int i = 0; i < 3; ++i) step();
  const int64_t before = memory_info(0).current;
  for (int i = 0; i < 200; ++i) step();
  EXPECT_EQ(memory_info(0).current, before);
  {
    GradientTape kept({.persistent = true});
    Tensor loss = reduce_mean(square(tanh(matmul(x, w))));
    EXPECT_GT(memory_info(0).current, before);
  }
  EXPECT_EQ(memory_info(0).current, before);
}

// Pages of memory that the process holds.
int64_t resident() {
  std::ifstream statm("/proc/self/statm");
  int64_t size = 0, pages = 0;
  statm >> size >> pages;
  return pages;
}
TEST(GradientTape, TenThousandStepsDoNotGrow) {
  Variable w(random::normal({16, 16})), b(zeros({16}));
  Tensor x = random::normal({8, 16});
  auto step = [&] {
    GradientTape tape;
    Tensor loss = reduce_mean(square(tanh(matmul(x, w) + b)));
    auto [dw, db] = tape.gradient(loss, w, b);
    w.assign_sub(0.01f * dw);
    b.assign_sub(0.01f * db);
  };
  for (int i = 0; i < 100; ++i) step();
  const int64_t before = resident(), counted = memory_info(0).current;
  for (int i = 100; i < 10'000; ++i) step();
  EXPECT_EQ(memory_info(0).current, counted);
  if (!under_sanitizer) {  // which keeps what is freed
    EXPECT_LE(resident(), before + before / 100);
  }
}

// relu reads its result, bias and sum nothing: what lies between two layers is held once.
TEST(GradientTape, KeepsOnlyWhatGradientsRead) {
  Variable w(random::normal({256, 256})), b(zeros({256}));
  Tensor x = random::normal({256, 256});
  const int64_t before = memory_info(0).current, one = 256 * 256 * 4;
  GradientTape tape({.persistent = true});
  Tensor y = nn::relu(nn::bias_add(matmul(x, w), b));
  EXPECT_LE(memory_info(0).current - before, one + 8192);
}

// Models whose last layer starts with zeros begin here: both sides of the formula must agree on the derivative.
TEST(GradientTape, CrossentropyOfLogitZeroHasTheDerivativeOfTheSigmoid) {
  Variable logits({0.0f, 0.0f, 0.0f});
  GradientTape tape;
  auto loss = nn::sigmoid_cross_entropy_with_logits({0.0f, 1.0f, 0.25f}, logits);
  Tensor gradient = tape.gradient(loss, logits);
  EXPECT_FLOAT_EQ(gradient(0).item<float>(), 0.5f);
  EXPECT_FLOAT_EQ(gradient(1).item<float>(), -0.5f);
  EXPECT_FLOAT_EQ(gradient(2).item<float>(), 0.25f);
}

}  // namespace
}  // namespace thalweg
