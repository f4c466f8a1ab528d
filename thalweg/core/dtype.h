// The element types of tensors, numbered as TensorFlow numbers them, and sets of them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <type_traits>

#include "thalweg/core/export.h"

namespace thalweg {

/// An element type. The numbers are those of TensorFlow's `DataType`, so files and graphs need no translation.
enum class DType : uint8_t {
  invalid = 0,
  float32 = 1,
  float64 = 2,
  int32 = 3,
  uint8 = 4,
  int16 = 5,
  int8 = 6,
  string = 7,
  complex64 = 8,
  int64 = 9,
  bool_ = 10,
  bfloat16 = 14,
  uint16 = 17,
  complex128 = 18,
  float16 = 19,
  resource = 20,
  variant = 21,
  uint32 = 22,
  uint64 = 23,
};
inline constexpr int num_dtypes = 24;

inline constexpr DType float16 = DType::float16, bfloat16 = DType::bfloat16, float32 = DType::float32,
                       float64 = DType::float64, int8 = DType::int8, int16 = DType::int16, int32 = DType::int32,
                       int64 = DType::int64, uint8 = DType::uint8, uint16 = DType::uint16, uint32 = DType::uint32,
                       uint64 = DType::uint64, bool_ = DType::bool_, complex64 = DType::complex64,
                       complex128 = DType::complex128, string = DType::string, resource = DType::resource,
                       variant = DType::variant, half = DType::float16, double_ = DType::float64;

/// Bytes of one element as it lies in memory; strings are `std::string`, handles are shared pointers.
constexpr size_t size_of(DType t) {
  constexpr uint8_t bytes[num_dtypes] = {0, 4, 8, 4, 1, 2, 1, 32, 8, 8, 1, 0, 0, 0, 2, 0, 0, 2, 16, 2, 16, 16, 4, 8};
  return bytes[static_cast<int>(t)];
}
static_assert(sizeof(std::string) == 32);

/// TensorFlow's Python name: `float32`, `bool`, `string`.
THALWEG_API std::string_view name_of(DType t);
/// TensorFlow's text: `<dtype: 'float32'>`.
THALWEG_API std::ostream& operator<<(std::ostream& out, DType dtype);
/// The dtype with this name (`float`, `double` and `half` too), or `invalid`.
THALWEG_API DType dtype_named(std::string_view name);

/// A dtype or its name among options, `.dtype = "int32"`; ValueError for a name that is none.
class DTypeOrName {
 public:
  constexpr DTypeOrName() = default;
  constexpr DTypeOrName(DType dtype) : dtype_(dtype) {}            // NOLINT
  DTypeOrName(const char* name) : dtype_(checked(name)) {}         // NOLINT
  DTypeOrName(const std::string& name) : dtype_(checked(name)) {}  // NOLINT
  constexpr operator DType() const { return dtype_; }              // NOLINT

 private:
  static THALWEG_API DType checked(std::string_view name);

  DType dtype_ = DType::invalid;
};

/// A set of dtypes; structural, so that it can be a template argument.
struct TypeSet {
  uint32_t bits = 0;
  constexpr bool has(DType t) const { return (bits >> static_cast<int>(t) & 1u) != 0; }
  constexpr bool empty() const { return bits == 0; }
  constexpr TypeSet operator|(TypeSet o) const { return {bits | o.bits}; }
  constexpr TypeSet operator&(TypeSet o) const { return {bits & o.bits}; }
  constexpr TypeSet operator-(TypeSet o) const { return {bits & ~o.bits}; }
  constexpr bool operator==(const TypeSet&) const = default;
};
template <class... D> constexpr TypeSet types(D... dtype) { return {((1u << static_cast<int>(dtype)) | ... | 0u)}; }
THALWEG_API std::string to_string(TypeSet set);

inline constexpr TypeSet half_types = types(float16, bfloat16);
inline constexpr TypeSet float_types = half_types | types(float32, float64);
inline constexpr TypeSet signed_types = types(int8, int16, int32, int64);
inline constexpr TypeSet unsigned_types = types(uint8, uint16, uint32, uint64);
inline constexpr TypeSet int_types = signed_types | unsigned_types;
inline constexpr TypeSet index_types = types(int32, int64);
inline constexpr TypeSet complex_types = types(complex64, complex128);
inline constexpr TypeSet real_types = float_types | int_types;
inline constexpr TypeSet number_types = real_types | complex_types;
/// Every type whose elements are plain bytes.
/// What has derivatives.
inline constexpr TypeSet differentiable_types = float_types | complex_types;
inline constexpr TypeSet plain_types = number_types | types(bool_);
inline constexpr TypeSet all_types = plain_types | types(string, resource, variant);

constexpr bool is_floating(DType t) { return float_types.has(t); }
constexpr bool is_integer(DType t) { return int_types.has(t); }
constexpr bool is_complex(DType t) { return complex_types.has(t); }
constexpr bool is_half(DType t) { return half_types.has(t); }
/// Elements that must be constructed and destroyed one by one.
constexpr bool is_object(DType t) { return t == string || t == resource || t == variant; }
/// complex64 -> float32, complex128 -> float64, others themselves.
constexpr DType real_of(DType t) { return t == complex64 ? float32 : t == complex128 ? float64 : t; }
/// float32 -> complex64, float64 -> complex128.
constexpr DType complex_of(DType t) { return t == float64 ? complex128 : complex64; }

/// IEEE half precision, storage only: kernels compute in float.
struct Half {
  uint16_t bits = 0;
  Half() = default;
  explicit Half(float value);
  explicit operator float() const;
  bool operator==(const Half& o) const { return static_cast<float>(*this) == static_cast<float>(o); }
};
/// The upper half of a float, rounded to nearest even; storage only.
struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float value);
  explicit operator float() const;
  bool operator==(const BFloat16& o) const { return static_cast<float>(*this) == static_cast<float>(o); }
};

namespace detail {
/// The conversions for compilers that have no type of half precision (clang before 15).
THALWEG_API uint16_t half_bits(float value);
THALWEG_API float half_value(uint16_t bits);
}  // namespace detail
#ifdef __FLT16_MANT_DIG__
inline Half::Half(float value) { bits = __builtin_bit_cast(uint16_t, static_cast<_Float16>(value)); }
inline Half::operator float() const { return static_cast<float>(__builtin_bit_cast(_Float16, bits)); }
#else
inline Half::Half(float value) { bits = detail::half_bits(value); }
inline Half::operator float() const { return detail::half_value(bits); }
#endif
inline BFloat16::BFloat16(float value) {
  uint32_t u = __builtin_bit_cast(uint32_t, value);
  bits = value != value ? static_cast<uint16_t>(u >> 16 | 0x40)
                        : static_cast<uint16_t>((u + 0x7fff + (u >> 16 & 1)) >> 16);
}
inline BFloat16::operator float() const { return __builtin_bit_cast(float, static_cast<uint32_t>(bits) << 16); }

/// The dtype of a C++ type; `invalid` where there is none. `core/complex.h` adds the complex types.
template <class T> inline constexpr DType dtype_of = DType::invalid;
template <> inline constexpr DType dtype_of<float> = DType::float32;
template <> inline constexpr DType dtype_of<double> = DType::float64;
template <> inline constexpr DType dtype_of<int8_t> = DType::int8;
template <> inline constexpr DType dtype_of<int16_t> = DType::int16;
template <> inline constexpr DType dtype_of<int32_t> = DType::int32;
template <> inline constexpr DType dtype_of<int64_t> = DType::int64;
template <> inline constexpr DType dtype_of<long long> = DType::int64;
template <> inline constexpr DType dtype_of<uint8_t> = DType::uint8;
template <> inline constexpr DType dtype_of<uint16_t> = DType::uint16;
template <> inline constexpr DType dtype_of<uint32_t> = DType::uint32;
template <> inline constexpr DType dtype_of<uint64_t> = DType::uint64;
template <> inline constexpr DType dtype_of<unsigned long long> = DType::uint64;
template <> inline constexpr DType dtype_of<bool> = DType::bool_;
template <> inline constexpr DType dtype_of<Half> = DType::float16;
template <> inline constexpr DType dtype_of<BFloat16> = DType::bfloat16;
template <> inline constexpr DType dtype_of<std::string> = DType::string;

/// A C++ type that tensors can hold.
template <class T>
concept Element = static_cast<int>(dtype_of<std::remove_cv_t<T>>) != 0;

/// The C++ type of a dtype, for kernels: `CppType<DType::float32>` is `float`.
template <DType> struct CppTypeOf;
template <> struct CppTypeOf<DType::float32> {
  using type = float;
};
template <> struct CppTypeOf<DType::float64> {
  using type = double;
};
template <> struct CppTypeOf<DType::int8> {
  using type = int8_t;
};
template <> struct CppTypeOf<DType::int16> {
  using type = int16_t;
};
template <> struct CppTypeOf<DType::int32> {
  using type = int32_t;
};
template <> struct CppTypeOf<DType::int64> {
  using type = int64_t;
};
template <> struct CppTypeOf<DType::uint8> {
  using type = uint8_t;
};
template <> struct CppTypeOf<DType::uint16> {
  using type = uint16_t;
};
template <> struct CppTypeOf<DType::uint32> {
  using type = uint32_t;
};
template <> struct CppTypeOf<DType::uint64> {
  using type = uint64_t;
};
template <> struct CppTypeOf<DType::bool_> {
  using type = bool;
};
template <> struct CppTypeOf<DType::float16> {
  using type = Half;
};
template <> struct CppTypeOf<DType::bfloat16> {
  using type = BFloat16;
};
template <> struct CppTypeOf<DType::string> {
  using type = std::string;
};
template <DType D> using CppType = typename CppTypeOf<D>::type;

}  // namespace thalweg
