#include "thalweg/kernels/unicode.h"

#include <algorithm>
#include <iterator>

#include "thalweg/kernels/unicode_case_table.h"

namespace thalweg::kernels {
namespace {

constexpr uint32_t capital_sigma = 0x3a3, final_sigma = 0x3c2, capital_i_with_dot = 0x130;

template <size_t N> uint32_t map_case(const CaseRun (&runs)[N], uint32_t c) {
  const CaseRun* run = std::partition_point(runs, runs + N, [c](const CaseRun& r) { return r.last < c; });
  if (run == runs + N || c < run->first || (c - run->first) % run->step != 0) return c;
  return static_cast<uint32_t>(static_cast<int32_t>(c) + run->distance);
}

uint32_t simple_upper(uint32_t c) {
  if (c < 0x80) return c >= 'a' && c <= 'z' ? c - 32 : c;
  return map_case(upper_runs, c);
}
uint32_t simple_lower(uint32_t c) {
  if (c < 0x80) return c >= 'A' && c <= 'Z' ? c + 32 : c;
  return map_case(lower_runs, c);
}

const CaseExpansion* find_expansion(uint32_t c) {
  const CaseExpansion* end = std::end(upper_expansions);
  const CaseExpansion* found =
      std::partition_point(std::begin(upper_expansions), end, [c](const CaseExpansion& e) { return e.from < c; });
  return found != end && found->from == c ? found : nullptr;
}

bool has_case(uint32_t c) {
  return simple_upper(c) != c || simple_lower(c) != c || find_expansion(c) || c == capital_i_with_dot;
}

// Marks within words that do not end them: points, apostrophes, combining accents, modifiers.
bool is_case_ignorable(uint32_t c) {
  switch (c) {
    case '\'':
    case '.':
    case ':':
    case '^':
    case '`':
    case 0xa8:
    case 0xad:
    case 0xaf:
    case 0xb4:
    case 0xb7:
    case 0xb8:
    case 0x2018:
    case 0x2019:
    case 0x2024:
    case 0x2027:
      return true;
    default:
      return (c >= 0x2b0 && c < 0x370) || (c >= 0x483 && c <= 0x489) || (c >= 0x200b && c <= 0x200f);
  }
}

bool cased_letter_before(std::string_view text, size_t position) {
  while (position > 0) {
    do --position;
    while (position > 0 && is_utf8_trail(text[position]));
    size_t at = position;
    uint32_t c = read_utf8(text, at);
    if (!is_case_ignorable(c)) return has_case(c);
  }
  return false;
}
bool cased_letter_after(std::string_view text, size_t position) {
  while (position < text.size()) {
    uint32_t c = read_utf8(text, position);
    if (!is_case_ignorable(c)) return has_case(c);
  }
  return false;
}

}  // namespace

int64_t count_utf8(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char byte) { return !is_utf8_trail(byte); });
}

uint32_t read_utf8(std::string_view text, size_t& position) {
  auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(text[i])); };
  uint32_t lead = byte(position++);
  if (lead < 0x80) return lead;
  int trails = lead >= 0xc2 && lead < 0xe0 ? 1 : lead >= 0xe0 && lead < 0xf0 ? 2 : lead >= 0xf0 && lead < 0xf5 ? 3 : 0;
  if (trails == 0) return replacement_character;
  uint32_t code_point = lead & (0x3fu >> trails);
  for (int i = 0; i < trails; ++i) {
    if (position == text.size()) return replacement_character;
    uint32_t trail = byte(position), low = 0x80, high = 0xbf;
    // The second byte rules out longer forms than needed, surrogates, and what lies past U+10FFFF.
    if (i == 0 && lead == 0xe0) low = 0xa0;
    if (i == 0 && lead == 0xed) high = 0x9f;
    if (i == 0 && lead == 0xf0) low = 0x90;
    if (i == 0 && lead == 0xf4) high = 0x8f;
    if (trail < low || trail > high) return replacement_character;
    code_point = code_point << 6 | (trail & 0x3f);
    ++position;
  }
  return code_point;
}

void append_utf8(std::string& text, uint32_t c) {
  auto add = [&](uint32_t byte) { text += static_cast<char>(byte); };
  if (c < 0x80) return add(c);
  if (c < 0x800) {
    add(0xc0 | c >> 6);
  } else {
    if (c < 0x10000) {
      add(0xe0 | c >> 12);
    } else {
      add(0xf0 | c >> 18);
      add(0x80 | (c >> 12 & 0x3f));
    }
    add(0x80 | (c >> 6 & 0x3f));
  }
  add(0x80 | (c & 0x3f));
}

std::string to_upper_utf8(std::string_view text) {
  std::string upper;
  upper.reserve(text.size());
  for (size_t position = 0; position < text.size();) {
    uint32_t c = read_utf8(text, position);
    if (const CaseExpansion* expansion = c < 0x80 ? nullptr : find_expansion(c)) {
      for (uint32_t part : expansion->to)
        if (part) append_utf8(upper, part);
    } else {
      append_utf8(upper, simple_upper(c));
    }
  }
  return upper;
}

std::string to_lower_utf8(std::string_view text) {
  std::string lower;
  lower.reserve(text.size());
  for (size_t position = 0; position < text.size();) {
    size_t begin = position;
    uint32_t c = read_utf8(text, position);
    if (c == capital_i_with_dot) {
      lower += "i\xcc\x87";
    } else if (c == capital_sigma && cased_letter_before(text, begin) && !cased_letter_after(text, position)) {
      append_utf8(lower, final_sigma);
    } else {
      append_utf8(lower, simple_lower(c));
    }
  }
  return lower;
}

}  // namespace thalweg::kernels
