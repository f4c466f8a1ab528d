// Convolutions over one, two and three dimensions of space.
#pragma once
#include "thalweg/keras/layer.h"
#include "thalweg/ops/window_options.h"

namespace thalweg::keras::layers {

struct ConvOptions {
  Sizes strides = 1;
  std::string padding = "valid";  // or "same"; for Conv1D also "causal"
  std::string data_format = {};   // left out: channels_last
  Sizes dilation_rate = 1;
  int64_t groups = 1;
  keras::Activation activation = {};
  Flag use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  Constraint kernel_constraint = {}, bias_constraint = {};
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// A convolution over the steps of a sequence: `layers::Conv1D(32, 3, {.activation = "relu"})`.
THALWEG_API Layer Conv1D(int64_t filters, const Sizes& kernel_size, const ConvOptions& options = {});
/// A convolution over images: `layers::Conv2D(32, 3, {.activation = "relu"})`, `layers::Conv2D(8, {3, 5})`.
THALWEG_API Layer Conv2D(int64_t filters, const Sizes& kernel_size, const ConvOptions& options = {});
/// A convolution over volumes.
THALWEG_API Layer Conv3D(int64_t filters, const Sizes& kernel_size, const ConvOptions& options = {});

struct ConvTransposeOptions {
  Sizes strides = 1;
  std::string padding = "valid";  // or "same"
  Sizes output_padding = {};      // left out: the shortest output that has this input
  std::string data_format = {};
  Sizes dilation_rate = 1;
  keras::Activation activation = {};
  Flag use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  Constraint kernel_constraint = {}, bias_constraint = {};
  int64_t groups = 1;  // only 1, as in Keras
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// The way back from the shape of the output of a Conv1D to that of its input; a stride makes sequences longer.
THALWEG_API Layer Conv1DTranspose(int64_t filters, const Sizes& kernel_size, const ConvTransposeOptions& options = {});
/// The way back from the shape of the output of a Conv2D to that of its input; strides make images larger.
THALWEG_API Layer Conv2DTranspose(int64_t filters, const Sizes& kernel_size, const ConvTransposeOptions& options = {});

struct Conv3DTransposeOptions {
  Sizes strides = 1;
  std::string padding = "valid";
  Sizes output_padding = {};
  std::string data_format = {};
  Sizes dilation_rate = 1;  // taken as Keras takes it, which leaves it without effect
  keras::Activation activation = {};
  Flag use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  Constraint kernel_constraint = {}, bias_constraint = {};
  int64_t groups = 1;
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// The way back from the shape of the output of a Conv3D to that of its input; strides make volumes larger.
THALWEG_API Layer Conv3DTranspose(int64_t filters, const Sizes& kernel_size,
                                  const Conv3DTransposeOptions& options = {});

struct DepthwiseConvOptions {
  Sizes strides = 1;
  std::string padding = "valid";
  int64_t depth_multiplier = 1;  // outputs for each channel
  std::string data_format = {};
  Sizes dilation_rate = 1;
  keras::Activation activation = {};
  Flag use_bias = true;
  Initializer depthwise_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer depthwise_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  Constraint depthwise_constraint = {}, bias_constraint = {};
  int64_t groups = 1;  // only in configurations
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// Convolves each channel of a sequence by itself.
THALWEG_API Layer DepthwiseConv1D(const Sizes& kernel_size, const DepthwiseConvOptions& options = {});
/// Convolves each channel of images by itself.
THALWEG_API Layer DepthwiseConv2D(const Sizes& kernel_size, const DepthwiseConvOptions& options = {});

struct SeparableConvOptions {
  Sizes strides = 1;
  std::string padding = "valid";  // or "same"; for SeparableConv1D also "causal"
  std::string data_format = {};
  Sizes dilation_rate = 1;
  int64_t depth_multiplier = 1;
  keras::Activation activation = {};
  Flag use_bias = true;
  Initializer depthwise_initializer = "glorot_uniform", pointwise_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer depthwise_regularizer = {}, pointwise_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  Constraint depthwise_constraint = {}, pointwise_constraint = {}, bias_constraint = {};
  int64_t groups = 1;  // only in configurations, with those of the kernel
  Initializer kernel_initializer = "glorot_uniform";
  Regularizer kernel_regularizer = {};
  Constraint kernel_constraint = {};
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// Convolves each channel of a sequence by itself, then mixes the channels.
THALWEG_API Layer SeparableConv1D(int64_t filters, const Sizes& kernel_size, const SeparableConvOptions& options = {});
/// Convolves each channel of images by itself, then mixes the channels.
THALWEG_API Layer SeparableConv2D(int64_t filters, const Sizes& kernel_size, const SeparableConvOptions& options = {});

struct LocallyConnectedOptions {
  Sizes strides = 1;
  std::string padding = "valid";  // or "same", with implementations 2 and 3
  std::string data_format = {};
  keras::Activation activation = {};
  Flag use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  Constraint kernel_constraint = {}, bias_constraint = {};
  int64_t implementation = 1;  // how the kernel is held: 1 by window, 2 dense with zeros, 3 by what is not zero
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// As Conv1D, but with filters of its own for each place.
THALWEG_API Layer LocallyConnected1D(int64_t filters, const Sizes& kernel_size,
                                     const LocallyConnectedOptions& options = {});
/// As Conv2D, but with filters of its own for each place.
THALWEG_API Layer LocallyConnected2D(int64_t filters, const Sizes& kernel_size,
                                     const LocallyConnectedOptions& options = {});

// Keras's other names.
inline Layer Convolution1D(int64_t filters, const Sizes& kernel_size, const ConvOptions& options = {}) {
  return Conv1D(filters, kernel_size, options);
}
inline Layer Convolution2D(int64_t filters, const Sizes& kernel_size, const ConvOptions& options = {}) {
  return Conv2D(filters, kernel_size, options);
}
inline Layer Convolution3D(int64_t filters, const Sizes& kernel_size, const ConvOptions& options = {}) {
  return Conv3D(filters, kernel_size, options);
}
inline Layer Convolution1DTranspose(int64_t filters, const Sizes& kernel_size,
                                    const ConvTransposeOptions& options = {}) {
  return Conv1DTranspose(filters, kernel_size, options);
}
inline Layer Convolution2DTranspose(int64_t filters, const Sizes& kernel_size,
                                    const ConvTransposeOptions& options = {}) {
  return Conv2DTranspose(filters, kernel_size, options);
}
inline Layer Convolution3DTranspose(int64_t filters, const Sizes& kernel_size,
                                    const Conv3DTransposeOptions& options = {}) {
  return Conv3DTranspose(filters, kernel_size, options);
}
inline Layer SeparableConvolution1D(int64_t filters, const Sizes& kernel_size,
                                    const SeparableConvOptions& options = {}) {
  return SeparableConv1D(filters, kernel_size, options);
}
inline Layer SeparableConvolution2D(int64_t filters, const Sizes& kernel_size,
                                    const SeparableConvOptions& options = {}) {
  return SeparableConv2D(filters, kernel_size, options);
}

// The same with an option by position (docs/decisions/0013).
template <As<Sizes> A = Sizes>
Layer Conv1D(int64_t filters, const Sizes& kernel_size, const A& strides, ConvOptions options = {}) {
  return Conv1D(filters, kernel_size, with(options, options.strides, strides));
}
template <As<Sizes> A = Sizes>
Layer Conv2D(int64_t filters, const Sizes& kernel_size, const A& strides, ConvOptions options = {}) {
  return Conv2D(filters, kernel_size, with(options, options.strides, strides));
}
template <As<Sizes> A = Sizes>
Layer Conv3D(int64_t filters, const Sizes& kernel_size, const A& strides, ConvOptions options = {}) {
  return Conv3D(filters, kernel_size, with(options, options.strides, strides));
}
template <As<Sizes> A = Sizes>
Layer Conv1DTranspose(int64_t filters, const Sizes& kernel_size, const A& strides, ConvTransposeOptions options = {}) {
  return Conv1DTranspose(filters, kernel_size, with(options, options.strides, strides));
}
template <As<Sizes> A = Sizes>
Layer Conv2DTranspose(int64_t filters, const Sizes& kernel_size, const A& strides, ConvTransposeOptions options = {}) {
  return Conv2DTranspose(filters, kernel_size, with(options, options.strides, strides));
}
template <As<Sizes> A = Sizes>
Layer Conv3DTranspose(int64_t filters, const Sizes& kernel_size, const A& strides,
                      Conv3DTransposeOptions options = {}) {
  return Conv3DTranspose(filters, kernel_size, with(options, options.strides, strides));
}
template <As<Sizes> A = Sizes>
Layer DepthwiseConv1D(const Sizes& kernel_size, const A& strides, DepthwiseConvOptions options = {}) {
  return DepthwiseConv1D(kernel_size, with(options, options.strides, strides));
}
template <As<Sizes> A = Sizes>
Layer DepthwiseConv2D(const Sizes& kernel_size, const A& strides, DepthwiseConvOptions options = {}) {
  return DepthwiseConv2D(kernel_size, with(options, options.strides, strides));
}
template <As<Sizes> A = Sizes>
Layer SeparableConv1D(int64_t filters, const Sizes& kernel_size, const A& strides, SeparableConvOptions options = {}) {
  return SeparableConv1D(filters, kernel_size, with(options, options.strides, strides));
}
template <As<Sizes> A = Sizes>
Layer SeparableConv2D(int64_t filters, const Sizes& kernel_size, const A& strides, SeparableConvOptions options = {}) {
  return SeparableConv2D(filters, kernel_size, with(options, options.strides, strides));
}
template <As<Sizes> A = Sizes>
Layer LocallyConnected1D(int64_t filters, const Sizes& kernel_size, const A& strides,
                         LocallyConnectedOptions options = {}) {
  return LocallyConnected1D(filters, kernel_size, with(options, options.strides, strides));
}
template <As<Sizes> A = Sizes>
Layer LocallyConnected2D(int64_t filters, const Sizes& kernel_size, const A& strides,
                         LocallyConnectedOptions options = {}) {
  return LocallyConnected2D(filters, kernel_size, with(options, options.strides, strides));
}
template <As<Sizes> A = Sizes>
Layer Convolution1D(int64_t filters, const Sizes& kernel_size, const A& strides, ConvOptions options = {}) {
  return Convolution1D(filters, kernel_size, with(options, options.strides, strides));
}
template <As<Sizes> A = Sizes>
Layer Convolution2D(int64_t filters, const Sizes& kernel_size, const A& strides, ConvOptions options = {}) {
  return Convolution2D(filters, kernel_size, with(options, options.strides, strides));
}
template <As<Sizes> A = Sizes>
Layer Convolution3D(int64_t filters, const Sizes& kernel_size, const A& strides, ConvOptions options = {}) {
  return Convolution3D(filters, kernel_size, with(options, options.strides, strides));
}
template <As<Sizes> A = Sizes>
Layer Convolution1DTranspose(int64_t filters, const Sizes& kernel_size, const A& strides,
                             ConvTransposeOptions options = {}) {
  return Convolution1DTranspose(filters, kernel_size, with(options, options.strides, strides));
}
template <As<Sizes> A = Sizes>
Layer Convolution2DTranspose(int64_t filters, const Sizes& kernel_size, const A& strides,
                             ConvTransposeOptions options = {}) {
  return Convolution2DTranspose(filters, kernel_size, with(options, options.strides, strides));
}
template <As<Sizes> A = Sizes>
Layer Convolution3DTranspose(int64_t filters, const Sizes& kernel_size, const A& strides,
                             Conv3DTransposeOptions options = {}) {
  return Convolution3DTranspose(filters, kernel_size, with(options, options.strides, strides));
}
template <As<Sizes> A = Sizes>
Layer SeparableConvolution1D(int64_t filters, const Sizes& kernel_size, const A& strides,
                             SeparableConvOptions options = {}) {
  return SeparableConvolution1D(filters, kernel_size, with(options, options.strides, strides));
}
template <As<Sizes> A = Sizes>
Layer SeparableConvolution2D(int64_t filters, const Sizes& kernel_size, const A& strides,
                             SeparableConvOptions options = {}) {
  return SeparableConvolution2D(filters, kernel_size, with(options, options.strides, strides));
}

}  // namespace thalweg::keras::layers
