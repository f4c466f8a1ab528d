// Resident memory of a program that trains: prints megabytes after 100 and after 10,000 steps of fit.
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "thalweg/thalweg.h"

namespace {

namespace tf = thalweg;
namespace keras = tf::keras;

double resident_megabytes() {
  long pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

/// Looks after the 100th batch and after the last.
struct Watch {
  int steps = 0;
  void on_train_batch_end(int64_t) {
    ++steps;
    if (steps == 100 || steps == 10000) std::printf("%d %.2f\n", steps, resident_megabytes());
  }
};

}  // namespace

int main() {
  keras::Model model = keras::Sequential({
      keras::layers::Dense(128, {.activation = "relu", .input_shape = {784}}),
      keras::layers::Dropout(0.2),
      keras::layers::Dense(10, {.activation = "softmax"}),
  });
  model.compile({.optimizer = "adam", .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  const tf::Tensor x = tf::random::uniform({3200, 784}, {.minval = -1.0f}),
                   y = tf::cast(tf::range(3200) % 10, tf::int32);
  model.fit(x, y, {.epochs = 100, .verbose = 0, .callbacks = {Watch{}}});
}
