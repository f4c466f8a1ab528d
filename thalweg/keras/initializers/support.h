// What initializers share.
#pragma once
#include "thalweg/keras/initializers.h"

namespace thalweg::keras::initializers {

/// The dtype, float32 where none is said; ValueError unless it is one of real numbers.
DType require_floating(DType dtype);
/// `<dtype: 'int32'>`
std::string text_of(DType dtype);
/// Makes an initializer known by the other names that Keras has for it: `he_normal`, `HeNormalV2` for HeNormal.
bool register_spellings(const char* name);

}  // namespace thalweg::keras::initializers
