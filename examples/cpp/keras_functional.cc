// A model with two inputs, a layer that both share, a residual, and two outputs: tickets of a help desk.
#include <thalweg/thalweg.h>

#include <cstdio>

namespace tf = thalweg;
namespace keras = tf::keras;
namespace layers = keras::layers;

int main() {
  keras::utils::set_random_seed(1);
  auto title = keras::Input({4}, {.name = "title"}), body = keras::Input({4}, {.name = "body"});
  auto words = layers::Dense(8, "relu", {.name = "words"});
  auto features = layers::Concatenate()({words(title), words(body)});
  features = layers::Add()({features, layers::Dense(16, "tanh")(features)});
  auto priority = layers::Dense(1, "sigmoid", {.name = "priority"})(features);
  auto department = layers::Dense(3, {.name = "department"})(features);
  auto model = keras::Model({title, body}, {priority, department}, {.name = "tickets"});
  model.summary();

  // Titles and bodies of 64 made-up tickets; what they are about follows from their first words.
  auto titles = tf::random::normal({64, 4}, {.seed = 2}), bodies = tf::random::normal({64, 4}, {.seed = 3});
  auto urgent = tf::cast(titles(tf::all, 0) + bodies(tf::all, 0) > 0.0f, tf::float32);
  auto desk = tf::argmax(titles(tf::all, tf::slice(0, 3)), {.axis = 1});

  model.compile({.optimizer = keras::optimizers::Adam(0.02),
                 .loss = {{"priority", "binary_crossentropy"},
                          {"department", keras::losses::SparseCategoricalCrossentropy({.from_logits = true})}},
                 .metrics = {{"department", {"accuracy"}}},
                 .loss_weights = {{"priority", 1.0}, {"department", 0.5}}});
  auto history = model.fit({{"title", titles}, {"body", bodies}}, {{"priority", urgent}, {"department", desk}},
                           {.epochs = 30, .verbose = 0, .shuffle = false});
  for (auto& [name, numbers] : history.history)
    std::printf("%s: %.3f in the first epoch, %.3f in the last\n", name.c_str(), numbers.front(), numbers.back());

  auto [p, d] = model.call<2>({titles, bodies});
  std::printf("outputs %s and %s\n", p.shape().str().c_str(), d.shape().str().c_str());

  // Layers are shared by the models they are in: this one reads titles as the first has learned to.
  auto reader = keras::Model(title, words(title), {.name = "reader"});
  tf::Tensor changed = tf::reduce_max(tf::abs(reader.get_weights()[0] - words.get_weights()[0]));
  std::printf("a reader of %zu weights, which differ by %.1f\n", reader.weights().size(), changed.item<double>());
}
