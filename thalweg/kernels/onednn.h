// Convolutions by oneDNN, one thread each: the only place that knows its API, versions 2 and 3.
#pragma once
#include <cstdint>
#include <memory>

#include "thalweg/kernels/conv_shape.h"

namespace thalweg::kernels::onednn {

enum class Pass : int64_t { forward, backward_input, backward_filter };
/// On activations as they lie, or on activations in the engine's own order.
enum class Method : int64_t { direct, blocked };

/// A prepared convolution of float32 activations [batch, spatial..., channels]; may run on many threads at once.
class Convolution {
 public:
  virtual ~Convolution() = default;
  /// Floats of the filter in the order this convolution reads or writes it.
  virtual int64_t packed_size() const = 0;
  /// Whether a filter packed for the other suits this one.
  virtual bool same_filter(const Convolution& other) const = 0;
  /// Brings a filter [spatial..., in, out] into that order, or back.
  virtual void pack(const float* filter, float* packed) const = 0;
  virtual void unpack(const float* packed, float* filter) const = 0;
  /// Computes the one of the three arrays that the pass is for from the other two; `packed` is the filter.
  virtual void run(float* in, float* packed, float* out) const = 0;
};

/// The convolution for these sizes, made on first use and kept; null where oneDNN has no fast one.
std::shared_ptr<const Convolution> find_convolution(Pass pass, Method method, const ConvShape& shape);

}  // namespace thalweg::kernels::onednn
