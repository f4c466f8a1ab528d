#include "thalweg/io/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <array>

#include "thalweg/core/error.h"

namespace thalweg::io {
namespace {

constexpr size_t buffer_bytes = 64 << 10;

/// zlib's reader of gzip members, given back whatever happens.
struct Inflater {
  z_stream stream = {};
  Inflater() {
    constexpr int gzip_only = 16;
    if (inflateInit2(&stream, gzip_only + MAX_WBITS) != Z_OK) throw ResourceExhaustedError("no memory to decompress");
  }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
};

}  // namespace

bool is_gzip(const ByteSource& source) {
  std::array<std::byte, 2> start = {};
  if (source.size() < start.size()) return false;
  source.read(0, start);
  return start[0] == std::byte{0x1f} && start[1] == std::byte{0x8b};
}

std::vector<std::byte> read_gzip(const ByteSource& source, uint64_t most_bytes) {
  if (!is_gzip(source)) throw errors::DataLossError(source.name() + " is not gzip: it does not begin with 1f 8b");
  Inflater inflater;
  z_stream& z = inflater.stream;
  SourceStream in(source);
  std::vector<std::byte> buffer(buffer_bytes), out;
  size_t done = 0;
  for (bool ended = false;;) {
    if (z.avail_in == 0) {
      auto count = static_cast<size_t>(std::min<uint64_t>(buffer.size(), in.remaining()));
      if (count == 0 && ended) break;
      if (count == 0) throw errors::DataLossError(source.name() + " is truncated: its compressed bytes end early");
      in.read(std::span(buffer).first(count));
      z.next_in = reinterpret_cast<Bytef*>(buffer.data());
      z.avail_in = static_cast<uInt>(count);
    }
    if (ended && inflateReset(&z) != Z_OK) throw errors::InternalError("zlib refuses to start anew");
    if (done == out.size()) {
      if (out.size() >= most_bytes)
        throw ResourceExhaustedError(source.name() + " decompresses to more than " + std::to_string(most_bytes) +
                                     " bytes");
      out.resize(static_cast<size_t>(std::min<uint64_t>(most_bytes, std::max<size_t>(1 << 20, 2 * out.size()))));
    }
    auto room = static_cast<uInt>(std::min(out.size() - done, size_t{1} << 30));
    z.next_out = reinterpret_cast<Bytef*>(out.data() + done);
    z.avail_out = room;
    int result = inflate(&z, Z_NO_FLUSH);
    done += room - z.avail_out;
    ended = result == Z_STREAM_END;
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
      throw errors::DataLossError(source.name() + " is damaged: " + (z.msg ? z.msg : "its bytes make no sense"));
  }
  out.resize(done);
  return out;
}

}  // namespace thalweg::io
