// Recurrent layers of images: long short-term memory whose products are convolutions.
#pragma once
#include "thalweg/keras/layer.h"
#include "thalweg/ops/window_options.h"

namespace thalweg::keras::layers {

struct ConvLSTMOptions {
  Sizes strides = 1;
  std::string padding = "valid";  // or "same"
  std::string data_format = {};   // left out: channels_last
  Sizes dilation_rate = 1;
  keras::Activation activation = "tanh";
  keras::Activation recurrent_activation = "hard_sigmoid";
  Flag use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer recurrent_initializer = "orthogonal";
  Initializer bias_initializer = "zeros";
  Flag unit_forget_bias = true;  // the forget gate begins open
  Regularizer kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  Constraint kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  Flag return_sequences = false;                  // the output of every step, not of the last alone
  Flag return_state = false;                      // the last states too
  Flag go_backwards = false;                      // from the last step to the first
  Flag stateful = false;                          // the states go on with the next batch, until reset_states
  Flag unroll = false;                            // one step after the other in traced functions, instead of a loop
  Flag time_major = false;                        // taken as Keras writes it; always false
  double dropout = 0.0, recurrent_dropout = 0.0;  // of inputs and of states, in training
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// Of sequences of rows, [batch, time, width, channels].
THALWEG_API Layer ConvLSTM1D(int64_t filters, const Sizes& kernel_size, const ConvLSTMOptions& options = {});
/// Of sequences of images, [batch, time, height, width, channels].
THALWEG_API Layer ConvLSTM2D(int64_t filters, const Sizes& kernel_size, const ConvLSTMOptions& options = {});
/// Of sequences of volumes, [batch, time, depth, height, width, channels].
THALWEG_API Layer ConvLSTM3D(int64_t filters, const Sizes& kernel_size, const ConvLSTMOptions& options = {});

// The same with an option by position (docs/decisions/0013).
template <As<Sizes> A = Sizes>
Layer ConvLSTM1D(int64_t filters, const Sizes& kernel_size, const A& strides, ConvLSTMOptions options = {}) {
  return ConvLSTM1D(filters, kernel_size, with(options, options.strides, strides));
}
template <As<Sizes> A = Sizes>
Layer ConvLSTM2D(int64_t filters, const Sizes& kernel_size, const A& strides, ConvLSTMOptions options = {}) {
  return ConvLSTM2D(filters, kernel_size, with(options, options.strides, strides));
}
template <As<Sizes> A = Sizes>
Layer ConvLSTM3D(int64_t filters, const Sizes& kernel_size, const A& strides, ConvLSTMOptions options = {}) {
  return ConvLSTM3D(filters, kernel_size, with(options, options.strides, strides));
}

}  // namespace thalweg::keras::layers
