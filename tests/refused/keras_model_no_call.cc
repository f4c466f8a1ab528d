// error: a layer or model is a struct with one member function `call`
#include <thalweg/thalweg.h>

namespace keras = thalweg::keras;

struct Net {
  keras::Layer first = keras::layers::Dense(4);
};
void make() { keras::Model model = Net{}; }
