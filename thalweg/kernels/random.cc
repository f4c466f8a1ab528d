#include "thalweg/kernels/random.h"

#include <algorithm>
#include <type_traits>

#include "thalweg/core/seed.h"
#include "thalweg/core/threads.h"
#include "thalweg/kernels/philox.h"
#include "thalweg/kernels/random_bits.h"
#include "thalweg/kernels/random_normal.h"

namespace thalweg::kernels {
namespace {

constexpr int64_t buffer_blocks = 128;

// Draws blocks into a small buffer and lets `convert(words, num_elements, out)` turn each piece into elements, `group`
// of them per block. `chunk` is in blocks.
template <int group, class T, class Convert>
void fill_blocks_of(const PhiloxState& state, T* out, int64_t n, int64_t chunk, const Convert& convert) {
  parallel_chunks((n + group - 1) / group, chunk, [&](int64_t begin, int64_t end) {
    alignas(64) uint32_t words[4 * buffer_blocks];
    for (int64_t block = begin; block < end; block += buffer_blocks) {
      int64_t num_blocks = std::min(buffer_blocks, end - block);
      philox_words(state.after(static_cast<uint64_t>(block)), num_blocks, words);
      convert(words, std::min(num_blocks * group, n - block * group), out + block * group);
    }
  });
}

// In blocks: 20 to 40 microseconds of work.
constexpr int64_t cheap_chunk = 8192, normal_chunk = 2048, truncated_chunk = 1024;

// The bit patterns of k / 1024 in half: conversion in software costs more than drawing the bits.
struct UnitHalfs {
  uint16_t bits[1024];
  UnitHalfs() {
    for (uint32_t i = 0; i < 1024; ++i) bits[i] = Half(unit_half(i)).bits;
  }
};

template <class T>
void fill_uniform_int_of(const PhiloxState& state, const void* minval, const void* maxval, T* out, int64_t n) {
  using Unsigned = std::make_unsigned_t<T>;
  Unsigned low = static_cast<Unsigned>(*static_cast<const T*>(minval));
  Unsigned range = static_cast<Unsigned>(static_cast<Unsigned>(*static_cast<const T*>(maxval)) - low);
  if constexpr (sizeof(T) == 4) {
    fill_blocks_of<4>(state, out, n, cheap_chunk, [=](const uint32_t* words, int64_t count, T* to) {
      for (int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(low + words[i] % range);
    });
  } else {
    fill_blocks_of<2>(state, out, n, cheap_chunk, [=](const uint32_t* words, int64_t count, T* to) {
      for (int64_t i = 0; i < count; ++i) {
        uint64_t bits = words[2 * i] | uint64_t{words[2 * i + 1]} << 32;
        to[i] = static_cast<T>(low + bits % range);
      }
    });
  }
}

// Rounded to nearest even, for magnitudes below 65504. Below 2**-14 halfs are multiples of 2**-24, the step of floats
// next to 0.5.
inline Half small_half(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value), magnitude = bits & 0x7fffffffu;
  uint32_t shifted = magnitude - 0x38000000u;
  uint32_t normal = (shifted + 0xfffu + (shifted >> 13 & 1u)) >> 13;
  uint32_t denormal = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
  Half half;
  half.bits = static_cast<uint16_t>((bits >> 16 & 0x8000u) | (magnitude < 0x38800000u ? denormal : normal));
  return half;
}

template <class T> inline T from_float(float value) {
  if constexpr (std::is_same_v<T, Half>) return small_half(value);
  else return static_cast<T>(value);
}

template <class T> void fill_normal_of(const PhiloxState& state, T* out, int64_t n) {
  if constexpr (std::is_same_v<T, double>) {
    fill_blocks_of<2>(state, out, n, normal_chunk, [](const uint32_t* words, int64_t count, double* to) {
      for (int64_t i = 0; i < count; i += 2, words += 4) {
        NormalPair<double> pair = normal_doubles(words[0], words[1], words[2], words[3]);
        to[i] = pair.first;
        if (i + 1 < count) to[i + 1] = pair.second;
      }
    });
  } else {
    fill_blocks_of<4>(state, out, n, normal_chunk, [](const uint32_t* words, int64_t count, T* to) {
      alignas(64) float normals[4 * buffer_blocks];
      normal_floats(words, (count + 1) / 2, normals);
      for (int64_t i = 0; i < count; ++i) to[i] = from_float<T>(normals[i]);
    });
  }
}

// Each group of elements draws from a stretch of its own, 64 blocks per element, so that groups can be made in any
// order.
template <int group> constexpr uint64_t stretch = 64 * group;

// Fills one group of doubles from its stretch.
void truncated_doubles(const PhiloxState& start, double* to, int64_t count) {
  PhiloxStream stream(start);
  for (int64_t filled = 0; filled < count;) {
    PhiloxBlock block = stream();
    NormalPair<double> pair = normal_doubles(block.words[0], block.words[1], block.words[2], block.words[3]);
    if (std::abs(pair.first) < 2) to[filled++] = pair.first;
    if (std::abs(pair.second) < 2 && filled < count) to[filled++] = pair.second;
  }
}

// Fills one group from the normal numbers of its first block and, where some are rejected, from the next blocks.
template <class T> void truncated_floats(const PhiloxState& start, const float* first_normals, T* to, int64_t count) {
  float normals[4];
  std::copy(first_normals, first_normals + 4, normals);
  int64_t filled = 0;
  for (uint64_t block = 1;; ++block) {
    for (float normal : normals) {
      if (filled < count && std::abs(normal) < 2) to[filled++] = from_float<T>(normal);
    }
    if (filled == count) return;
    normal_floats(philox_block(start.after(block)).words, 2, normals);
  }
}

template <class T> void fill_truncated_normal_of(const PhiloxState& state, T* out, int64_t n) {
  if constexpr (std::is_same_v<T, double>) {
    parallel_chunks((n + 1) / 2, truncated_chunk, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        truncated_doubles(state.after(static_cast<uint64_t>(i) * stretch<2>), out + 2 * i,
                          std::min<int64_t>(2, n - 2 * i));
      }
    });
  } else {
    parallel_chunks((n + 3) / 4, truncated_chunk, [&](int64_t begin, int64_t end) {
      alignas(64) uint32_t words[4 * buffer_blocks];
      alignas(64) float normals[4 * buffer_blocks];
      for (int64_t first = begin; first < end; first += buffer_blocks) {
        int64_t num_groups = std::min(buffer_blocks, end - first);
        PhiloxState start = state.after(static_cast<uint64_t>(first) * stretch<4>);
        philox_words(start, num_groups, words, stretch<4>);
        normal_floats(words, 2 * num_groups, normals);
        for (int64_t i = 0; i < num_groups; ++i) {
          int64_t offset = 4 * (first + i);
          truncated_floats(start.after(static_cast<uint64_t>(i) * stretch<4>), normals + 4 * i, out + offset,
                           std::min<int64_t>(4, n - offset));
        }
      }
    });
  }
}

}  // namespace

PhiloxState stateless_state(int64_t seed0, int64_t seed1) {
  PhiloxState seeds{0x02461e293ec8f720u, {static_cast<uint64_t>(seed0), static_cast<uint64_t>(seed1)}};
  PhiloxBlock mixed = philox_block(seeds);
  return {mixed.words[0] | uint64_t{mixed.words[1]} << 32, {0, mixed.words[2] | uint64_t{mixed.words[3]} << 32}};
}

void fill_uniform(DType dtype, const PhiloxState& state, void* out, int64_t n) {
  if (dtype == DType::float32) {
    fill_blocks_of<4>(state, static_cast<float*>(out), n, cheap_chunk,
                      [](const uint32_t* words, int64_t count, float* to) {
                        for (int64_t i = 0; i < count; ++i) to[i] = unit_float(words[i]);
                      });
  } else if (dtype == DType::float64) {
    fill_blocks_of<2>(state, static_cast<double*>(out), n, cheap_chunk,
                      [](const uint32_t* words, int64_t count, double* to) {
                        for (int64_t i = 0; i < count; ++i) to[i] = unit_double(words[2 * i], words[2 * i + 1]);
                      });
  } else if (dtype == DType::float16) {
    static const UnitHalfs table;
    fill_blocks_of<4>(state, static_cast<uint16_t*>(out), n, cheap_chunk,
                      [](const uint32_t* words, int64_t count, uint16_t* to) {
                        for (int64_t i = 0; i < count; ++i) to[i] = table.bits[words[i] & 0x3ffu];
                      });
  } else if (dtype == DType::bfloat16) {
    fill_blocks_of<4>(state, static_cast<uint16_t*>(out), n, cheap_chunk,
                      [](const uint32_t* words, int64_t count, uint16_t* to) {
                        for (int64_t i = 0; i < count; ++i) {
                          to[i] = static_cast<uint16_t>(std::bit_cast<uint32_t>(unit_bfloat16(words[i])) >> 16);
                        }
                      });
  }
}

void fill_uniform_int(DType dtype, const PhiloxState& state, const void* minval, const void* maxval, void* out,
                      int64_t n) {
  if (dtype == DType::int32) fill_uniform_int_of(state, minval, maxval, static_cast<int32_t*>(out), n);
  if (dtype == DType::int64) fill_uniform_int_of(state, minval, maxval, static_cast<int64_t*>(out), n);
  if (dtype == DType::uint32) fill_uniform_int_of(state, minval, maxval, static_cast<uint32_t*>(out), n);
  if (dtype == DType::uint64) fill_uniform_int_of(state, minval, maxval, static_cast<uint64_t*>(out), n);
}

void fill_uniform_full_int(DType dtype, const PhiloxState& state, void* out, int64_t n) {
  if (size_of(dtype) == 4) {
    fill_blocks_of<4>(state, static_cast<uint32_t*>(out), n, cheap_chunk,
                      [](const uint32_t* words, int64_t count, uint32_t* to) { std::copy(words, words + count, to); });
  } else {
    fill_blocks_of<2>(state, static_cast<uint64_t*>(out), n, cheap_chunk,
                      [](const uint32_t* words, int64_t count, uint64_t* to) {
                        for (int64_t i = 0; i < count; ++i) to[i] = words[2 * i] | uint64_t{words[2 * i + 1]} << 32;
                      });
  }
}

void fill_normal(DType dtype, const PhiloxState& state, void* out, int64_t n) {
  if (dtype == DType::float32) fill_normal_of(state, static_cast<float*>(out), n);
  if (dtype == DType::float64) fill_normal_of(state, static_cast<double*>(out), n);
  if (dtype == DType::float16) fill_normal_of(state, static_cast<Half*>(out), n);
  if (dtype == DType::bfloat16) fill_normal_of(state, static_cast<BFloat16*>(out), n);
}

void fill_truncated_normal(DType dtype, const PhiloxState& state, void* out, int64_t n) {
  if (dtype == DType::float32) fill_truncated_normal_of(state, static_cast<float*>(out), n);
  if (dtype == DType::float64) fill_truncated_normal_of(state, static_cast<double*>(out), n);
  if (dtype == DType::float16) fill_truncated_normal_of(state, static_cast<Half*>(out), n);
  if (dtype == DType::bfloat16) fill_truncated_normal_of(state, static_cast<BFloat16*>(out), n);
}

void fill_non_deterministic_ints(DType dtype, void* out, int64_t n) {
  fill_unpredictable(out, static_cast<size_t>(n) * size_of(dtype));
}

}  // namespace thalweg::kernels
