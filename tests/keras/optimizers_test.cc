#include "thalweg/keras/optimizers.h"

#include "tests/keras/config_cases.h"
#include "thalweg/keras/constraints.h"
#include "thalweg/thalweg.h"

namespace thalweg::testing {
namespace {

using keras::Optimizer;
using keras::Value;
namespace optimizers = keras::optimizers;

struct Row {
  const KerasCases& family;
  const Value& row;

  Tensor gradient(const Value& value) const {
    if (!value.contains("indices")) return family.tensor(value);
    Shape shape;
    from_value(shape, value["dense_shape"]);
    std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
    return IndexedSlices{family.tensor(value["values"]), family.tensor(value["indices"]), Tensor(dims)};
  }
  std::vector<Variable> variables() const {
    std::vector<Variable> made;
    for (const Value& one : row["variables"].list()) {
      std::string name = one["name"].text();
      name.resize(name.size() - 2);
      made.emplace_back(family.tensor(one["value"]), VariableOptions{.name = name});
    }
    return made;
  }
  Optimizer optimizer() const {
    auto made = make_from<Optimizer>(row);
    if (!row["exclude_from_weight_decay"].is_none()) {
      std::vector<std::string> names;
      from_value(names, row["exclude_from_weight_decay"]);
      made.exclude_from_weight_decay({}, names);
    }
    return made;
  }
  /// All steps, by `apply(optimizer, gradients, variables)`; compares everything that Keras says.
  template <class F> void check(const F& apply, bool in_function = false) const {
    const Value& own = in_function && !row["in_function"].is_none() ? row["in_function"] : row;

    const double tolerance = row["tolerance"].is_none() ? -1 : row["tolerance"].number();
    Optimizer made = optimizer();
    EXPECT_EQ(made.name(), row["name"].text());
    std::vector<Variable> w = variables();
    for (size_t step = 0; step < row["gradients"].list().size(); ++step) {
      std::vector<Tensor> gradients;
      for (const Value& value : row["gradients"].list()[step].list())
        gradients.push_back(value.is_none() ? Tensor() : gradient(value));
      apply(made, gradients, w);
      for (size_t i = 0; i < w.size(); ++i)
        EXPECT_EQ(difference(w[i].value(), family.tensor(own["after"].list()[step].list()[i]), tolerance), "")
            << "step " << step << ", " << w[i].name();
      EXPECT_FLOAT_EQ(made.learning_rate().item<float>(),
                      static_cast<float>(row["learning_rates"].list()[step].number()));
    }
    EXPECT_EQ(made.iterations().item<int64_t>(), row["iterations"].integer());
    const std::vector<Variable> state = made.variables();
    const Value::List& wanted = own["state"].list();
    ASSERT_EQ(state.size(), wanted.size());
    for (size_t i = 0; i < state.size(); ++i) {
      EXPECT_EQ(state[i].name(), wanted[i]["name"].text());
      EXPECT_EQ(difference(state[i].value(), family.tensor(wanted[i]["value"]), tolerance), "") << state[i].name();
    }
    expect_config(row, made);
    made.finalize_variable_values(w);
    for (size_t i = 0; i < w.size() && !row["finalized"].is_none() && &own == &row; ++i)
      EXPECT_EQ(difference(w[i].value(), family.tensor(row["finalized"].list()[i]), tolerance), "");
  }
};

TEST(Optimizers, StepAsKerasDoes) {
  KerasCases family("optimizers");
  for (const Value& row : family.cases()) {
    SCOPED_TRACE(KerasCases::describe(row));
    if (!row["error"].is_none()) {
      expect_error(row, [&] { make_from<Optimizer>(row); });
      continue;
    }
    Row{family, row}.check([](const Optimizer& optimizer, const auto& gradients, const auto& variables) {
      optimizer.apply_gradients(gradients, variables);
    });
  }
}

TEST(Optimizers, StepTheSameInsideFunctions) {
  KerasCases family("optimizers");
  for (const Value& row : family.cases()) {
    if (!row["error"].is_none() || row["in_function"].is_text()) continue;
    SCOPED_TRACE(KerasCases::describe(row));
    // Gradients that come and go are other calls.
    std::map<std::vector<bool>, std::shared_ptr<Function<Tensor(const std::vector<Tensor>&)>>> steps;
    Row{family, row}.check(
        [&](const Optimizer& optimizer, const std::vector<Tensor>& gradients, const std::vector<Variable>& variables) {
          std::vector<Tensor> parts;
          std::vector<bool> present, sparse;
          for (const Tensor& g : gradients) {
            present.push_back(g.defined());
            sparse.push_back(is_indexed_slices(g));
            if (!g.defined()) continue;
            if (sparse.back()) {
              parts.push_back(indexed_slices(g).values);
              parts.push_back(indexed_slices(g).indices);
            } else {
              parts.push_back(g);
            }
          }
          auto& step = steps[present];
          if (!step)
            step = std::make_shared<Function<Tensor(const std::vector<Tensor>&)>>(
                [optimizer, variables, present, sparse](const std::vector<Tensor>& given) {
                  std::vector<Tensor> whole;
                  size_t next = 0;
                  for (size_t i = 0; i < present.size(); ++i) {
                    if (!present[i]) whole.emplace_back();
                    else if (sparse[i]) {
                      whole.push_back(IndexedSlices{given[next], given[next + 1], {}});
                      next += 2;
                    } else {
                      whole.push_back(given[next++]);
                    }
                  }
                  return optimizer.apply_gradients(whole, variables).value();
                });
          (*step)(parts);
        },
        true);
  }
}

TEST(Optimizers, AreKnownByName) {
  for (const char* name : {"sgd",   "SGD",   "rmsprop", "RMSprop",  "RMSProp",          "adam",           "Adam",
                           "ADAM",  "adamw", "AdamW",   "adadelta", "adagrad",          "adamax",         "adafactor",
                           "nadam", "ftrl",  "Ftrl",    "lion",     "experimentaladam", "ExperimentalSGD"})
    EXPECT_TRUE(Optimizer(name).defined()) << name;
  EXPECT_EQ(Optimizer("rmsprop").class_name(), "RMSprop");
  EXPECT_EQ(Optimizer("adam").name(), "Adam");
  try {
    Optimizer wrong("adma");
    ADD_FAILURE();
  } catch (const ValueError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("unknown optimizer 'adma'; did you mean 'adam'? Known: "))
        << error.what();
  }
}

TEST(Optimizers, Minimize) {
  Variable w(3.0F, {.name = "w"}), b(1.0F, {.name = "b"});
  auto loss = [&] { return w * w + b * b; };
  auto sgd = optimizers::SGD({.learning_rate = 0.25});
  sgd.minimize(loss, {w, b});
  EXPECT_FLOAT_EQ(w.item<float>(), 1.5F);
  EXPECT_FLOAT_EQ(b.item<float>(), 0.5F);
  sgd.minimize(loss, [&] { return std::vector{w, b}; });
  EXPECT_FLOAT_EQ(w.item<float>(), 0.75F);
  {
    GradientTape tape;
    Tensor value = loss();
    sgd.minimize(value, {w, b}, tape);
  }
  EXPECT_FLOAT_EQ(w.item<float>(), 0.375F);
  sgd.apply_gradients(sgd.compute_gradients(loss, {w, b}));
  EXPECT_EQ(sgd.apply_gradients({{Tensor(0.0F), w}}).item<int64_t>(), 5);
  EXPECT_EQ(sgd.variables()[1].name(), "SGD/m/w:0");
}

TEST(Optimizers, NameSlotsByTheScopeOfTheirStep) {
  Variable w(3.0F, {.name = "w"});
  auto named = optimizers::Adam();
  named.apply_gradients({Tensor(1.0F)}, {w}, {.name = "mine"});
  EXPECT_EQ(named.variables()[1].name(), "mine/m/w:0");
  auto early = optimizers::Adam();
  early.build({w});
  EXPECT_EQ(early.variables()[1].name(), "m/w:0");
}

TEST(Optimizers, LetTheRateBeSet) {
  Variable w(1.0F);
  auto sgd = optimizers::SGD({.learning_rate = 0.5});
  sgd.set_learning_rate(0.25);
  sgd.apply_gradients({{Tensor(1.0F), w}});
  EXPECT_FLOAT_EQ(w.item<float>(), 0.75F);
  EXPECT_EQ(sgd.get_config()["learning_rate"].number(), 0.25);
  // A traced step reads the rate of its own time.
  auto step = function([&](const Tensor& g) { return sgd.apply_gradients({{g, w}}).value(); });
  step(Tensor(1.0F));
  sgd.set_learning_rate(Tensor(0.125));
  step(Tensor(1.0F));
  EXPECT_FLOAT_EQ(w.item<float>(), 0.375F);
  auto scheduled = optimizers::SGD({.learning_rate = optimizers::schedules::ExponentialDecay(0.1, 1, 0.5)});
  EXPECT_THROW(scheduled.set_learning_rate(0.1), TypeError);
  EXPECT_FLOAT_EQ(scheduled.learning_rate().item<float>(), 0.1F);
  sgd.set_learning_rate_schedule(optimizers::schedules::PiecewiseConstantDecay({10}, {2, 3}));
  EXPECT_FLOAT_EQ(sgd.learning_rate().item<float>(), 2);
}

TEST(Optimizers, RefuseWhatCannotBe) {
  Variable w(1.0F, {.name = "w"}), other(1.0F, {.name = "other"});
  auto adam = optimizers::Adam();
  EXPECT_THROW(adam.set_weights({}), ValueError);
  EXPECT_THROW(adam.apply_gradients({Tensor()}, {w}), ValueError);
  adam.apply_gradients({{Tensor(1.0F), w}});
  EXPECT_THROW(adam.apply_gradients({{Tensor(1.0F), other}}), ValueError);
  EXPECT_THROW(adam.apply_gradients({Tensor(1.0F)}, {w, other}), ValueError);
  EXPECT_THROW(adam.exclude_from_weight_decay({w}), ValueError);
  EXPECT_THROW(adam.set_iterations(w), RuntimeError);
  EXPECT_THROW(adam.set_weights({Tensor(int64_t{3}), Tensor({1.0F, 2.0F})}), ValueError);
  adam.set_weights({Tensor(int64_t{3}), Tensor(1.0F), Tensor(2.0F)});
  EXPECT_EQ(adam.iterations().item<int64_t>(), 3);
  EXPECT_THROW(optimizers::AdamW({.weight_decay = std::nullopt}), ValueError);
  EXPECT_THROW(optimizers::SGD({.momentum = -1}), ValueError);
  EXPECT_THROW(keras::add_slot(w, "m"), ValueError);
}

TEST(Optimizers, LeaveVariablesOutOfDecay) {
  Variable w(1.0F, {.name = "w"}), b(1.0F, {.name = "b"});
  auto sgd = optimizers::SGD({.learning_rate = 0.5, .weight_decay = 0.5});
  sgd.exclude_from_weight_decay({b});
  sgd.apply_gradients({Tensor(0.0F), Tensor(0.0F)}, {w, b});
  EXPECT_FLOAT_EQ(w.item<float>(), 0.75F);
  EXPECT_FLOAT_EQ(b.item<float>(), 1);
}

// A program's own optimizer.
struct MySGD {
  double learning_rate = 0.5;
  double momentum = 0.5;
  std::optional<double> clipvalue = {};
  std::vector<Variable> velocities = {};

  void build(const std::vector<Variable>& variables) {
    for (const Variable& v : variables) velocities.push_back(keras::add_slot(v, "velocity"));
  }
  void update_step(const Tensor& gradient, const Variable& variable, size_t index) {
    const Variable& velocity = velocities[index];
    velocity.assign(momentum * velocity.value() + gradient);
    variable.assign_sub(keras::current_optimizer().current_rate(variable.dtype()) * velocity.value());
  }
};

struct Plain {
  void update_step(const Tensor& gradient, const Variable& variable) {
    variable.assign_sub(keras::current_optimizer().current_rate(variable.dtype()) * gradient);
  }
};

TEST(Optimizers, MayBeStructs) {
  Variable w(1.0F, {.name = "w"});
  Optimizer mine = MySGD{.clipvalue = 1};
  mine.apply_gradients({{Tensor(5.0F), w}});
  EXPECT_FLOAT_EQ(w.item<float>(), 0.5F);
  mine.minimize([&] { return 1.0F * w; }, {w});
  EXPECT_FLOAT_EQ(w.item<float>(), -0.25F);
  EXPECT_EQ(mine.name(), "MySGD");
  EXPECT_EQ(mine.variables()[1].name(), "MySGD/velocity/w:0");
  Optimizer again("MySGD");
  from_value(again, Value::map({{"class_name", "MySGD"}, {"config", mine.get_config()}}));
  EXPECT_TRUE(again.get_config() == mine.get_config()) << mine.get_config().json();
  Optimizer plain = Plain{};
  plain.apply_gradients({{Tensor(1.0F), w}});
  EXPECT_FLOAT_EQ(w.item<float>(), -0.251F);
}

TEST(Optimizers, ReadRowsThatAreNamedTwiceOnce) {
  Variable w(zeros({3, 1}), {.name = "w"});
  auto sgd = optimizers::SGD({.learning_rate = 1.0});
  sgd.apply_gradients({IndexedSlices{Tensor({{1.0F}, {2.0F}, {4.0F}}), Tensor({0, 2, 0}), {}}}, {w});
  EXPECT_EQ(difference(w.value(), Tensor({{-5.0F}, {0.0F}, {-2.0F}}), 0), "");
}

TEST(Optimizers, KeepConstraints) {
  Variable w(Tensor({1.0F, 1.0F}), {.name = "w"});
  variable_of(w.handle()).constraint = keras::constraints::NonNeg().pointer();
  optimizers::SGD({.learning_rate = 1.0}).apply_gradients({{Tensor({2.0F, -2.0F}), w}});
  EXPECT_EQ(difference(w.value(), Tensor({0.0F, 3.0F}), 0), "");
}

}  // namespace
}  // namespace thalweg::testing
