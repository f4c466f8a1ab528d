#include "thalweg/io/pickle.h"

#include <bit>
#include <charconv>
#include <unordered_map>

#include "thalweg/core/error.h"
#include "thalweg/io/pickle_document.h"

// The opcodes are those of Python's pickletools.
namespace thalweg::io {

class PickleReader {
 public:
  using Cell = Pickled::Cell;
  using Kind = Pickled::Kind;

  PickleReader(std::span<const std::byte> bytes, const std::string& name)
      : bytes_(bytes), document_(std::make_shared<Pickled::Document>()), arrays_(*document_) {
    document_->name = name;
    document_->num_bytes = bytes.size();
  }

  Pickled read() {
    while (step()) {}
    document_->root = pop();
    if (document_->root.type >= static_cast<uint8_t>(Cell::Inner::dtype)) document_->refuse("a class instead of data");
    const Cell& root = document_->resolve(document_->root);
    return {std::move(document_), root};
  }

 private:
  size_t& at() { return document_->position; }
  std::span<const std::byte> take(uint64_t count) {
    if (count > bytes_.size() - at()) document_->damaged("it is cut short");
    auto part = bytes_.subspan(at(), static_cast<size_t>(count));
    at() += static_cast<size_t>(count);
    return part;
  }
  uint64_t little_endian(size_t width) {
    uint64_t value = 0;
    auto part = take(width);
    for (size_t i = width; i-- > 0;) value = value << 8 | static_cast<uint64_t>(part[i]);
    return value;
  }
  std::string line() {
    size_t end = at();
    while (end < bytes_.size() && bytes_[end] != std::byte{'\n'}) ++end;
    if (end == bytes_.size()) document_->damaged("a line has no end");
    auto part = take(end - at());
    ++at();
    return {reinterpret_cast<const char*>(part.data()), part.size()};
  }

  void push(const Cell& cell) { stack_.push_back(cell); }
  Cell pop() {
    // Nothing is taken from below the last mark.
    if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) document_->damaged("its stack is empty");
    Cell cell = stack_.back();
    stack_.pop_back();
    return cell;
  }
  /// What was pushed after the last mark, without the mark.
  std::vector<Cell> pop_marked() {
    if (marks_.empty()) document_->damaged("a mark is missing");
    auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<Cell> cells(begin, stack_.end());
    stack_.erase(begin, stack_.end());
    marks_.pop_back();
    return cells;
  }
  void push_text(uint64_t length) {
    auto part = take(length);
    push(document_->add(std::string(reinterpret_cast<const char*>(part.data()), part.size())));
  }
  void push_tuple(size_t count) {
    std::vector<Cell> cells(count);
    while (count-- > 0) cells[count] = pop();
    push(document_->add(std::move(cells)));
  }
  void extend(const std::vector<Cell>& more, Kind kind) {
    Cell target = pop();
    push(target);
    if (!target.is(kind))
      document_->damaged(kind == Kind::list ? "it appends to what is no list" : "it sets items of no dict");
    if (kind == Kind::dictionary && more.size() % 2 != 0) document_->damaged("a key has no value");
    auto& list = document_->lists[target.index];
    list.insert(list.end(), more.begin(), more.end());
  }
  void remember(uint64_t number) {
    if (stack_.empty()) document_->damaged("its stack is empty");
    memo_[number] = stack_.back();
  }
  void recall(uint64_t number) {
    auto found = memo_.find(number);
    if (found == memo_.end()) document_->damaged("it refers to an object that is not there");
    push(found->second);
  }
  uint64_t line_number() {
    std::string digits = line();
    uint64_t value = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) document_->damaged("a number makes no sense");
    return value;
  }
  void push_integer_line() {
    std::string digits = line();
    if (digits.ends_with('L')) digits.pop_back();
    int64_t value = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) document_->damaged("a number makes no sense");
    push(Cell::of(digits == "00" || digits == "01" ? Kind::boolean : Kind::integer, value));
  }
  void push_long() {
    uint64_t width = little_endian(1);
    if (width > 8) document_->refuse("an integer beyond 64 bits");
    uint64_t value = little_endian(static_cast<size_t>(width));
    if (width > 0 && width < 8 && value >> (8 * width - 1)) value |= ~uint64_t{0} << 8 * width;
    push(Cell::of(Kind::integer, static_cast<int64_t>(value)));
  }
  void push_real() {
    uint64_t bits = 0;
    for (std::byte b : take(8)) bits = bits << 8 | static_cast<uint64_t>(b);
    Cell cell = Cell::of(Kind::real, 0);
    cell.real = std::bit_cast<double>(bits);
    push(cell);
  }
  void reduce() {
    const std::vector<Cell> args = document_->list_of(pop());
    Cell function = pop();
    push(arrays_.call(function, args));
  }
  void build() {
    const std::vector<Cell> state = document_->list_of(pop());
    Cell target = pop();
    push(target);
    arrays_.set_state(target, state);
  }

  /// Runs one opcode; false after the last.
  bool step() {
    auto code = static_cast<unsigned char>(take(1)[0]);
    switch (code) {
      case 0x80:  // PROTO
        if (little_endian(1) > 5) document_->refuse("a protocol that is not known");
        return true;
      case 0x95:  // FRAME: how much belongs together, which matters to streams alone
        take(8);
        return true;
      case '.':  // STOP
        return false;
      case '(':  // MARK
        marks_.push_back(stack_.size());
        return true;
      case '0':  // POP
        if (!marks_.empty() && marks_.back() == stack_.size()) marks_.pop_back();
        else pop();
        return true;
      case '1':  // POP_MARK
        pop_marked();
        return true;
      case '2': {  // DUP
        Cell top = pop();
        push(top);
        push(top);
        return true;
      }
      case 'N':
        push(Cell::none());
        return true;
      case 0x88:  // NEWTRUE, NEWFALSE
      case 0x89:
        push(Cell::of(Kind::boolean, code == 0x88));
        return true;
      case 'I':
      case 'L':
        push_integer_line();
        return true;
      case 'J':
        push(Cell::of(Kind::integer, static_cast<int32_t>(little_endian(4))));
        return true;
      case 'K':
        push(Cell::of(Kind::integer, static_cast<int64_t>(little_endian(1))));
        return true;
      case 'M':
        push(Cell::of(Kind::integer, static_cast<int64_t>(little_endian(2))));
        return true;
      case 0x8a:  // LONG1
        push_long();
        return true;
      case 'G':
        push_real();
        return true;
      case 'U':   // SHORT_BINSTRING
      case 'C':   // SHORT_BINBYTES
      case 0x8c:  // SHORT_BINUNICODE
        push_text(little_endian(1));
        return true;
      case 'T':  // BINSTRING
      case 'B':  // BINBYTES
      case 'X':  // BINUNICODE
        push_text(little_endian(4));
        return true;
      case 0x8d:  // BINUNICODE8
      case 0x8e:  // BINBYTES8
      case 0x96:  // BYTEARRAY8
        push_text(little_endian(8));
        return true;
      case ']':
      case ')':
        push(document_->add(std::vector<Cell>()));
        return true;
      case '}':
        push(document_->add(std::vector<Cell>(), Kind::dictionary));
        return true;
      case 'l':
      case 't':
        push(document_->add(pop_marked()));
        return true;
      case 'd': {
        std::vector<Cell> items = pop_marked();
        push(document_->add(std::vector<Cell>(), Kind::dictionary));
        extend(items, Kind::dictionary);
        return true;
      }
      case 0x85:  // TUPLE1 to TUPLE3
      case 0x86:
      case 0x87:
        push_tuple(code - size_t{0x84});
        return true;
      case 'a': {
        Cell item = pop();
        extend({item}, Kind::list);
        return true;
      }
      case 'e': {
        std::vector<Cell> items = pop_marked();
        extend(items, Kind::list);
        return true;
      }
      case 's': {
        Cell value = pop(), key = pop();
        extend({key, value}, Kind::dictionary);
        return true;
      }
      case 'u': {
        std::vector<Cell> items = pop_marked();
        extend(items, Kind::dictionary);
        return true;
      }
      case 'c': {
        std::string module = line(), name = line();
        push(arrays_.find(module, name));
        return true;
      }
      case 0x93: {  // STACK_GLOBAL
        Cell name = pop(), module = pop();
        push(arrays_.find(document_->text_of(module), document_->text_of(name)));
        return true;
      }
      case 'R':
        reduce();
        return true;
      case 'b':
        build();
        return true;
      case 'g':
        recall(line_number());
        return true;
      case 'h':
        recall(little_endian(1));
        return true;
      case 'j':
        recall(little_endian(4));
        return true;
      case 'p':
        remember(line_number());
        return true;
      case 'q':
        remember(little_endian(1));
        return true;
      case 'r':
        remember(little_endian(4));
        return true;
      case 0x94:  // MEMOIZE
        remember(memo_.size());
        return true;
      default:
        document_->refuse("the opcode " + std::to_string(code));
    }
  }

  std::span<const std::byte> bytes_;
  std::shared_ptr<Pickled::Document> document_;
  PickledArrays arrays_;
  std::vector<Cell> stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint64_t, Cell> memo_;
};

void Pickled::Document::damaged(const std::string& what) const {
  throw errors::DataLossError(name + " is not a sound pickle: " + what + " at byte " + std::to_string(position));
}

void Pickled::Document::refuse(const std::string& what) const {
  throw InvalidArgumentError(name + " is a pickle that holds " + what +
                             "; only numbers, text, lists, dictionaries and arrays of NumPy are read");
}

Pickled::Pickled(std::shared_ptr<const Document> document, const Cell& cell)
    : document_(std::move(document)), cell_(&cell) {}

Pickled::Kind Pickled::kind() const {
  // A name or a dtype that stands where data should be is nothing that anyone can read.
  return cell_->type <= static_cast<uint8_t>(Kind::array) ? static_cast<Kind>(cell_->type) : Kind::none;
}

const Pickled::Cell& Pickled::expect(Kind wanted) const {
  static constexpr const char* names[] = {"None", "a boolean", "an integer",   "a real number",
                                          "text", "a list",    "a dictionary", "an array"};
  if (kind() != wanted)
    throw errors::DataLossError(document_->name + " holds " + names[static_cast<size_t>(kind())] + " where " +
                                names[static_cast<size_t>(wanted)] + " should be");
  return *cell_;
}

int64_t Pickled::integer() const { return kind() == Kind::boolean ? cell_->integer : expect(Kind::integer).integer; }
double Pickled::real() const { return expect(Kind::real).real; }
const std::string& Pickled::text() const { return document_->texts[expect(Kind::text).index]; }
const Tensor& Pickled::array() const { return document_->arrays[expect(Kind::array).index]; }
size_t Pickled::size() const { return document_->lists[expect(Kind::list).index].size(); }
size_t Pickled::num_bytes() const { return document_->num_bytes; }

Pickled Pickled::operator[](size_t i) const {
  const auto& list = document_->lists[expect(Kind::list).index];
  if (i >= list.size()) throw OutOfRangeError(document_->name + ": a list has no element " + std::to_string(i));
  return {document_, document_->resolve(list[i])};
}

Pickled Pickled::at(std::string_view key) const {
  const auto& items = document_->lists[expect(Kind::dictionary).index];
  for (size_t i = items.size(); i >= 2; i -= 2) {
    const Cell& name = items[i - 2];
    if (name.is(Kind::text) && document_->texts[name.index] == key)
      return {document_, document_->resolve(items[i - 1])};
  }
  throw NotFoundError(document_->name + " has no entry '" + std::string(key) + "'");
}

Pickled parse_pickle(std::span<const std::byte> bytes, const std::string& name) {
  return PickleReader(bytes, name).read();
}

Pickled load_pickle(const std::string& path) {
  ByteSource source = ByteSource::open(path);
  SourceStream in(source);
  return parse_pickle(read_bytes(in, source.size()), path);
}

}  // namespace thalweg::io
