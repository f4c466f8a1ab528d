// Uses Thalweg as an installed library: consumer VERSION checks that the library linked is the one announced.
#include <thalweg/core/dtype.h>
#include <thalweg/core/version.h>

#include <cstring>
#include <iostream>

int main(int argc, char** argv) {
  std::cout << "Thalweg " << thalweg::version() << ", " << thalweg::name_of(thalweg::float32) << "\n";
  return argc == 2 && std::strcmp(argv[1], thalweg::version()) == 0 ? 0 : 1;
}
