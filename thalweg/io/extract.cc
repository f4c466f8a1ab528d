#include "thalweg/io/extract.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "thalweg/core/error.h"
#include "thalweg/io/file.h"
#include "thalweg/io/gzip.h"
#include "thalweg/io/tar.h"
#include "thalweg/io/zip.h"

namespace thalweg::io {
namespace {
namespace fs = std::filesystem;

/// Where a member goes. Symbolic links that are in the folder already could lead out of it, so they are refused too.
fs::path place_of(const std::string& archive, const fs::path& folder, const std::string& name) {
  fs::path relative = fs::path(name).lexically_normal();
  if (name.empty() || name.find('\0') != std::string::npos || relative.is_absolute() ||
      std::find(relative.begin(), relative.end(), "..") != relative.end())
    throw InvalidArgumentError(archive + " has a member named '" + name + "', which leads out of the folder");
  fs::path place = folder;
  std::error_code ignored;
  for (const fs::path& part : relative) {
    place /= part;
    if (fs::is_symlink(place, ignored))
      throw InvalidArgumentError(place.string() + " is a symbolic link, which members of " + archive +
                                 " must not go through");
  }
  return place;
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw errors::PermissionDeniedError("cannot make the folder " + folder.string() + ": " + error.message());
}

void write_file(const fs::path& place, ByteStream& in) {
  make_folder(place.parent_path());
  AtomicFile file(place.string());
  std::vector<std::byte> chunk(1 << 20);
  while (in.remaining() > 0) {
    auto part = std::span(chunk).first(static_cast<size_t>(std::min<uint64_t>(chunk.size(), in.remaining())));
    in.read(part);
    file.write(part);
  }
  file.commit();
}

void extract_tar(const ByteSource& source, const std::vector<TarEntry>& entries, const fs::path& folder) {
  for (const TarEntry& entry : entries)
    if (entry.kind != TarEntry::Kind::other) place_of(source.name(), folder, entry.name);
  for (const TarEntry& entry : entries) {
    if (entry.kind == TarEntry::Kind::other) continue;
    fs::path place = place_of(source.name(), folder, entry.name);
    if (entry.kind == TarEntry::Kind::folder) {
      make_folder(place);
      continue;
    }
    SourceStream in(source, entry.offset, entry.offset + entry.size);
    write_file(place, in);
  }
}

void extract_zip(const ZipReader& zip, const fs::path& folder) {
  for (const ZipEntry& entry : zip.entries()) place_of(zip.name(), folder, entry.name);
  for (const ZipEntry& entry : zip.entries()) {
    fs::path place = place_of(zip.name(), folder, entry.name);
    if (entry.name.ends_with('/')) make_folder(place);
    else write_file(place, *zip.open(entry));
  }
}

bool looks_like_zip(const ByteSource& source) {
  std::array<std::byte, 2> start = {};
  if (source.size() < 22) return false;
  source.read(0, start);
  return start[0] == std::byte{'P'} && start[1] == std::byte{'K'};
}

// A header of tar has "ustar" in it; older ones begin with a name and have a sound checksum, which the reader asks for.
bool looks_like_tar(const ByteSource& source) {
  std::array<char, 5> mark = {};
  if (source.size() < 512) return false;
  source.read(257, std::as_writable_bytes(std::span(mark)));
  return std::string_view(mark.data(), mark.size()) == "ustar";
}

}  // namespace

bool extract_archive(const std::string& path, const std::string& folder, ArchiveFormat format) {
  ByteSource source = ByteSource::open(path);
  if (format != ArchiveFormat::tar && looks_like_zip(source)) {
    extract_zip(ZipReader(source), folder);
    return true;
  }
  if (format == ArchiveFormat::zip) return false;
  std::vector<std::byte> inside;
  if (is_gzip(source)) {
    inside = read_gzip(source);
    source = ByteSource::view(inside, path);
  }
  if (!looks_like_tar(source)) return false;
  extract_tar(source, read_tar(source), folder);
  return true;
}

}  // namespace thalweg::io
