// Any text given to an op that reads text must be answered or refused with a typed error.
#include <string>

#include "thalweg/core/device.h"
#include "thalweg/core/error.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/einsum.h"
#include "thalweg/ops/strings.h"

namespace {
using namespace thalweg;

template <class Call> void attempt(const Call& call) {
  try {
    call();
  } catch (const Error&) {}
}

void read_equation(const std::string& text) {
  const Tensor x = ones({2, 3}), y = ones({3, 2});
  attempt([&] { einsum(text, {x}); });
  attempt([&] { einsum(text, {x, y}); });
}

void read_numbers(const std::string& text) {
  for (DType t : {DType::float32, DType::float64, DType::int32, DType::int64})
    attempt([&] { strings::to_number(text, {.out_type = t}); });
}

void read_patterns(const std::string& text) {
  const size_t half = text.size() / 2;
  attempt([&] { strings::regex_full_match(text.substr(half), text.substr(0, half)); });
  attempt([&] { strings::regex_replace("hello world", text.substr(0, half), text.substr(half)); });
}

void read_characters(const std::string& text) {
  attempt([&] { strings::length(text, {.unit = "UTF8_CHAR"}); });
  attempt([&] { strings::substr(text, 1, 2, {.unit = "UTF8_CHAR"}); });
  attempt([&] { strings::lower(text, {.encoding = "utf-8"}); });
  attempt([&] { strings::upper(text, {.encoding = "utf-8"}); });
  attempt([&] { strings::split(text); });
  attempt([&] { strings::split(text, {.sep = text.substr(0, 1)}); });
}

void read_formats(const std::string& text) {
  attempt([&] { strings::format(text, {ones({2})}); });
  attempt([&] { strings::as_string(1.5f, {.fill = text}); });
  attempt([&] { io::decode_base64(text); });
  attempt([&] { io::decode_raw(text, DType::int16); });
  attempt([&] { find_device(text); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  constexpr void (*readers[])(const std::string&) = {read_equation, read_numbers, read_patterns, read_characters,
                                                     read_formats};
  readers[data[0] % std::size(readers)](text);
  return 0;
}
