// The shape rules and kernels of pooling ops; records name the attributes.
#pragma once
#include "thalweg/kernels/pool.h"
#include "thalweg/ops/conv_geometry.h"

namespace thalweg {

/// The shape of the pooled tensor; fails where the windows do not fit. Only maxima may be taken over channels.
Shape pooled_shape(const InferCall& c, const Geometry& g, const Shape& input, bool over_channels);
/// The shape of input i, which has the geometry's rank.
Shape pool_input(const InferCall& c, const Geometry& g, int i);
/// Fails unless input i can have this shape.
void require_shape(const InferCall& c, int i, const Shape& expected);
/// The sizes for the kernels.
kernels::PoolShape pool_shape(const KernelCall& c, const Geometry& g, const Shape& input, const Shape& out);

}  // namespace thalweg
