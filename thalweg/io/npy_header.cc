#include "thalweg/io/npy_header.h"

#include <charconv>
#include <vector>

#include "thalweg/core/error.h"

// The format is described in NumPy's enhancement proposal 1 and in numpy.lib.format.
namespace thalweg::io {
namespace {

constexpr uint64_t most_header_bytes = 1 << 20;

[[noreturn]] void damaged(const std::string& name, const std::string& what) {
  throw errors::DataLossError(name + " is not a sound .npy array: " + what);
}

/// What the dictionary says, before it is understood.
struct Fields {
  std::string descr;
  bool has_descr = false, has_order = false, has_shape = false;
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

/// Reads the few Python literals that a header is made of.
class DictionaryReader {
 public:
  DictionaryReader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  Fields read() {
    Fields fields;
    expect('{');
    while (!accept('}')) {
      std::string key = quoted();
      expect(':');
      if (key == "descr") {
        if (peek() == '[' || peek() == '(')
          throw InvalidArgumentError(
              file_ + " holds a structured array (several fields per element), which no tensor can hold");
        fields.descr = quoted();
        fields.has_descr = true;
      } else if (key == "fortran_order") {
        fields.fortran_order = truth();
        fields.has_order = true;
      } else if (key == "shape") {
        fields.shape = tuple();
        fields.has_shape = true;
      } else {
        damaged(file_, "its header has the unknown key '" + key + "'");
      }
      if (!accept(',') && peek() != '}') bad();
    }
    if (peek() != '\0') bad();
    if (!fields.has_descr || !fields.has_order || !fields.has_shape)
      damaged(file_, "its header lacks one of descr, fortran_order and shape");
    return fields;
  }

 private:
  [[noreturn]] void bad() const { damaged(file_, "its header makes no sense at byte " + std::to_string(at_)); }

  /// The next character that is no blank; zero at the end.
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
    if (at_ < text_.size() && text_[at_] == '\0') bad();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) bad();
  }
  std::string quoted() {
    char quote = peek();
    if (quote != '\'' && quote != '"') bad();
    size_t end = text_.find(quote, ++at_);
    if (end == std::string_view::npos) bad();
    std::string inside(text_.substr(at_, end - at_));
    at_ = end + 1;
    return inside;
  }
  bool truth() {
    peek();
    for (std::string_view word : {"True", "False"})
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return word == "True";
      }
    bad();
  }
  std::vector<int64_t> tuple() {
    std::vector<int64_t> dims;
    expect('(');
    while (!accept(')')) {
      peek();
      int64_t dim = 0;
      auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), dim);
      if (error != std::errc() || dim < 0) bad();
      at_ = static_cast<size_t>(end - text_.data());
      accept('L');  // Python 2 wrote long integers so
      dims.push_back(dim);
      if (!accept(',') && peek() != ')') bad();
    }
    return dims;
  }

  std::string_view text_;
  const std::string& file_;
  size_t at_ = 0;
};

DType plain_dtype(char kind, uint64_t bytes) {
  switch (kind) {
    case 'b':
      return bytes == 1 ? DType::bool_ : DType::invalid;
    case 'i':
      return bytes == 1   ? DType::int8
             : bytes == 2 ? DType::int16
             : bytes == 4 ? DType::int32
             : bytes == 8 ? DType::int64
                          : DType::invalid;
    case 'u':
      return bytes == 1   ? DType::uint8
             : bytes == 2 ? DType::uint16
             : bytes == 4 ? DType::uint32
             : bytes == 8 ? DType::uint64
                          : DType::invalid;
    case 'f':
      return bytes == 2 ? DType::float16 : bytes == 4 ? DType::float32 : bytes == 8 ? DType::float64 : DType::invalid;
    case 'c':
      return bytes == 8 ? DType::complex64 : bytes == 16 ? DType::complex128 : DType::invalid;
    case 'V':
      return bytes == 2 ? DType::bfloat16 : DType::invalid;
    default:
      return DType::invalid;
  }
}

char kind_of(DType dtype) {
  if (dtype == DType::bool_) return 'b';
  if (dtype == DType::bfloat16) return 'V';
  if (dtype == DType::string) return 'S';
  if (is_complex(dtype)) return 'c';
  if (is_floating(dtype)) return 'f';
  return unsigned_types.has(dtype) ? 'u' : 'i';
}

void read_descr(std::string_view descr, const std::string& name, NpyHeader& header) {
  std::string_view rest = descr;
  if (!rest.empty() && std::string_view("<>|=").find(rest[0]) != std::string_view::npos) {
    header.big_endian = rest[0] == '>';
    rest.remove_prefix(1);
  }
  if (rest.starts_with('O'))
    throw InvalidArgumentError(name +
                               " holds Python objects (dtype object). Reading them means unpickling, which can run "
                               "code; save the array with a numeric or string dtype instead");
  if (rest.empty()) damaged(name, "its dtype is empty");
  char kind = rest[0];
  rest.remove_prefix(1);
  uint64_t number = 0;
  auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  bool sized = error == std::errc() && end == rest.data() + rest.size() && number < (uint64_t{1} << 40);
  if (sized && (kind == 'S' || kind == 'a' || kind == 'U')) {
    header.dtype = DType::string;
    header.text = kind == 'U';
    header.item_bytes = header.text ? 4 * number : number;
  } else if (sized) {
    header.dtype = plain_dtype(kind, number);
    header.item_bytes = number;
  }
  if (header.dtype == DType::invalid)
    throw InvalidArgumentError(name + " holds elements of NumPy's dtype '" + std::string(descr.substr(0, 40)) +
                               "', which no tensor can hold; convert it with astype before saving");
}

}  // namespace

NpyHeader read_npy_header(ByteStream& in, NpyObjects objects) {
  const std::string& name = in.name();
  std::vector<std::byte> start = read_bytes(in, 8);
  std::string_view magic(reinterpret_cast<const char*>(start.data()), npy_magic.size());
  if (magic != npy_magic) damaged(name, "it does not begin with \\x93NUMPY");
  auto major = static_cast<int>(start[6]), minor = static_cast<int>(start[7]);
  if (major < 1 || major > 3 || minor != 0)
    throw InvalidArgumentError(name + " is in version " + std::to_string(major) + "." + std::to_string(minor) +
                               " of NumPy's format; 1.0, 2.0 and 3.0 are known");
  uint64_t header_bytes = 0;
  std::vector<std::byte> length = read_bytes(in, major == 1 ? 2 : 4);
  for (size_t i = length.size(); i-- > 0;) header_bytes = header_bytes << 8 | static_cast<uint64_t>(length[i]);
  if (header_bytes > most_header_bytes) damaged(name, "its header has " + std::to_string(header_bytes) + " bytes");
  std::vector<std::byte> text = read_bytes(in, header_bytes);
  Fields fields = DictionaryReader({reinterpret_cast<const char*>(text.data()), text.size()}, name).read();

  NpyHeader header;
  header.fortran_order = fields.fortran_order;
  header.objects = objects == NpyObjects::allow && (fields.descr == "|O" || fields.descr == "O");
  if (header.objects) return header;
  read_descr(fields.descr, name, header);
  if (fields.shape.size() > Shape::max_rank)
    throw InvalidArgumentError(name + " has " + std::to_string(fields.shape.size()) +
                               " dimensions; a tensor has at most " + std::to_string(Shape::max_rank));
  header.shape = Shape(fields.shape);
  int64_t count = 1, total = 0;
  for (int64_t dim : fields.shape)  // empty arrays too: their strides must not overflow
    if (dim != 0 && __builtin_mul_overflow(count, dim, &count)) damaged(name, "its shape has more than 2^63 elements");
  count = header.shape.num_elements();
  if (__builtin_mul_overflow(count, static_cast<int64_t>(header.item_bytes), &total))
    damaged(name, "its shape asks for more than 2^63 bytes");
  if (static_cast<uint64_t>(total) > in.remaining())
    damaged(name, "shape " + header.shape.str() + " of '" + fields.descr + "' needs " + std::to_string(total) +
                      " bytes, " + std::to_string(in.remaining()) + " are there");
  // Strings of no bytes cost memory though they cost no file.
  if (header.item_bytes == 0 && count > (1 << 20))
    damaged(name, "it has " + std::to_string(count) + " elements of no bytes");
  return header;
}

std::string write_npy_header(DType dtype, uint64_t item_bytes, const Shape& shape) {
  bool ordered = dtype != DType::string && item_bytes > 1;
  std::string header = "{'descr': '";
  header += ordered ? '<' : '|';
  header += kind_of(dtype);
  header += std::to_string(item_bytes) + "', 'fortran_order': False, 'shape': " + shape.str() + ", }";
  // NumPy leaves room for the first dimension to grow to 21 digits in place.
  if (shape.rank() > 0) header.append(21 - std::to_string(shape[0]).size(), ' ');
  constexpr size_t prefix = 10, alignment = 64;
  header.append(alignment - (prefix + header.size() + 1) % alignment, ' ');
  header += '\n';
  std::string out(npy_magic);
  out += {'\x01', '\0', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  return out + header;
}

}  // namespace thalweg::io
