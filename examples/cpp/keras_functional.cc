// A model with two inputs, a layer that both share, a residual, and two outputs: tickets of a help desk.
#include <thalweg/thalweg.h>

#include <iostream>

namespace tf = thalweg;
namespace keras = tf::keras;
namespace layers = keras::layers;

int main() {
  keras::utils::set_random_seed(1);
  auto title = keras::Input({4}, {.name = "title"}), body = keras::Input({4}, {.name = "body"});
  auto words = layers::Dense(8, {.activation = "relu", .name = "words"});
  auto features = layers::Concatenate()({words(title), words(body)});
  features = layers::Add()({features, layers::Dense(16, {.activation = "tanh"})(features)});
  auto priority = layers::Dense(1, {.activation = "sigmoid", .name = "priority"})(features);
  auto department = layers::Dense(3, {.name = "department"})(features);
  auto model = keras::Model({title, body}, {priority, department});
  model.summary();

  // Titles and bodies of 64 made-up tickets; what they are about follows from their first words.
  auto x = tf::random::normal({64, 4}, {.seed = 2}), z = tf::random::normal({64, 4}, {.seed = 3});
  auto urgent = tf::cast(x(tf::all, 0) + z(tf::all, 0) > 0.0f, tf::float32);
  auto desk = tf::argmax(x(tf::all, tf::slice(0, 3)), {.axis = 1});

  model.compile({.optimizer = keras::optimizers::Adam({.learning_rate = 0.02}),
                 .loss = {{"priority", "binary_crossentropy"},
                          {"department", keras::losses::SparseCategoricalCrossentropy({.from_logits = true})}},
                 .metrics = {{"department", {"accuracy"}}},
                 .loss_weights = {{"priority", 1.0}, {"department", 0.5}}});
  auto history = model.fit({{"title", x}, {"body", z}}, {{"priority", urgent}, {"department", desk}},
                           {.epochs = 30, .verbose = 0});
  for (auto& [name, numbers] : history.history)
    std::cout << name << ": " << (numbers.back() < numbers.front() ? "falls" : "rises") << "\n";

  auto [p, d] = model.call<2>({x, z});
  std::cout << "outputs " << p.shape() << " and " << d.shape() << "\n";
}
