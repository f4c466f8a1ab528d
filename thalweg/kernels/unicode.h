// Text in UTF-8: code points, and upper and lower case as Unicode maps them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace thalweg::kernels {

/// Stands for what is no UTF-8.
inline constexpr uint32_t replacement_character = 0xfffd;

/// Whether a byte continues a code point.
constexpr bool is_utf8_trail(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

/// The number of code points: bytes that do not continue one.
int64_t count_utf8(std::string_view text);

/// Reads the code point at `position`, which is not the end, and moves past it. What is no UTF-8 gives one
/// `replacement_character` for each longest piece that could begin a code point, as the Unicode standard advises.
uint32_t read_utf8(std::string_view text, size_t& position);
void append_utf8(std::string& text, uint32_t code_point);

/// Full case mapping without a language: ß becomes SS, a capital sigma at the end of a word ς. What a word is follows
/// from letters that have case and the common marks inside words. What is no UTF-8 becomes U+FFFD.
std::string to_upper_utf8(std::string_view text);
std::string to_lower_utf8(std::string_view text);

}  // namespace thalweg::kernels
