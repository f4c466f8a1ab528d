// Digests that files are known by. MD5 tells damaged files from whole ones; it stops nobody who means harm.
#pragma once
#include <string>

#include "thalweg/io/file.h"

namespace thalweg::io {

/// SHA-256 of the rest of a stream, in lower-case hexadecimal digits (FIPS 180-4).
THALWEG_API std::string sha256(ByteStream& in);
/// MD5 of the rest of a stream (RFC 1321).
THALWEG_API std::string md5(ByteStream& in);

}  // namespace thalweg::io
