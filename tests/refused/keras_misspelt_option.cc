// error: no matching function for call to ‘Dense(int, <brace-enclosed initializer list>)’
#include <thalweg/thalweg.h>

namespace keras = thalweg::keras;

keras::Layer layer = keras::layers::Dense(4, {.activaton = "relu"});
