// The orders that are expected here are those of tf.Module in TensorFlow 2.15, for the same attributes.
#include "thalweg/ops/module.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <deque>
#include <map>
#include <unordered_map>

#include "thalweg/autodiff/gradient_tape.h"
#include "thalweg/core/name_scope.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/matmul.h"
#include "thalweg/ops/reduction.h"

namespace outside {  // of the library, as users' classes are

class Matrix {
 public:
  explicit Matrix(int rows) : rows_(rows) {}
  int rows() const { return rows_; }

 private:
  int rows_;
  std::string text_;
};

class Private {
 public:
  explicit Private(float value) : kernel_(value, {.name = "kernel"}) {}
  template <class F> void fields(F&& f) {
    f("kernel", kernel_);
    f("extra", extra_);
  }

 private:
  thalweg::Variable kernel_;
  std::vector<thalweg::Variable> extra_ = {thalweg::Variable(1.0f, {.name = "extra"})};
};

struct Layer {
  virtual ~Layer() = default;
  virtual void fields(thalweg::module::Parts& f) = 0;
};
struct Scale : Layer {
  thalweg::Variable factor = thalweg::Variable(2.0f, {.name = "factor"});
  void fields(thalweg::module::Parts& f) override { f("factor", factor); }
};

}  // namespace outside

template <> inline constexpr bool thalweg::holds_no_variables<outside::Matrix> = true;

namespace thalweg {
namespace {

using Names = std::vector<std::string>;

Variable named(const std::string& name, bool trainable = true) {
  return Variable(0.0f, {.trainable = trainable, .name = name});
}
Names names(const std::vector<Variable>& variables) {
  Names list;
  for (const Variable& v : variables) list.push_back(v.name().substr(0, v.name().size() - 2));
  return list;
}
template <class T> Names paths(const T& module) {
  Names list;
  for (const NamedVariable& v : named_variables(module)) list.push_back(v.path);
  return list;
}
template <class T> Names module_paths(const T& module) {
  Names list;
  for (const Submodule& s : submodules(module)) list.push_back(s.path);
  return list;
}

struct Dense {
  int64_t units = 1;
  Variable b = named("b");
  std::vector<Variable> a = {named("a0", false)};
  Variable c = {};
};
struct Outer {
  Variable zz = named("zz");
  Dense m = {.c = named("c")};
  std::tuple<Variable, Dense, std::tuple<Variable, std::map<std::string, Variable>>> l = {
      named("l0"), {}, {named("l2"), {{"b", named("lb")}, {"a", named("la")}}}};
  Variable aa = named("aa");
  Variable again = zz;
  std::unordered_map<std::string, Variable> dd = {{"k2", named("k2")}, {"k1", named("k1")}};
  std::map<int, Variable> ii = {{10, named("i10")}, {2, named("i2")}};
};

TEST(Module, FindsVariablesInTensorFlowsOrder) {
  Outer outer;
  EXPECT_EQ(names(variables(outer)),
            (Names{"aa", "zz", "k1", "k2", "i2", "i10", "l0", "l2", "la", "lb", "a0", "b", "a0", "b", "c"}));
  EXPECT_EQ(paths(outer), (Names{"aa", "again", "dd/k1", "dd/k2", "ii/2", "ii/10", "l/0", "l/2/0", "l/2/1/a", "l/2/1/b",
                                 "l/1/a/0", "l/1/b", "m/a/0", "m/b", "m/c"}));
  EXPECT_EQ(module_paths(outer), (Names{"l/1", "m"}));
  EXPECT_EQ(names(non_trainable_variables(outer)), (Names{"a0", "a0"}));
  EXPECT_EQ(trainable_variables(outer).size(), 13u);
}

TEST(Module, GivesTheVariablesThemselves) {
  Dense dense;
  variables(dense)[1].assign(5.0f);
  EXPECT_EQ(dense.b.item<float>(), 5.0f);
  Dense copy = dense;  // shares them
  EXPECT_EQ(variables(std::pair(dense, copy)).size(), 2u);
}

struct PlainData {
  float table[5000] = {};
  const char* label = nullptr;
  const PlainData* next = nullptr;
};
struct Everything {
  std::array<Dense, 2> array = {};
  std::deque<Dense> deque = std::deque<Dense>(1);
  std::optional<Dense> optional = Dense{};
  std::optional<Dense> no_optional = {};
  std::pair<Dense, int> pair = {};
  std::shared_ptr<Dense> shared = std::make_shared<Dense>();
  std::shared_ptr<Dense> same = shared;
  std::unique_ptr<Dense> unique = std::make_unique<Dense>();
  std::unique_ptr<Dense> no_unique = {};
  std::variant<int, Dense> variant = Dense{};
  std::variant<int, Dense> no_variant = 1;
  std::map<std::string, std::vector<std::shared_ptr<Dense>>> nested = {{"x", {std::make_shared<Dense>(), nullptr}}};
  const Dense constant = {};
  // What holds none.
  std::string text = "text";
  std::vector<bool> bits = {true};
  std::function<Tensor(const Variable&)> function = {};
  std::vector<outside::Matrix> matrices = {outside::Matrix(2)};
  std::weak_ptr<Dense> weak = shared;
  const char* label = "label";
  PlainData data = {};
  std::chrono::milliseconds duration = {};
  Tensor tensor = 1.0f;
  Shape shape = {2, 3};
  VariableOptions options = {};
};

TEST(Module, LooksIntoStandardContainers) {
  Everything all;
  EXPECT_EQ(module_paths(all), (Names{"array/0", "array/1", "constant", "deque/0", "nested/x/0", "optional", "pair/0",
                                      "same", "unique", "variant"}));
  EXPECT_EQ(variables(all).size(), 20u);
}

TEST(Module, TakesContainersAndPointersOfModules) {
  EXPECT_EQ(paths(std::vector<Dense>(2)), (Names{"0/a/0", "0/b", "1/a/0", "1/b"}));
  EXPECT_EQ(paths(std::make_shared<Dense>()), (Names{"a/0", "b"}));
  EXPECT_EQ(names(variables(named("v"))), Names{"v"});
  EXPECT_TRUE(variables(std::tuple(1, 2.0f, std::string("x"))).empty());
  EXPECT_TRUE(variables(Variable()).empty());
}

struct Node {
  Variable value = named("value");
  std::vector<std::shared_ptr<Node>> children = {};
};

TEST(Module, WalksRecursiveStructsAndCycles) {
  auto root = std::make_shared<Node>();
  root->children = {std::make_shared<Node>(), std::make_shared<Node>()};
  root->children[0]->children = {root, root->children[1]};
  EXPECT_EQ(paths(root), (Names{"value", "children/0/value", "children/1/value"}));
  EXPECT_EQ(module_paths(*root), (Names{"children/0", "children/1"}));
  root->children[0]->children.clear();
}

struct NoVariables {
  std::string text = "x";
  Tensor tensor = 1.0f;
};
struct Reference {
  std::vector<NoVariables> data = std::vector<NoVariables>(3);
  std::vector<std::reference_wrapper<Dense>> blocks = {};
};

TEST(Module, CallsOnlyWhatCanHoldVariablesAModule) {
  Dense one, two;
  Reference module = {.blocks = {one, two, one}};
  EXPECT_EQ(module_paths(module), (Names{"blocks/0", "blocks/1"}));
  EXPECT_EQ(submodules(module)[1].as<Dense>(), &two);
  EXPECT_EQ(submodules(module)[1].as<Node>(), nullptr);
  EXPECT_TRUE(submodules(module)[1].type.ends_with("Dense"));
}

TEST(Module, LocalStructsHaveNamesToo) {
  struct Local {
    Variable second = named("s"), first = named("f");
  };
  EXPECT_EQ(paths(Local{}), (Names{"first", "second"}));
}

TEST(Module, ClassesListTheirFields) {
  struct Holder {
    outside::Private hidden = outside::Private(1.0f);
    std::vector<std::shared_ptr<outside::Layer>> layers = {std::make_shared<outside::Scale>()};
  };
  EXPECT_EQ(paths(Holder{}), (Names{"hidden/extra/0", "hidden/kernel", "layers/0/factor"}));
}

struct Linear {
  int64_t inputs = 2, units = 1;
  Variable kernel = Variable(ones({inputs, units}), {.name = "kernel"});
  Variable bias = Variable(zeros({units}), {.name = "bias"});
  Variable calls = Variable(0, {.trainable = false, .name = "calls"});
  Tensor operator()(const Tensor& x) const {
    calls.assign_add(1);
    return matmul(x, kernel) + bias;
  }
};
struct Model {
  std::vector<Linear> blocks = {{2, 3}, {3, 3}};
  Linear head = {3, 1};
};

TEST(Module, TrainsThroughItsVariables) {
  Model model;
  GradientTape tape;
  Tensor x = ones({4, 2});
  for (const Linear& block : model.blocks) x = block(x);
  Tensor loss = reduce_sum(model.head(x));
  auto weights = trainable_variables(model);
  auto gradients = tape.gradient(loss, weights);
  ASSERT_EQ(gradients.size(), 6u);
  for (size_t i = 0; i < weights.size(); ++i) weights[i].assign_sub(gradients[i]);
  EXPECT_EQ(model.head.bias.item<float>(), -4.0f);
  EXPECT_EQ(model.head.calls.item<int>(), 1);
}

TEST(Module, VariablesAreNamedInTheirScope) {
  auto make = [] {
    NameScope scope("my_module");
    return Linear{};
  };
  Linear linear = make();
  EXPECT_EQ(linear.kernel.name(), "my_module/kernel:0");
  NameScope outer("outer");
  EXPECT_EQ(Variable(1.0f).name(), "outer/Variable:0");
  EXPECT_EQ(Variable(1.0f, {.name = "x/"}).name(), "x:0");
  EXPECT_EQ(Variable(1.0f, {.name = ""}).name(), ":0");
}

}  // namespace
}  // namespace thalweg
