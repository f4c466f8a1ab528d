// Tar archives: POSIX ustar with pax headers, and GNU's long names and large sizes.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "thalweg/io/file.h"

namespace thalweg::io {

/// One member of an archive.
struct TarEntry {
  enum class Kind { file, folder, other };  // links and devices are others

  std::string name;
  Kind kind = Kind::file;
  uint64_t offset = 0;  // of its bytes in the archive
  uint64_t size = 0;
};

/// The members in the order of the archive; DataLossError when it is none or a damaged one.
THALWEG_API std::vector<TarEntry> read_tar(const ByteSource& source);

}  // namespace thalweg::io
