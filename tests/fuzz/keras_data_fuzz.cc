// Any bytes must be what the files of data sets are made of, or a typed error.
#include "thalweg/core/error.h"
#include "thalweg/io/gzip.h"
#include "thalweg/io/idx.h"
#include "thalweg/io/pickle.h"
#include "thalweg/io/tar.h"

namespace {

template <class F> void survive(F&& body) {
  try {
    body();
  } catch (const thalweg::Error&) {}
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace thalweg;
  auto bytes = std::as_bytes(std::span(data, size));
  survive([&] { io::parse_pickle(bytes); });
  survive([&] { io::parse_idx(bytes); });
  survive([&] { io::read_tar(io::ByteSource::view(bytes, "bytes")); });
  survive([&] { io::read_gzip(io::ByteSource::view(bytes, "bytes"), 1 << 24); });
  return 0;
}
