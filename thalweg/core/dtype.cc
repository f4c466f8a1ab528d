#include "thalweg/core/dtype.h"

#include <array>

#include "thalweg/core/error.h"

namespace thalweg {
namespace {
constexpr std::array<std::string_view, num_dtypes> names = {
    "invalid",   "float32", "float64",    "int32",   "uint8",    "int16",   "int8",     "string",
    "complex64", "int64",   "bool",       "",        "",         "",        "bfloat16", "",
    "",          "uint16",  "complex128", "float16", "resource", "variant", "uint32",   "uint64"};
}

std::string_view name_of(DType t) { return names[static_cast<size_t>(t)]; }

DType dtype_named(std::string_view name) {
  if (name == "float") return DType::float32;
  if (name == "double") return DType::float64;
  if (name == "half") return DType::float16;
  for (size_t i = 1; i < names.size(); ++i)
    if (!names[i].empty() && names[i] == name) return static_cast<DType>(i);
  return DType::invalid;
}

std::string to_string(TypeSet set) {
  std::string text;
  for (int i = 1; i < num_dtypes; ++i) {
    if (!set.has(static_cast<DType>(i))) continue;
    if (!text.empty()) text += ", ";
    text += names[static_cast<size_t>(i)];
  }
  return text;
}
DType DTypeOrName::checked(std::string_view name) {
  const DType dtype = dtype_named(name);
  if (dtype == DType::invalid) throw ValueError("'" + std::string(name) + "' is no dtype");
  return dtype;
}

uint16_t detail::half_bits(float value) { return Half(value).bits; }
float detail::half_value(uint16_t bits) {
  Half half;
  half.bits = bits;
  return static_cast<float>(half);
}

}  // namespace thalweg
