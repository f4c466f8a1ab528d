// Special and complex scalar functions: values to 17 digits (computed with 40 digits), and TensorFlow's edges.
#include "thalweg/kernels/scalar_special.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>

#include "thalweg/kernels/scalar_complex.h"

namespace {
namespace scalar = thalweg::kernels::scalar;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct Value {
  const char* name;
  double got, expected;
};

TEST(ScalarSpecial, Values) {
  const Value values[] = {
      {"lgamma", scalar::lgamma(0.1), 2.2527126517342059},
      {"lgamma", scalar::lgamma(2.5), 0.28468287047291916},
      {"lgamma", scalar::lgamma(100.0), 359.1342053695754},
      {"lgamma", scalar::lgamma(-0.5), 1.2655121234846454},
      {"lgamma", scalar::lgamma(-3.7), -1.3797399049658245},
      {"digamma", scalar::digamma(0.01), -100.56088545786867},
      {"digamma", scalar::digamma(1.25), -0.22745353337626541},
      {"digamma", scalar::digamma(2.0), 0.42278433509846714},
      {"digamma", scalar::digamma(50.0), 3.9019896734278922},
      {"digamma", scalar::digamma(-0.5), 0.036489973978576521},
      {"digamma", scalar::digamma(-7.3), 4.3373073055100501},
      {"erfinv", scalar::erfinv(1e-10), 8.8622692545275805e-11},
      {"erfinv", scalar::erfinv(0.1), 0.088855990494257692},
      {"erfinv", scalar::erfinv(0.5), 0.47693627620446987},
      {"erfinv", scalar::erfinv(-0.9), -1.1630871536766742},
      {"erfinv", scalar::erfinv(0.999999), 3.4589107372754988},
      {"ndtri", scalar::ndtri(1e-12), -7.0344838253011319},
      {"ndtri", scalar::ndtri(0.01), -2.3263478740408411},
      {"ndtri", scalar::ndtri(0.3), -0.52440051270804082},
      {"ndtri", scalar::ndtri(0.75), 0.67448975019608174},
      {"ndtri", scalar::ndtri(0.999), 3.0902323061678133},
      {"spence", scalar::spence(0.1), 1.2997147230049587},
      {"spence", scalar::spence(0.7), 0.32612951007547612},
      {"spence", scalar::spence(1.4), -0.36583257751244955},
      {"spence", scalar::spence(1.8), -0.67978158783468112},
      {"spence", scalar::spence(2.5), -1.1473806603755708},
      {"spence", scalar::spence(40.0), -8.3302975277210368},
      {"dawsn", scalar::dawsn(0.3), 0.28263166502131192},
      {"dawsn", scalar::dawsn(1.9), 0.32297431932281786},
      {"dawsn", scalar::dawsn(3.0), 0.17827103061055829},
      {"dawsn", scalar::dawsn(-4.5), -0.11408861022682498},
      {"dawsn", scalar::dawsn(20.0), 0.025031367926403672},
      {"expint", scalar::expint(0.1), -1.6228128139692766},
      {"expint", scalar::expint(1.0), 1.8951178163559368},
      {"expint", scalar::expint(10.0), 2492.2289762418778},
      {"expint", scalar::expint(39.0), 2280446200301902.6},
      {"expint", scalar::expint(60.0), 1.9361822139292765e+24},
      {"fresnel_sin", scalar::fresnel_sin(0.5), 0.064732432859999278},
      {"fresnel_sin", scalar::fresnel_sin(2.0), 0.34341567836369824},
      {"fresnel_sin", scalar::fresnel_sin(-3.0), -0.49631299896737504},
      {"fresnel_sin", scalar::fresnel_sin(12.5), 0.47645404274109913},
      {"fresnel_cos", scalar::fresnel_cos(0.5), 0.49234422587144639},
      {"fresnel_cos", scalar::fresnel_cos(2.0), 0.48825340607534075},
      {"fresnel_cos", scalar::fresnel_cos(-3.0), -0.60572078929768563},
      {"fresnel_cos", scalar::fresnel_cos(12.5), 0.50969690766970043},
      {"bessel_i0", scalar::bessel_i0(0.5), 1.0634833707413235},
      {"bessel_i0", scalar::bessel_i0(7.0), 168.5939085102897},
      {"bessel_i0", scalar::bessel_i0(-20.0), 43558282.559553533},
      {"bessel_i1", scalar::bessel_i1(0.5), 0.25789430539089632},
      {"bessel_i1", scalar::bessel_i1(7.0), 156.03909286995545},
      {"bessel_i1", scalar::bessel_i1(-20.0), -42454973.38512777},
      {"bessel_i0e", scalar::bessel_i0e(0.5), 0.64503527044915007},
      {"bessel_i0e", scalar::bessel_i0e(7.0), 0.15373774467288125},
      {"bessel_i0e", scalar::bessel_i0e(-200.0), 0.028227159949111916},
      {"bessel_i1e", scalar::bessel_i1e(0.5), 0.1564208031848717},
      {"bessel_i1e", scalar::bessel_i1e(7.0), 0.14228923470959867},
      {"bessel_i1e", scalar::bessel_i1e(-200.0), -0.028156503394832918},
      {"bessel_k0", scalar::bessel_k0(1e-05), 11.628856980944362},
      {"bessel_k0", scalar::bessel_k0(1.0), 0.42102443824070833},
      {"bessel_k0", scalar::bessel_k0(3.0), 0.034739504386279248},
      {"bessel_k0", scalar::bessel_k0(30.0), 2.1324774964630564e-14},
      {"bessel_k1", scalar::bessel_k1(1e-05), 99999.999939355707},
      {"bessel_k1", scalar::bessel_k1(1.0), 0.60190723019723457},
      {"bessel_k1", scalar::bessel_k1(3.0), 0.040156431128194184},
      {"bessel_k1", scalar::bessel_k1(30.0), 2.1677320018915494e-14},
      {"bessel_k0e", scalar::bessel_k0e(1e-05), 11.628973270095616},
      {"bessel_k0e", scalar::bessel_k0e(1.0), 1.144463079806895},
      {"bessel_k0e", scalar::bessel_k0e(3.0), 0.69776159804385178},
      {"bessel_k0e", scalar::bessel_k0e(300.0), 0.072330031739607302},
      {"bessel_k1e", scalar::bessel_k1e(1e-05), 100000.99994435512},
      {"bessel_k1e", scalar::bessel_k1e(1.0), 1.6361534862632582},
      {"bessel_k1e", scalar::bessel_k1e(3.0), 0.8065634801287869},
      {"bessel_k1e", scalar::bessel_k1e(300.0), 0.072450481667258409},
      {"bessel_j0", scalar::bessel_j0(0.5), 0.9384698072408129},
      {"bessel_j0", scalar::bessel_j0(9.0), -0.090333611182876134},
      {"bessel_j0", scalar::bessel_j0(-30.0), -0.086367983581040211},
      {"bessel_j1", scalar::bessel_j1(0.5), 0.24226845767487389},
      {"bessel_j1", scalar::bessel_j1(9.0), 0.24531178657332527},
      {"bessel_j1", scalar::bessel_j1(-30.0), 0.11875106261662294},
      {"bessel_y0", scalar::bessel_y0(0.5), -0.44451873350670656},
      {"bessel_y0", scalar::bessel_y0(9.0), 0.24993669828502468},
      {"bessel_y0", scalar::bessel_y0(30.0), -0.11729573168666403},
      {"bessel_y1", scalar::bessel_y1(0.5), -1.4714723926702431},
      {"bessel_y1", scalar::bessel_y1(9.0), 0.10431457519671589},
      {"bessel_y1", scalar::bessel_y1(30.0), 0.084425570661747235},
      {"zeta", scalar::zeta(2.0, 1.0), 1.6449340668482264},
      {"zeta", scalar::zeta(1.1, 0.3), 13.925622630916048},
      {"zeta", scalar::zeta(5.5, 12.0), 3.71777872154821e-6},
      {"zeta", scalar::zeta(30.0, 2.0), 9.3132743241966818e-10},
      {"polygamma", scalar::polygamma(1.0, 0.5), 4.9348022005446793},
      {"polygamma", scalar::polygamma(2.0, 3.5), -0.1082040516417274},
      {"polygamma", scalar::polygamma(5.0, 20.0), 8.4842662061582301e-6},
      {"igamma", scalar::igamma(0.5, 0.2), 0.47291074313446193},
      {"igamma", scalar::igamma(3.0, 2.5), 0.45618688411667048},
      {"igamma", scalar::igamma(10.0, 25.0), 0.99977852336175122},
      {"igamma", scalar::igamma(200.0, 190.0), 0.2433474271006238},
      {"igammac", scalar::igammac(0.5, 0.2), 0.52708925686553807},
      {"igammac", scalar::igammac(3.0, 12.5), 0.00034145459689170823},
      {"igammac", scalar::igammac(10.0, 25.0), 0.00022147663824878358},
      {"igammac", scalar::igammac(200.0, 240.0), 0.0036547018922881526},
      {"zeta", scalar::zeta(3.0, -1.5), 0.1181020258208637},
      {"betainc", scalar::betainc(0.5, 0.5, 0.3), 0.36901011956554538},
      {"betainc", scalar::betainc(2.0, 5.0, 0.4), 0.76672000000000003},
      {"betainc", scalar::betainc(30.0, 4.0, 0.9), 0.5769436641256927},
      {"betainc", scalar::betainc(300.0, 200.0, 0.58), 0.18039893358273304},
      {"igammac", scalar::igammac(1e6, 1.001e6), 0.15865521363165971},
  };
  for (const Value& value : values)
    EXPECT_NEAR(value.got, value.expected, 2e-13 * std::abs(value.expected)) << value.name;
}

TEST(ScalarSpecial, FloatsRoundTheDoubleResult) {
  EXPECT_EQ(scalar::lgamma(2.5f), static_cast<float>(scalar::lgamma(2.5)));
  EXPECT_EQ(scalar::igamma(3.0f, 2.5f), static_cast<float>(scalar::igamma(3.0, 2.5)));
  EXPECT_EQ(scalar::expint(100.0f), std::numeric_limits<float>::infinity());
}

TEST(ScalarSpecial, FloatZetaHasTheDigitsOfFloat) {
  for (float x : {1.01f, 1.5f, 3.0f, 8.0f, 40.0f, 200.0f})
    for (float q : {0.01f, 0.4f, 1.0f, 7.5f, 90.0f, 3000.0f}) {
      double exact = scalar::zeta(static_cast<double>(x), static_cast<double>(q));
      if (exact < 1e-37 || exact > 1e38) continue;
      EXPECT_NEAR(static_cast<double>(scalar::zeta(x, q)), exact, 1e-7 * exact) << x << " " << q;
    }
}

TEST(ScalarSpecial, EdgesAreThoseOfTensorFlow) {
  const Value edges[] = {
      {"lgamma(0)", scalar::lgamma(0.0), infinity},
      {"lgamma(-2)", scalar::lgamma(-2.0), infinity},
      {"lgamma(-inf)", scalar::lgamma(-infinity), infinity},
      {"digamma(0)", scalar::digamma(0.0), nan},
      {"digamma(-3)", scalar::digamma(-3.0), nan},
      {"digamma(-1e-30)", scalar::digamma(-1e-30), 1e30},
      {"digamma(inf)", scalar::digamma(infinity), infinity},
      {"digamma(-inf)", scalar::digamma(-infinity), nan},
      {"zeta(1, nan)", scalar::zeta(1.0, nan), infinity},
      {"zeta(0.5, 1)", scalar::zeta(0.5, 1.0), nan},
      {"zeta(2, 0)", scalar::zeta(2.0, 0.0), infinity},
      {"zeta(2, -1e-30)", scalar::zeta(2.0, -1e-30), 1e60},
      {"zeta(3, 0)", scalar::zeta(3.0, 0.0), nan},
      {"zeta(1.5, -0.5)", scalar::zeta(1.5, -0.5), nan},
      {"zeta(2, inf)", scalar::zeta(2.0, infinity), 0.0},
      {"zeta(inf, 1)", scalar::zeta(infinity, 1.0), 1.0},
      {"polygamma(-1, 1)", scalar::polygamma(-1.0, 1.0), nan},
      {"polygamma(0.5, 1)", scalar::polygamma(0.5, 1.0), nan},
      {"polygamma(1, 0)", scalar::polygamma(1.0, 0.0), infinity},
      {"igamma(1, 0)", scalar::igamma(1.0, 0.0), 0.0},
      {"igamma(nan, 0)", scalar::igamma(nan, 0.0), 0.0},
      {"igamma(0, 1)", scalar::igamma(0.0, 1.0), nan},
      {"igamma(1, -1)", scalar::igamma(1.0, -1.0), nan},
      {"igamma(2, inf)", scalar::igamma(2.0, infinity), 1.0},
      {"igamma(inf, 2)", scalar::igamma(infinity, 2.0), 0.0},
      {"igammac(1, 0)", scalar::igammac(1.0, 0.0), 1.0},
      {"igammac(nan, 0)", scalar::igammac(nan, 0.0), nan},
      {"igammac(2, inf)", scalar::igammac(2.0, infinity), 0.0},
      {"igammac(inf, 2)", scalar::igammac(infinity, 2.0), 1.0},
      {"betainc(1, 1, 0)", scalar::betainc(1.0, 1.0, 0.0), 0.0},
      {"betainc(inf, 1, 1)", scalar::betainc(infinity, 1.0, 1.0), 1.0},
      {"betainc(0, 1, 0.5)", scalar::betainc(0.0, 1.0, 0.5), nan},
      {"betainc(1, 1, 2)", scalar::betainc(1.0, 1.0, 2.0), nan},
      {"erfinv(1)", scalar::erfinv(1.0), infinity},
      {"erfinv(-1)", scalar::erfinv(-1.0), -infinity},
      {"erfinv(2)", scalar::erfinv(2.0), nan},
      {"ndtri(0)", scalar::ndtri(0.0), -infinity},
      {"ndtri(1)", scalar::ndtri(1.0), infinity},
      {"ndtri(-1)", scalar::ndtri(-1.0), nan},
      {"spence(0)", scalar::spence(0.0), 1.6449340668482264},
      {"spence(-1)", scalar::spence(-1.0), nan},
      {"spence(inf)", scalar::spence(infinity), nan},
      {"dawsn(inf)", scalar::dawsn(infinity), 0.0},
      {"expint(0)", scalar::expint(0.0), -infinity},
      {"expint(-1)", scalar::expint(-1.0), nan},
      {"expint(inf)", scalar::expint(infinity), nan},
      {"fresnel_sin(-inf)", scalar::fresnel_sin(-infinity), -0.5},
      {"fresnel_cos(inf)", scalar::fresnel_cos(infinity), 0.5},
      {"bessel_i0(inf)", scalar::bessel_i0(infinity), nan},
      {"bessel_i0e(-inf)", scalar::bessel_i0e(-infinity), 0.0},
      {"bessel_k0(0)", scalar::bessel_k0(0.0), infinity},
      {"bessel_k1(-1)", scalar::bessel_k1(-1.0), infinity},
      {"bessel_k1e(inf)", scalar::bessel_k1e(infinity), 0.0},
      {"bessel_j0(inf)", scalar::bessel_j0(infinity), nan},
      {"bessel_y0(0)", scalar::bessel_y0(0.0), -infinity},
      {"bessel_y1(-1)", scalar::bessel_y1(-1.0), -infinity},
      {"bessel_y1(nan)", scalar::bessel_y1(nan), nan},
      {"nextafter(0, 1)", scalar::nextafter(0.0, 1.0), std::numeric_limits<double>::denorm_min()},
  };
  for (const Value& edge : edges) {
    if (std::isnan(edge.expected)) EXPECT_TRUE(std::isnan(edge.got)) << edge.name << " = " << edge.got;
    else EXPECT_DOUBLE_EQ(edge.got, edge.expected) << edge.name;
  }
}

using Complex = std::complex<double>;

void expect_near(Complex got, Complex expected, const char* name) {
  EXPECT_LE(std::abs(got - expected), 1e-15 * std::abs(expected) + 1e-300) << name << " = " << got;
}

TEST(ScalarComplex, ValuesAndEdges) {
  Complex x(0.6, -0.8);
  EXPECT_DOUBLE_EQ(scalar::abs(x), 1.0);
  expect_near(scalar::sign(Complex(3.0, -4.0)), x, "sign");
  EXPECT_EQ(scalar::sign(Complex(0.0, 0.0)), Complex(0.0, 0.0));
  expect_near(scalar::reciprocal(Complex(1e200, 1e200)), Complex(5e-201, -5e-201), "reciprocal");
  EXPECT_TRUE(std::isnan(scalar::reciprocal(Complex(0.0, 0.0)).real()));
  expect_near(scalar::rsqrt(Complex(-4.0, -0.0)), Complex(0.0, -0.5), "rsqrt");
  expect_near(scalar::expm1(Complex(1e-12, 1e-12)), Complex(1e-12, 1e-12 * (1 + 1e-12)), "expm1");
  expect_near(scalar::log1p(Complex(1e-12, 1e-12)), Complex(1e-12, 1e-12 * (1 - 1e-12)), "log1p");
  expect_near(scalar::sigmoid(Complex(0.0, 0.0)), Complex(0.5, 0.0), "sigmoid");
  expect_near(scalar::pow(x, Complex(2.0, 0.0)), x * x, "pow");
  expect_near(scalar::sin(scalar::asin(x)), x, "asin");
  expect_near(scalar::tanh(scalar::atanh(x)), x, "atanh");
  expect_near(scalar::exp(scalar::log(x)), x, "log");
}

TEST(ScalarComplex, FloatRootsAndLogarithmsAgreeWithDouble) {
  constexpr float end = std::numeric_limits<float>::infinity();
  const float parts[] = {0.0f,   -0.0f,  1.0f,  -1.0f, 0.6f, -0.8f, 3e38f,
                         -3e38f, 1e-30f, -2.5f, 7.0f,  end,  -end,  std::numeric_limits<float>::quiet_NaN()};
  auto check = [](float got, double expected, float a, float b, const char* name) {
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(got)) << name << " of " << a << " " << b;
    } else {
      EXPECT_FLOAT_EQ(got, static_cast<float>(expected)) << name << " of " << a << " " << b;
      EXPECT_EQ(std::signbit(got), std::signbit(expected)) << name << " of " << a << " " << b;
    }
  };
  for (float a : parts)
    for (float b : parts) {
      const std::complex<float> x(a, b);
      const Complex wide(a, b);
      check(scalar::sqrt(x).real(), std::sqrt(wide).real(), a, b, "sqrt");
      check(scalar::sqrt(x).imag(), std::sqrt(wide).imag(), a, b, "sqrt");
      check(scalar::log(x).imag(), std::log(wide).imag(), a, b, "log");
      if (a * a + b * b != 1.0f) check(scalar::log(x).real(), std::log(wide).real(), a, b, "log");
    }
  // Near a modulus of 1 the logarithm is small, and right.
  const double a = static_cast<double>(0.6f), b = static_cast<double>(0.8f);
  EXPECT_FLOAT_EQ(scalar::log(std::complex<float>(0.6f, 0.8f)).real(),
                  static_cast<float>(0.5 * std::log1p((b - 1.0) * (b + 1.0) + a * a)));
}
}  // namespace
