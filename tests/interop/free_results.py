"""Results that may differ and both be right: the vectors of eigenvalues and singular values are free in sign and phase,
eigenvalues of general matrices in their order, and roots of matrices that are nearly singular in many digits. They are judged by the equations they solve.
"""

import numpy as np

TOLERANCES = {"float16": 3e-2, "float32": 2e-3, "complex64": 2e-3, "float64": 1e-8, "complex128": 1e-8}


def difference(call, ours, theirs):
    """What is wrong, an empty text, or None for a call whose results are not free."""
    check = CHECKS.get(call["name"])
    matrix = array(next(iter(call["inputs"].values()))) if check and call["check"] == "value" else None
    if matrix is None or matrix.size == 0 or not np.isfinite(matrix).all():
        return None
    if check is not cholesky and not all(np.isfinite(array(item)).all() for item in (*ours, *theirs)):
        return None
    for place, (mine, expected) in enumerate(zip(ours, theirs)):
        if mine[0] != expected[0] or tuple(mine[1]) != tuple(expected[1]):
            return f"result {place}: {mine[0]}{list(mine[1])}, expected {expected[0]}{list(expected[1])}"
    dtype = next(iter(call["inputs"].values()))[0]
    attrs = call["attrs"]
    has_vectors = len(ours) > 1 and attrs.get("compute_v", attrs.get("compute_uv", True))
    error = check(matrix, [array(item) for item in ours], [array(item) for item in theirs], has_vectors)
    scale = max(1.0, float(np.abs(matrix).max()) * max(matrix.shape[-2:]))
    return "" if error <= TOLERANCES[dtype] * scale else f"the equations of the result are wrong by {error:.3g}"


def eigenvalues(matrix, ours, theirs, has_vectors):
    """matrix v = e v; the eigenvalues in any order."""
    error = 0.0
    for mine, expected in zip(ours[0].reshape(-1, matrix.shape[-1]), theirs[0].reshape(-1, matrix.shape[-1])):
        left = list(expected)
        for value in mine:
            nearest = int(np.argmin(np.abs(np.array(left) - value)))
            error = max(error, abs(left.pop(nearest) - value))
    return max(error, residual(matrix, ours[0], ours[1])) if has_vectors else error


def hermitian_eigenvalues(matrix, ours, theirs, has_vectors):
    """The same for Hermitian matrices, of which the lower triangle is read; the eigenvalues ascend."""
    error = largest(ours[0] - theirs[0])
    if not has_vectors:
        return error
    below = np.tril(matrix, -1)
    diagonal = matrix.real * np.eye(matrix.shape[-1])
    whole = below + adjoint(below) + diagonal
    return max(error, residual(whole, ours[0], ours[1]), orthonormal(ours[1]))


def singular_values(matrix, ours, theirs, has_vectors):
    """matrix = u diag(s) v^H."""
    error = largest(ours[0] - theirs[0])
    if not has_vectors:
        return error
    s, u, v = ours
    count = s.shape[-1]
    product = (u[..., :count] * s[..., None, :]) @ adjoint(v[..., :count])
    return max(error, largest(product - matrix), orthonormal(u), orthonormal(v))


def cholesky(matrix, ours, theirs, _has_vectors):
    """The factor of matrices that are clearly positive definite. The others have none: NaN, or by rounding one after all;
    TensorFlow writes 0 into complex ones and leaves their upper triangle unset."""
    error = 0.0
    side = matrix.shape[-1]
    for a, mine, expected in zip(*(item.reshape(-1, side, side) for item in (matrix, ours[0], theirs[0]))):
        below = np.tril(a, -1)
        whole = below + adjoint(below) + a.real * np.eye(side)
        values = np.linalg.eigvalsh(whole)
        if values[0] > 1e-5 * values[-1]:
            error = max(error, largest(mine - expected))
        elif np.isfinite(mine).all():
            error = max(error, largest(mine @ adjoint(mine) - whole))
    return error


def square_root(matrix, ours, _theirs, _has_vectors):
    """root root = matrix."""
    return largest(ours[0] @ ours[0] - matrix)


def residual(matrix, values, vectors):
    lengths = np.linalg.norm(vectors, axis=-2)
    return max(largest(matrix @ vectors - vectors * values[..., None, :]), largest(lengths - 1))


def orthonormal(vectors):
    return largest(adjoint(vectors) @ vectors - np.eye(vectors.shape[-1]))


def adjoint(matrix):
    return np.conj(np.swapaxes(matrix, -1, -2))


def largest(values):
    return float(np.nan_to_num(np.abs(values), nan=np.inf).max(initial=0.0))


def array(reference):
    dtype, shape, content = reference
    return np.frombuffer(content, dtype).reshape(shape).astype(np.complex128)


CHECKS = {"Eig": eigenvalues, "linalg.eig": eigenvalues, "linalg.eigvals": eigenvalues,
          "SelfAdjointEigV2": hermitian_eigenvalues, "linalg.eigh": hermitian_eigenvalues,
          "Svd": singular_values, "linalg.svd": singular_values,
          "MatrixSquareRoot": square_root, "linalg.sqrtm": square_root,
          "Cholesky": cholesky, "linalg.cholesky": cholesky}
