#include "thalweg/ops/patches.h"

#include <algorithm>

#include "thalweg/core/threads.h"
#include "thalweg/kernels/strided_copy.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/elements.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/ranges.h"
#include "thalweg/ops/segments.h"
#include "thalweg/ops/shaping.h"

namespace thalweg {
namespace {

struct PatchesAttrs {
  std::vector<int64_t> ksizes = {};
  std::vector<int64_t> strides = {};
  std::vector<int64_t> rates = {};
  std::string padding = "";
};

constexpr int64_t does_not_fit = -2;

// How a window moves along one dimension. As in TensorFlow it may miss by less than a stride: then there are no
// patches.
struct Window {
  int64_t size, stride, rate, count, before;
};
Window window_along(const PatchesAttrs& a, size_t d, int64_t length) {
  Window w{a.ksizes[d], a.strides[d], a.rates[d], unknown, 0};
  if (length < 0) return w;
  int64_t reach = (w.size - 1) * w.rate + 1;
  if (a.padding == "VALID") {
    w.count = length - reach + w.stride <= -w.stride ? does_not_fit : (length - reach + w.stride) / w.stride;
  } else {
    w.count = (length + w.stride - 1) / w.stride;
    w.before = std::max<int64_t>(0, (w.count - 1) * w.stride + reach - length) / 2;
  }
  return w;
}

void infer_patches(InferCall& c) {
  const auto& a = c.attrs<PatchesAttrs>();
  c.require_rank(0, 4);
  struct Named {
    const char* name;
    const std::vector<int64_t>& list;
  };
  for (const Named& n : {Named{"ksizes", a.ksizes}, Named{"strides", a.strides}, Named{"rates", a.rates}}) {
    if (n.list.size() != 4) c.fail(std::string(n.name) + " must have 4 elements, got " + std::to_string(n.list.size()));
    if (n.list[0] != 1 || n.list[3] != 1) c.fail(std::string(n.name) + " must be 1 along batch and channels");
    for (int64_t v : n.list)
      if (v < 1 || v > int64_t{1} << 30)
        c.fail(std::string(n.name) + " must be between 1 and 2^30, got " + std::to_string(v));
  }
  if (a.padding != "SAME" && a.padding != "VALID") c.fail("padding must be SAME or VALID, got \"" + a.padding + '"');
  Shape images = c.shape(0).has_rank() ? c.shape(0) : Shape::of_rank(4);
  Window rows = window_along(a, 1, images[1]), columns = window_along(a, 2, images[2]);
  if (rows.count == does_not_fit || columns.count == does_not_fit)
    c.fail("patches of " + std::to_string(a.ksizes[1]) + " x " + std::to_string(a.ksizes[2]) +
           " pixels do not fit images of shape " + images.brackets());
  int64_t depth = images[3];
  if (depth >= 0 && __builtin_mul_overflow(depth, a.ksizes[1] * a.ksizes[2], &depth))
    c.fail("the patches are too large");
  c.output(0, {images[0], rows.count, columns.count, depth});
}

void run_patches(const KernelCall& c) {
  const Shape& images = c.shape(0);
  const auto& a = c.attrs<PatchesAttrs>();
  Window rows = window_along(a, 1, images[1]), columns = window_along(a, 2, images[2]);
  int64_t height = images[1], width = images[2], channels = images[3];
  if (c.output_shape().count() == 0) return;
  auto bytes = static_cast<int64_t>(size_of(c.dtype())) * channels;
  int64_t patch = rows.size * columns.size;
  kernel::visit_row_copy(c.dtype(), channels, [&](const auto& copy) {
    double nanoseconds =
        static_cast<double>(patch) * (2 + static_cast<double>(channels) * kernel::nanoseconds_to_move(c.dtype()));
    parallel_for(images[0] * rows.count * columns.count, nanoseconds, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        int64_t b = p / (rows.count * columns.count),
                first_y = p / columns.count % rows.count * rows.stride - rows.before;
        int64_t first_x = p % columns.count * columns.stride - columns.before;
        const std::byte* image = c.input<std::byte>(0) + b * height * width * bytes;
        std::byte* out = c.output<std::byte>() + p * patch * bytes;
        for (int64_t i = 0; i < patch; ++i, out += bytes) {
          int64_t y = first_y + i / columns.size * rows.rate, x = first_x + i % columns.size * columns.rate;
          bool inside = y >= 0 && y < height && x >= 0 && x < width;
          if (inside) copy(image + (y * width + x) * bytes, out);
          else kernels::clear_elements(c.dtype(), out, channels);
        }
      }
    });
  });
}

const Op& ExtractImagePatches = define_op({
    .name = "ExtractImagePatches",
    .doc = "The patches of images as vectors; pixels outside of the image are 0.",
    .signature = "images: T -> patches: T",
    .attrs = attrs_of<PatchesAttrs>(),
    .infer = infer_patches,
    .kernel = {.run = run_patches, .types = plain_types},
    // Every pixel of a patch came from one place; those that lie outside have place -1 and are left out.
    .grad =
        [](GradCall& g) {
          const Tensor& images = g.input(0);
          Tensor dims = shape(images, {.out_type = int64}), count = size(images, {.out_type = int64});
          Tensor places = apply1(g.op, {reshape(range(count) + 1, dims)}, g.attrs<PatchesAttrs>()) - 1;
          Tensor sums = math::unsorted_segment_sum(reshape(g.output_grad(), {-1}), reshape(places, {-1}), count);
          g.input_grad(0, reshape(sums, dims));
        },
    .grad_reads = reads::nothing,
});

}  // namespace

Tensor image::extract_patches(const TensorLike& images, const std::vector<int64_t>& sizes,
                              const std::vector<int64_t>& strides, const std::vector<int64_t>& rates,
                              const std::string& padding) {
  return apply1(ExtractImagePatches, {images}, PatchesAttrs{sizes, strides, rates, padding});
}

namespace {
const FunctionDef* const patches_functions[] = {
    &define_function<image::extract_patches>({"image.extract_patches"},
                                             {"images", "sizes", "strides", "rates", "padding"}),
};
}  // namespace

}  // namespace thalweg
