// What AddN and ZerosLike do with handles: sums and zeros of what lies behind them, element by element.
#pragma once
#include "thalweg/core/resource.h"

namespace thalweg {

ResourceHandle add_variants(const ResourceHandle& x, const ResourceHandle& y);
ResourceHandle zeros_of_variant(const ResourceHandle& x);

}  // namespace thalweg
