// Files as the formats need them: reads at any place that never run past the end, and writes that are all or nothing.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "thalweg/core/export.h"

namespace thalweg::io {

/// Bytes that can be read at any place, from several threads: a file, or memory.
class THALWEG_API ByteSource {
 public:
  /// NotFoundError when there is no such file, InvalidArgumentError when it is a folder or a device.
  static ByteSource open(const std::string& path);
  /// Memory that outlives the source; `name` stands for it in errors.
  static ByteSource view(std::span<const std::byte> bytes, std::string name);
  /// A copy of the memory.
  static ByteSource copy(std::span<const std::byte> bytes, std::string name);

  const std::string& name() const { return name_; }
  uint64_t size() const { return size_; }
  /// Fills `out` with the bytes from `offset` on; DataLossError when there are not as many.
  void read(uint64_t offset, std::span<std::byte> out) const;

 private:
  std::string name_;
  uint64_t size_ = 0;
  const std::byte* memory_ = nullptr;
  int descriptor_ = -1;
  std::shared_ptr<const void> owner_;  // closes the file or frees the copy
};

/// Bytes that are read once, from the first to the last.
class THALWEG_API ByteStream {
 public:
  virtual ~ByteStream();
  /// What it reads from, for errors.
  virtual const std::string& name() const = 0;
  /// How many bytes are left, as far as the source declares it.
  virtual uint64_t remaining() const = 0;
  /// Fills `out`; DataLossError when there are not as many bytes.
  virtual void read(std::span<std::byte> out) = 0;
};

/// A stretch of a source, as a stream.
class THALWEG_API SourceStream : public ByteStream {
 public:
  explicit SourceStream(const ByteSource& source) : SourceStream(source, 0, source.size()) {}
  SourceStream(ByteSource source, uint64_t begin, uint64_t end) : source_(std::move(source)), at_(begin), end_(end) {}
  const std::string& name() const override { return source_.name(); }
  uint64_t remaining() const override { return end_ - at_; }
  void read(std::span<std::byte> out) override;

 private:
  ByteSource source_;
  uint64_t at_, end_;
};

/// Reads `count` bytes, growing as they come, so that a count that lies costs no more than the bytes there are.
THALWEG_API std::vector<std::byte> read_bytes(ByteStream& in, uint64_t count);

/// A file that appears whole, with `commit`, or not at all: written beside its place, synced, renamed.
class THALWEG_API AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  const std::string& path() const { return path_; }
  /// Bytes written so far.
  uint64_t size() const { return size_; }
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  /// Writes over what is there already.
  void overwrite(uint64_t offset, std::string_view text);
  /// Puts the file in its place; until then, what was there stays.
  void commit();

 private:
  void put(uint64_t offset, std::span<const std::byte> bytes);

  std::string path_, temporary_;
  int descriptor_ = -1;
  uint64_t size_ = 0;
};

}  // namespace thalweg::io
