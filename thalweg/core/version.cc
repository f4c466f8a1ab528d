#include "thalweg/core/version.h"

namespace thalweg {

const char* version() { return THALWEG_VERSION; }  // the build defines it, from the one place that says it

}  // namespace thalweg
