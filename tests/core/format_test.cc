// Texts that the real TensorFlow 2.15.1 (with NumPy 1.26.4) printed, character by character.
#include "thalweg/core/format.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <complex>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "thalweg/core/complex.h"

namespace thalweg {
namespace {
using namespace std::string_literals;

constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();

struct Sample {
  DType dtype;
  Shape shape;
  std::shared_ptr<const void> data;
};

// What the tables write for an element: floating types are written as doubles.
template <class T> using Written = std::conditional_t<is_floating(dtype_of<T>), double, T>;

template <class T> Sample sample(Shape shape, std::initializer_list<Written<T>> values) {
  std::shared_ptr<T[]> data(new T[values.size() + 1]);
  std::transform(values.begin(), values.end(), data.get(), [](const Written<T>& v) {
    if constexpr (is_half(dtype_of<T>)) return T(static_cast<float>(v));
    else return static_cast<T>(v);
  });
  return {dtype_of<T>, shape, std::shared_ptr<const void>(data, data.get())};
}

std::string str(const Sample& s) { return tensor_str(s.dtype, s.shape, s.data.get()); }
std::string repr(const Sample& s) { return tensor_repr(s.dtype, s.shape, s.data.get()); }
std::string summary(const Sample& s, int64_t summarize) {
  return format_summary(s.dtype, s.shape, s.data.get(), summarize);
}

TEST(Format, Scalars) {
  EXPECT_EQ((str(sample<float>({}, {3}))), "tf.Tensor(3.0, shape=(), dtype=float32)");
  EXPECT_EQ((repr(sample<float>({}, {3}))), "<tf.Tensor: shape=(), dtype=float32, numpy=3.0>");
  EXPECT_EQ((str(sample<float>({}, {0.1}))), "tf.Tensor(0.1, shape=(), dtype=float32)");
  EXPECT_EQ((str(sample<float>({}, {0.0001}))), "tf.Tensor(1e-04, shape=(), dtype=float32)");
  EXPECT_EQ((str(sample<double>({}, {1e+16}))), "tf.Tensor(1e+16, shape=(), dtype=float64)");
  EXPECT_EQ((str(sample<double>({}, {0.3333333333333333}))), "tf.Tensor(0.3333333333333333, shape=(), dtype=float64)");
  EXPECT_EQ((repr(sample<Half>({}, {0.3333333333333333}))), "<tf.Tensor: shape=(), dtype=float16, numpy=0.3333>");
  EXPECT_EQ((str(sample<Half>({}, {23328}))), "tf.Tensor(23330.0, shape=(), dtype=float16)");
  EXPECT_EQ((repr(sample<BFloat16>({}, {10000000000}))), "<tf.Tensor: shape=(), dtype=bfloat16, numpy=9.99922e+09>");
  EXPECT_EQ((str(sample<double>({}, {-0.0}))), "tf.Tensor(-0.0, shape=(), dtype=float64)");
  EXPECT_EQ((str(sample<float>({}, {nan}))), "tf.Tensor(nan, shape=(), dtype=float32)");
  EXPECT_EQ((repr(sample<double>({}, {-inf}))), "<tf.Tensor: shape=(), dtype=float64, numpy=-inf>");
  EXPECT_EQ((repr(sample<bool>({}, {true}))), "<tf.Tensor: shape=(), dtype=bool, numpy=True>");
  EXPECT_EQ((str(sample<int8_t>({}, {-128}))), "tf.Tensor(-128, shape=(), dtype=int8)");
  EXPECT_EQ((repr(sample<uint64_t>({}, {18446744073709551615U}))),
            "<tf.Tensor: shape=(), dtype=uint64, numpy=18446744073709551615>");
  EXPECT_EQ((str(sample<int64_t>({}, {INT64_MIN}))), "tf.Tensor(-9223372036854775808, shape=(), dtype=int64)");
  EXPECT_EQ((repr(sample<std::complex<float>>({}, {{1, 2}}))), "<tf.Tensor: shape=(), dtype=complex64, numpy=(1+2j)>");
  EXPECT_EQ((str(sample<std::complex<double>>({}, {{0, 2}}))), "tf.Tensor(2j, shape=(), dtype=complex128)");
  EXPECT_EQ((str(sample<std::complex<double>>({}, {{-0.0, nan}}))), "tf.Tensor((-0+nanj), shape=(), dtype=complex128)");
  EXPECT_EQ((repr(sample<std::string>({}, {"abc"}))), "<tf.Tensor: shape=(), dtype=string, numpy=b'abc'>");
  EXPECT_EQ((str(sample<std::string>({}, {"it's"}))), R"(tf.Tensor(b"it's", shape=(), dtype=string))");
  EXPECT_EQ((str(sample<std::string>({}, {"\042\303\251\012'"}))),
            R"(tf.Tensor(b'"\xc3\xa9\n\'', shape=(), dtype=string))");
}

TEST(Format, Vectors) {
  EXPECT_EQ((str(sample<float>({2}, {1, 2}))), "tf.Tensor([1. 2.], shape=(2,), dtype=float32)");
  EXPECT_EQ((repr(sample<float>({2}, {1, 2}))),
            "<tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>");
  EXPECT_EQ((repr(sample<double>({2}, {1, 2}))), "<tf.Tensor: shape=(2,), dtype=float64, numpy=array([1., 2.])>");
  EXPECT_EQ((repr(sample<int32_t>({3}, {1, -20, 300}))),
            "<tf.Tensor: shape=(3,), dtype=int32, numpy=array([  1, -20, 300], dtype=int32)>");
  EXPECT_EQ((repr(sample<int64_t>({2}, {1, 2}))), "<tf.Tensor: shape=(2,), dtype=int64, numpy=array([1, 2])>");
  EXPECT_EQ((str(sample<bool>({2}, {true, false}))), "tf.Tensor([ True False], shape=(2,), dtype=bool)");
  EXPECT_EQ((repr(sample<bool>({2}, {true, false}))),
            "<tf.Tensor: shape=(2,), dtype=bool, numpy=array([ True, False])>");
  EXPECT_EQ((repr(sample<BFloat16>({3}, {1.5, 10000000000, -0.0}))),
            "<tf.Tensor: shape=(3,), dtype=bfloat16, numpy=array([1.5, 9.99922e+09, -0], dtype=bfloat16)>");
  EXPECT_EQ((repr(sample<std::string>({2}, {"a", "bc"}))),
            "<tf.Tensor: shape=(2,), dtype=string, numpy=array([b'a', b'bc'], dtype=object)>");
  EXPECT_EQ((str(sample<std::string>({2}, {"\000\377"s, "\134"}))),
            R"(tf.Tensor([b'\x00\xff' b'\\'], shape=(2,), dtype=string))");
  EXPECT_EQ((repr(sample<uint8_t>({2}, {7, 200}))),
            "<tf.Tensor: shape=(2,), dtype=uint8, numpy=array([  7, 200], dtype=uint8)>");
}

TEST(Format, Numbers) {
  EXPECT_EQ((str(sample<float>({3}, {0.5, -0.25, 10}))), "tf.Tensor([ 0.5  -0.25 10.  ], shape=(3,), dtype=float32)");
  EXPECT_EQ((str(sample<float>({2}, {100000000, 1}))), "tf.Tensor([1.e+08 1.e+00], shape=(2,), dtype=float32)");
  EXPECT_EQ((str(sample<double>({2}, {99999999, 100000}))),
            "tf.Tensor([99999999.   100000.], shape=(2,), dtype=float64)");
  EXPECT_EQ((str(sample<double>({2}, {1e-05, 1}))), "tf.Tensor([1.e-05 1.e+00], shape=(2,), dtype=float64)");
  EXPECT_EQ((str(sample<float>({2}, {0.001, 1}))), "tf.Tensor([0.001 1.   ], shape=(2,), dtype=float32)");
  EXPECT_EQ((str(sample<float>({2}, {0.001, 1.001}))), "tf.Tensor([1.000e-03 1.001e+00], shape=(2,), dtype=float32)");
  EXPECT_EQ((str(sample<double>({3}, {1e-320, 1, 1e+300}))),
            "tf.Tensor([1.e-320 1.e+000 1.e+300], shape=(3,), dtype=float64)");
  EXPECT_EQ((str(sample<double>({2}, {0.3333333333333333, 0.6666666666666666}))),
            "tf.Tensor([0.33333333 0.66666667], shape=(2,), dtype=float64)");
  EXPECT_EQ((str(sample<Half>({3}, {1e-07, 1, 60000}))),
            "tf.Tensor([1.e-07 1.e+00 6.e+04], shape=(3,), dtype=float16)");
  EXPECT_EQ((str(sample<Half>({3}, {23328, 6552, 496.25}))),
            "tf.Tensor([23328.   6552.    496.2], shape=(3,), dtype=float16)");
  EXPECT_EQ((str(sample<float>({3}, {nan, inf, 1.5}))), "tf.Tensor([nan inf 1.5], shape=(3,), dtype=float32)");
  EXPECT_EQ((str(sample<float>({2}, {-inf, 1}))), "tf.Tensor([-inf   1.], shape=(2,), dtype=float32)");
  EXPECT_EQ((str(sample<float>({2}, {nan, -inf}))), "tf.Tensor([ nan -inf], shape=(2,), dtype=float32)");
  EXPECT_EQ((repr(sample<double>({3}, {0.3333333333333333, nan, 1e+20}))),
            "<tf.Tensor: shape=(3,), dtype=float64, numpy=array([3.33333333e-01,            nan, 1.00000000e+20])>");
  EXPECT_EQ((str(sample<std::complex<float>>({2}, {{1, 2}, {-1.5, -20.25}}))),
            "tf.Tensor([ 1.  +2.j   -1.5-20.25j], shape=(2,), dtype=complex64)");
  EXPECT_EQ((repr(sample<std::complex<double>>({2}, {{10000000000, nan}, {-0.0, inf}}))),
            "<tf.Tensor: shape=(2,), dtype=complex128, numpy=array([ 1.e+10+nanj, -0.e+00+infj])>");
}

TEST(Format, Shapes) {
  EXPECT_EQ((str(sample<float>({2, 2}, {2, 3, 4, 5}))),
            R"(tf.Tensor(
[[2. 3.]
 [4. 5.]], shape=(2, 2), dtype=float32))");
  EXPECT_EQ((repr(sample<float>({2, 2}, {2, 3, 4, 5}))),
            R"(<tf.Tensor: shape=(2, 2), dtype=float32, numpy=
array([[2., 3.],
       [4., 5.]], dtype=float32)>)");
  EXPECT_EQ((str(sample<int32_t>({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7}))),
            R"(tf.Tensor(
[[[0 1]
  [2 3]]

 [[4 5]
  [6 7]]], shape=(2, 2, 2), dtype=int32))");
  EXPECT_EQ((repr(sample<double>({2, 1, 2}, {0.5, 1, 2, 3}))),
            R"(<tf.Tensor: shape=(2, 1, 2), dtype=float64, numpy=
array([[[0.5, 1. ]],

       [[2. , 3. ]]])>)");
  EXPECT_EQ((str(sample<int64_t>({1, 2, 1, 2}, {1, 2, 3, 4}))),
            R"(tf.Tensor(
[[[[1 2]]

  [[3 4]]]], shape=(1, 2, 1, 2), dtype=int64))");
  EXPECT_EQ((repr(sample<uint16_t>({2, 1, 1, 1, 1}, {1, 2}))),
            R"(<tf.Tensor: shape=(2, 1, 1, 1, 1), dtype=uint16, numpy=
array([[[[[1]]]],



       [[[[2]]]]], dtype=uint16)>)");
  EXPECT_EQ((str(sample<int32_t>({30}, {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14,
                                        15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29}))),
            R"(tf.Tensor(
[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23
 24 25 26 27 28 29], shape=(30,), dtype=int32))");
  EXPECT_EQ((repr(sample<int32_t>({30}, {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14,
                                         15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29}))),
            R"(<tf.Tensor: shape=(30,), dtype=int32, numpy=
array([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16,
       17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29], dtype=int32)>)");
  EXPECT_EQ(
      (repr(sample<float>({12}, {0, 0.14285714285714285, 0.2857142857142857, 0.42857142857142855, 0.5714285714285714,
                                 0.7142857142857143, 0.8571428571428571, 1, 1.1428571428571428, 1.2857142857142858,
                                 1.4285714285714286, 1.5714285714285714}))),
      R"(<tf.Tensor: shape=(12,), dtype=float32, numpy=
array([0.        , 0.14285715, 0.2857143 , 0.42857143, 0.5714286 ,
       0.71428573, 0.85714287, 1.        , 1.1428572 , 1.2857143 ,
       1.4285715 , 1.5714285 ], dtype=float32)>)");
  EXPECT_EQ((repr(sample<Half>({11}, {0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10.5}))),
            R"(<tf.Tensor: shape=(11,), dtype=float16, numpy=
array([ 0.5,  1.5,  2.5,  3.5,  4.5,  5.5,  6.5,  7.5,  8.5,  9.5, 10.5],
      dtype=float16)>)");
  EXPECT_EQ((repr(sample<std::string>({2, 1}, {"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"}))),
            R"(<tf.Tensor: shape=(2, 1), dtype=string, numpy=
array([[b'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'],
       [b'yyyyyyyyyyyyyyyyyyyyyyyyyyyyyy']], dtype=object)>)");
  EXPECT_EQ((str(sample<float>({0}, {}))), "tf.Tensor([], shape=(0,), dtype=float32)");
  EXPECT_EQ((repr(sample<double>({0}, {}))), "<tf.Tensor: shape=(0,), dtype=float64, numpy=array([], dtype=float64)>");
  EXPECT_EQ((repr(sample<float>({0, 3}, {}))),
            "<tf.Tensor: shape=(0, 3), dtype=float32, numpy=array([], shape=(0, 3), dtype=float32)>");
  EXPECT_EQ((repr(sample<std::string>({2, 0}, {}))),
            "<tf.Tensor: shape=(2, 0), dtype=string, numpy=array([], shape=(2, 0), dtype=object)>");
}

TEST(Format, Summaries) {
  EXPECT_EQ((summary(sample<float>({}, {0.3333333333333333}), 3)), "0.333333343");
  EXPECT_EQ((summary(sample<std::string>({}, {"say \042hi\042\012"}), 3)), R"("say \"hi\"\n")");
  EXPECT_EQ((summary(sample<int32_t>({7}, {0, 1, 2, 3, 4, 5, 6}), 3)), "[0 1 2 ... 4 5 6]");
  EXPECT_EQ((summary(sample<int64_t>({6}, {0, 1, 2, 3, 4, 5}), 3)), "[0 1 2 3 4 5]");
  EXPECT_EQ((summary(sample<int32_t>({3, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}), 1)),
            R"([[[0 1]
  [2 3]]

 ...

 [[8 9]
  [10 11]]])");
  EXPECT_EQ((summary(sample<uint8_t>({8}, {0, 1, 2, 3, 4, 5, 6, 7}), -1)), "[0 1 2 3 4 5 6 7]");
  EXPECT_EQ((summary(sample<float>({3}, {0.1, 10000000000, -inf}), 3)), "[0.1 1e+10 -inf]");
  EXPECT_EQ((summary(sample<double>({3}, {0.1, 10000000000, 0.3333333333333333}), 3)),
            "[0.1 10000000000 0.33333333333333331]");
  EXPECT_EQ((summary(sample<BFloat16>({2}, {0.1, 1e-40}), 3)), "[0.100097656 0]");
  EXPECT_EQ((summary(sample<Half>({2}, {0.3333333333333333, 65504}), 3)), "[0.333251953 65504]");
  EXPECT_EQ((summary(sample<bool>({2}, {true, false}), 3)), "[1 0]");
  EXPECT_EQ((summary(sample<std::string>({2}, {"\303\251", "\001"}), 3)), R"(["é" "\001"])");
  EXPECT_EQ((summary(sample<std::complex<float>>({2}, {{1, 2}, {0, 0}}), 3)), "[? ?]");
  EXPECT_EQ((summary(sample<float>({0}, {}), 3)), "[]");
  EXPECT_EQ((summary(sample<float>({2, 0}, {}), 3)),
            R"([
 ...])");
}

TEST(Format, LargeTensorsShowTheirEdges) {
  std::vector<int32_t> numbers(2000);
  for (int i = 0; i < 2000; ++i) numbers[static_cast<size_t>(i)] = i;
  EXPECT_EQ(tensor_str(int32, {2, 1000}, numbers.data()),
            R"(tf.Tensor(
[[   0    1    2 ...  997  998  999]
 [1000 1001 1002 ... 1997 1998 1999]], shape=(2, 1000), dtype=int32))");
  EXPECT_EQ(
      tensor_repr(int32, {1001}, numbers.data()),
      "<tf.Tensor: shape=(1001,), dtype=int32, numpy=array([   0,    1,    2, ...,  998,  999, 1000], dtype=int32)>");
  std::vector<float> reals(7 * 7 * 30);
  for (size_t i = 0; i < reals.size(); ++i) reals[i] = static_cast<float>(i);
  EXPECT_EQ(tensor_str(float32, {7, 7, 30}, reals.data()),
            R"(tf.Tensor(
[[[0.000e+00 1.000e+00 2.000e+00 ... 2.700e+01 2.800e+01 2.900e+01]
  [3.000e+01 3.100e+01 3.200e+01 ... 5.700e+01 5.800e+01 5.900e+01]
  [6.000e+01 6.100e+01 6.200e+01 ... 8.700e+01 8.800e+01 8.900e+01]
  ...
  [1.200e+02 1.210e+02 1.220e+02 ... 1.470e+02 1.480e+02 1.490e+02]
  [1.500e+02 1.510e+02 1.520e+02 ... 1.770e+02 1.780e+02 1.790e+02]
  [1.800e+02 1.810e+02 1.820e+02 ... 2.070e+02 2.080e+02 2.090e+02]]

 [[2.100e+02 2.110e+02 2.120e+02 ... 2.370e+02 2.380e+02 2.390e+02]
  [2.400e+02 2.410e+02 2.420e+02 ... 2.670e+02 2.680e+02 2.690e+02]
  [2.700e+02 2.710e+02 2.720e+02 ... 2.970e+02 2.980e+02 2.990e+02]
  ...
  [3.300e+02 3.310e+02 3.320e+02 ... 3.570e+02 3.580e+02 3.590e+02]
  [3.600e+02 3.610e+02 3.620e+02 ... 3.870e+02 3.880e+02 3.890e+02]
  [3.900e+02 3.910e+02 3.920e+02 ... 4.170e+02 4.180e+02 4.190e+02]]

 [[4.200e+02 4.210e+02 4.220e+02 ... 4.470e+02 4.480e+02 4.490e+02]
  [4.500e+02 4.510e+02 4.520e+02 ... 4.770e+02 4.780e+02 4.790e+02]
  [4.800e+02 4.810e+02 4.820e+02 ... 5.070e+02 5.080e+02 5.090e+02]
  ...
  [5.400e+02 5.410e+02 5.420e+02 ... 5.670e+02 5.680e+02 5.690e+02]
  [5.700e+02 5.710e+02 5.720e+02 ... 5.970e+02 5.980e+02 5.990e+02]
  [6.000e+02 6.010e+02 6.020e+02 ... 6.270e+02 6.280e+02 6.290e+02]]

 ...

 [[8.400e+02 8.410e+02 8.420e+02 ... 8.670e+02 8.680e+02 8.690e+02]
  [8.700e+02 8.710e+02 8.720e+02 ... 8.970e+02 8.980e+02 8.990e+02]
  [9.000e+02 9.010e+02 9.020e+02 ... 9.270e+02 9.280e+02 9.290e+02]
  ...
  [9.600e+02 9.610e+02 9.620e+02 ... 9.870e+02 9.880e+02 9.890e+02]
  [9.900e+02 9.910e+02 9.920e+02 ... 1.017e+03 1.018e+03 1.019e+03]
  [1.020e+03 1.021e+03 1.022e+03 ... 1.047e+03 1.048e+03 1.049e+03]]

 [[1.050e+03 1.051e+03 1.052e+03 ... 1.077e+03 1.078e+03 1.079e+03]
  [1.080e+03 1.081e+03 1.082e+03 ... 1.107e+03 1.108e+03 1.109e+03]
  [1.110e+03 1.111e+03 1.112e+03 ... 1.137e+03 1.138e+03 1.139e+03]
  ...
  [1.170e+03 1.171e+03 1.172e+03 ... 1.197e+03 1.198e+03 1.199e+03]
  [1.200e+03 1.201e+03 1.202e+03 ... 1.227e+03 1.228e+03 1.229e+03]
  [1.230e+03 1.231e+03 1.232e+03 ... 1.257e+03 1.258e+03 1.259e+03]]

 [[1.260e+03 1.261e+03 1.262e+03 ... 1.287e+03 1.288e+03 1.289e+03]
  [1.290e+03 1.291e+03 1.292e+03 ... 1.317e+03 1.318e+03 1.319e+03]
  [1.320e+03 1.321e+03 1.322e+03 ... 1.347e+03 1.348e+03 1.349e+03]
  ...
  [1.380e+03 1.381e+03 1.382e+03 ... 1.407e+03 1.408e+03 1.409e+03]
  [1.410e+03 1.411e+03 1.412e+03 ... 1.437e+03 1.438e+03 1.439e+03]
  [1.440e+03 1.441e+03 1.442e+03 ... 1.467e+03 1.468e+03 1.469e+03]]], shape=(7, 7, 30), dtype=float32))");
}

TEST(Format, ValuesAloneAndScalars) {
  double values[] = {0.1, 2};
  EXPECT_EQ(format_values(float64, {2}, values, FormatStyle::str), "[0.1 2. ]");
  EXPECT_EQ(format_values(float64, {2}, values, FormatStyle::repr), "array([0.1, 2. ])");
  EXPECT_EQ(scalar_str(float64, values), "0.1");
  EXPECT_EQ(scalar_str(float64, values + 1), "2.0");
}

TEST(Format, DoesNotReadWhatItDoesNotShow) {
  std::vector<float> values(4'000'000, 1.5f);
  auto start = std::chrono::steady_clock::now();
  std::string text = tensor_str(float32, {4'000'000}, values.data());
  auto elapsed = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(text, "tf.Tensor([1.5 1.5 1.5 ... 1.5 1.5 1.5], shape=(4000000,), dtype=float32)");
  EXPECT_LT(elapsed, std::chrono::milliseconds(100));
}
}  // namespace
}  // namespace thalweg
