// A variable lives as long as something refers to it; then its memory is free again.
#include <thalweg/thalweg.h>

#include <iostream>
#include <optional>

namespace tf = thalweg;

int main() {
  auto megabytes = [start = tf::memory_info(0).current] { return (tf::memory_info(0).current - start) / (1 << 20); };
  std::optional<tf::Variable> weights = tf::Variable(tf::zeros({1024, 1024}));
  std::cout << "one variable of 4 MB: " << megabytes() << " MB more\n";

  // What was read keeps its bits, and its memory, when the variable changes.
  std::optional<tf::Tensor> snapshot = weights->value();
  weights->assign_add(tf::ones({1024, 1024}));
  std::cout << "a snapshot and a changed value: " << megabytes() << " MB more; " << (*snapshot)(0, 0).item<float>()
            << " " << (*weights)(0, 0).item<float>() << "\n";

  snapshot.reset();
  std::cout << "without the snapshot: " << megabytes() << " MB more\n";
  weights.reset();
  std::cout << "without the variable: " << megabytes() << " MB more\n";
}
