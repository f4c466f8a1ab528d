// Python pickles of plain data: numbers, text, lists, dictionaries and arrays of NumPy. Nothing is imported and nothing
// is called: what asks for more is refused.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "thalweg/core/tensor.h"
#include "thalweg/io/file.h"

namespace thalweg::io {

/// An object of a pickle; copies share the pickle's memory.
class THALWEG_API Pickled {
 public:
  /// An array of NumPy is `array` when it holds numbers or strings, and a (nested) list when it holds objects.
  enum class Kind : uint8_t { none, boolean, integer, real, text, list, dictionary, array };

  Kind kind() const;
  /// The values; DataLossError when the object is of another kind. A boolean is an integer, too.
  int64_t integer() const;
  double real() const;
  /// Bytes, or text in UTF-8.
  const std::string& text() const;
  const Tensor& array() const;
  /// The length of a list (or tuple, or set of pairs), and its elements.
  size_t size() const;
  Pickled operator[](size_t i) const;
  /// The value of a text key; NotFoundError that names it.
  Pickled at(std::string_view key) const;
  /// How many bytes were read, which bounds what honest data can hold.
  size_t num_bytes() const;

 private:
  friend class PickleReader;
  friend class PickledArrays;
  struct Document;
  struct Cell;
  Pickled(std::shared_ptr<const Document> document, const Cell& cell);
  const Cell& expect(Kind kind) const;

  std::shared_ptr<const Document> document_;
  const Cell* cell_;
};

/// Reads a pickle of protocol 1 to 5. DataLossError when it is damaged, InvalidArgumentError when it names a class or
/// function beyond NumPy's arrays and dtypes. `name` stands for it in errors.
THALWEG_API Pickled parse_pickle(std::span<const std::byte> bytes, const std::string& name = "pickle bytes");
/// The same from a file.
THALWEG_API Pickled load_pickle(const std::string& path);

}  // namespace thalweg::io
