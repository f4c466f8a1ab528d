// Tridiagonal equations that have no solution, or many: solved with pivots moved away from 0.
#pragma once
#include <cstdint>

namespace thalweg::kernels {

/// Solves n equations for k right sides as LAPACK's xLAGTF and xLAGTS (job -1) do: rows are exchanged by their scaled
/// pivots, and a pivot so small that the solution would overflow is moved away from 0 by multiples of the rounding
/// error of the largest element. `diagonals` [3, n] holds what stands above, on and below the diagonal; b and x are
/// [n, k]. float, double and their complex types.
template <class T> void solve_tridiagonal_perturbed(int64_t n, int64_t k, const T* diagonals, const T* b, T* x);

}  // namespace thalweg::kernels
