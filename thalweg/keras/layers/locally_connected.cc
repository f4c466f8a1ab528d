// Convolutions with filters of their own for each place. Inputs and outputs are seen as vectors, of which some elements
// are connected.
#include <algorithm>

#include "thalweg/core/error.h"
#include "thalweg/graph/init_scope.h"
#include "thalweg/keras/layers/convolution.h"
#include "thalweg/keras/layers/windows.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/einsum.h"
#include "thalweg/ops/gather.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/matmul.h"
#include "thalweg/ops/scatter.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/transposing.h"

namespace thalweg::keras::layers {
namespace {

/// The sizes of one example, and where its elements stand.
struct Grid {
  std::vector<int64_t> space;
  int64_t channels = 1;
  bool channels_first = false;

  int64_t places() const {
    int64_t count = 1;
    for (int64_t size : space) count *= size;
    return count;
  }
  int64_t size() const { return places() * channels; }
  int64_t at(int64_t place, int64_t channel) const {
    return channels_first ? channel * places() + place : place * channels + channel;
  }
  std::vector<int64_t> dims() const {
    std::vector<int64_t> all = space;
    all.insert(channels_first ? all.begin() : all.end(), channels);
    return all;
  }
};

/// The places of the input that each place of the output sees, in order.
std::vector<std::vector<int64_t>> seen_places(const Grid& in, const Grid& out, const Sizes& kernel_size,
                                              const Sizes& strides, const std::string& padding) {
  std::vector<std::vector<int64_t>> all;
  for (int64_t place = 0; place < out.places(); ++place) {
    std::vector<int64_t> found = {0};
    int64_t rest = place, inner = out.places();
    for (size_t i = 0; i < in.space.size(); ++i) {
      inner /= out.space[i];
      const int64_t window = kernel_size.axes()[i];
      const int64_t before = padding == "valid" ? 0 : window / 2;
      const int64_t begin = rest / inner * strides.axes()[i] - before;
      rest %= inner;
      std::vector<int64_t> wider;
      for (int64_t start : found)
        for (int64_t j = std::max<int64_t>(0, begin); j < std::min(in.space[i], begin + window); ++j)
          wider.push_back(start * in.space[i] + j);
      found = std::move(wider);
    }
    all.push_back(std::move(found));
  }
  return all;
}

/// What is computed from the shapes once.
struct Connections {
  Grid in, out;
  Tensor patches;  // implementation 1: [places, features], the elements that each place sees
  Tensor mask;     // implementation 2: [in, out], 1 where they are connected
  Tensor pairs;    // implementation 3: [n, 2], out and in
};

template <int N> struct LocallyConnectedLayer {
  int64_t filters = 0;
  Sizes kernel_size = {};
  LocallyConnectedOptions options = {};
  Variable kernel = {}, bias = {};
  std::shared_ptr<const Connections> connections = {};

  static constexpr const char* class_name = N == 1 ? "LocallyConnected1D" : "LocallyConnected2D";

  void check() {
    kernel_size = windows::normalized(kernel_size, N, "kernel_size");
    options.strides = windows::normalized(options.strides, N, "strides", true);
    const std::string given = options.padding;
    options.padding = windows::normalized_padding(options.padding);
    if (options.padding != "valid" && options.implementation == 1)
      throw ValueError("Invalid border mode for " + std::string(class_name) +
                       " (only \"valid\" is supported if implementation is 1): " + given);
    options.data_format = windows::normalized_data_format(options.data_format);
  }
  void build(const Shape& input) {
    InitScope outside;  // what is made here stays, whatever is being traced
    auto made = std::make_shared<Connections>();
    const bool first = windows::is_channels_first(options.data_format);
    const Shape output = compute_output_shape(input);
    for (int i = 0; i < N; ++i) {
      const int axis = i + (first ? 2 : 1);
      if (input[axis] < 0)
        throw ValueError("The spatial dimensions of the inputs to  a " + std::string(class_name) +
                         " layer should be fully-defined, but layer received the inputs shape " + input.str());
      if (output[axis] <= 0) windows::refuse_input(input);
      made->in.space.push_back(input[axis]);
      made->out.space.push_back(output[axis]);
    }
    made->in.channels = windows::channels_of(input, N, options.data_format);
    made->out.channels = filters;
    made->in.channels_first = made->out.channels_first = first;
    kernel = add_weight(connect(*made), {.initializer = options.kernel_initializer,
                                         .regularizer = options.kernel_regularizer,
                                         .constraint = options.kernel_constraint});
    if (options.use_bias) {
      Shape shape(made->out.space);
      shape.push_back(filters);
      bias = add_weight(shape, {.initializer = options.bias_initializer,
                                .regularizer = options.bias_regularizer,
                                .constraint = options.bias_constraint});
    }
    connections = made;
  }
  InputSpec input_spec() const {
    if (!connections) return {.ndim = N + 2};
    return {.ndim = N + 2,
            .axes = {{windows::is_channels_first(options.data_format) ? 1 : -1, connections->in.channels}}};
  }
  Tensor call(const Tensor& x) {
    const Connections& c = *connections;
    Tensor flat = reshape(x, Tensor(std::vector<int64_t>{-1, c.in.size()}));
    std::vector<int64_t> dims = c.out.dims();
    dims.insert(dims.begin(), -1);
    Tensor y;
    if (options.implementation == 1) {
      y = einsum("bok,okf->bof", {gather(flat, c.patches, {.axis = 1}), kernel});
      if (c.out.channels_first) y = transpose(y, {.perm = {0, 2, 1}});
    } else if (options.implementation == 2) {
      y = matmul(flat,
                 reshape(kernel, Tensor(std::vector<int64_t>{c.in.size(), c.out.size()})) * cast(c.mask, flat.dtype()));
    } else {
      Tensor whole = scatter_nd(c.pairs, kernel, Tensor(std::vector<int64_t>{c.out.size(), c.in.size()}));
      y = matmul(flat, whole, {.transpose_b = true});
    }
    y = reshape(y, Tensor(dims));
    if (bias.defined()) {
      std::vector<int64_t> like = c.out.dims();
      y = y + reshape(bias, Tensor(like));
    }
    return options.activation.defined() ? options.activation(y) : y;
  }
  Shape compute_output_shape(const Shape& input) {
    Shape output = windows::with_space(input, N, options.data_format, [&](int i, int64_t size) {
      const auto at = static_cast<size_t>(i);
      return windows::output_length(size, kernel_size.axes()[at], options.padding, options.strides.axes()[at]);
    });
    output[windows::channel_axis(N, options.data_format)] = filters;
    return output;
  }

  // Fills in what the implementation needs, and gives the shape of its kernel.
  Shape connect(Connections& c) const {
    const auto seen = seen_places(c.in, c.out, kernel_size, options.strides, options.padding);
    if (options.implementation == 1) {
      std::vector<int64_t> places;
      const auto features = static_cast<int64_t>(seen[0].size()) * c.in.channels;
      for (const auto& window : seen) {
        std::vector<int64_t> elements;
        for (int64_t place : window)
          for (int64_t channel = 0; channel < c.in.channels; ++channel) elements.push_back(c.in.at(place, channel));
        // In the order in which they stand in the input.
        std::sort(elements.begin(), elements.end());
        places.insert(places.end(), elements.begin(), elements.end());
      }
      c.patches = Tensor(places, Shape{c.out.places(), features});
      return {c.out.places(), features, filters};
    }
    std::vector<std::pair<int64_t, int64_t>> pairs;
    for (int64_t place = 0; place < c.out.places(); ++place)
      for (int64_t from : seen[static_cast<size_t>(place)])
        for (int64_t channel = 0; channel < c.in.channels; ++channel)
          for (int64_t filter = 0; filter < filters; ++filter)
            pairs.emplace_back(c.out.at(place, filter), c.in.at(from, channel));
    if (options.implementation == 2) {
      std::vector<float> mask(static_cast<size_t>(c.in.size() * c.out.size()), 0.0f);
      for (auto [to, from] : pairs) mask[static_cast<size_t>(from * c.out.size() + to)] = 1;
      c.mask = Tensor(mask, Shape{c.in.size(), c.out.size()});
      std::vector<int64_t> dims = c.in.dims(), more = c.out.dims();
      dims.insert(dims.end(), more.begin(), more.end());
      return Shape(dims);
    }
    if (options.implementation != 3)
      throw ValueError("Unrecognized implementation mode: " + std::to_string(options.implementation) + ".");
    std::sort(pairs.begin(), pairs.end());
    std::vector<int64_t> numbers;
    for (auto [to, from] : pairs) numbers.insert(numbers.end(), {to, from});
    const auto count = static_cast<int64_t>(pairs.size());
    c.pairs = Tensor(numbers, Shape{count, 2});
    return {count};
  }
};

}  // namespace

Layer LocallyConnected1D(int64_t filters, const Sizes& kernel_size, const LocallyConnectedOptions& options) {
  return LocallyConnectedLayer<1>{filters, kernel_size, options};
}
Layer LocallyConnected2D(int64_t filters, const Sizes& kernel_size, const LocallyConnectedOptions& options) {
  return LocallyConnectedLayer<2>{filters, kernel_size, options};
}

}  // namespace thalweg::keras::layers
