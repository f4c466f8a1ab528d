// Automatic names of layers that nobody can name.
#pragma once
#include "thalweg/keras/object.h"

namespace thalweg::keras {

/// Says that a layer of this name exists, which `unique_name` did not make.
void observe_name(std::string_view name);
/// As `unique_name`, but none that was observed: the program has no way to choose another.
std::string unobserved_name(std::string_view base);

}  // namespace thalweg::keras
