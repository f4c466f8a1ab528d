// Dropout and noise: what keeps a network from relying on single values while it trains.
#pragma once
#include "thalweg/keras/layer.h"

namespace thalweg::keras::layers {

struct DropoutOptions {
  std::optional<Shape> noise_shape = {};  // what is dropped together has 1 here
  std::optional<int64_t> seed = {};
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// In training, drops values with probability `rate` and scales the others up, so that the mean stays.
THALWEG_API Layer Dropout(double rate, const DropoutOptions& options = {});

struct SpatialDropoutOptions {
  std::optional<Shape> noise_shape = {};  // left out: a channel is dropped as a whole
  std::optional<int64_t> seed = {};
  std::string data_format = {};  // left out: channels_last
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// Dropout of whole channels of sequences.
THALWEG_API Layer SpatialDropout1D(double rate, const SpatialDropoutOptions& options = {});
/// Dropout of whole channels of images.
THALWEG_API Layer SpatialDropout2D(double rate, const SpatialDropoutOptions& options = {});
/// Dropout of whole channels of volumes.
THALWEG_API Layer SpatialDropout3D(double rate, const SpatialDropoutOptions& options = {});

struct NoiseOptions {
  std::optional<int64_t> seed = {};
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// In training, adds normal noise of this deviation.
THALWEG_API Layer GaussianNoise(double stddev, const NoiseOptions& options = {});
/// In training, multiplies by normal noise of mean 1 and deviation sqrt(rate / (1 - rate)).
THALWEG_API Layer GaussianDropout(double rate, const NoiseOptions& options = {});
/// Dropout for networks of selu: mean and variance stay.
THALWEG_API Layer AlphaDropout(double rate, const DropoutOptions& options = {});

}  // namespace thalweg::keras::layers
