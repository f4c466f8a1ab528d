#include "thalweg/io/idx.h"

#include <algorithm>
#include <cstring>

#include "thalweg/core/error.h"
#include "thalweg/io/file.h"
#include "thalweg/io/gzip.h"

namespace thalweg::io {
namespace {

DType dtype_of_code(std::byte code) {
  switch (static_cast<int>(code)) {
    case 0x08:
      return DType::uint8;
    case 0x09:
      return DType::int8;
    case 0x0b:
      return DType::int16;
    case 0x0c:
      return DType::int32;
    case 0x0d:
      return DType::float32;
    case 0x0e:
      return DType::float64;
    default:
      return DType::invalid;
  }
}

}  // namespace

Tensor parse_idx(std::span<const std::byte> bytes, const std::string& name) {
  auto damaged = [&](const std::string& what) -> errors::DataLossError {
    return errors::DataLossError(name + " is not a sound IDX array: " + what);
  };
  if (bytes.size() < 4 || bytes[0] != std::byte{0} || bytes[1] != std::byte{0})
    throw damaged("it does not begin with two zeros, a type and a rank");
  DType dtype = dtype_of_code(bytes[2]);
  if (dtype == DType::invalid) throw damaged("its type has the unknown number " + std::to_string(int(bytes[2])));
  auto rank = static_cast<size_t>(bytes[3]);
  if (rank > Shape::max_rank) throw damaged("it has " + std::to_string(rank) + " dimensions");
  if (bytes.size() < 4 + 4 * rank) throw damaged("its dimensions are cut short");
  std::vector<int64_t> dims;
  auto total = static_cast<int64_t>(size_of(dtype));
  for (size_t i = 0; i < rank; ++i) {
    uint32_t dim = 0;
    for (size_t k = 0; k < 4; ++k) dim = dim << 8 | static_cast<uint32_t>(bytes[4 + 4 * i + k]);
    dims.push_back(dim);
    if (__builtin_mul_overflow(total, dims.back(), &total))
      throw damaged("its dimensions ask for more than 2^63 bytes");
  }
  std::span<const std::byte> elements = bytes.subspan(4 + 4 * rank);
  if (static_cast<uint64_t>(total) != elements.size())
    throw damaged("shape " + Shape(dims).str() + " needs " + std::to_string(total) + " bytes, " +
                  std::to_string(elements.size()) + " are there");
  Tensor tensor = Tensor::empty(dtype, Shape(dims));
  auto* out = tensor.mutable_data<std::byte>();
  if (!elements.empty()) std::memcpy(out, elements.data(), elements.size());
  size_t width = size_of(dtype);
  for (size_t i = 0; width > 1 && i < elements.size(); i += width) std::reverse(out + i, out + i + width);
  return tensor;
}

Tensor load_idx(const std::string& path) {
  ByteSource source = ByteSource::open(path);
  if (is_gzip(source)) return parse_idx(read_gzip(source), path);
  SourceStream in(source);
  return parse_idx(read_bytes(in, source.size()), path);
}

}  // namespace thalweg::io
