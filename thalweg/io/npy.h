// NumPy's files: .npy holds one array, .npz is a zip archive of them.
#pragma once
#include <iterator>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "thalweg/core/tensor.h"
#include "thalweg/io/file.h"
#include "thalweg/ops/options.h"

namespace thalweg::io {

/// Reads an array of any byte order and layout. Byte strings (`S`) and text (`U`, as UTF-8) become string tensors; `V2`
/// is bfloat16, as ml_dtypes writes it. Arrays of Python objects are refused: loading never runs code.
THALWEG_API Tensor load_npy(const std::string& path);
/// The same from memory; `name` stands for it in errors.
THALWEG_API Tensor parse_npy(std::span<const std::byte> bytes, const std::string& name = "npy bytes");
/// The same from a stream, of which it reads no more than the array.
THALWEG_API Tensor read_npy(ByteStream& in);

/// Writes what `numpy.save` would, all or nothing. Strings become byte strings (`S`); bfloat16 becomes `<V2`, which
/// NumPy reads back with `.view(ml_dtypes.bfloat16)`.
THALWEG_API void save_npy(const std::string& path, const Tensor& tensor);

/// The arrays of an .npz file by name. Each is read when it is first asked for, and kept. Copies share; safe from many
/// threads. A member that is no array is a scalar string tensor with its bytes, under its full name.
class THALWEG_API NpzFile {
 public:
  class Iterator;
  using value_type = std::pair<std::string, Tensor>;

  /// The array; NotFoundError that lists the names there are.
  Tensor operator[](const std::string& name) const;
  /// The names in the order of the file, without `.npy`.
  const std::vector<std::string>& names() const;
  bool contains(const std::string& name) const;
  size_t size() const { return names().size(); }
  bool empty() const { return names().empty(); }
  Iterator begin() const;
  Iterator end() const;

 private:
  friend THALWEG_API NpzFile load_npz(const std::string& path);
  friend THALWEG_API NpzFile parse_npz(std::span<const std::byte> bytes, const std::string& name);
  struct State;
  explicit NpzFile(ByteSource source);
  std::shared_ptr<State> state_;
};

/// Opens an .npz file, compressed or not.
THALWEG_API NpzFile load_npz(const std::string& path);
/// The same from memory, which is copied.
THALWEG_API NpzFile parse_npz(std::span<const std::byte> bytes, const std::string& name = "npz bytes");

struct SaveNpzOptions {
  Flag compressed = {};  // numpy.savez_compressed instead of numpy.savez
};
/// Writes an .npz file, all or nothing; equal tensors give equal bytes.
THALWEG_API void save_npz(const std::string& path, const std::map<std::string, Tensor>& tensors,
                          const SaveNpzOptions& options = {});

/// Walks over names and arrays in the order of the file.
class NpzFile::Iterator {
 public:
  using value_type = NpzFile::value_type;
  using difference_type = std::ptrdiff_t;
  Iterator() = default;
  Iterator(NpzFile file, size_t i) : file_(std::make_shared<NpzFile>(std::move(file))), i_(i) {}
  value_type operator*() const {
    const std::string& name = file_->names()[i_];
    return {name, (*file_)[name]};
  }
  Iterator& operator++() {
    ++i_;
    return *this;
  }
  Iterator operator++(int) {
    Iterator before = *this;
    ++i_;
    return before;
  }
  bool operator==(const Iterator& other) const { return i_ == other.i_; }

 private:
  std::shared_ptr<const NpzFile> file_;
  size_t i_ = 0;
};

}  // namespace thalweg::io
