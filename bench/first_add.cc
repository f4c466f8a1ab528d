// The smallest program: bench/run.py measures how long it takes from start to end.
#include <iostream>

#include "thalweg/thalweg.h"

int main() {
  const thalweg::Tensor x = 1.0f, y = 2.0f;
  std::cout << x + y << "\n";
}
