// Hashes of bytes that TensorFlow's files and models depend on: the values are part of their meaning.
#pragma once
#include <cstdint>
#include <string_view>

namespace thalweg::kernels {

/// TensorFlow's own Hash64: Appleby's MurmurHash64A with a fixed seed.
uint64_t hash64(std::string_view bytes);

/// FarmHash's Fingerprint64 (Pike), which never changes between versions and machines.
uint64_t fingerprint64(std::string_view bytes);

/// SipHash-2-4 (Aumasson and Bernstein) under a key of two words.
uint64_t sip_hash(uint64_t key0, uint64_t key1, std::string_view bytes);

}  // namespace thalweg::kernels
