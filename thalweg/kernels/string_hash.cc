#include "thalweg/kernels/string_hash.h"

#include <bit>
#include <cstring>
#include <utility>

namespace thalweg::kernels {
namespace {

// Words are little-endian in all three hashes.
static_assert(std::endian::native == std::endian::little);

uint64_t word64(const char* p) {
  uint64_t word;
  std::memcpy(&word, p, sizeof word);
  return word;
}
uint64_t word32(const char* p) {
  uint32_t word;
  std::memcpy(&word, p, sizeof word);
  return word;
}
// The last `n` < 8 bytes of a text as the low bytes of a word.
uint64_t partial_word(const char* p, size_t n) {
  uint64_t word = 0;
  std::memcpy(&word, p, n);
  return word;
}
uint64_t byte_at(const char* p) { return static_cast<unsigned char>(*p); }

uint64_t fold(uint64_t v) { return v ^ v >> 47; }

constexpr uint64_t prime0 = 0xc3a5c85c97cb3127u, prime1 = 0xb492b66fbe98f273u, prime2 = 0x9ae16a3b2f90404fu;

uint64_t mix_pair(uint64_t u, uint64_t v, uint64_t multiplier) {
  uint64_t a = fold((u ^ v) * multiplier);
  return fold((v ^ a) * multiplier) * multiplier;
}

uint64_t fingerprint_up_to_16(const char* p, size_t n) {
  uint64_t multiplier = prime2 + n * 2;
  if (n >= 8) {
    uint64_t a = word64(p) + prime2, b = word64(p + n - 8);
    return mix_pair(std::rotr(b, 37) * multiplier + a, (std::rotr(a, 25) + b) * multiplier, multiplier);
  }
  if (n >= 4) return mix_pair(n + (word32(p) << 3), word32(p + n - 4), multiplier);
  if (n == 0) return prime2;
  uint64_t y = byte_at(p) + (byte_at(p + n / 2) << 8), z = n + (byte_at(p + n - 1) << 2);
  return fold(y * prime2 ^ z * prime0) * prime2;
}

uint64_t fingerprint_up_to_32(const char* p, size_t n) {
  uint64_t multiplier = prime2 + n * 2;
  uint64_t a = word64(p) * prime1, b = word64(p + 8);
  uint64_t c = word64(p + n - 8) * multiplier, d = word64(p + n - 16) * prime2;
  return mix_pair(std::rotr(a + b, 43) + std::rotr(c, 30) + d, a + std::rotr(b + prime2, 18) + c, multiplier);
}

uint64_t fingerprint_up_to_64(const char* p, size_t n) {
  uint64_t multiplier = prime2 + n * 2;
  uint64_t a = word64(p) * prime2, b = word64(p + 8);
  uint64_t c = word64(p + n - 8) * multiplier, d = word64(p + n - 16) * prime2;
  uint64_t y = std::rotr(a + b, 43) + std::rotr(c, 30) + d;
  uint64_t z = mix_pair(y, a + std::rotr(b + prime2, 18) + c, multiplier);
  uint64_t e = word64(p + 16) * multiplier, f = word64(p + 24);
  uint64_t g = (y + word64(p + n - 32)) * multiplier, h = (z + word64(p + n - 24)) * multiplier;
  return mix_pair(std::rotr(e + f, 43) + std::rotr(g, 30) + h, e + std::rotr(f + a, 18) + g, multiplier);
}

struct Pair {
  uint64_t first = 0, second = 0;
};

// Mixes 32 bytes into two seeds.
Pair mix_32(const char* p, uint64_t a, uint64_t b) {
  uint64_t last = word64(p + 24);
  a += word64(p);
  b = std::rotr(b + a + last, 21);
  uint64_t kept = a;
  a += word64(p + 8) + word64(p + 16);
  b += std::rotr(a, 44);
  return {a + last, b + kept};
}

// The five words that 64 bytes at a time are mixed into.
struct LongState {
  uint64_t x, y, z;
  Pair v, w;

  void mix(const char* p, uint64_t multiplier, uint64_t factor) {
    x = std::rotr(x + y + v.first + word64(p + 8), 37) * multiplier;
    y = std::rotr(y + v.second + word64(p + 48), 42) * multiplier;
    x ^= w.second * factor;
    y += v.first * factor + word64(p + 40);
    z = std::rotr(z + w.first, 33) * multiplier;
    v = mix_32(p, v.second * multiplier, x + w.first);
    w = mix_32(p + 32, z + w.second, y + word64(p + 16));
    std::swap(z, x);
  }
};

uint64_t fingerprint_long(const char* p, size_t n) {
  constexpr uint64_t seed = 81;
  LongState s{seed * prime2 + word64(p), seed * prime1 + 113, 0, {}, {}};
  s.z = fold(s.y * prime2 + 113) * prime2;
  const char* last = p + n - 64;
  for (size_t blocks = (n - 1) / 64; blocks > 0; --blocks, p += 64) s.mix(p, prime1, 1);
  uint64_t multiplier = prime1 + ((s.z & 0xff) << 1);
  s.w.first += (n - 1) & 63;
  s.v.first += s.w.first;
  s.w.first += s.v.first;
  s.mix(last, multiplier, 9);
  return mix_pair(mix_pair(s.v.first, s.w.first, multiplier) + fold(s.y) * prime0 + s.z,
                  mix_pair(s.v.second, s.w.second, multiplier) + s.x, multiplier);
}

struct SipState {
  uint64_t a, b, c, d;
  void round() {
    a += b;
    b = std::rotl(b, 13) ^ a;
    a = std::rotl(a, 32);
    c += d;
    d = std::rotl(d, 16) ^ c;
    a += d;
    d = std::rotl(d, 21) ^ a;
    c += b;
    b = std::rotl(b, 17) ^ c;
    c = std::rotl(c, 32);
  }
  void absorb(uint64_t word) {
    d ^= word;
    round();
    round();
    a ^= word;
  }
};

}  // namespace

uint64_t hash64(std::string_view bytes) {
  constexpr uint64_t multiplier = 0xc6a4a7935bd1e995u, seed = 0xdecafcaffeu;
  const char* p = bytes.data();
  size_t n = bytes.size();
  uint64_t hash = seed ^ n * multiplier;
  for (; n >= 8; n -= 8, p += 8) hash = (hash ^ fold(word64(p) * multiplier) * multiplier) * multiplier;
  if (n > 0) hash = (hash ^ partial_word(p, n)) * multiplier;
  return fold(fold(hash) * multiplier);
}

uint64_t fingerprint64(std::string_view bytes) {
  const char* p = bytes.data();
  size_t n = bytes.size();
  if (n <= 16) return fingerprint_up_to_16(p, n);
  if (n <= 32) return fingerprint_up_to_32(p, n);
  return n <= 64 ? fingerprint_up_to_64(p, n) : fingerprint_long(p, n);
}

uint64_t sip_hash(uint64_t key0, uint64_t key1, std::string_view bytes) {
  SipState s{key0 ^ 0x736f6d6570736575u, key1 ^ 0x646f72616e646f6du, key0 ^ 0x6c7967656e657261u,
             key1 ^ 0x7465646279746573u};
  const char* p = bytes.data();
  size_t n = bytes.size();
  for (; n >= 8; n -= 8, p += 8) s.absorb(word64(p));
  uint64_t length = bytes.size();
  s.absorb(length << 56 | (n > 0 ? partial_word(p, n) : 0));
  s.c ^= 0xff;
  for (int i = 0; i < 4; ++i) s.round();
  return s.a ^ s.b ^ s.c ^ s.d;
}

}  // namespace thalweg::kernels
