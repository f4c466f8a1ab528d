// No member that holds a layer or a variable goes unseen: those of the standard library's containers are found, others
// do not compile (tests/refused/keras_*.cc).
#include <gtest/gtest.h>
#include <thalweg/thalweg.h>

#include <array>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <unordered_map>
#include <variant>

namespace tf = thalweg;
namespace keras = tf::keras;
namespace layers = keras::layers;
using keras::Layer, tf::Tensor, tf::Variable;

namespace {

struct Pair {
  Layer first = layers::Dense(1), second = layers::Dense(1);
  Variable scale = Variable(2.0f);
};

// Each member holds one layer or more of two weights, or variables.
struct Holder {
  Layer plain = layers::Dense(1);
  std::vector<Layer> vector = {layers::Dense(1), layers::Dense(1)};
  std::vector<std::vector<Layer>> rows = {{layers::Dense(1)}, {layers::Dense(1), layers::Dense(1)}};
  std::array<Layer, 2> array = {layers::Dense(1), layers::Dense(1)};
  std::list<Layer> list = {layers::Dense(1)};
  std::deque<Variable> deque = {Variable(1.0f), Variable(2.0f)};
  std::map<std::string, Layer> map = {{"a", layers::Dense(1)}, {"b", layers::Dense(1)}};
  std::unordered_map<int, Layer> numbered = {{7, layers::Dense(1)}};
  std::optional<Layer> given = layers::Dense(1);
  std::optional<Layer> missing = {};
  std::shared_ptr<Layer> shared = std::make_shared<Layer>(layers::Dense(1));
  std::unique_ptr<Pair> unique = std::make_unique<Pair>();
  std::pair<Layer, Variable> pair = {layers::Dense(1), Variable(1.0f)};
  std::tuple<int, Layer, std::string> tuple = {1, layers::Dense(1), "text"};
  std::variant<int, Layer> variant = Layer(layers::Dense(1));
  Pair nested = {};
  std::vector<Pair> many = {Pair{}, Pair{}};
  keras::Model model = keras::Sequential({layers::Dense(1), layers::Dense(1)});
  layers::RNNCell cell = layers::SimpleRNNCell(1);
  std::weak_ptr<Layer> elsewhere = {};  // is another's

  Tensor call(const Tensor& x) { return x; }
};

// Every layer that a walk finds, built for one feature.
size_t build_all(const std::vector<Layer>& all) {
  for (const Layer& layer : all) layer.build(tf::Shape{1, 1});
  return all.size();
}

TEST(Tracking, MembersOfEveryKindAreFound) {
  auto holder = keras::layer(Holder{});
  EXPECT_EQ(build_all(holder.layers()), 27u);
  // 25 dense layers of two weights, the model's two, a cell of three weights, and seven variables.
  EXPECT_EQ(holder.weights().size(), 25u * 2 + 2 * 2 + 3 + 7);
  holder.set_trainable(false);
  EXPECT_EQ(holder.trainable_weights().size(), 0u);
}

TEST(Tracking, VariablesHavePathsOfTheirMembers) {
  auto holder = keras::layer(Holder{});
  std::vector<std::string> paths;
  for (const tf::NamedVariable& found : keras::list_variables(*holder.shared())) paths.push_back(found.path);
  EXPECT_EQ(paths, (std::vector<std::string>{"deque/0", "deque/1", "unique/scale", "pair/1", "nested/scale",
                                             "many/0/scale", "many/1/scale"}));
}

}  // namespace
