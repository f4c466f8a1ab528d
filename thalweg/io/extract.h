// Archives unpacked into a folder.
#pragma once
#include <string>

#include "thalweg/core/export.h"

namespace thalweg::io {

enum class ArchiveFormat { any, tar, zip };

/// Unpacks a tar archive (plain or with gzip) or a zip archive; false when the file is neither, or not the one asked
/// for. Nothing is written outside of `folder`: names that lead out of it are an InvalidArgumentError before anything
/// is written; links and devices are left out.
THALWEG_API bool extract_archive(const std::string& path, const std::string& folder,
                                 ArchiveFormat format = ArchiveFormat::any);

}  // namespace thalweg::io
