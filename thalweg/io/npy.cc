#include "thalweg/io/npy.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>

#include "thalweg/core/error.h"
#include "thalweg/io/npy_header.h"
#include "thalweg/io/zip.h"

namespace thalweg::io {
namespace {

constexpr size_t chunk_bytes = 64 << 10;

/// Says where, in row-major order, the next element of a file in Fortran's order goes.
class FortranWalk {
 public:
  explicit FortranWalk(const Shape& shape) : shape_(shape), index_(shape), stride_(shape) {
    int64_t stride = 1;
    for (int i = shape.rank(); i-- > 0;) {
      index_[i] = 0;
      stride_[i] = stride;
      stride *= shape[i];
    }
  }
  int64_t next() {
    int64_t here = at_;
    for (int i = 0; i < shape_.rank(); ++i) {
      at_ += stride_[i];
      if (++index_[i] < shape_[i]) break;
      at_ -= stride_[i] * shape_[i];
      index_[i] = 0;
    }
    return here;
  }

 private:
  Shape shape_, index_, stride_;
  int64_t at_ = 0;
};

void swap_bytes(std::byte* data, size_t count, size_t width) {
  for (size_t i = 0; i < count; ++i) std::reverse(data + i * width, data + (i + 1) * width);
}

void append_utf8(std::string& out, uint32_t code, const std::string& name) {
  auto put = [&](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  auto tail = [&](int shift) { put(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xc0 | code >> 6);
  } else if (code < 0x10000) {
    if (code >= 0xd800 && code < 0xe000)
      throw InvalidArgumentError(name + " holds a lone surrogate, which UTF-8 cannot express");
    put(0xe0 | code >> 12);
    tail(6);
  } else if (code < 0x110000) {
    put(0xf0 | code >> 18);
    tail(12);
    tail(6);
  } else {
    throw errors::DataLossError(name + " holds the character " + std::to_string(code) + ", which does not exist");
  }
  tail(0);
}

// NumPy pads strings with zeros, so zeros at the end are not part of them.
std::string read_string(const NpyHeader& header, std::span<const std::byte> item, const std::string& name) {
  if (!header.text) {
    std::string_view all(reinterpret_cast<const char*>(item.data()), item.size());
    return std::string(all.substr(0, all.find_last_not_of('\0') + 1));
  }
  std::string out;
  size_t size = 0;
  for (size_t i = 0; i < item.size(); i += 4) {
    uint32_t code = 0;
    for (size_t k = 0; k < 4; ++k) code |= static_cast<uint32_t>(item[i + k]) << 8 * (header.big_endian ? 3 - k : k);
    append_utf8(out, code, name);
    if (code) size = out.size();
  }
  out.resize(size);
  return out;
}

Tensor read_strings(ByteStream& in, const NpyHeader& header) {
  int64_t count = header.shape.num_elements();
  size_t width = header.item_bytes;
  // All bytes first: a tensor of strings takes more memory than the file, so they must be known to be there.
  std::vector<std::byte> bytes = read_bytes(in, static_cast<uint64_t>(count) * width);
  Tensor tensor = Tensor::empty(DType::string, header.shape);
  auto* out = tensor.mutable_data<std::string>();
  FortranWalk walk(header.shape);
  for (int64_t i = 0; i < count; ++i)
    out[header.fortran_order ? walk.next() : i] =
        read_string(header, std::span(bytes).subspan(static_cast<size_t>(i) * width, width), in.name());
  return tensor;
}

Tensor read_plain(ByteStream& in, const NpyHeader& header) {
  Tensor tensor = Tensor::empty(header.dtype, header.shape);
  auto count = static_cast<size_t>(tensor.size());
  size_t width = size_of(header.dtype);
  auto* out = tensor.mutable_data<std::byte>();
  if (!header.fortran_order || header.shape.rank() < 2) {
    in.read({out, count * width});
  } else {
    FortranWalk walk(header.shape);
    std::vector<std::byte> chunk(std::min(count * width, chunk_bytes));
    for (size_t done = 0; done < count;) {
      size_t items = std::min(count - done, chunk_bytes / width);
      in.read(std::span(chunk).first(items * width));
      for (size_t i = 0; i < items; ++i)
        std::memcpy(out + static_cast<size_t>(walk.next()) * width, chunk.data() + i * width, width);
      done += items;
    }
  }
  if (header.big_endian) {
    size_t parts = is_complex(header.dtype) ? 2 : 1;
    swap_bytes(out, count * parts, width / parts);
  }
  if (header.dtype == DType::bool_)  // any byte but zero is true for NumPy; a C++ bool knows only 0 and 1
    for (size_t i = 0; i < count; ++i) out[i] = out[i] == std::byte{0} ? std::byte{0} : std::byte{1};
  return tensor;
}

/// A tensor on its way to a file.
struct Encoded {
  Tensor tensor;
  std::string header;
  uint64_t item_bytes = 0;
  uint64_t size() const { return header.size() + item_bytes * static_cast<uint64_t>(tensor.size()); }

  Encoded(const Tensor& given, const std::string& file) : tensor(given) {
    if (!given.defined()) throw ValueError(file + ": an undefined tensor (None) cannot be saved");
    DType dtype = given.dtype();
    if (given.is_symbolic()) throw TypeError(file + ": a symbolic tensor has no value to save yet: it is being traced");
    if (dtype == DType::resource || dtype == DType::variant)
      throw InvalidArgumentError(file + ": tensors of dtype " + std::string(name_of(dtype)) +
                                 " cannot be saved as an array");
    item_bytes = size_of(dtype);
    if (dtype == DType::string) {
      item_bytes = 1;
      for (const std::string& s : given.span<std::string>()) {
        if (s.ends_with('\0'))
          throw InvalidArgumentError(file + ": a string ends with a zero byte, which NumPy's byte strings cannot keep");
        item_bytes = std::max<uint64_t>(item_bytes, s.size());
      }
      uint64_t total = 0;
      if (__builtin_mul_overflow(item_bytes, static_cast<uint64_t>(given.size()), &total) || total > INT64_MAX)
        throw InvalidArgumentError(file + ": strings padded to " + std::to_string(item_bytes) +
                                   " bytes are too many to save");
    }
    header = write_npy_header(dtype, item_bytes, given.shape());
  }

  template <class Sink> void write(Sink& sink) const {
    sink.write(std::as_bytes(std::span(header)));
    if (tensor.dtype() != DType::string) {
      sink.write(std::span(tensor.mutable_data<const std::byte>(), tensor.nbytes()));
      return;
    }
    std::string chunk;
    for (const std::string& s : tensor.span<std::string>()) {
      chunk += s;
      chunk.append(static_cast<size_t>(item_bytes) - s.size(), '\0');
      if (chunk.size() < chunk_bytes) continue;
      sink.write(std::as_bytes(std::span(chunk)));
      chunk.clear();
    }
    sink.write(std::as_bytes(std::span(chunk)));
  }
};

}  // namespace

Tensor read_npy(ByteStream& in) {
  NpyHeader header = read_npy_header(in);
  return header.dtype == DType::string ? read_strings(in, header) : read_plain(in, header);
}

Tensor load_npy(const std::string& path) {
  SourceStream in(ByteSource::open(path));
  return read_npy(in);
}

Tensor parse_npy(std::span<const std::byte> bytes, const std::string& name) {
  SourceStream in(ByteSource::view(bytes, name));
  return read_npy(in);
}

void save_npy(const std::string& path, const Tensor& tensor) {
  Encoded encoded(tensor, path);
  AtomicFile file(path);
  encoded.write(file);
  file.commit();
}

struct NpzFile::State {
  explicit State(ByteSource source) : zip(std::move(source)) {
    for (const ZipEntry& entry : zip.entries()) {
      if (entry.name.ends_with('/')) continue;  // a folder
      std::string name = entry.name.ends_with(".npy") ? entry.name.substr(0, entry.name.size() - 4) : entry.name;
      if (entry_of.insert_or_assign(name, &entry).second) names.push_back(std::move(name));
    }
  }
  /// By its short name or by its name in the archive.
  std::map<std::string, const ZipEntry*>::const_iterator find(const std::string& name) const {
    auto found = entry_of.find(name);
    if (found == entry_of.end() && name.ends_with(".npy")) found = entry_of.find(name.substr(0, name.size() - 4));
    return found;
  }
  Tensor load(const ZipEntry& entry) const {
    std::unique_ptr<ByteStream> in = zip.open(entry);
    if (entry.name.ends_with(".npy")) {
      Tensor tensor = read_npy(*in);
      std::vector<std::byte> rest(chunk_bytes);
      while (in->remaining())  // to the end, where the checksum is compared
        in->read(std::span(rest).first(static_cast<size_t>(std::min<uint64_t>(rest.size(), in->remaining()))));
      return tensor;
    }
    std::vector<std::byte> bytes = read_bytes(*in, entry.size);
    return Tensor(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }

  ZipReader zip;
  std::vector<std::string> names;
  std::map<std::string, const ZipEntry*> entry_of;
  std::mutex mutex;
  std::map<std::string, Tensor> loaded;
};

NpzFile::NpzFile(ByteSource source) : state_(std::make_shared<State>(std::move(source))) {}

Tensor NpzFile::operator[](const std::string& name) const {
  auto found = state_->find(name);
  if (found == state_->entry_of.end()) {
    std::string list;
    for (const std::string& known : names()) list += (list.empty() ? "" : ", ") + known;
    throw NotFoundError(state_->zip.name() + " has no array '" + name + "'; it has: " + list);
  }
  std::lock_guard lock(state_->mutex);
  auto kept = state_->loaded.find(found->first);
  if (kept == state_->loaded.end()) kept = state_->loaded.emplace(found->first, state_->load(*found->second)).first;
  return kept->second;
}

const std::vector<std::string>& NpzFile::names() const { return state_->names; }
bool NpzFile::contains(const std::string& name) const { return state_->find(name) != state_->entry_of.end(); }
NpzFile::Iterator NpzFile::begin() const { return {*this, 0}; }
NpzFile::Iterator NpzFile::end() const { return {*this, size()}; }

NpzFile load_npz(const std::string& path) { return NpzFile(ByteSource::open(path)); }
NpzFile parse_npz(std::span<const std::byte> bytes, const std::string& name) {
  return NpzFile(ByteSource::copy(bytes, name));
}

void save_npz(const std::string& path, const std::map<std::string, Tensor>& tensors, const SaveNpzOptions& options) {
  auto place = [&](const std::string& name) { return path + ": '" + name + "'"; };
  std::vector<std::pair<std::string, Encoded>> members;  // all of them are checked before the first is written
  for (const auto& [name, tensor] : tensors) members.emplace_back(name + ".npy", Encoded(tensor, place(name)));
  ZipWriter zip(path);
  for (const auto& [name, encoded] : members) {
    zip.begin_entry(name, encoded.size(), options.compressed);
    encoded.write(zip);
    zip.end_entry();
  }
  zip.finish();
}

}  // namespace thalweg::io
