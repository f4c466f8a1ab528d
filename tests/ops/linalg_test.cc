// Decompositions put together again give what was taken apart; solutions solve; functions agree with each other.
#include "thalweg/ops/linalg.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "thalweg/core/complex.h"
#include "thalweg/core/error.h"
#include "thalweg/core/index.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/clipping.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/diagonals.h"
#include "thalweg/ops/einsum.h"
#include "thalweg/ops/fft.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_elementary.h"
#include "thalweg/ops/math_rounding.h"
#include "thalweg/ops/matmul.h"
#include "thalweg/ops/norms.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/signal.h"
#include "thalweg/ops/transposing.h"

namespace thalweg {
namespace {

Tensor random_matrices(DType dtype, const Shape& shape, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<std::complex<double>> values(static_cast<size_t>(shape.count()));
  for (auto& v : values) v = {normal(random), is_complex(dtype) ? normal(random) : 0};
  Tensor z(values, shape);
  return is_complex(dtype) ? cast(z, dtype) : cast(math::abs(z) * cast(Tensor(2.0f), DType::float64) - 1.5, dtype);
}
double largest(const Tensor& x) { return x.size() ? reduce_max(abs(x)).item<double>() : 0; }
double tolerance(DType dtype) { return real_of(dtype) == DType::float64 ? 1e-11 : 2e-4; }
Tensor identity_like(const Tensor& square) { return eye(square.shape()[-1], {.dtype = square.dtype()}); }

class Decompositions : public ::testing::TestWithParam<DType> {
 protected:
  void same(const Tensor& a, const Tensor& b, const char* what) {
    ASSERT_EQ(a.shape(), b.shape()) << what;
    EXPECT_LT(largest(a - b), tolerance(GetParam()) * (1 + largest(b))) << what << " of " << a.shape().brackets();
  }
  // Columns are orthonormal.
  void orthonormal(const Tensor& q, const char* what) {
    Tensor product = matmul(q, q, {.adjoint_a = true});
    same(product, identity_like(product) + zeros_like(product), what);
  }
};

const Shape shapes[] = {{4, 4}, {6, 3}, {3, 6}, {2, 3, 5, 2}, {1, 1}, {40, 25}, {25, 40}, {5, 0}, {0, 5}, {0, 3, 3}};

TEST_P(Decompositions, QrGivesOrthonormalAndTriangularFactors) {
  for (const Shape& shape : shapes)
    for (bool full : {false, true}) {
      Tensor x = random_matrices(GetParam(), shape);
      auto [q, r] = linalg::qr(x, {.full_matrices = full});
      same(matmul(q, r), x, "q r");
      orthonormal(q, "q");
      EXPECT_EQ(largest(r - linalg::band_part(r, 0, -1)), 0);
    }
}

TEST_P(Decompositions, SvdGivesFallingValuesAndOrthonormalVectors) {
  for (const Shape& shape : shapes)
    for (bool full : {false, true}) {
      Tensor x = random_matrices(GetParam(), shape);
      auto [s, u, v] = linalg::svd(x, {.full_matrices = full});
      EXPECT_EQ(s.dtype(), real_of(GetParam()));
      int64_t count = std::min(shape[-1], shape[-2]);
      Tensor some_u = u(ellipsis, all, slice(0, count)), some_v = v(ellipsis, all, slice(0, count));
      same(matmul(some_u * cast(expand_dims(s, -2), x.dtype()), some_v, {.adjoint_b = true}), x, "u s v^H");
      orthonormal(u, "u");
      orthonormal(v, "v");
      if (count > 1 && s.size()) {
        EXPECT_GE(reduce_min(s(ellipsis, slice(0, -1)) - s(ellipsis, slice_from(1))).item<double>(), 0);
      }
      same(linalg::svd(x, {.compute_uv = false}).s, s, "values alone");
      same(matmul(matmul(x, linalg::pinv(x)), x), x, "a pinv(a) a");
    }
}

TEST_P(Decompositions, EigenvectorsAreOnlyScaled) {
  for (const Shape& shape : {Shape{4, 4}, Shape{3, 7, 7}, Shape{1, 1}, Shape{30, 30}, Shape{0, 0}, Shape{0, 2, 2}}) {
    Tensor x = random_matrices(GetParam(), shape), h = x + linalg::adjoint(x);
    auto [e, v] = linalg::eigh(h);
    orthonormal(v, "eigenvectors");
    same(matmul(h, v), v * expand_dims(e, -2), "h v");
    same(linalg::eigvalsh(h), e, "values alone");
    auto [f, w] = linalg::eig(x);
    same(matmul(cast(x, w.dtype()), w), w * expand_dims(f, -2), "x w");
    if (x.size()) {
      same(reduce_prod(f, {.axis = -1}), cast(linalg::det(x), f.dtype()), "product of eigenvalues");
      same(reduce_sum(f, {.axis = -1}), cast(linalg::trace(x), f.dtype()), "sum of eigenvalues");
    }
  }
}

TEST_P(Decompositions, EigenvaluesReadOneTriangle) {
  Tensor x = random_matrices(GetParam(), {5, 5}), h = x + linalg::adjoint(x);
  same(linalg::eigvalsh(linalg::band_part(h, -1, 0)), linalg::eigvalsh(h), "lower triangle alone");
}

TEST_P(Decompositions, TriangularFactorsMultiplyBack) {
  for (const Shape& shape : {Shape{4, 4}, Shape{3, 7, 7}, Shape{1, 1}, Shape{60, 60}, Shape{0, 0}, Shape{0, 2, 2}}) {
    Tensor x = random_matrices(GetParam(), shape) + 3 * eye(shape[-1], {.dtype = GetParam()});
    Tensor definite = matmul(x, x, {.adjoint_b = true}) + eye(shape[-1], {.dtype = GetParam()});
    Tensor l = linalg::cholesky(definite);
    same(matmul(l, l, {.adjoint_b = true}), definite, "l l^H");
    EXPECT_EQ(largest(l - linalg::band_part(l, -1, 0)), 0);
    Tensor b = random_matrices(GetParam(), shape, 2);
    same(matmul(definite, linalg::cholesky_solve(l, b)), b, "cholesky_solve");
    auto [lu, p] = linalg::lu(x);
    same(linalg::lu_reconstruct(lu, p), x, "lu_reconstruct");
    same(matmul(x, linalg::lu_solve(lu, p, b)), b, "lu_solve");
    same(matmul(x, linalg::solve(x, b)), b, "solve");
    same(matmul(x, linalg::solve(x, b, {.adjoint = true}), {.adjoint_a = true}), b, "solve with the adjoint");
    same(matmul(x, linalg::inv(x)), identity_like(x) + zeros_like(x), "inverse");
    same(linalg::inv(x, {.adjoint = true}), linalg::adjoint(linalg::inv(x)), "inverse of the adjoint");
    auto [sign, logarithm] = linalg::slogdet(x);
    if (shape[-1] < 20) same(sign * math::exp(logarithm), linalg::det(x), "determinant");
    same(linalg::logdet(definite), cast(linalg::slogdet(definite).log_abs_determinant, real_of(GetParam())), "logdet");
  }
}

TEST_P(Decompositions, SolutionsSolve) {
  Tensor a = random_matrices(GetParam(), {2, 1, 4, 4}) + 4 * eye(4, {.dtype = GetParam()}),
         b = random_matrices(GetParam(), {3, 4, 2}, 5);
  for (bool lower : {false, true})
    for (bool adjoint : {false, true}) {
      Tensor triangle = linalg::band_part(a, lower ? -1 : 0, lower ? 0 : -1);
      Tensor x = linalg::triangular_solve(a, b, {.lower = lower, .adjoint = adjoint});
      same(matmul(triangle, x, {.adjoint_a = adjoint}), b + zeros_like(x), "triangular_solve");
    }
  // At the smallest square the residual is orthogonal to the columns.
  Tensor tall = random_matrices(GetParam(), {7, 3}), right = random_matrices(GetParam(), {7, 2}, 3);
  for (bool fast : {true, false}) {
    Tensor x = linalg::lstsq(tall, right, {.fast = fast});
    Tensor residual = matmul(tall, x) - right, slope = matmul(tall, residual, {.adjoint_a = true});
    same(slope, zeros_like(slope), "least squares");
    Tensor wide = linalg::matrix_transpose(tall), under = linalg::lstsq(wide, right(slice(0, 3)), {.fast = fast});
    same(matmul(wide, under), right(slice(0, 3)), "underdetermined");
  }
  Tensor diagonals = random_matrices(GetParam(), {2, 3, 6}), three = random_matrices(GetParam(), {2, 6, 2}, 9);
  same(linalg::tridiagonal_matmul(diagonals, linalg::tridiagonal_solve(diagonals, three)), three, "tridiagonal");
}

TEST_P(Decompositions, FunctionsOfMatricesInvertEachOther) {
  for (int64_t n : {1, 2, 5, 12}) {
    Tensor x = random_matrices(GetParam(), {2, n, n}) * 0.5, one = eye(n, {.dtype = GetParam()});
    same(matmul(linalg::expm(x), linalg::expm(-x)), one + zeros_like(x), "e^x e^-x");
    Tensor definite = matmul(x, x, {.adjoint_b = true}) + one, root = linalg::sqrtm(definite);
    same(matmul(root, root), definite, "square of the root");
    if (is_complex(GetParam())) same(linalg::expm(linalg::logm(definite)), definite, "e^log");
  }
}

std::string dtype_name(const ::testing::TestParamInfo<DType>& info) { return std::string(name_of(info.param)); }
INSTANTIATE_TEST_SUITE_P(Types, Decompositions,
                         ::testing::Values(DType::float32, DType::float64, DType::complex64, DType::complex128),
                         dtype_name);

TEST(Linalg, RefusesWhatHasNoAnswer) {
  Tensor singular = {{1.0, 2.0}, {2.0, 4.0}}, nan = {{NAN, 1.0}, {1.0, 1.0}};
  EXPECT_THROW(linalg::inv(singular), InvalidArgumentError);
  EXPECT_THROW(linalg::solve(singular, singular), InvalidArgumentError);
  EXPECT_THROW(linalg::lu(nan), InvalidArgumentError);
  EXPECT_THROW(linalg::eigh(nan), InvalidArgumentError);
  EXPECT_THROW(linalg::eig(nan), InvalidArgumentError);
  EXPECT_TRUE(std::isnan(linalg::lstsq(singular, singular)(0, 0).item<float>()));
  EXPECT_TRUE(std::isnan(linalg::svd(nan).s[0].item<float>()));
  EXPECT_TRUE(std::isnan(linalg::cholesky(Tensor{{1.0, 2.0}, {2.0, 1.0}})(1, 0).item<float>()));
  EXPECT_TRUE(std::isnan(linalg::sqrtm(Tensor{{-1.0, 0.0}, {0.0, 4.0}})(0, 0).item<float>()));
  EXPECT_EQ(linalg::det(singular).item<float>(), 0);
}

TEST(Linalg, DeterminantsNeitherOverflowNorUnderflowOnTheWay) {
  Tensor d = linalg::diag(Tensor(std::vector<double>{1e200, 1e200, 1e-300, 1e-100}));
  EXPECT_NEAR(linalg::det(d).item<double>(), 1, 1e-12);
  EXPECT_NEAR(linalg::slogdet(d).log_abs_determinant.item<double>(), 0, 1e-9);
}

TEST(Einsum, ManyOperandsEqualProducts) {
  Tensor a = random_matrices(DType::float64, {3, 4}), b = random_matrices(DType::float64, {4, 5}, 2),
         c = random_matrices(DType::float64, {5, 2}, 3);
  Tensor expected = matmul(matmul(a, b), c);
  EXPECT_LT(largest(einsum("ij,jk,kl->il", {a, b, c}) - expected), 1e-12);
  EXPECT_LT(largest(einsum("ij,jk,kl", {a, b, c}) - expected), 1e-12);
  EXPECT_LT(largest(einsum("ij, jk, kl -> li", {a, b, c}) - transpose(expected)), 1e-12);
  EXPECT_LT(largest(einsum("ij,jk,kl->", {a, b, c}) - reduce_sum(expected)), 1e-12);
  EXPECT_LT(largest(tensordot(a, b, 1) - matmul(a, b)), 1e-12);
  EXPECT_LT(largest(tensordot(a, b, {{1}, {0}}) - matmul(a, b)), 1e-12);
  EXPECT_LT(largest(tensordot(a, b, {-1, 0}) - matmul(a, b)), 1e-12);
  EXPECT_THROW(tensordot(a, b, {{0, 1}, {0, 0}}), ValueError);
  EXPECT_THROW(einsum("ij,jk->ik", {a}), ValueError);
  EXPECT_THROW(einsum("ij->ii", {a}), ValueError);
  EXPECT_THROW(einsum("i..j->i", {a}), ValueError);
}

TEST(Einsum, EllipsesBroadcastWhereverTheyStand) {
  Tensor a = random_matrices(DType::float64, {3, 2, 1, 4}), b = random_matrices(DType::float64, {5, 4, 6}, 2);
  Tensor left = transpose(a, {.perm = {1, 2, 0, 3}});  // [2, 1, 3, 4]
  EXPECT_LT(largest(einsum("i...j,...jk->...ik", {a, b}) - matmul(left, b)), 1e-12);
  EXPECT_LT(largest(einsum("...ii->...", {matmul(b, b, {.transpose_b = true})}) -
                    linalg::trace(matmul(b, b, {.transpose_b = true}))),
            1e-11);
}

TEST(Norms, OfVectorsAndMatrices) {
  Tensor x = {{3.0, 0.0}, {4.0, 5.0}};
  EXPECT_NEAR(norm(x).item<float>(), std::sqrt(50.0), 1e-5);
  EXPECT_EQ(norm(x, {.ord = 1, .axis = {0, 1}}).item<float>(), 7);
  EXPECT_EQ(norm(x, {.ord = INFINITY, .axis = {0, 1}}).item<float>(), 9);
  EXPECT_NEAR(norm(x, {.ord = 2, .axis = {0, 1}}).item<float>(), std::sqrt(45.0), 1e-5);
  EXPECT_NEAR(norm(x, {.ord = "fro", .axis = {0, 1}}).item<float>(), std::sqrt(50.0), 1e-5);
  EXPECT_EQ(norm(x, {.ord = INFINITY, .axis = 0}).str(), "tf.Tensor([4. 5.], shape=(2,), dtype=float32)");
  EXPECT_EQ(norm(x, {.axis = 0, .keepdims = true}).shape(), (Shape{1, 2}));
  EXPECT_THROW(norm(x, {.ord = "fro"}), ValueError);
  EXPECT_THROW(norm(x, {.ord = 3, .axis = {0, 1}}), ValueError);
  auto [clipped, size] = clip_by_global_norm({x, Tensor(), Tensor{1.0}}, 1.0);
  EXPECT_NEAR(size.item<float>(), std::sqrt(51.0), 1e-5);
  EXPECT_NEAR(linalg::global_norm(clipped).item<float>(), 1, 1e-5);
  EXPECT_FALSE(clipped[1].defined());
}

TEST(Signal, InverseShortTimeTransformGivesTheSignalBack) {
  Tensor x = cast(random_matrices(DType::float64, {2, 64}), DType::float32);
  // Hann windows at half steps add to 1, so the second window is left out.
  Tensor y = signal::inverse_stft(signal::stft(x, 16, 8), 16, 8, {.window = ones({16})});
  EXPECT_LT(largest(y(all, slice(8, 56)) - x(all, slice(8, 56))), 1e-5);
  EXPECT_EQ(signal::ifftshift(signal::fftshift(x)).str(), x.str());
  EXPECT_EQ(signal::frame(x, 100, 3).shape(), (Shape{2, 0, 100}));
}

}  // namespace
}  // namespace thalweg
