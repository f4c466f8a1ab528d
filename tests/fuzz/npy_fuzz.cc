// Any bytes must be an array, an archive of arrays, or a typed error.
#include "thalweg/core/error.h"
#include "thalweg/io/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace thalweg;
  auto bytes = std::as_bytes(std::span(data, size));
  try {
    io::parse_npy(bytes);
  } catch (const Error&) {}
  try {
    io::NpzFile file = io::parse_npz(bytes);
    for (const std::string& name : file.names()) {
      try {
        file[name];
      } catch (const Error&) {}
    }
  } catch (const Error&) {}
  return 0;
}
