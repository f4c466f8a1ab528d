// Zip archives: stored and deflated entries, checked by CRC, zip64; no encryption.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "thalweg/io/file.h"

namespace thalweg::io {

/// One entry of an archive, as its central directory describes it.
struct ZipEntry {
  std::string name;
  bool deflated = false;
  uint32_t crc = 0;
  uint64_t compressed_size = 0;
  uint64_t size = 0;
  uint64_t header_offset = 0;
};

/// Reads an archive. Its directory is checked when it is opened, an entry's bytes when they are read.
class THALWEG_API ZipReader {
 public:
  /// DataLossError when it is no archive or a damaged one; InvalidArgumentError for encryption and other methods.
  explicit ZipReader(ByteSource source);

  const std::string& name() const { return source_.name(); }
  const std::vector<ZipEntry>& entries() const { return entries_; }
  /// The entry with this name (the last, as in Python), or null.
  const ZipEntry* find(std::string_view name) const;
  /// The entry's bytes as a stream that throws DataLossError at the last one unless size and CRC are as declared.
  std::unique_ptr<ByteStream> open(const ZipEntry& entry) const;
  /// All bytes of an entry.
  std::vector<std::byte> read(const ZipEntry& entry) const;

 private:
  ByteSource source_;
  std::vector<ZipEntry> entries_;
};

/// Writes an archive; the file appears with `finish`, or not at all. Equal contents give equal bytes.
class THALWEG_API ZipWriter {
 public:
  explicit ZipWriter(const std::string& path);
  ~ZipWriter();

  /// Starts an entry of exactly `size` bytes.
  void begin_entry(const std::string& name, uint64_t size, bool deflate);
  void write(std::span<const std::byte> bytes);
  void end_entry();
  /// Writes the directory and puts the file in its place.
  void finish();

 private:
  struct Deflater;
  void drain(bool last);

  AtomicFile file_;
  std::vector<ZipEntry> entries_;
  uint64_t data_offset_ = 0;
  uint64_t written_ = 0;
  std::unique_ptr<Deflater> deflater_;
};

}  // namespace thalweg::io
