// Pooling: the largest element or the mean of windows over one, two and three dimensions of space.
#pragma once
#include "thalweg/core/tensor.h"
#include "thalweg/ops/window_options.h"

namespace thalweg::nn {

struct Pool1DOptions {
  Sizes ksize = 2;
  Sizes strides = 2;
  Padding padding = "VALID";
  std::string data_format = "NWC";  // or "NCW"
};
struct Pool2DOptions {
  Sizes ksize = 2;
  Sizes strides = 2;
  Padding padding = "VALID";         // numbers for max_pool2d only
  std::string data_format = "NHWC";  // or "NCHW"
};
struct Pool3DOptions {
  Sizes ksize = 2;
  Sizes strides = 2;
  Padding padding = "VALID";
  std::string data_format = "NDHWC";  // or "NCDHW"
};
/// For functions that find the number of dimensions themselves; an empty data_format has the channels last.
struct AnyPoolOptions {
  Sizes ksize = 2;
  Sizes strides = 2;
  Padding padding = "VALID";
  std::string data_format = "";
};

/// The largest element of each window of [batch, space..., channels].
THALWEG_API Tensor max_pool(const Tensor& input, const AnyPoolOptions& options = {});
/// The largest element of each window of [batch, width, channels].
THALWEG_API Tensor max_pool1d(const Tensor& input, const Pool1DOptions& options = {});
/// The largest element of each window of [batch, height, width, channels].
THALWEG_API Tensor max_pool2d(const Tensor& input, const Pool2DOptions& options = {});
/// The largest element of each window of [batch, depth, height, width, channels].
THALWEG_API Tensor max_pool3d(const Tensor& input, const Pool3DOptions& options = {});
/// The mean of each window of [batch, space..., channels]; what lies outside of the input does not count.
THALWEG_API Tensor avg_pool(const Tensor& input, const AnyPoolOptions& options = {});
/// The mean of each window of [batch, width, channels].
THALWEG_API Tensor avg_pool1d(const Tensor& input, const Pool1DOptions& options = {});
/// The mean of each window of [batch, height, width, channels].
THALWEG_API Tensor avg_pool2d(const Tensor& input, const Pool2DOptions& options = {});
/// The mean of each window of [batch, depth, height, width, channels].
THALWEG_API Tensor avg_pool3d(const Tensor& input, const Pool3DOptions& options = {});

struct ArgmaxPoolOptions {
  Sizes ksize = 2;
  Sizes strides = 2;
  Padding padding = "VALID";
  std::string data_format = "NHWC";
  DType output_dtype = DType::int64;
  Flag include_batch_in_index = {};
};
struct MaxPoolWithArgmax {
  Tensor output, argmax;
};
/// max_pool2d, and where each maximum lies: its index in the flattened image, or in the flattened batch.
THALWEG_API MaxPoolWithArgmax max_pool_with_argmax(const Tensor& input, const ArgmaxPoolOptions& options = {});

struct PoolOptions {
  Sizes strides = {};
  Padding padding = "VALID";
  std::string data_format = "";
  Sizes dilations = {};  // the distance between the elements of a window
};
/// Pooling of type "MAX" or "AVG" over as many dimensions of space as window_shape has numbers.
THALWEG_API Tensor pool(const Tensor& input, const std::vector<int64_t>& window_shape, const std::string& pooling_type,
                        const PoolOptions& options = {});

// The same with an option by position (docs/decisions/0013).
template <As<Sizes> A = Sizes, As<Sizes> B = Sizes, As<Padding> C = Padding>
Tensor max_pool(const Tensor& input, const A& ksize, const B& strides, const C& padding, AnyPoolOptions options = {}) {
  return max_pool(input, with(options, options.ksize, ksize, options.strides, strides, options.padding, padding));
}
template <As<Sizes> A = Sizes, As<Sizes> B = Sizes, As<Padding> C = Padding>
Tensor max_pool1d(const Tensor& input, const A& ksize, const B& strides, const C& padding, Pool1DOptions options = {}) {
  return max_pool1d(input, with(options, options.ksize, ksize, options.strides, strides, options.padding, padding));
}
template <As<Sizes> A = Sizes, As<Sizes> B = Sizes, As<Padding> C = Padding>
Tensor max_pool2d(const Tensor& input, const A& ksize, const B& strides, const C& padding, Pool2DOptions options = {}) {
  return max_pool2d(input, with(options, options.ksize, ksize, options.strides, strides, options.padding, padding));
}
template <As<Sizes> A = Sizes, As<Sizes> B = Sizes, As<Padding> C = Padding>
Tensor max_pool3d(const Tensor& input, const A& ksize, const B& strides, const C& padding, Pool3DOptions options = {}) {
  return max_pool3d(input, with(options, options.ksize, ksize, options.strides, strides, options.padding, padding));
}
template <As<Sizes> A = Sizes, As<Sizes> B = Sizes, As<Padding> C = Padding>
Tensor avg_pool(const Tensor& input, const A& ksize, const B& strides, const C& padding, AnyPoolOptions options = {}) {
  return avg_pool(input, with(options, options.ksize, ksize, options.strides, strides, options.padding, padding));
}
template <As<Sizes> A = Sizes, As<Sizes> B = Sizes, As<Padding> C = Padding>
Tensor avg_pool1d(const Tensor& input, const A& ksize, const B& strides, const C& padding, Pool1DOptions options = {}) {
  return avg_pool1d(input, with(options, options.ksize, ksize, options.strides, strides, options.padding, padding));
}
template <As<Sizes> A = Sizes, As<Sizes> B = Sizes, As<Padding> C = Padding>
Tensor avg_pool2d(const Tensor& input, const A& ksize, const B& strides, const C& padding, Pool2DOptions options = {}) {
  return avg_pool2d(input, with(options, options.ksize, ksize, options.strides, strides, options.padding, padding));
}
template <As<Sizes> A = Sizes, As<Sizes> B = Sizes, As<Padding> C = Padding>
Tensor avg_pool3d(const Tensor& input, const A& ksize, const B& strides, const C& padding, Pool3DOptions options = {}) {
  return avg_pool3d(input, with(options, options.ksize, ksize, options.strides, strides, options.padding, padding));
}
template <As<Sizes> A = Sizes, As<Sizes> B = Sizes, As<Padding> C = Padding>
MaxPoolWithArgmax max_pool_with_argmax(const Tensor& input, const A& ksize, const B& strides, const C& padding,
                                       ArgmaxPoolOptions options = {}) {
  return max_pool_with_argmax(input,
                              with(options, options.ksize, ksize, options.strides, strides, options.padding, padding));
}

}  // namespace thalweg::nn
