// Diagonals of matrices: reading, writing and cutting along them.
#pragma once
#include <string>

#include "thalweg/ops/options.h"

namespace thalweg::linalg {

struct DiagOptions {
  Axis k = 0;             // 0 is the main diagonal, positive numbers lie above; {low, high} takes several
  int64_t num_rows = -1;  // as few as fit where left out
  int64_t num_cols = -1;
  Tensor padding_value = {};         // elsewhere; 0 where left out
  std::string align = "RIGHT_LEFT";  // where shorter diagonals stand in their rows: above, below the main one
};
/// Matrices with the given diagonals: [..., n], or [..., diagonals, n] from the highest to the lowest.
THALWEG_API Tensor diag(const TensorLike& diagonal, const DiagOptions& options = {});

struct DiagPartOptions {
  Axis k = 0;
  Tensor padding_value = {};  // where a diagonal is shorter than others
  std::string align = "RIGHT_LEFT";
};
/// The diagonals of matrices: [..., n] for one, [..., diagonals, n] for several, from the highest to the lowest.
THALWEG_API Tensor diag_part(const TensorLike& input, const DiagPartOptions& options = {});

struct SetDiagOptions {
  Axis k = 0;
  std::string align = "RIGHT_LEFT";
};
/// The matrices with their diagonals replaced.
THALWEG_API Tensor set_diag(const TensorLike& input, const TensorLike& diagonal, const SetDiagOptions& options = {});
/// The matrices with all but a band set to 0: num_lower diagonals below the main one and num_upper above; -1 keeps all.
THALWEG_API Tensor band_part(const TensorLike& input, const TensorLike& num_lower, const TensorLike& num_upper);

/// A tensor of twice the rank with the input on its diagonal: out[i, j, i, j] = diagonal[i, j].
THALWEG_API Tensor tensor_diag(const TensorLike& diagonal);
/// The diagonal of a tensor whose shape is a shape written twice.
THALWEG_API Tensor tensor_diag_part(const TensorLike& input);
/// The sums of the main diagonals.
THALWEG_API Tensor trace(const TensorLike& x);

}  // namespace thalweg::linalg
