// The IDX format of the MNIST family: two zeros, the type, the rank, the dimensions and the elements, all big-endian.
#pragma once
#include <cstddef>
#include <span>
#include <string>

#include "thalweg/core/tensor.h"

namespace thalweg::io {

/// The array of an IDX file; `name` stands for it in errors.
THALWEG_API Tensor parse_idx(std::span<const std::byte> bytes, const std::string& name = "idx bytes");
/// The same from a file, compressed with gzip or not.
THALWEG_API Tensor load_idx(const std::string& path);

}  // namespace thalweg::io
