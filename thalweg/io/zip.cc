#include "thalweg/io/zip.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <optional>

#include "thalweg/core/error.h"

// The layout is that of PKWARE's APPNOTE.TXT: section 4.3.7 local header, 4.3.12 directory, 4.3.14-16 its end, 4.5.3
// zip64.
namespace thalweg::io {
namespace {

constexpr uint32_t local_signature = 0x04034b50, entry_signature = 0x02014b50, end_signature = 0x06054b50,
                   end64_signature = 0x06064b50, locator_signature = 0x07064b50;
constexpr uint64_t local_bytes = 30, entry_bytes = 46, end_bytes = 22, end64_bytes = 56, locator_bytes = 20;
constexpr uint32_t full32 = 0xffffffff;
constexpr uint16_t full16 = 0xffff;
constexpr uint16_t method_stored = 0, method_deflated = 8;
constexpr size_t buffer_bytes = 64 << 10;

template <class T> T get(std::span<const std::byte> bytes, size_t at) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i)
    value = static_cast<T>(value | static_cast<T>(static_cast<T>(bytes[at + i]) << (8 * i)));
  return value;
}

template <class T> void put(std::string& out, T value) {
  for (size_t i = 0; i < sizeof(T); ++i) out.push_back(static_cast<char>(value >> (8 * i) & 0xff));
}

[[noreturn]] void damaged_zip(const std::string& name, const std::string& what) {
  throw errors::DataLossError(name + " is damaged: " + what);
}

struct Directory {
  uint64_t offset = 0, size = 0, count = 0;
};

// The end record stands last, before a comment of at most 65535 bytes.
Directory find_directory(const ByteSource& source) {
  uint64_t tail_size = std::min<uint64_t>(source.size(), end_bytes + full16);
  std::vector<std::byte> tail(static_cast<size_t>(tail_size));
  uint64_t tail_offset = source.size() - tail_size;
  source.read(tail_offset, tail);
  std::optional<size_t> found;
  for (size_t i = tail.size() < end_bytes ? 0 : tail.size() - end_bytes + 1; i-- > 0 && !found;)
    if (get<uint32_t>(tail, i) == end_signature && i + end_bytes + get<uint16_t>(tail, i + 20) <= tail.size())
      found = i;
  if (!found) throw errors::DataLossError(source.name() + " is not a zip archive, or its end is missing");
  std::span<const std::byte> end = std::span(tail).subspan(*found);
  uint64_t end_offset = tail_offset + *found;
  if (get<uint16_t>(end, 4) != 0 && get<uint16_t>(end, 4) != full16)
    throw InvalidArgumentError(source.name() + " is one part of an archive that is split over several files");
  Directory directory{get<uint32_t>(end, 16), get<uint32_t>(end, 12), get<uint16_t>(end, 10)};
  if (end_offset >= locator_bytes) {
    std::array<std::byte, locator_bytes> locator;
    source.read(end_offset - locator_bytes, locator);
    if (get<uint32_t>(locator, 0) == locator_signature) {
      std::array<std::byte, end64_bytes> end64;
      end_offset = get<uint64_t>(locator, 8);
      source.read(end_offset, end64);
      if (get<uint32_t>(end64, 0) != end64_signature)
        damaged_zip(source.name(), "the zip64 end record is not where it should be");
      directory = {get<uint64_t>(end64, 48), get<uint64_t>(end64, 40), get<uint64_t>(end64, 32)};
    }
  }
  if (directory.offset > end_offset || directory.size > end_offset - directory.offset)
    damaged_zip(source.name(), "its directory lies outside the file");
  if (directory.count > directory.size / entry_bytes)
    damaged_zip(source.name(), "its directory is too small for its entries");
  return directory;
}

// Fields that do not fit in 32 bits stand in the extra field with id 1, in this order.
void read_zip64(const std::string& archive, std::span<const std::byte> extra, ZipEntry& entry) {
  while (extra.size() >= 4) {
    auto id = get<uint16_t>(extra, 0), size = get<uint16_t>(extra, 2);
    if (size > extra.size() - 4) damaged_zip(archive, "an extra field is cut short");
    std::span<const std::byte> field = extra.subspan(4, size);
    extra = extra.subspan(size_t{4} + size);
    if (id != 1) continue;
    for (uint64_t* value : {&entry.size, &entry.compressed_size, &entry.header_offset}) {
      if (*value != full32) continue;
      if (field.size() < 8) damaged_zip(archive, "a zip64 field is cut short");
      *value = get<uint64_t>(field, 0);
      field = field.subspan(8);
    }
  }
}

void check_entry(const std::string& archive, const ZipEntry& entry, uint64_t directory_offset) {
  if (entry.header_offset > directory_offset || directory_offset - entry.header_offset < local_bytes ||
      entry.compressed_size > directory_offset - entry.header_offset - local_bytes)
    damaged_zip(archive, "entry '" + entry.name + "' lies outside the file");
  // Deflate cannot shrink by more than a factor of 1032, so a larger size is a lie.
  uint64_t most = entry.deflated ? (entry.compressed_size + 1) * 1032 : entry.compressed_size;
  if (entry.size > most || (!entry.deflated && entry.size != entry.compressed_size))
    damaged_zip(archive, "entry '" + entry.name + "' declares " + std::to_string(entry.size) + " bytes, its " +
                             std::to_string(entry.compressed_size) + " stored bytes cannot hold them");
}

/// zlib's decompressor, given back whatever happens.
struct Inflater {
  z_stream stream = {};
  std::vector<std::byte> buffer = std::vector<std::byte>(buffer_bytes);
  Inflater() {
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw ResourceExhaustedError("no memory to decompress");
  }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
};

/// Bytes of an entry, counted and summed as they pass.
class EntryStream : public ByteStream {
 public:
  EntryStream(const std::string& archive, const ZipEntry& entry, SourceStream stored)
      : name_(archive + ": entry '" + entry.name + "'"), entry_(entry), stored_(std::move(stored)), left_(entry.size) {
    if (entry_.deflated) inflater_ = std::make_unique<Inflater>();
    if (left_ == 0) check();
  }

  const std::string& name() const override { return name_; }
  uint64_t remaining() const override { return left_; }
  void read(std::span<std::byte> out) override {
    if (out.size() > left_)
      throw errors::DataLossError(name_ + " is truncated: " + std::to_string(out.size()) + " bytes are needed, " +
                                  std::to_string(left_) + " are left");
    if (out.empty()) return;
    if (entry_.deflated) {
      if (inflate_to(out) != out.size()) damaged_zip(name_, "its compressed bytes end early");
    } else {
      stored_.read(out);
    }
    crc_ = crc32_z(crc_, reinterpret_cast<const Bytef*>(out.data()), out.size());
    left_ -= out.size();
    if (left_ == 0) check();
  }

 private:
  void check() {
    std::byte more;
    if (entry_.deflated && inflate_to({&more, 1}) != 0) damaged_zip(name_, "it holds more bytes than it declares");
    if (entry_.deflated && !ended_) damaged_zip(name_, "its compressed bytes end early");
    if (crc_ != entry_.crc) damaged_zip(name_, "its checksum does not match its bytes");
  }
  size_t inflate_to(std::span<std::byte> out) {
    z_stream& z = inflater_->stream;
    std::span<std::byte> buffer = inflater_->buffer;
    size_t done = 0;
    while (done < out.size() && !ended_) {
      if (z.avail_in == 0) {
        size_t count = static_cast<size_t>(std::min<uint64_t>(buffer.size(), stored_.remaining()));
        stored_.read(buffer.first(count));
        z.next_in = reinterpret_cast<Bytef*>(buffer.data());
        z.avail_in = static_cast<uInt>(count);
      }
      auto step = static_cast<uInt>(std::min(out.size() - done, size_t{1} << 30));
      z.next_out = reinterpret_cast<Bytef*>(out.data() + done);
      z.avail_out = step;
      int result = inflate(&z, Z_NO_FLUSH);
      done += step - z.avail_out;
      if (result == Z_STREAM_END) ended_ = true;
      else if (result == Z_BUF_ERROR && z.avail_in == 0) break;
      else if (result != Z_OK) damaged_zip(name_, "its compressed bytes make no sense");
    }
    return done;
  }

  std::string name_;
  ZipEntry entry_;
  SourceStream stored_;
  uint64_t left_;
  uLong crc_ = 0;
  bool ended_ = false;
  std::unique_ptr<Inflater> inflater_;
};

}  // namespace

ZipReader::ZipReader(ByteSource source) : source_(std::move(source)) {
  Directory directory = find_directory(source_);
  std::vector<std::byte> bytes(static_cast<size_t>(directory.size));
  source_.read(directory.offset, bytes);
  std::span<const std::byte> rest = bytes;
  entries_.reserve(static_cast<size_t>(directory.count));
  for (uint64_t i = 0; i < directory.count; ++i) {
    if (rest.size() < entry_bytes || get<uint32_t>(rest, 0) != entry_signature)
      damaged_zip(name(), "its directory ends after " + std::to_string(i) + " of " + std::to_string(directory.count) +
                              " entries");
    auto flags = get<uint16_t>(rest, 8), method = get<uint16_t>(rest, 10);
    size_t name_size = get<uint16_t>(rest, 28), extra_size = get<uint16_t>(rest, 30), comment = get<uint16_t>(rest, 32);
    if (rest.size() - entry_bytes < name_size + extra_size + comment) damaged_zip(name(), "its directory is cut short");
    ZipEntry entry;
    entry.name.assign(reinterpret_cast<const char*>(rest.data()) + entry_bytes, name_size);
    if (flags & 1)
      throw InvalidArgumentError(name() + ": entry '" + entry.name + "' is encrypted, which is not supported");
    if (method != method_stored && method != method_deflated)
      throw InvalidArgumentError(name() + ": entry '" + entry.name + "' uses compression method " +
                                 std::to_string(method) + "; only stored (0) and deflate (8) are supported");
    entry.deflated = method == method_deflated;
    entry.crc = get<uint32_t>(rest, 16);
    entry.compressed_size = get<uint32_t>(rest, 20);
    entry.size = get<uint32_t>(rest, 24);
    entry.header_offset = get<uint32_t>(rest, 42);
    read_zip64(name(), rest.subspan(entry_bytes + name_size, extra_size), entry);
    check_entry(name(), entry, directory.offset);
    entries_.push_back(std::move(entry));
    rest = rest.subspan(entry_bytes + name_size + extra_size + comment);
  }
  // Entries that share their bytes are how a small file unpacks to a huge one.
  std::vector<const ZipEntry*> order;
  for (const ZipEntry& entry : entries_) order.push_back(&entry);
  std::sort(order.begin(), order.end(), [](auto* a, auto* b) { return a->header_offset < b->header_offset; });
  for (size_t i = 1; i < order.size(); ++i)
    if (order[i]->header_offset - order[i - 1]->header_offset < local_bytes + order[i - 1]->compressed_size)
      damaged_zip(name(), "entries '" + order[i - 1]->name + "' and '" + order[i]->name + "' overlap");
}

const ZipEntry* ZipReader::find(std::string_view name) const {
  auto found = std::find_if(entries_.rbegin(), entries_.rend(), [&](const ZipEntry& e) { return e.name == name; });
  return found == entries_.rend() ? nullptr : &*found;
}

std::unique_ptr<ByteStream> ZipReader::open(const ZipEntry& entry) const {
  std::array<std::byte, local_bytes> header;
  source_.read(entry.header_offset, header);
  if (get<uint32_t>(header, 0) != local_signature) damaged_zip(name(), "entry '" + entry.name + "' has no header");
  uint64_t begin = entry.header_offset + local_bytes + get<uint16_t>(header, 26) + get<uint16_t>(header, 28);
  if (begin > source_.size() || entry.compressed_size > source_.size() - begin)
    damaged_zip(name(), "entry '" + entry.name + "' lies outside the file");
  return std::make_unique<EntryStream>(name(), entry, SourceStream(source_, begin, begin + entry.compressed_size));
}

std::vector<std::byte> ZipReader::read(const ZipEntry& entry) const {
  auto stream = open(entry);
  return read_bytes(*stream, entry.size);
}

struct ZipWriter::Deflater {
  z_stream stream = {};
  std::vector<std::byte> buffer = std::vector<std::byte>(buffer_bytes);
  Deflater() {
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
      throw ResourceExhaustedError("no memory to compress");
  }
  ~Deflater() { deflateEnd(&stream); }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;
};

ZipWriter::ZipWriter(const std::string& path) : file_(path) {}
ZipWriter::~ZipWriter() = default;

namespace {
// Bytes that deflate cannot shrink grow by less than this.
bool is_large(uint64_t size) { return size > 0xf0000000; }
bool is_ascii(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 128; });
}

// What the local header and the directory have in common, from the version to the CRC. The date is the first there is,
// 1980-01-01, so that equal contents give equal bytes.
std::string common_fields(const ZipEntry& entry, bool zip64) {
  std::string out;
  put<uint16_t>(out, zip64 ? 45 : 20);
  put<uint16_t>(out, is_ascii(entry.name) ? 0 : 1 << 11);
  put<uint16_t>(out, entry.deflated ? method_deflated : method_stored);
  put<uint16_t>(out, 0);
  put<uint16_t>(out, 0x21);
  put<uint32_t>(out, entry.crc);
  return out;
}

std::string local_header(const ZipEntry& entry) {
  std::string out;
  put(out, local_signature);
  out += common_fields(entry, is_large(entry.size));
  bool zip64 = is_large(entry.size);
  put<uint32_t>(out, zip64 ? full32 : static_cast<uint32_t>(entry.compressed_size));
  put<uint32_t>(out, zip64 ? full32 : static_cast<uint32_t>(entry.size));
  put<uint16_t>(out, static_cast<uint16_t>(entry.name.size()));
  put<uint16_t>(out, zip64 ? 20 : 0);
  out += entry.name;
  if (zip64) {
    put<uint16_t>(out, 1);
    put<uint16_t>(out, 16);
    put<uint64_t>(out, entry.size);
    put<uint64_t>(out, entry.compressed_size);
  }
  return out;
}

std::string directory_entry(const ZipEntry& entry) {
  bool zip64 = is_large(entry.size) || entry.header_offset >= full32;
  std::string out;
  put(out, entry_signature);
  put<uint16_t>(out, 3 << 8 | 45);  // made on Unix, for the permissions below
  out += common_fields(entry, zip64);
  put<uint32_t>(out, zip64 ? full32 : static_cast<uint32_t>(entry.compressed_size));
  put<uint32_t>(out, zip64 ? full32 : static_cast<uint32_t>(entry.size));
  put<uint16_t>(out, static_cast<uint16_t>(entry.name.size()));
  put<uint16_t>(out, zip64 ? 28 : 0);
  put<uint16_t>(out, 0);
  put<uint16_t>(out, 0);
  put<uint16_t>(out, 0);
  put<uint32_t>(out, 0100644u << 16);
  put<uint32_t>(out, zip64 ? full32 : static_cast<uint32_t>(entry.header_offset));
  out += entry.name;
  if (zip64) {
    put<uint16_t>(out, 1);
    put<uint16_t>(out, 24);
    put<uint64_t>(out, entry.size);
    put<uint64_t>(out, entry.compressed_size);
    put<uint64_t>(out, entry.header_offset);
  }
  return out;
}
}  // namespace

void ZipWriter::begin_entry(const std::string& name, uint64_t size, bool deflate) {
  if (name.empty() || name.size() >= full16)
    throw InvalidArgumentError(file_.path() + ": the name of an entry has between 1 and 65534 bytes, not " +
                               std::to_string(name.size()));
  ZipEntry entry;
  entry.name = name;
  entry.deflated = deflate;
  entry.size = size;
  entry.header_offset = file_.size();
  file_.write(local_header(entry));
  entries_.push_back(std::move(entry));
  data_offset_ = file_.size();
  written_ = 0;
  if (deflate) deflater_ = std::make_unique<Deflater>();
}

void ZipWriter::drain(bool last) {
  z_stream& z = deflater_->stream;
  do {
    z.next_out = reinterpret_cast<Bytef*>(deflater_->buffer.data());
    z.avail_out = static_cast<uInt>(deflater_->buffer.size());
    ::deflate(&z, last ? Z_FINISH : Z_NO_FLUSH);
    file_.write(std::span(deflater_->buffer).first(deflater_->buffer.size() - z.avail_out));
  } while (z.avail_out == 0);
}

void ZipWriter::write(std::span<const std::byte> bytes) {
  ZipEntry& entry = entries_.back();
  entry.crc = static_cast<uint32_t>(crc32_z(entry.crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
  written_ += bytes.size();
  if (!entry.deflated) return file_.write(bytes);
  while (!bytes.empty()) {
    size_t step = std::min(bytes.size(), size_t{1} << 30);
    deflater_->stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data()));
    deflater_->stream.avail_in = static_cast<uInt>(step);
    drain(false);
    bytes = bytes.subspan(step);
  }
}

void ZipWriter::end_entry() {
  ZipEntry& entry = entries_.back();
  if (written_ != entry.size)
    throw errors::InternalError(file_.path() + ": entry '" + entry.name + "' was announced with " +
                                std::to_string(entry.size) + " bytes, " + std::to_string(written_) + " were written");
  if (entry.deflated) drain(true);
  deflater_.reset();
  entry.compressed_size = file_.size() - data_offset_;
  file_.overwrite(entry.header_offset, local_header(entry));
}

void ZipWriter::finish() {
  uint64_t offset = file_.size(), count = entries_.size();
  std::string out;
  for (const ZipEntry& entry : entries_) out += directory_entry(entry);
  uint64_t size = out.size();
  if (count >= full16 || offset >= full32 || size >= full32) {
    put(out, end64_signature);
    put<uint64_t>(out, end64_bytes - 12);
    put<uint16_t>(out, 3 << 8 | 45);
    put<uint16_t>(out, 45);
    put<uint64_t>(out, 0);  // this disk and the directory's
    put<uint64_t>(out, count);
    put<uint64_t>(out, count);
    put<uint64_t>(out, size);
    put<uint64_t>(out, offset);
    put(out, locator_signature);
    put<uint32_t>(out, 0);
    put<uint64_t>(out, offset + size);
    put<uint32_t>(out, 1);
  }
  put(out, end_signature);
  put<uint32_t>(out, 0);
  for (int i = 0; i < 2; ++i) put<uint16_t>(out, static_cast<uint16_t>(std::min<uint64_t>(count, full16)));
  put<uint32_t>(out, static_cast<uint32_t>(std::min<uint64_t>(size, full32)));
  put<uint32_t>(out, static_cast<uint32_t>(std::min<uint64_t>(offset, full32)));
  put<uint16_t>(out, 0);
  file_.write(out);
  file_.commit();
}

}  // namespace thalweg::io
