// gzip: deflated bytes with a header and a checksum, one or several members in a row (RFC 1952).
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "thalweg/io/file.h"

namespace thalweg::io {

/// Whether the bytes begin as gzip's do.
THALWEG_API bool is_gzip(const ByteSource& source);

/// All bytes, decompressed and checked by CRC. DataLossError when they are damaged or cut short; ResourceExhaustedError
/// when there are more than `most_bytes`, so that a small file cannot fill the memory.
THALWEG_API std::vector<std::byte> read_gzip(const ByteSource& source, uint64_t most_bytes = uint64_t{1} << 34);

}  // namespace thalweg::io
