// What a pickle is read into.
#pragma once
#include <deque>
#include <string>
#include <vector>

#include "thalweg/io/pickle.h"

namespace thalweg::io {

/// One value: small ones inside, others by their number in the document, so that a list of numbers stays compact.
struct Pickled::Cell {
  /// Types beyond those that users see: what stands for an array until its state comes, a dtype, and a name.
  enum class Inner : uint8_t { shell = 100, dtype, known };
  /// The functions and classes that arrays are made with; naming any other is refused.
  enum class Known : uint8_t { reconstruct, ndarray, dtype, scalar, frombuffer, encode };

  uint8_t type = 0;
  union {
    int64_t integer = 0;
    double real;
    size_t index;
    Known known;
  };

  static Cell none() { return {}; }
  static Cell of(Kind kind, int64_t integer) {
    Cell cell;
    cell.type = static_cast<uint8_t>(kind);
    cell.integer = integer;
    return cell;
  }
  template <class Type> static Cell at(Type type, size_t index) {
    Cell cell;
    cell.type = static_cast<uint8_t>(type);
    cell.index = index;
    return cell;
  }
  bool is(Kind kind) const { return type == static_cast<uint8_t>(kind); }
  bool is(Inner inner) const { return type == static_cast<uint8_t>(inner); }
};

struct Pickled::Document {
  struct ElementType {
    std::string descr;
    char order = '|';
  };

  std::string name;
  size_t num_bytes = 0;
  size_t position = 0;  // of what is being read
  std::deque<std::string> texts;
  std::deque<std::vector<Cell>> lists;  // a dictionary is a list of keys and values in turn
  std::deque<Tensor> arrays;
  std::deque<ElementType> dtypes;
  std::deque<Cell> shells;  // what became of each: none until it is built
  Cell root;

  const Cell& resolve(const Cell& cell) const { return cell.is(Cell::Inner::shell) ? shells[cell.index] : cell; }
  const std::string& text_of(const Cell& cell) const {
    if (!cell.is(Kind::text)) damaged("text is missing");
    return texts[cell.index];
  }
  const std::vector<Cell>& list_of(const Cell& cell) const {
    if (!cell.is(Kind::list)) damaged("a tuple is missing");
    return lists[cell.index];
  }
  Cell add(std::string text) {
    texts.push_back(std::move(text));
    return Cell::at(Kind::text, texts.size() - 1);
  }
  Cell add(std::vector<Cell> cells, Kind kind = Kind::list) {
    lists.push_back(std::move(cells));
    return Cell::at(kind, lists.size() - 1);
  }

  [[noreturn]] void damaged(const std::string& what) const;
  [[noreturn]] void refuse(const std::string& what) const;
};

/// How arrays of NumPy are made of the calls and states in a pickle: nothing else is called.
class PickledArrays {
 public:
  using Cell = Pickled::Cell;
  using Kind = Pickled::Kind;

  explicit PickledArrays(Pickled::Document& document) : document_(document) {}

  /// The function or class with this name.
  Cell find(const std::string& module, const std::string& name) const;
  /// The result of a call.
  Cell call(const Cell& function, const std::vector<Cell>& args);
  /// Gives an array or a dtype its state.
  void set_state(const Cell& target, const std::vector<Cell>& state);

 private:
  using ElementType = Pickled::Document::ElementType;
  void spend(size_t count);
  std::vector<int64_t> shape_of(const Cell& cell) const;
  const ElementType& dtype_of(const Cell& cell) const;
  Tensor numbers(const ElementType& dtype, const std::vector<int64_t>& shape, bool fortran, const std::string& raw);
  Cell add_array(const ElementType& dtype, const std::vector<int64_t>& shape, bool fortran, const std::string& raw);
  Cell nested(const std::vector<Cell>& objects, const std::vector<int64_t>& shape);
  Cell make_dtype(const std::vector<Cell>& args);
  Cell make_scalar(const std::vector<Cell>& args);
  Cell make_bytes(const std::vector<Cell>& args);

  Pickled::Document& document_;
  size_t spent_ = 0;
};

}  // namespace thalweg::io
