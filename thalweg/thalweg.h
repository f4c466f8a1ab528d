// Everything: `#include <thalweg/thalweg.h>`, `namespace tf = thalweg;`
#pragma once
#include "thalweg/core/complex.h"
#include "thalweg/core/device.h"
#include "thalweg/core/error.h"
#include "thalweg/core/index.h"
#include "thalweg/core/tensor.h"
#include "thalweg/core/threads.h"
#include "thalweg/core/version.h"
#include "thalweg/ops/math.h"
