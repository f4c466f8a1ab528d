#include "thalweg/keras/datasets/word_index.h"

#include <charconv>
#include <string_view>

#include "thalweg/core/error.h"
#include "thalweg/io/file.h"
#include "thalweg/kernels/unicode.h"

namespace thalweg::keras::datasets {
namespace {

class Reader {
 public:
  Reader(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  std::map<std::string, int64_t> read() {
    std::map<std::string, int64_t> index;
    expect('{');
    while (!accept('}')) {
      if (!index.empty()) expect(',');
      std::string word = quoted();
      expect(':');
      index[std::move(word)] = integer();
    }
    if (peek() != '\0') bad();
    return index;
  }

 private:
  [[noreturn]] void bad() const {
    throw errors::DataLossError(path_ + " is not a JSON object of words and integers: it makes no sense at byte " +
                                std::to_string(at_));
  }
  /// The next character that is no blank; zero at the end.
  char peek() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (at_ > text_.size() || peek() != c || at_ == text_.size()) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) bad();
  }
  int64_t integer() {
    peek();
    int64_t value = 0;
    auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc()) bad();
    at_ = static_cast<size_t>(end - text_.data());
    return value;
  }
  uint32_t unicode() {
    uint32_t code = 0;
    if (text_.size() - at_ < 4) bad();
    auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + at_ + 4, code, 16);
    if (error != std::errc() || end != text_.data() + at_ + 4) bad();
    at_ += 4;
    return code;
  }
  void escape(std::string& out) {
    if (at_ == text_.size()) bad();
    constexpr std::string_view names = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
    char c = text_[at_++];
    if (size_t which = names.find(c); which != std::string_view::npos) {
      out.push_back(meanings[which]);
      return;
    }
    if (c != 'u') bad();
    uint32_t code = unicode();
    if (code >= 0xd800 && code < 0xdc00 && text_.substr(at_).starts_with("\\u")) {  // the first half of a pair
      at_ += 2;
      uint32_t second = unicode();
      if (second < 0xdc00 || second > 0xdfff) bad();
      code = 0x10000 + ((code - 0xd800) << 10) + (second - 0xdc00);
    }
    if (code >= 0xd800 && code < 0xe000) bad();
    kernels::append_utf8(out, code);
  }
  std::string quoted() {
    expect('"');
    std::string out;
    for (;;) {
      if (at_ == text_.size()) bad();
      char c = text_[at_++];
      if (c == '"') return out;
      if (c == '\\') escape(out);
      else out.push_back(c);
    }
  }

  std::string_view text_;
  const std::string& path_;
  size_t at_ = 0;
};

}  // namespace

std::map<std::string, int64_t> load_word_index(const std::string& path) {
  io::ByteSource source = io::ByteSource::open(path);
  io::SourceStream in(source);
  std::vector<std::byte> bytes = io::read_bytes(in, source.size());
  return Reader({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path).read();
}

}  // namespace thalweg::keras::datasets
