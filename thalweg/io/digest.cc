#include "thalweg/io/digest.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace thalweg::io {
namespace {

constexpr size_t block_bytes = 64;
using Block = std::span<const std::byte, block_bytes>;

template <std::endian Order> uint32_t word(Block block, size_t i) {
  uint32_t value = 0;
  for (size_t k = 0; k < 4; ++k) {
    size_t place = Order == std::endian::big ? k : 3 - k;
    value = value << 8 | static_cast<uint32_t>(block[4 * i + place]);
  }
  return value;
}

/// The first bits behind the point of the square or cube root of a prime, from which SHA-256 takes its constants.
constexpr uint32_t root_bits(uint32_t prime, int power) {
  using Wide = unsigned __int128;
  Wide target = static_cast<Wide>(prime) << (32 * power);
  uint64_t root = 0;
  for (int bit = 36; bit-- > 0;) {
    uint64_t next = root | uint64_t{1} << bit;
    Wide product = next;
    for (int i = 1; i < power; ++i) product *= next;
    if (product <= target) root = next;
  }
  return static_cast<uint32_t>(root);
}

template <size_t Count> constexpr std::array<uint32_t, Count> roots_of_primes(int power) {
  std::array<uint32_t, Count> bits = {};
  size_t found = 0;
  for (uint32_t n = 2; found < Count; ++n) {
    bool prime = true;
    for (uint32_t d = 2; d * d <= n; ++d) prime = prime && n % d != 0;
    if (prime) bits[found++] = root_bits(n, power);
  }
  return bits;
}

struct Sha256 {
  static constexpr std::endian order = std::endian::big;
  std::array<uint32_t, 8> state = roots_of_primes<8>(2);

  void add(Block block) {
    static constexpr auto constants = roots_of_primes<64>(3);
    std::array<uint32_t, 64> w;
    for (size_t i = 0; i < 16; ++i) w[i] = word<order>(block, i);
    for (size_t i = 16; i < 64; ++i) {
      uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ w[i - 15] >> 3;
      uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ w[i - 2] >> 10;
      w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (size_t i = 0; i < 64; ++i) {
      uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
      uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + constants[i] + w[i];
      uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
      uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    std::array<uint32_t, 8> sums = {a, b, c, d, e, f, g, h};
    for (size_t i = 0; i < 8; ++i) state[i] += sums[i];
  }
};

struct Md5 {
  static constexpr std::endian order = std::endian::little;
  std::array<uint32_t, 4> state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};

  static std::array<uint32_t, 64> make_constants() {
    std::array<uint32_t, 64> constants;
    for (size_t i = 0; i < 64; ++i)
      constants[i] = static_cast<uint32_t>(std::fabs(std::sin(static_cast<double>(i + 1))) * 4294967296.0);
    return constants;
  }

  void add(Block block) {
    static const auto constants = make_constants();
    static constexpr int shifts[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    auto [a, b, c, d] = state;
    for (size_t i = 0; i < 64; ++i) {
      size_t round = i / 16;
      uint32_t mixed = round == 0   ? (b & c) | (~b & d)
                       : round == 1 ? (d & b) | (~d & c)
                       : round == 2 ? b ^ c ^ d
                                    : c ^ (b | ~d);
      size_t place = (round == 0 ? i : round == 1 ? 5 * i + 1 : round == 2 ? 3 * i + 5 : 7 * i) % 16;
      uint32_t sum = a + mixed + constants[i] + word<order>(block, place);
      a = d, d = c, c = b, b += std::rotl(sum, shifts[round][i % 4]);
    }
    std::array<uint32_t, 4> sums = {a, b, c, d};
    for (size_t i = 0; i < 4; ++i) state[i] += sums[i];
  }
};

template <class Hash> std::string digest(ByteStream& in) {
  Hash hash;
  std::vector<std::byte> buffer(1 << 16);
  uint64_t total = in.remaining();
  while (in.remaining() >= block_bytes) {
    uint64_t whole = in.remaining() / block_bytes * block_bytes;
    auto part = std::span(buffer).first(static_cast<size_t>(std::min<uint64_t>(buffer.size(), whole)));
    in.read(part);
    for (size_t i = 0; i < part.size(); i += block_bytes) hash.add(part.subspan(i).template first<block_bytes>());
  }
  // A one bit, zeros, and the number of bits in the last eight bytes.
  std::array<std::byte, 2 * block_bytes> last = {};
  auto rest = static_cast<size_t>(in.remaining());
  in.read(std::span(last).first(rest));
  last[rest] = std::byte{0x80};
  size_t end = rest + 9 <= block_bytes ? block_bytes : 2 * block_bytes;
  for (size_t i = 0; i < 8; ++i)
    last[Hash::order == std::endian::big ? end - 1 - i : end - 8 + i] = static_cast<std::byte>(8 * total >> 8 * i);
  for (size_t i = 0; i < end; i += block_bytes) hash.add(std::span(last).subspan(i).template first<block_bytes>());

  std::string text;
  for (uint32_t value : hash.state)
    for (int k = 0; k < 4; ++k) {
      uint32_t byte = value >> 8 * (Hash::order == std::endian::big ? 3 - k : k) & 0xff;
      text += "0123456789abcdef"[byte >> 4];
      text += "0123456789abcdef"[byte & 15];
    }
  return text;
}

}  // namespace

std::string sha256(ByteStream& in) { return digest<Sha256>(in); }
std::string md5(ByteStream& in) { return digest<Md5>(in); }

}  // namespace thalweg::io
