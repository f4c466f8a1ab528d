#include "thalweg/kernels/random.h"

#include <algorithm>
#include <type_traits>

#include "thalweg/core/seed.h"
#include "thalweg/core/threads.h"
#include "thalweg/kernels/philox.h"
#include "thalweg/kernels/random_bits.h"

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

constexpr int64_t cheap_chunk = 8192, normal_chunk = 512, truncated_chunk = 256;

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

// Each group of elements draws from a stretch of its own, 64 blocks per element, so that groups can be made in any
// order.
constexpr uint64_t truncated_blocks_per_element = 64;

template <class T> void fill_truncated_normal_of(const PhiloxState& state, T* out, int64_t n) {
  constexpr bool wide = std::is_same_v<T, double>;
  constexpr int group = wide ? 2 : 4;
  parallel_chunks((n + group - 1) / group, truncated_chunk, [&](int64_t begin, int64_t end) {
    for (int64_t index = begin; index < end; ++index) {
      PhiloxStream stream(state.after(static_cast<uint64_t>(index) * group * truncated_blocks_per_element));
      T* to = out + index * group;
      int64_t count = std::min<int64_t>(group, n - index * group), filled = 0;
      auto offer = [&](auto value) {
        if (filled < count && std::abs(value) < 2) to[filled++] = static_cast<T>(value);
      };
      while (filled < count) {
        PhiloxBlock block = stream();
        const uint32_t* words = block.words;
        if constexpr (wide) {
          NormalPair<double> pair = normal_doubles(words[0], words[1], words[2], words[3]);
          offer(pair.first);
          offer(pair.second);
        } else {
          for (int i = 0; i < 4 && filled < count; i += 2) {
            NormalPair<float> pair = normal_floats(words[i], words[i + 1]);
            offer(pair.first);
            offer(pair.second);
          }
        }
      }
    }
  });
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
      for (int64_t i = 0; i < count; i += 2) {
        NormalPair<float> pair = normal_floats(words[i], words[i + 1]);
        to[i] = static_cast<T>(pair.first);
        if (i + 1 < count) to[i + 1] = static_cast<T>(pair.second);
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
  bool wide = size_of(dtype) == 8;
  for (int64_t i = 0; i < n; ++i) {
    uint64_t bits = unpredictable_bits();
    if (wide) static_cast<uint64_t*>(out)[i] = bits;
    else static_cast<uint32_t*>(out)[i] = static_cast<uint32_t>(bits);
  }
}

}  // namespace thalweg::kernels
