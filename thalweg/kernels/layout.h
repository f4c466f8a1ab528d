// Exchange of the two inner dimensions: [rows, columns] to [columns, rows].
#pragma once
#include <algorithm>
#include <cstdint>

namespace thalweg::kernels {

/// Blocked so that the lines written stay in the cache until they are full.
template <class T> void transpose_matrix(const T* from, int64_t rows, int64_t columns, T* to) {
  constexpr int64_t block = 16;
  for (int64_t i = 0; i < rows; i += block)
    for (int64_t j = 0; j < columns; j += block) {
      const int64_t i_end = std::min(rows, i + block), j_end = std::min(columns, j + block);
      for (int64_t q = j; q < j_end; ++q)
        for (int64_t p = i; p < i_end; ++p) to[q * rows + p] = from[p * columns + q];
    }
}

}  // namespace thalweg::kernels
