#include "thalweg/io/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "thalweg/core/error.h"

namespace thalweg::io {
namespace {

[[noreturn]] void throw_errno(const std::string& what, const std::string& path) {
  int number = errno;
  std::string message = what + " " + path + ": " + std::strerror(number);
  switch (number) {
    case ENOENT:
    case ENOTDIR:
      throw NotFoundError(message);
    case EACCES:
    case EPERM:
    case EROFS:
      throw errors::PermissionDeniedError(message);
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      throw ResourceExhaustedError(message);
    case EISDIR:
    case ENAMETOOLONG:
    case EINVAL:
      throw InvalidArgumentError(message);
    default:
      throw errors::UnknownError(message);
  }
}

std::string folder_of(const std::string& path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

ByteSource ByteSource::open(const std::string& path) {
  // Without O_NONBLOCK a named pipe would wait for a writer before it can be refused.
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) throw_errno("cannot open", path);
  ByteSource source;
  source.name_ = path;
  source.descriptor_ = descriptor;
  source.owner_ = std::shared_ptr<const void>(nullptr, [descriptor](const void*) { ::close(descriptor); });
  struct stat status = {};
  if (::fstat(descriptor, &status) != 0) throw_errno("cannot read", path);
  if (!S_ISREG(status.st_mode)) throw InvalidArgumentError(path + " is not a regular file");
  source.size_ = static_cast<uint64_t>(status.st_size);
  return source;
}

ByteSource ByteSource::view(std::span<const std::byte> bytes, std::string name) {
  ByteSource source;
  source.name_ = std::move(name);
  source.size_ = bytes.size();
  source.memory_ = bytes.data();
  return source;
}

ByteSource ByteSource::copy(std::span<const std::byte> bytes, std::string name) {
  auto owned = std::make_shared<std::vector<std::byte>>(bytes.begin(), bytes.end());
  ByteSource source = view(*owned, std::move(name));
  source.owner_ = std::move(owned);
  return source;
}

void ByteSource::read(uint64_t offset, std::span<std::byte> out) const {
  if (out.empty()) return;
  if (offset > size_ || out.size() > size_ - offset)
    throw errors::DataLossError(name_ + " is truncated: " + std::to_string(out.size()) +
                                " bytes are needed at offset " + std::to_string(offset) + ", it has " +
                                std::to_string(size_));
  if (memory_) {
    std::memcpy(out.data(), memory_ + offset, out.size());
    return;
  }
  while (!out.empty()) {
    ssize_t got = ::pread(descriptor_, out.data(), std::min(out.size(), size_t{1} << 30), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_errno("cannot read", name_);
    if (got == 0) throw errors::DataLossError(name_ + " became shorter while it was read");
    out = out.subspan(static_cast<size_t>(got));
    offset += static_cast<uint64_t>(got);
  }
}

ByteStream::~ByteStream() = default;

void SourceStream::read(std::span<std::byte> out) {
  if (out.size() > remaining())
    throw errors::DataLossError(name() + " is truncated: " + std::to_string(out.size()) + " bytes are needed, " +
                                std::to_string(remaining()) + " are left");
  source_.read(at_, out);
  at_ += out.size();
}

std::vector<std::byte> read_bytes(ByteStream& in, uint64_t count) {
  if (count > in.remaining())
    throw errors::DataLossError(in.name() + " is truncated: " + std::to_string(count) + " bytes are needed, " +
                                std::to_string(in.remaining()) + " are left");
  std::vector<std::byte> bytes;
  while (bytes.size() < count) {
    size_t before = bytes.size();
    uint64_t step = std::min<uint64_t>(count - before, std::max<uint64_t>(before, 1 << 20));
    bytes.resize(before + static_cast<size_t>(step));
    in.read(std::span(bytes).subspan(before));
  }
  return bytes;
}

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  static std::atomic<uint64_t> counter{0};
  while (descriptor_ < 0) {
    temporary_ = path_ + "." + std::to_string(::getpid()) + "." + std::to_string(counter++) + ".tmp";
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno != EEXIST) throw_errno("cannot write", path_);
  }
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
    ::unlink(temporary_.c_str());
  }
}

void AtomicFile::put(uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    ssize_t written =
        ::pwrite(descriptor_, bytes.data(), std::min(bytes.size(), size_t{1} << 30), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw_errno("cannot write", path_);
    bytes = bytes.subspan(static_cast<size_t>(written));
    offset += static_cast<uint64_t>(written);
  }
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  put(size_, bytes);
  size_ += bytes.size();
}

void AtomicFile::overwrite(uint64_t offset, std::string_view text) { put(offset, std::as_bytes(std::span(text))); }

void AtomicFile::commit() {
  if (::fsync(descriptor_) != 0) throw_errno("cannot write", path_);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) throw_errno("cannot write", path_);
  ::close(descriptor_);
  descriptor_ = -1;
  // The new name must survive a power cut too; a file system that cannot sync folders has nothing to lose by it.
  int folder = ::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    ::fsync(folder);
    ::close(folder);
  }
}

}  // namespace thalweg::io
