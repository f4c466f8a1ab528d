// The header of an .npy file: a Python dictionary with the dtype, the order and the shape.
#pragma once
#include <string>
#include <string_view>

#include "thalweg/core/dtype.h"
#include "thalweg/core/shape.h"
#include "thalweg/io/file.h"

namespace thalweg::io {

/// The first bytes of every .npy file.
inline constexpr std::string_view npy_magic = "\x93NUMPY";

/// How the elements lie in the file.
struct NpyHeader {
  DType dtype = DType::invalid;
  bool text = false;  // UTF-32, as 'U' stores it
  bool big_endian = false;
  bool fortran_order = false;
  bool objects = false;     // a pickle follows instead of elements
  uint64_t item_bytes = 0;  // of one element in the file
  Shape shape;
};

/// What to do with an array of Python objects.
enum class NpyObjects : bool { refuse, allow };
/// Reads magic, version and dictionary, and checks them: the bytes that shape and dtype ask for are there. An array of
/// objects, where it is allowed, has `objects` set and no dtype.
NpyHeader read_npy_header(ByteStream& in, NpyObjects objects = NpyObjects::refuse);
/// The header as `numpy.save` writes it, padded to 64 bytes. Strings are `item_bytes` wide.
std::string write_npy_header(DType dtype, uint64_t item_bytes, const Shape& shape);

}  // namespace thalweg::io
