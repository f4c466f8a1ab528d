// error: invalid initialization of reference of type
#include <thalweg/thalweg.h>

namespace keras = thalweg::keras;

keras::Layer layer = keras::layers::Dense(4, {.activaton = "relu"});
