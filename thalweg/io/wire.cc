#include "thalweg/io/wire.h"

#include <algorithm>
#include <limits>

#include "thalweg/core/error.h"

namespace thalweg::io::wire {
namespace {
constexpr int most_depth = 100;  // as protobuf's own readers
constexpr size_t free_bytes = size_t{64} << 20, bytes_per_byte = 32;
}  // namespace

void Writer::bytes(const void* data, size_t count) {
  if (count == 0) return;
  if (count > begin_) {
    const size_t written = size();
    std::string larger(std::max<size_t>(2 * buffer_.size(), written + count + 64), '\0');
    std::memcpy(larger.data() + larger.size() - written, buffer_.data() + begin_, written);
    begin_ = larger.size() - written;
    buffer_ = std::move(larger);
  }
  begin_ -= count;
  std::memcpy(buffer_.data() + begin_, data, count);
}

void Writer::varint(uint64_t value) {
  uint8_t text[10];
  size_t count = 0;
  do {
    text[count++] = static_cast<uint8_t>(value | 0x80);
    value >>= 7;
  } while (value);
  text[count - 1] &= 0x7f;
  bytes(text, count);
}

std::string Writer::take() {
  if (size() > static_cast<size_t>(std::numeric_limits<int32_t>::max()))
    throw ResourceExhaustedError("a message of " + std::to_string(size()) +
                                 " bytes cannot be written: protocol buffers end at 2 GB");
  buffer_.erase(0, begin_);
  begin_ = 0;
  return std::move(buffer_);
}

Reader::Reader(std::string_view bytes, const char* what)
    : rest_(bytes),
      what_(what),
      depth_(0),
      own_budget_(free_bytes + bytes_per_byte * bytes.size()),
      budget_(&own_budget_) {}

Reader::Reader(std::string_view bytes, const Reader& outer)
    : rest_(bytes), what_(outer.what_), depth_(outer.depth_ + 1), budget_(outer.budget_) {
  if (depth_ > most_depth) fail("messages are nested more than 100 deep");
}

bool Reader::next() {
  if (rest_.empty()) return false;
  const uint64_t tag = varint();
  number_ = static_cast<uint32_t>(tag >> 3);
  type_ = static_cast<WireType>(tag & 7);
  if (tag > std::numeric_limits<uint32_t>::max() || number_ == 0) fail("a field has no valid number");
  if (type_ != WireType::varint && type_ != WireType::fixed64 && type_ != WireType::block && type_ != WireType::fixed32)
    fail("a field has a wire type that nobody writes");
  return true;
}

uint64_t Reader::varint() {
  uint64_t value = 0;
  for (size_t i = 0; i < rest_.size() && i < 10; ++i) {
    const auto byte = static_cast<uint8_t>(rest_[i]);
    value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      rest_.remove_prefix(i + 1);
      return value;
    }
  }
  fail("a number does not end");
}

std::string_view Reader::take(size_t count) {
  if (count > rest_.size()) fail("the bytes end too early");
  std::string_view taken = rest_.substr(0, count);
  rest_.remove_prefix(count);
  return taken;
}

std::string_view Reader::block() {
  const uint64_t size = varint();
  if (size > rest_.size()) fail("a part is longer than the bytes that are there");
  return take(static_cast<size_t>(size));
}

void Reader::skip() {
  if (type_ == WireType::varint) varint();
  else if (type_ == WireType::block) block();
  else take(type_ == WireType::fixed64 ? 8 : 4);
}

void Reader::charge(size_t bytes) {
  if (bytes > *budget_) fail("it has more parts than its size can explain");
  *budget_ -= bytes;
}

void Reader::fail(const char* why) const {
  throw InvalidArgumentError(std::string("these bytes are no ") + what_ + ": " + why);
}

}  // namespace thalweg::io::wire
