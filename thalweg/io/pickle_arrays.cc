#include "thalweg/core/error.h"
#include "thalweg/io/npy.h"
#include "thalweg/io/npy_header.h"
#include "thalweg/io/pickle_document.h"
#include "thalweg/kernels/unicode.h"

// How arrays reduce is written in numpy/core (array_reduce, dtype_reduce).
namespace thalweg::io {

// What is used again and again must not cost memory each time: no honest byte is copied more than a few times.
void PickledArrays::spend(size_t count) {
  spent_ += count;
  if (spent_ > 4 * document_.num_bytes + 4096) document_.damaged("it makes more arrays than it has bytes");
}

std::vector<int64_t> PickledArrays::shape_of(const Cell& cell) const {
  std::vector<int64_t> shape;
  for (const Cell& dim : document_.list_of(cell)) {
    if (!dim.is(Kind::integer) || dim.integer < 0) document_.damaged("a shape makes no sense");
    shape.push_back(dim.integer);
  }
  if (shape.size() > Shape::max_rank) document_.damaged("an array has too many dimensions");
  return shape;
}

const PickledArrays::ElementType& PickledArrays::dtype_of(const Cell& cell) const {
  if (!cell.is(Cell::Inner::dtype)) document_.damaged("a dtype is missing");
  return document_.dtypes[cell.index];
}

/// The array that an .npy file with this header would hold.
Tensor PickledArrays::numbers(const ElementType& dtype, const std::vector<int64_t>& shape, bool fortran,
                              const std::string& raw) {
  if (std::string_view("biufc").find(dtype.descr[0]) == std::string_view::npos)
    document_.refuse("an array of NumPy's dtype '" + dtype.descr + "'");
  spend(raw.size());
  std::string header = "{'descr': '";
  header += dtype.order;
  header += dtype.descr + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': (";
  for (int64_t dim : shape) header += std::to_string(dim) + ",";
  header += ")}";
  std::string file(npy_magic);
  file += {'\x01', '\0', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  file += header;
  file += raw;
  return parse_npy(std::as_bytes(std::span(file)), document_.name + ": an array");
}

PickledArrays::Cell PickledArrays::add_array(const ElementType& dtype, const std::vector<int64_t>& shape, bool fortran,
                                             const std::string& raw) {
  document_.arrays.push_back(numbers(dtype, shape, fortran, raw));
  return Cell::at(Kind::array, document_.arrays.size() - 1);
}

/// Objects in row-major order as lists in lists.
PickledArrays::Cell PickledArrays::nested(const std::vector<Cell>& objects, const std::vector<int64_t>& shape) {
  uint64_t count = 1;
  for (int64_t dim : shape)
    if (__builtin_mul_overflow(count, static_cast<uint64_t>(dim), &count)) document_.damaged("a shape is too large");
  if (count != objects.size()) document_.damaged("an array has not as many objects as its shape asks for");
  spend(objects.size());
  if (count == 0 || shape.empty()) return document_.add(objects);
  std::vector<Cell> level = objects;
  for (size_t d = shape.size(); d-- > 1;) {
    auto width = static_cast<size_t>(shape[d]);
    spend(level.size());
    std::vector<Cell> rows;
    for (size_t i = 0; i < level.size(); i += width)
      rows.push_back(document_.add(std::vector<Cell>(level.begin() + static_cast<std::ptrdiff_t>(i),
                                                     level.begin() + static_cast<std::ptrdiff_t>(i + width))));
    level = std::move(rows);
  }
  return document_.add(std::move(level));
}

PickledArrays::Cell PickledArrays::make_dtype(const std::vector<Cell>& args) {
  if (args.empty()) document_.damaged("a dtype has no name");
  ElementType type{document_.text_of(args[0])};
  if (!type.descr.empty() && std::string_view("<>|=").find(type.descr[0]) != std::string_view::npos) {
    type.order = type.descr[0];
    type.descr.erase(0, 1);
  }
  bool plain = !type.descr.empty() && type.descr.size() < 8;
  for (char c : type.descr) plain = plain && ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == 'O');
  if (!plain) document_.refuse("an array of NumPy's dtype '" + type.descr.substr(0, 40) + "'");
  document_.dtypes.push_back(std::move(type));
  return Cell::at(Cell::Inner::dtype, document_.dtypes.size() - 1);
}

PickledArrays::Cell PickledArrays::make_scalar(const std::vector<Cell>& args) {
  if (args.size() != 2) document_.damaged("a scalar of NumPy makes no sense");
  Tensor value = numbers(dtype_of(args[0]), {}, false, document_.text_of(args[1]));
  if (is_complex(value.dtype())) document_.refuse("a complex scalar");
  bool real = is_floating(value.dtype());
  Cell cell = Cell::of(real ? Kind::real : Kind::integer, 0);
  if (real) cell.real = value.item<double>();
  else cell.integer = value.item<int64_t>();
  return cell;
}

// Protocol 2 of Python 3 writes bytes as text of code points below 256.
PickledArrays::Cell PickledArrays::make_bytes(const std::vector<Cell>& args) {
  if (args.size() != 2 || document_.text_of(args[1]) != "latin1") document_.refuse("text in an unusual encoding");
  const std::string& text = document_.text_of(args[0]);
  spend(text.size());
  std::string encoded;
  encoded.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    if (static_cast<unsigned char>(text[i]) < 0x80) {
      encoded.push_back(text[i++]);
      continue;
    }
    uint32_t code = kernels::read_utf8(text, i);
    if (code > 255) document_.damaged("bytes are written as characters that are none");
    encoded.push_back(static_cast<char>(code));
  }
  return document_.add(std::move(encoded));
}

PickledArrays::Cell PickledArrays::find(const std::string& module, const std::string& name) const {
  using Known = Cell::Known;
  bool core = module.starts_with("numpy.core.") || module.starts_with("numpy._core.");
  Cell cell = Cell::at(Cell::Inner::known, 0);
  if (core && name == "_reconstruct") cell.known = Known::reconstruct;
  else if (core && name == "scalar") cell.known = Known::scalar;
  else if (core && name == "_frombuffer") cell.known = Known::frombuffer;
  else if (module == "numpy" && name == "ndarray") cell.known = Known::ndarray;
  else if (module == "numpy" && name == "dtype") cell.known = Known::dtype;
  else if (module == "_codecs" && name == "encode") cell.known = Known::encode;
  else document_.refuse("the name " + (module + "." + name).substr(0, 100));
  return cell;
}

PickledArrays::Cell PickledArrays::call(const Cell& function, const std::vector<Cell>& args) {
  using Known = Cell::Known;
  if (!function.is(Cell::Inner::known)) document_.damaged("it calls what is no function");
  switch (function.known) {
    case Known::reconstruct:
      if (args.empty() || !args[0].is(Cell::Inner::known) || args[0].known != Known::ndarray)
        document_.refuse("a subclass of NumPy's arrays");
      document_.shells.push_back(Cell::none());
      return Cell::at(Cell::Inner::shell, document_.shells.size() - 1);
    case Known::dtype:
      return make_dtype(args);
    case Known::scalar:
      return make_scalar(args);
    case Known::encode:
      return make_bytes(args);
    case Known::frombuffer:
      if (args.size() != 4) document_.damaged("an array makes no sense");
      return add_array(dtype_of(args[1]), shape_of(args[2]), document_.text_of(args[3]) == "F",
                       document_.text_of(args[0]));
    case Known::ndarray:
      break;
  }
  document_.refuse("a call of numpy.ndarray");
}

void PickledArrays::set_state(const Cell& target, const std::vector<Cell>& state) {
  if (target.is(Cell::Inner::dtype)) {  // version, byte order, then what structured types have
    if (state.size() < 2) document_.damaged("a dtype makes no sense");
    const std::string& order = document_.text_of(state[1]);
    if (order.size() != 1 || std::string_view("<>|=").find(order[0]) == std::string_view::npos)
      document_.damaged("a byte order makes no sense");
    document_.dtypes[target.index].order = order[0];
  } else if (target.is(Cell::Inner::shell)) {  // version, shape, dtype, whether in Fortran's order, elements
    if (state.size() != 5) document_.damaged("an array makes no sense");
    const ElementType& dtype = dtype_of(state[2]);
    std::vector<int64_t> shape = shape_of(state[1]);
    bool fortran = state[3].integer != 0, objects = dtype.descr[0] == 'O';
    if (objects && fortran && shape.size() > 1) document_.refuse("objects in Fortran's order");
    document_.shells[target.index] = objects ? nested(document_.list_of(state[4]), shape)
                                             : add_array(dtype, shape, fortran, document_.text_of(state[4]));
  } else {
    document_.refuse("an object of a class");
  }
}

}  // namespace thalweg::io
