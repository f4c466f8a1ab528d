#include "thalweg/io/tar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "thalweg/core/error.h"

// The layout is that of POSIX.1-2001 (pax, "ustar Interchange Format"); fields are (offset, length) in a block.
namespace thalweg::io {
namespace {

constexpr uint64_t block_bytes = 512;
// Names and pax headers longer than this are lies.
constexpr uint64_t most_text_bytes = 1 << 20;

using Block = std::array<std::byte, block_bytes>;

[[noreturn]] void damaged_tar(const ByteSource& source, const std::string& what) {
  throw errors::DataLossError(source.name() + " is not a sound tar archive: " + what);
}

std::string field(const Block& block, size_t offset, size_t length) {
  std::string_view field(reinterpret_cast<const char*>(block.data()) + offset, length);
  return std::string(field.substr(0, field.find('\0')));
}

/// Octal digits, or GNU's big-endian binary when the first bit is set; nothing when it is neither.
std::optional<uint64_t> number(const Block& block, size_t offset, size_t length) {
  uint64_t value = 0;
  if ((block[offset] & std::byte{0x80}) != std::byte{0}) {
    for (size_t i = 0; i < length; ++i) {
      if (value >> 55) return {};
      value = value << 8 | static_cast<uint64_t>(i == 0 ? block[offset] & std::byte{0x7f} : block[offset + i]);
    }
    return value;
  }
  std::string digits = field(block, offset, length);
  digits.erase(0, digits.find_first_not_of(' '));
  digits.erase(digits.find_last_not_of(' ') + 1);
  if (digits.empty()) return 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 8);
  if (error != std::errc() || end != digits.data() + digits.size() || value >> 62) return {};
  return value;
}

/// The sum of all bytes, the checksum's own counted as blanks.
bool checksum_fits(const Block& block) {
  uint64_t sum = 0;
  for (size_t i = 0; i < block.size(); ++i) sum += i >= 148 && i < 156 ? ' ' : static_cast<uint64_t>(block[i]);
  return number(block, 148, 8) == sum;
}

/// What a pax header says about the next member: records of the form "25 path=some/name\n".
struct Extension {
  std::string path;
  std::optional<uint64_t> size;
};

Extension parse_pax(const ByteSource& source, const std::string& records) {
  Extension extension;
  for (size_t at = 0; at < records.size();) {
    size_t length = 0;
    auto [blank, error] = std::from_chars(records.data() + at, records.data() + records.size(), length);
    auto start = static_cast<size_t>(blank - records.data()) + 1;
    if (error != std::errc() || length > records.size() - at || start >= at + length || records[start - 1] != ' ' ||
        records[at + length - 1] != '\n')
      damaged_tar(source, "an extended header makes no sense");
    std::string record = records.substr(start, at + length - start - 1);
    if (record.starts_with("path=")) extension.path = record.substr(5);
    if (record.starts_with("size=")) {
      uint64_t size = 0;
      auto [end, bad] = std::from_chars(record.data() + 5, record.data() + record.size(), size);
      if (bad != std::errc() || end != record.data() + record.size())
        damaged_tar(source, "an extended header has a size that is no number");
      extension.size = size;
    }
    at += length;
  }
  return extension;
}

TarEntry::Kind kind_of(char type, const std::string& name) {
  if (type == '5') return TarEntry::Kind::folder;
  if (type == '0' || type == '\0' || type == '7')
    return name.ends_with('/') ? TarEntry::Kind::folder : TarEntry::Kind::file;
  return TarEntry::Kind::other;
}

}  // namespace

std::vector<TarEntry> read_tar(const ByteSource& source) {
  std::vector<TarEntry> entries;
  Extension extension;
  uint64_t at = 0;
  while (source.size() - at >= block_bytes) {
    Block block;
    source.read(at, block);
    at += block_bytes;
    if (std::all_of(block.begin(), block.end(), [](std::byte b) { return b == std::byte{0}; })) return entries;
    if (!checksum_fits(block))
      damaged_tar(source, "the checksum of a header at byte " + std::to_string(at) + " is wrong");
    std::optional<uint64_t> size = number(block, 124, 12);
    if (extension.size) size = extension.size;
    if (!size || *size > source.size() - at) damaged_tar(source, "a member lies outside the file");
    char type = static_cast<char>(block[156]);
    if (type == 'x' || type == 'g' || type == 'L' || type == 'K') {
      if (*size > most_text_bytes) damaged_tar(source, "a header has " + std::to_string(*size) + " bytes");
      std::string content(static_cast<size_t>(*size), '\0');
      source.read(at, std::as_writable_bytes(std::span(content)));
      if (type == 'x') extension = parse_pax(source, content);
      if (type == 'L') extension.path = content.substr(0, content.find('\0'));
    } else {
      TarEntry entry;
      entry.name = extension.path;
      if (entry.name.empty()) {
        std::string prefix =
            field(block, 257, 5) == "ustar" && field(block, 262, 1).empty() ? field(block, 345, 155) : "";
        entry.name = (prefix.empty() ? "" : prefix + "/") + field(block, 0, 100);
      }
      entry.kind = kind_of(type, entry.name);
      entry.offset = at;
      entry.size = *size;
      entries.push_back(std::move(entry));
      extension = {};
    }
    at += std::min(source.size() - at, (*size + block_bytes - 1) / block_bytes * block_bytes);
  }
  if (entries.empty()) damaged_tar(source, "it has no members");
  return entries;
}

}  // namespace thalweg::io
