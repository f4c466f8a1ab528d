#include "thalweg/kernels/conv_engine.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "thalweg/core/threads.h"
#include "thalweg/kernels/isa.h"
#include "thalweg/kernels/onednn.h"
#include "thalweg/kernels/scratch.h"

namespace thalweg::kernels {
namespace {
using onednn::Convolution;
using onednn::Method;
using onednn::Pass;
using Found = std::shared_ptr<const Convolution>;

/// A part of the batch, and of the output rows where there are few images.
struct Slice {
  ConvShape shape;
  int64_t in_offset = 0, out_offset = 0;
  Found convolution;
};

// The cut depends on the sizes alone: a slice is worth about a tenth of a millisecond, and there are at most 32.
int64_t images_per_slice(const ConvShape& s, int64_t most_slices) {
  const double work = std::max(1.0, s.image_work());
  const int64_t images = std::max<int64_t>(1, static_cast<int64_t>(4e6 / work));
  return std::max(images, (s.batch + most_slices - 1) / most_slices);
}

void add_images(const ConvShape& s, int64_t images, std::vector<Slice>& slices) {
  for (int64_t first = 0; first < s.batch; first += images) {
    Slice slice;
    slice.shape = s;
    slice.shape.batch = std::min(images, s.batch - first);
    slice.in_offset = first * s.in_pixels() * s.in_channels;
    slice.out_offset = first * s.out_pixels() * s.out_channels;
    slices.push_back(slice);
  }
}

// Cuts each image into bands of output rows; the rows of input that a band sees become its image.
bool add_bands(const ConvShape& s, std::vector<Slice>& slices) {
  const int axis = s.in[0] == 1 && s.out[0] == 1 ? 1 : 0;
  const int64_t in_row = s.in_pixels() / s.in[axis] * s.in_channels;
  const int64_t out_row = s.out_pixels() / s.out[axis] * s.out_channels;
  const int64_t most = s.batch >= 4 ? 4 : 8;
  const int64_t bands = std::clamp<int64_t>(static_cast<int64_t>(s.image_work() / 8e6), 1, most);
  const int64_t rows = std::max<int64_t>(4, (s.out[axis] + bands - 1) / bands);
  for (int64_t image = 0; image < s.batch; ++image)
    for (int64_t first = 0; first < s.out[axis]; first += rows) {
      const int64_t last = std::min(s.out[axis], first + rows);
      const int64_t start = first * s.strides[axis] - s.pads_before[axis];
      const int64_t stop =
          (last - 1) * s.strides[axis] + (s.filter[axis] - 1) * s.dilations[axis] + 1 - s.pads_before[axis];
      const int64_t from = std::max<int64_t>(0, start), to = std::min(s.in[axis], stop);
      if (to <= from) return false;
      Slice slice;
      slice.shape = s;
      slice.shape.batch = 1;
      slice.shape.in[axis] = to - from;
      slice.shape.out[axis] = last - first;
      slice.shape.pads_before[axis] = from - start;
      slice.in_offset = image * s.in_pixels() * s.in_channels + from * in_row;
      slice.out_offset = image * s.out_pixels() * s.out_channels + first * out_row;
      slices.push_back(slice);
    }
  return true;
}

// Slices share one packed filter, so all of them must want the same order of it: same pass, channels and method.
bool prepare(Pass pass, std::vector<Slice>& slices) {
  for (Slice& slice : slices) {
    slice.convolution = onednn::find_convolution(pass, Method::direct, slice.shape);
    if (!slice.convolution) return false;
    if (!slice.convolution->same_filter(*slices[0].convolution)) return false;
  }
  return true;
}

const float* packed_filter(const Found& convolution, const float* filter, KeptFilter* kept) {
  const int64_t size = convolution->packed_size();
  if (!kept) {
    float* packed = scratch<float>(Scratch::filter, size);
    convolution->pack(filter, packed);
    return packed;
  }
  return kept->get<float>(
      KeptOrder::engine, convolution,
      [&](const void* other) { return convolution->same_filter(*static_cast<const Convolution*>(other)); }, size,
      [&](float* to) { convolution->pack(filter, to); });
}

bool run_slices(std::vector<Slice>& slices, const float* filter, float* in, float* out,
                const Epilogue* epilogue = nullptr, KeptFilter* kept = nullptr) {
  auto* packed = const_cast<float*>(packed_filter(slices[0].convolution, filter, kept));
  parallel_chunks(static_cast<int64_t>(slices.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Slice& slice = slices[static_cast<size_t>(i)];
      slice.convolution->run(in + slice.in_offset, packed, out + slice.out_offset);
      if (epilogue) epilogue->finish(out + slice.out_offset, slice.shape.batch * slice.shape.out_pixels());
    }
  });
  return true;
}
}  // namespace

bool engine_forward(const ConvShape& s, const float* in, const float* filter, float* out, const Epilogue* epilogue,
                    KeptFilter* kept) {
  std::vector<Slice> slices;
  if (s.batch < 8 && s.image_work() > 16e6 && add_bands(s, slices) && prepare(Pass::forward, slices))
    return run_slices(slices, filter, const_cast<float*>(in), out, epilogue, kept);
  slices.clear();
  add_images(s, images_per_slice(s, 32), slices);
  if (!prepare(Pass::forward, slices)) return false;
  return run_slices(slices, filter, const_cast<float*>(in), out, epilogue, kept);
}

bool engine_backward_input(const ConvShape& s, const float* filter, const float* out_grad, float* in_grad) {
  std::vector<Slice> slices;
  add_images(s, images_per_slice(s, 32), slices);
  if (!prepare(Pass::backward_input, slices)) return false;
  return run_slices(slices, filter, in_grad, const_cast<float*>(out_grad));
}

bool engine_backward_filter(const ConvShape& s, const float* in, const float* out_grad, float* filter_grad) {
  std::vector<Slice> slices;
  // Every slice sums into a filter of its own: fewer of them where filters are large.
  const int64_t most = s.filter_size() > 1'000'000 ? 4 : 8;
  add_images(s, images_per_slice(s, most), slices);
  if (!prepare(Pass::backward_filter, slices)) return false;
  const int64_t size = slices[0].convolution->packed_size(), count = static_cast<int64_t>(slices.size());
  float* partial = scratch<float>(Scratch::partial, size * count);
  parallel_chunks(count, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Slice& slice = slices[static_cast<size_t>(i)];
      slice.convolution->run(const_cast<float*>(in) + slice.in_offset, partial + i * size,
                             const_cast<float*>(out_grad) + slice.out_offset);
    }
  });
  if (count > 1)
    parallel_for(size - 16, 0.3 * static_cast<double>(count), [&](int64_t begin, int64_t end) {
      for (int64_t slice = 1; slice < count; ++slice)
        for (int64_t i = begin; i < end; ++i) partial[i] += partial[slice * size + i];
    });
  slices[0].convolution->unpack(partial, filter_grad);
  return true;
}

}  // namespace thalweg::kernels
