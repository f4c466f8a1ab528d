// Pooling over one, two and three dimensions of space.
#pragma once
#include "thalweg/keras/layer.h"
#include "thalweg/ops/window_options.h"

namespace thalweg::keras::layers {

struct PoolingOptions {
  Sizes pool_size = 2;
  Sizes strides = {};             // left out: pool_size
  std::string padding = "valid";  // or "same"
  std::string data_format = {};   // left out: channels_last
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// The largest of each window over the steps of a sequence.
THALWEG_API Layer MaxPooling1D(const PoolingOptions& options = {});
/// The largest of each window over images.
THALWEG_API Layer MaxPooling2D(const PoolingOptions& options = {});
/// The largest of each window over volumes.
THALWEG_API Layer MaxPooling3D(const PoolingOptions& options = {});
/// The mean of each window over the steps of a sequence.
THALWEG_API Layer AveragePooling1D(const PoolingOptions& options = {});
/// The mean of each window over images.
THALWEG_API Layer AveragePooling2D(const PoolingOptions& options = {});
/// The mean of each window over volumes.
THALWEG_API Layer AveragePooling3D(const PoolingOptions& options = {});

struct GlobalPoolingOptions {
  std::string data_format = {};  // left out: channels_last
  Flag keepdims = false;         // whether the dimensions of space stay, with size 1
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// The largest of all steps of a sequence.
THALWEG_API Layer GlobalMaxPooling1D(const GlobalPoolingOptions& options = {});
/// The largest of all places of images.
THALWEG_API Layer GlobalMaxPooling2D(const GlobalPoolingOptions& options = {});
/// The largest of all places of volumes.
THALWEG_API Layer GlobalMaxPooling3D(const GlobalPoolingOptions& options = {});
/// The mean of all steps of a sequence that its mask lets through.
THALWEG_API Layer GlobalAveragePooling1D(const GlobalPoolingOptions& options = {});
/// The mean of all places of images.
THALWEG_API Layer GlobalAveragePooling2D(const GlobalPoolingOptions& options = {});
/// The mean of all places of volumes.
THALWEG_API Layer GlobalAveragePooling3D(const GlobalPoolingOptions& options = {});

// Keras's other names.
inline Layer MaxPool1D(const PoolingOptions& options = {}) { return MaxPooling1D(options); }
inline Layer MaxPool2D(const PoolingOptions& options = {}) { return MaxPooling2D(options); }
inline Layer MaxPool3D(const PoolingOptions& options = {}) { return MaxPooling3D(options); }
inline Layer AvgPool1D(const PoolingOptions& options = {}) { return AveragePooling1D(options); }
inline Layer AvgPool2D(const PoolingOptions& options = {}) { return AveragePooling2D(options); }
inline Layer AvgPool3D(const PoolingOptions& options = {}) { return AveragePooling3D(options); }
inline Layer GlobalMaxPool1D(const GlobalPoolingOptions& options = {}) { return GlobalMaxPooling1D(options); }
inline Layer GlobalMaxPool2D(const GlobalPoolingOptions& options = {}) { return GlobalMaxPooling2D(options); }
inline Layer GlobalMaxPool3D(const GlobalPoolingOptions& options = {}) { return GlobalMaxPooling3D(options); }
inline Layer GlobalAvgPool1D(const GlobalPoolingOptions& options = {}) { return GlobalAveragePooling1D(options); }
inline Layer GlobalAvgPool2D(const GlobalPoolingOptions& options = {}) { return GlobalAveragePooling2D(options); }
inline Layer GlobalAvgPool3D(const GlobalPoolingOptions& options = {}) { return GlobalAveragePooling3D(options); }

// The same with an option by position (docs/decisions/0013).
template <As<Sizes> A = Sizes> Layer MaxPooling1D(const A& pool_size, PoolingOptions options = {}) {
  return MaxPooling1D(with(options, options.pool_size, pool_size));
}
template <As<Sizes> A = Sizes> Layer MaxPooling2D(const A& pool_size, PoolingOptions options = {}) {
  return MaxPooling2D(with(options, options.pool_size, pool_size));
}
template <As<Sizes> A = Sizes> Layer MaxPooling3D(const A& pool_size, PoolingOptions options = {}) {
  return MaxPooling3D(with(options, options.pool_size, pool_size));
}
template <As<Sizes> A = Sizes> Layer AveragePooling1D(const A& pool_size, PoolingOptions options = {}) {
  return AveragePooling1D(with(options, options.pool_size, pool_size));
}
template <As<Sizes> A = Sizes> Layer AveragePooling2D(const A& pool_size, PoolingOptions options = {}) {
  return AveragePooling2D(with(options, options.pool_size, pool_size));
}
template <As<Sizes> A = Sizes> Layer AveragePooling3D(const A& pool_size, PoolingOptions options = {}) {
  return AveragePooling3D(with(options, options.pool_size, pool_size));
}
template <As<Sizes> A = Sizes> Layer MaxPool1D(const A& pool_size, PoolingOptions options = {}) {
  return MaxPool1D(with(options, options.pool_size, pool_size));
}
template <As<Sizes> A = Sizes> Layer MaxPool2D(const A& pool_size, PoolingOptions options = {}) {
  return MaxPool2D(with(options, options.pool_size, pool_size));
}
template <As<Sizes> A = Sizes> Layer MaxPool3D(const A& pool_size, PoolingOptions options = {}) {
  return MaxPool3D(with(options, options.pool_size, pool_size));
}
template <As<Sizes> A = Sizes> Layer AvgPool1D(const A& pool_size, PoolingOptions options = {}) {
  return AvgPool1D(with(options, options.pool_size, pool_size));
}
template <As<Sizes> A = Sizes> Layer AvgPool2D(const A& pool_size, PoolingOptions options = {}) {
  return AvgPool2D(with(options, options.pool_size, pool_size));
}
template <As<Sizes> A = Sizes> Layer AvgPool3D(const A& pool_size, PoolingOptions options = {}) {
  return AvgPool3D(with(options, options.pool_size, pool_size));
}

}  // namespace thalweg::keras::layers
