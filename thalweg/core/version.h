// Which Thalweg this is.
#pragma once
#include "thalweg/core/export.h"

namespace thalweg {

/// The version of the library, such as `0.1.0`.
THALWEG_API const char* version();

}  // namespace thalweg
